// SPDX-License-Identifier: Apache-2.0
#include "ctl/command.hpp"
#include "ctl/json.hpp"
#include "ctl/render_report.hpp"

namespace rdmacfg::ctl {

int diff(const Context& context) {
  const auto document = load(context);
  if (!document) return refuse(context, document.error());
  auto report = report_of(*document);
  if (report.exit != model::Exit::kError) {
    const auto host = context.environment.host(context.root());
    report = placed(context, core::diff(*document, *host, options_of(context)));
    report.diagnostics = together(*document, report);
  }
  const int status = status_of(context, report.exit);
  if (context.arguments.json) {
    emit(context, to_json(report, "diff", status));
    return status;
  }
  tell(context, *document, report.diagnostics);
  if (report.error) context.say_error(report.error->message);
  if (report.exit != model::Exit::kError) {
    context.environment.out << render_diff(report, context.out, context.arguments.explain);
  }
  for (const auto& note : report.notes) context.say(note);
  return status;
}

}  // namespace rdmacfg::ctl
