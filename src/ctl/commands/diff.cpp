// SPDX-License-Identifier: Apache-2.0
#include "ctl/changing.hpp"
#include "ctl/generation_diff.hpp"
#include "ctl/host_status.hpp"
#include "ctl/json.hpp"
#include "ctl/render/render_report.hpp"

namespace rdmacfg::ctl {

int diff(const Context& context) {
  if (!context.arguments.words.empty()) return diff_generations(context);
  auto document = load(context);
  if (!document) return refuse(context, document.error());
  const auto host = context.environment.host(context.root());
  auto host_status = host_status_of(context, *host, std::move(document));
  auto& report = host_status.report;
  if (host_status.applied_state) {
    for (auto& note : core::notes_of(*host_status.applied_state)) report.notes.push_back(std::move(note));
  }
  add_removal_warning(context, *host_status.document, *host, report);
  return show_diff(context, *host_status.document, report);
}

int show_diff(const Context& context, const config::Document& document, const model::Report& report) {
  const int status = status_of(context, report);
  if (context.arguments.json) {
    emit(context, to_json(report, "diff", status));
    return status;
  }
  tell(context, document, report.diagnostics);
  if (report.error) context.say_error(report.error->message);
  const bool silent = context.arguments.quiet && report.exit == model::Exit::kOk;
  if (report.exit != model::Exit::kError && !silent) {
    const bool explain = context.arguments.explain || context.arguments.verbose;
    context.environment.out << render_diff(report, context.out, explain ? Origins::kShown : Origins::kHidden);
  }
  for (const auto& note : report.notes) context.say(note.text);
  return status;
}

}  // namespace rdmacfg::ctl
