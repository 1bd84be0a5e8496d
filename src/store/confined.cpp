// SPDX-License-Identifier: Apache-2.0
#include "store/confined.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "catalog/all.hpp"
#include "store/json_file.hpp"
#include "store/value_json.hpp"

namespace rdmacfg::core {

using Json = nlohmann::ordered_json;

namespace {

constexpr int kDeepest = 8;  ///< sections in sections; the language has three

/// Places name their file by its number among the texts; -1: none.
class Writer {
 public:
  explicit Writer(const std::vector<config::Text>& files) {
    for (const auto& file : files) numbers_.try_emplace(file.name, static_cast<int>(numbers_.size()));
  }

  [[nodiscard]] Json place(const model::Location& where) const {
    const auto at = numbers_.find(where.file);
    return {at == numbers_.end() ? -1 : at->second, where.line, where.column, where.length};
  }

  [[nodiscard]] Json section(const model::Section& written) const {
    Json entries = Json::array(), children = Json::array();
    for (const auto& [key, entry] : written.entries)
      entries.push_back({key, to_json(entry.value), place(entry.where), entry.from_defaults});
    for (const auto& child : written.children) children.push_back(section(child));
    return {written.path, place(written.where), std::move(entries), std::move(children)};
  }

  [[nodiscard]] Json diagnostic(const model::Diagnostic& written) const {
    Json related = Json::array();
    for (const auto& other : written.related) related.push_back({place(other.where), other.note});
    return {written.severity == model::Severity::kError,
            place(written.where),
            written.message,
            written.hint,
            std::move(related),
            static_cast<int>(written.topic)};
  }

 private:
  std::map<std::string, int, std::less<>> numbers_;
};

/// The other way. Throws nlohmann::json::exception and std::out_of_range.
class Reader {
 public:
  explicit Reader(const std::vector<config::Text>& files) {
    std::map<std::string_view, int> seen;
    for (const auto& file : files) {
      if (seen.try_emplace(file.name, 0).second) names_.push_back(file.name);
    }
  }

  [[nodiscard]] model::Location place(const Json& json) const {
    const auto number = number_in<int>(json.at(0));
    return {number < 0 ? std::string() : names_.at(static_cast<std::size_t>(number)),
            number_in<int>(json.at(1)), number_in<int>(json.at(2)), number_in<int>(json.at(3))};
  }

  [[nodiscard]] model::Section section(const Json& json, int depth = 0) const {
    if (depth > kDeepest) throw std::out_of_range("nested too deep");
    model::Section out;
    out.path = json.at(0).get<std::string>();
    out.where = place(json.at(1));
    for (const auto& entry : json.at(2)) {
      out.entries.insert_or_assign(
          entry.at(0).get<std::string>(),
          model::Entry{value_from(entry.at(1)), place(entry.at(2)), entry.at(3).get<bool>()});
    }
    for (const auto& child : json.at(3)) out.children.push_back(section(child, depth + 1));
    return out;
  }

  [[nodiscard]] model::Diagnostic diagnostic(const Json& json) const {
    model::Diagnostic out;
    out.severity = json.at(0).get<bool>() ? model::Severity::kError : model::Severity::kWarning;
    out.where = place(json.at(1));
    out.message = json.at(2).get<std::string>();
    out.hint = json.at(3).get<std::string>();
    for (const auto& other : json.at(4))
      out.related.push_back({place(other.at(0)), other.at(1).get<std::string>()});
    const auto topic = number_in<int>(json.at(5));
    if (topic < 0 || topic > static_cast<int>(model::kLastTopic)) throw std::out_of_range("unknown topic");
    out.topic = static_cast<model::Topic>(topic);
    return out;
  }

 private:
  std::vector<std::string> names_;
};

}  // namespace

std::string text_of(const config::Document& document) {
  const Writer writer(document.files);
  Json sections = Json::array(), diagnostics = Json::array(), faulty = Json::array(), skipped = Json::array();
  for (const auto& file : document.skipped) skipped.push_back({{"name", file.name}, {"why", file.why}});
  for (const auto& section : document.sections) sections.push_back(writer.section(section));
  for (const auto& diagnostic : document.diagnostics) diagnostics.push_back(writer.diagnostic(diagnostic));
  for (const auto& place : document.faulty) faulty.push_back(writer.place(place));
  const Json out{{"sections", std::move(sections)}, {"diagnostics", std::move(diagnostics)},
                 {"skipped", std::move(skipped)},   {"host", document.host},
                 {"whole", document.whole},         {"faulty", std::move(faulty)},
                 {"not_shown", document.not_shown}};
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

base::Result<config::Document> document_from(std::string_view text, std::vector<config::Text> files) {
  try {
    const auto json = parse_record(text);
    const Reader reader(files);
    config::Document out;
    for (const auto& section : json.at("sections")) out.sections.push_back(reader.section(section));
    for (const auto& diagnostic : json.at("diagnostics"))
      out.diagnostics.push_back(reader.diagnostic(diagnostic));
    for (const auto& file : json.at("skipped"))
      out.skipped.push_back({file.at("name").get<std::string>(), file.at("why").get<std::string>()});
    out.host = json.at("host").get<std::string>();
    out.whole = json.at("whole").get<bool>();
    for (const auto& place : json.at("faulty")) out.faulty.insert(reader.place(place));
    out.not_shown = number_in<std::size_t>(json.at("not_shown"));
    out.files = std::move(files);
    return out;
  } catch (const Json::exception&) {
  } catch (const std::out_of_range&) {
  }
  return base::fail(base::Code::kInvalid, "the result of the sandbox is invalid");
}

base::Result<config::Document> parse_confined(std::vector<config::Text> texts, const std::string& host_name,
                                              const Confine& confine) {
  if (!confine)
    return base::fail(base::Code::kUnsupported, "parsing the document: there is no sandbox in this program");
  const auto answer =
      confine([&] { return text_of(config::parse_texts(texts, host_name, kinds::grammar())); });
  if (!answer) return base::fail(answer.error().in("parsing the document"));
  return document_from(*answer, std::move(texts));
}

namespace {

Confine& confine_now() {
  static Confine confine;
  return confine;
}

}  // namespace

void confine_others_by(Confine confine) { confine_now() = std::move(confine); }
const Confine& confine_of_others() { return confine_now(); }

}  // namespace rdmacfg::core
