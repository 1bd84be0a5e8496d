// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "catalog/all.hpp"
#include "ctl/command.hpp"
#include "ctl/json.hpp"
#include "ctl/render/render_report.hpp"

namespace rdmacfg::ctl {

namespace {

/// Sections with brackets of their own, at the top or as [[ipoib.pkey]]: tables such as match and ipv4 are a
/// part of the entry that they are in.
std::size_t entries_of(const config::Document& document) {
  std::set<std::string> repeated;
  for (const auto& top : kinds::grammar()) {
    for (const auto& child : top.children) {
      if (child.repeated) repeated.insert(fmt::format("{}.{}", top.name, child.name));
    }
  }
  auto entries = document.sections.size();
  for (const auto& section : document.sections) {
    entries += static_cast<std::size_t>(
        std::count_if(section.children.begin(), section.children.end(),
                      [&](const model::Section& child) { return repeated.contains(child.path); }));
  }
  return entries;
}

}  // namespace

int validate(const Context& context) {
  const auto document = load(context);
  if (!document) return refuse(context, document.error());
  auto report = core::validate(*document);
  for (const auto& skipped : document->skipped) report.notes.push_back("not used: " + skipped.text());
  if (context.arguments.config.empty() && !context.environment.document) {
    for (const auto& file : config::misnamed_drop_ins(context.root()))
      report.notes.push_back(fmt::format("not used: {}: the name of a drop-in must end in .toml", file));
  }
  const int status = status_of(context, report.exit);
  if (context.arguments.json) {
    emit(context, to_json(report, "validate", status));
    return status;
  }
  tell(context, *document, report.diagnostics);
  if (context.arguments.verbose) {
    for (const auto& file : document->files) context.say("read: " + file.name);
  }
  for (const auto& note : report.notes) context.say(note.text);
  if (report.error) context.say_error(report.error->message);
  if (report.exit == model::Exit::kError || context.arguments.quiet) return status;
  const auto entries = entries_of(*document);
  context.environment.out << fmt::format("Valid: {} in {}.\n",
                                         entries == 1 ? "1 entry" : fmt::format("{} entries", entries),
                                         count(document->files.size(), "file"));
  return status;
}

}  // namespace rdmacfg::ctl
