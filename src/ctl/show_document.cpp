// SPDX-License-Identifier: Apache-2.0
#include "ctl/show_document.hpp"

#include <fmt/format.h>

#include "catalog/all.hpp"
#include "core/applied_state.hpp"
#include "ctl/json.hpp"
#include "foreign/document.hpp"

namespace rdmacfg::ctl {

namespace {

bool is_repeated(const std::vector<model::SectionSpec>& specs, const std::string& name) {
  for (const auto& spec : specs) {
    if (spec.name == name) return spec.repeated;
  }
  return true;
}

const std::vector<model::SectionSpec>& children_of(const std::vector<model::SectionSpec>& specs,
                                                   const std::string& name) {
  static const std::vector<model::SectionSpec> kNone;
  for (const auto& spec : specs) {
    if (spec.name == name) return spec.children;
  }
  return kNone;
}

void render(const std::vector<model::Section>& sections, const std::vector<model::SectionSpec>& specs,
            const Terminal& terminal, std::string& out) {
  for (const auto& section : sections) {
    const auto dot = section.path.rfind('.');
    const auto name = section.path.substr(dot == std::string::npos ? 0 : dot + 1);
    const bool repeated = is_repeated(specs, name);
    out += '\n' +
           terminal.paint(fmt::format("{}{}{}", repeated ? "[[" : "[", section.path, repeated ? "]]" : "]"),
                          Style::kBold) +
           '\n';
    for (const auto& [key, entry] : section.entries) {
      const auto where = entry.from_defaults ? "defaults, " + entry.where.text() : entry.where.text();
      out += fmt::format("{} = {}  {}\n", key,
                         clean(foreign::render_value(section.path, key, entry.value), terminal.utf8),
                         terminal.paint("# " + clean(where, terminal.utf8), Style::kDim));
    }
    render(section.children, children_of(specs, name), terminal, out);
  }
}

}  // namespace

int show_document(const Context& context) {
  if (const auto& words = context.arguments.words; !words.empty()) {
    return refuse(context, {base::Code::kInvalid,
                            fmt::format("show --document: unexpected argument {}; get "
                                        "prints an entry or a value of the document",
                                        words.front()),
                            0});
  }
  if (context.arguments.show.differs || context.arguments.names)
    return refuse(context, {base::Code::kInvalid,
                            fmt::format("{} cannot be combined with --document, which looks at no resources",
                                        context.arguments.names ? "--format name" : "--differs"),
                            0});
  const auto document = load(context);
  if (!document) return refuse(context, document.error());
  auto report = core::validate(*document);
  for (const auto& skipped : document->skipped) report.notes.push_back("not used: " + skipped.text());
  if (!context.offline() && context.own_document()) {
    const auto host = context.environment.host("/");
    if (const auto ledger = core::read_ledger(host->files, core::GenerationPaths())) {
      const auto applied_state =
          core::applied_state_of(*ledger, &*document, host->boot_id, core::system_clock());
      for (auto& note : core::notes_of(applied_state)) report.notes.push_back(std::move(note));
    }
  }
  const int status = status_of(context, report.exit);
  std::string text = "version = 1\n";
  const Terminal plain;
  render(document->sections, kinds::grammar(), context.arguments.json ? plain : context.out, text);
  if (context.arguments.json) {
    auto json = head(kDocumentSchema, "show", report, status);
    json["text"] =
        report.exit == model::Exit::kError ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
    json["files"] = nlohmann::ordered_json::array();
    for (const auto& file : document->files)
      json["files"].push_back({{"path", file.name}, {"text", file.text}});
    emit(context, std::move(json));
    return status;
  }
  tell(context, *document, report.diagnostics);
  if (report.exit != model::Exit::kError) context.environment.out << text;
  for (const auto& note : report.notes) context.say(note.text);
  return status;
}

}  // namespace rdmacfg::ctl
