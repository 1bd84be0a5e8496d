// SPDX-License-Identifier: Apache-2.0
#include "core/doctor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ctl/command.hpp"
#include "ctl/render_table.hpp"

namespace rdmacfg::ctl {

namespace {

using core::Finding;

std::string_view word_for(Finding::Weight weight) {
  return weight == Finding::Weight::kProblem ? "problem" : "risk";
}

nlohmann::ordered_json json_of(const std::vector<Finding>& findings, int status) {
  nlohmann::ordered_json out{{"schema", "rdma-configd/doctor/1"}, {"exit", status}};
  out["checks"] = nlohmann::ordered_json::array();
  for (const auto& check : core::checks()) {
    const auto count = std::count_if(findings.begin(), findings.end(),
                                     [&](const auto& finding) { return finding.check == check.name; });
    out["checks"].push_back({{"check", check.name}, {"about", check.about}, {"findings", count}});
  }
  out["findings"] = nlohmann::ordered_json::array();
  for (const auto& one : findings) {
    out["findings"].push_back({{"check", one.check},
                               {"weight", word_for(one.weight)},
                               {"object", one.object},
                               {"what", one.what},
                               {"fix", one.fix}});
  }
  return out;
}

std::string indented(const std::string& label, const std::string& text, const Look& look) {
  std::string out;
  Look narrow = look;
  constexpr int kIndent = 7;
  if (narrow.width > 2 * kIndent) narrow.width -= kIndent;
  for (const auto& line : wrap(clean(text, look.utf8), narrow.width)) {
    out += fmt::format("  {:<5}{}\n", out.empty() ? label : "", line);
  }
  return out;
}

}  // namespace

int doctor(const Context& context) {
  if (context.offline())
    return refuse(context,
                  {base::Code::kInvalid, "doctor looks at the running system; --root is not for it", 0});
  const auto host = context.environment.host(context.root());
  auto world = kinds::World::observe(*host);
  if (!world) return refuse(context, world.error().in("looking at the host"));
  auto document = load(context);
  if (!document && !(document.error().code == base::Code::kNotFound && context.arguments.config.empty()))
    return refuse(context, document.error());
  if (document) tell(context, *document, document->diagnostics);
  const bool readable = document && !model::has_errors(document->diagnostics);
  const auto findings = core::examine({*world, readable ? &*document : nullptr});
  const int status = static_cast<int>(findings.empty() ? model::Exit::kOk : model::Exit::kDiffers);
  if (context.arguments.json) {
    emit(context, json_of(findings, status));
    return status;
  }
  const auto& look = context.out;
  auto& out = context.environment.out;
  for (const auto& one : findings) {
    const bool problem = one.weight == Finding::Weight::kProblem;
    out << look.paint(std::string(word_for(one.weight)), problem ? Style::kBad : Style::kNotice) << "  "
        << look.paint(clean(one.object, look.utf8), Style::kBold) << "  "
        << look.paint(one.check, Style::kDim) << '\n'
        << indented("", one.what, look) << indented("fix:", one.fix, look);
  }
  context.say(findings.empty() ? fmt::format("nothing found ({} checks)", core::checks().size())
                               : fmt::format("{} found ({} checks)", findings.size(), core::checks().size()));
  return status;
}

}  // namespace rdmacfg::ctl
