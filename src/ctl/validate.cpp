// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "ctl/command.hpp"
#include "ctl/json.hpp"
#include "ctl/render_report.hpp"

namespace rdmacfg::ctl {

int validate(const Context& context) {
  const auto document = load(context);
  if (!document) return refuse(context, document.error());
  auto report = core::validate(*document);
  for (const auto& skipped : document->skipped) report.notes.push_back("not used: " + skipped);
  const int status = status_of(context, report.exit);
  if (context.arguments.json) {
    emit(context, to_json(report, "validate", status));
    return status;
  }
  tell(context, *document, report.diagnostics);
  for (const auto& note : report.notes) context.say(note);
  if (report.error) context.say_error(report.error->message);
  if (report.exit == model::Exit::kError) return status;
  std::size_t entries = 0;
  for (const auto& section : document->sections) entries += 1 + section.children.size();
  context.environment.out << fmt::format("Valid: {} in {}.\n",
                                         entries == 1 ? "1 entry" : fmt::format("{} entries", entries),
                                         count(document->files.size(), "file"));
  return status;
}

}  // namespace rdmacfg::ctl
