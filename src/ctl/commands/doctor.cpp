// SPDX-License-Identifier: Apache-2.0
#include "doctor/doctor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ctl/bundle/make_report.hpp"
#include "ctl/host_status.hpp"
#include "ctl/json.hpp"
#include "ctl/render/render_report.hpp"
#include "ctl/render/render_table.hpp"

namespace rdmacfg::ctl {

namespace {

using core::Finding;

std::string_view word_for(Finding::Weight weight) {
  return weight == Finding::Weight::kProblem ? "problem" : "risk";
}

nlohmann::ordered_json json_of(const std::vector<Finding>& findings, const model::Report& report,
                               int status) {
  auto out = head(kDoctorSchema, "doctor", report, status);
  const auto problems = std::count_if(findings.begin(), findings.end(), [](const auto& finding) {
    return finding.weight == Finding::Weight::kProblem;
  });
  out["summary"] = {{"findings", findings.size()},
                    {"problems", problems},
                    {"risks", static_cast<std::ptrdiff_t>(findings.size()) - problems}};
  out["checks"] = nlohmann::ordered_json::array();
  for (const auto& check : core::checks()) {
    const auto count = std::count_if(findings.begin(), findings.end(),
                                     [&](const auto& finding) { return finding.check == check.name; });
    out["checks"].push_back({{"check", check.name}, {"about", check.about}, {"findings", count}});
  }
  out["findings"] = nlohmann::ordered_json::array();
  for (const auto& finding : findings) {
    nlohmann::ordered_json resource = nullptr;
    if (finding.resource) resource = {{"kind", finding.resource->kind}, {"id", finding.resource->id}};
    out["findings"].push_back({{"check", finding.check},
                               {"weight", word_for(finding.weight)},
                               {"object", finding.object},
                               {"what", finding.what},
                               {"fix", finding.fix},
                               {"resource", std::move(resource)}});
  }
  return out;
}

std::string indented(const std::string& label, const std::string& text, const Terminal& terminal) {
  std::string out;
  Terminal narrow = terminal;
  constexpr int kIndent = 7;
  if (narrow.width > 2 * kIndent) narrow.width -= kIndent;
  for (const auto& line : wrap(clean(text, terminal.utf8), narrow.width)) {
    out += fmt::format("  {:<5}{}\n", out.empty() ? label : "", line);
  }
  return out;
}

void print(const Context& context, const std::vector<Finding>& findings) {
  const auto& terminal = context.out;
  auto& out = context.environment.out;
  for (const auto& finding : findings) {
    const bool problem = finding.weight == Finding::Weight::kProblem;
    out << terminal.paint(std::string(word_for(finding.weight)), problem ? Style::kBad : Style::kNotice)
        << "  " << terminal.paint(clean(finding.object, terminal.utf8), Style::kBold) << "  "
        << terminal.paint(finding.check, Style::kDim) << '\n'
        << indented("", finding.what, terminal) << indented("fix:", finding.fix, terminal);
  }
}

}  // namespace

int doctor(const Context& context) {
  if (context.offline())
    return refuse(context, {base::Code::kInvalid,
                            "doctor cannot be combined with --root: it examines the running system", 0});
  if (!context.arguments.doctor.report.empty()) return make_report(context);
  const auto host = context.environment.host(context.root());
  auto world = kinds::World::observe(*host);
  if (!world) return refuse(context, world.error().in("reading the host"));
  auto host_status = host_status_of(context, *host);
  auto& report = host_status.report;
  const bool judged = host_status.document && report.exit != model::Exit::kError;
  const bool readable = host_status.document && !model::has_errors(host_status.document->diagnostics);
  const auto findings =
      core::examine({.world = *world,
                     .document = readable ? &*host_status.document : nullptr,
                     .report = judged ? &report : nullptr,
                     .applied_state = host_status.applied_state ? &*host_status.applied_state : nullptr,
                     .contended = contended_in(host_status)});
  // An error in the document leaves the desired host unknown.
  const bool blind = !judged && !host_status.none;
  report.exit = blind ? model::Exit::kError : findings.empty() ? model::Exit::kOk : model::Exit::kDiffers;
  const int status = status_of(context, report.exit);
  if (context.arguments.json) {
    emit(context, json_of(findings, report, status));
    return status;
  }
  if (host_status.document) tell(context, *host_status.document, report.diagnostics);
  if (report.error) context.say_error(report.error->message);
  print(context, findings);
  const auto checks = count(core::checks().size(), "check");
  if (blind) {
    context.say_error(fmt::format("the document has errors, so the host could not be compared with it; {}",
                                  findings.empty() ? "no other problems were found"
                                                   : fmt::format("{} found besides", findings.size())));
  } else {
    context.say(findings.empty() ? fmt::format("nothing found ({})", checks)
                                 : fmt::format("{} found ({})", findings.size(), checks));
  }
  return status;
}

}  // namespace rdmacfg::ctl
