// SPDX-License-Identifier: Apache-2.0
#include "store/report_json.hpp"

#include <fmt/format.h>

#include <array>
#include <set>
#include <utility>

#include "store/json_file.hpp"
#include "store/value_json.hpp"

namespace rdmacfg::core {

using Json = nlohmann::ordered_json;

namespace {

constexpr const char* kReportSchema = "rdma-configd.report/1";

/// Sorts of notes that other code treats apart, and the list of their texts in the report.
constexpr std::array<std::pair<model::Note::Sort, const char*>, 3> kNoteSorts{
    {{model::Note::Sort::kDamage, "damage"},
     {model::Note::Sort::kRollback, "rollbacks"},
     {model::Note::Sort::kDeadline, "deadlines"}}};

model::Location location_from(const Json& json) {
  model::Location where;
  if (json.is_null()) return where;
  where.file = json.at("file").get<std::string>();
  where.line = number_in<int>(json.at("line"));
  where.column = number_in<int>(json.at("column"));
  if (json.contains("length")) where.length = number_in<int>(json.at("length"));
  return where;
}

Json location_json(const model::Location& where) {
  return {{"file", where.file}, {"line", where.line}, {"column", where.column}, {"length", where.length}};
}

Json diagnostic_json(const model::Diagnostic& diagnostic) {
  Json related = Json::array();
  for (const auto& other : diagnostic.related) {
    related.push_back({{"where", location_json(other.where)}, {"note", other.note}});
  }
  return {{"severity", diagnostic.severity == model::Severity::kError ? "error" : "warning"},
          {"where", location_json(diagnostic.where)},
          {"message", diagnostic.message},
          {"hint", diagnostic.hint},
          {"related", std::move(related)}};
}

model::Diagnostic diagnostic_from(const Json& json) {
  model::Diagnostic diagnostic;
  diagnostic.severity = json.at("severity") == "error" ? model::Severity::kError : model::Severity::kWarning;
  diagnostic.where = location_from(json.at("where"));
  diagnostic.message = json.at("message").get<std::string>();
  diagnostic.hint = json.at("hint").get<std::string>();
  for (const auto& other : json.at("related")) {
    diagnostic.related.push_back({location_from(other.at("where")), other.at("note").get<std::string>()});
  }
  return diagnostic;
}

Json resource_json(const model::ResourceReport& resource) {
  Json attributes = Json::array();
  for (const auto& attribute : resource.attributes) {
    attributes.push_back({{"name", attribute.name},
                          {"now", to_json(attribute.now)},
                          {"wanted", to_json(attribute.wanted)},
                          {"origin", attribute.origin ? location_json(*attribute.origin) : Json(nullptr)}});
  }
  return {{"kind", resource.key.kind},
          {"id", resource.key.id},
          {"label", resource.label},
          {"status", std::string(model::text_of(resource.status))},
          {"reason", resource.reason},
          {"warnings", resource.warnings},
          {"instance", resource.instance},
          {"there", resource.there},
          {"follows", resource.follows},
          {"waits", resource.waits},
          {"attributes", std::move(attributes)}};
}

model::Status status_from(const std::string& text) {
  for (int i = 0; i <= static_cast<int>(model::Status::kIgnored); ++i) {
    if (model::text_of(static_cast<model::Status>(i)) == text) return static_cast<model::Status>(i);
  }
  return model::Status::kFailed;
}

model::ResourceReport resource_from(const Json& json) {
  model::ResourceReport resource;
  resource.key = {json.at("kind").get<std::string>(), json.at("id").get<std::string>()};
  resource.label = json.at("label").get<std::string>();
  resource.status = status_from(json.at("status").get<std::string>());
  resource.reason = json.at("reason").get<std::string>();
  resource.warnings = json.at("warnings").get<std::vector<std::string>>();
  resource.instance = json.value("instance", std::string());
  resource.there = json.value("there", true);
  resource.follows = json.value("follows", false);
  resource.waits = json.value("waits", false);
  for (const auto& attribute : json.at("attributes")) {
    model::AttributeReport report{attribute.at("name").get<std::string>(), value_from(attribute.at("now")),
                                  value_from(attribute.at("wanted")), std::nullopt};
    if (!attribute.at("origin").is_null()) report.origin = location_from(attribute.at("origin"));
    resource.attributes.push_back(std::move(report));
  }
  return resource;
}

}  // namespace

Json report_json(const model::Report& report) {
  Json diagnostics = Json::array(), resources = Json::array();
  for (const auto& diagnostic : report.diagnostics) diagnostics.push_back(diagnostic_json(diagnostic));
  for (const auto& resource : report.resources) resources.push_back(resource_json(resource));
  Json out = {{"schema", kReportSchema},
              {"exit", static_cast<int>(report.exit)},
              {"error", report.error ? Json{{"code", static_cast<int>(report.error->code)},
                                            {"message", report.error->message},
                                            {"errno", report.error->sys_errno}}
                                     : Json(nullptr)},
              {"diagnostics", std::move(diagnostics)},
              {"resources", std::move(resources)},
              {"changes", plan_json(report.plan)},
              {"notes", model::note_texts(report.notes)},
              {"left_over", report.left_over}};
  for (const auto& [sort, name] : kNoteSorts) {
    std::set<std::string> texts;
    for (const auto& note : report.notes) {
      if (note.sort == sort) texts.insert(note.text);
    }
    if (!texts.empty()) out[name] = std::move(texts);
  }
  // Steps of the daemon itself: clients see none.
  if (!report.drifted.empty()) out["drifted"] = plan_json({report.drifted});
  return out;
}

namespace {

std::vector<model::Note> notes_from(const Json& json) {
  auto notes =
      model::notes_about(model::Note::Sort::kOther, json.at("notes").get<std::vector<std::string>>());
  for (const auto& [sort, name] : kNoteSorts) {
    const auto texts = json.value(name, std::set<std::string>());
    for (auto& note : notes) {
      if (texts.contains(note.text)) note.sort = sort;
    }
  }
  return notes;
}

}  // namespace

base::Result<model::Report> report_from(const std::string& text) {
  try {
    const auto json = parse_record(text);
    if (json.at("schema") != kReportSchema) {
      return base::fail(base::Code::kInvalid, "the report has a schema that this program does not read");
    }
    model::Report report;
    report.exit = enumerator_in(json.at("exit"), model::Exit::kPartly);
    if (const auto& error = json.at("error"); !error.is_null()) {
      report.error = base::Error{enumerator_in(error.at("code"), base::Code::kTimeout),
                                 error.at("message").get<std::string>(), number_in<int>(error.at("errno"))};
    }
    for (const auto& diagnostic : json.at("diagnostics"))
      report.diagnostics.push_back(diagnostic_from(diagnostic));
    for (const auto& resource : json.at("resources")) report.resources.push_back(resource_from(resource));
    report.plan = plan_from(json.at("changes"));
    if (json.contains("drifted")) report.drifted = plan_from(json.at("drifted")).changes;
    report.notes = notes_from(json);
    report.left_over = json.at("left_over").get<std::vector<std::string>>();
    return report;
  } catch (const Json::exception& error) {
    return base::fail(base::Code::kInvalid, fmt::format("the report is invalid: {}", error.what()));
  }
}

}  // namespace rdmacfg::core
