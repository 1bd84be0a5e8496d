// SPDX-License-Identifier: Apache-2.0
#include "ctl/bundle/host_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/characters.hpp"
#include "base/regular_file.hpp"
#include "ctl/bundle/limits.hpp"
#include "store/json_file.hpp"

namespace rdmacfg::ctl {

namespace {

constexpr int kReportIndent = 1;

std::string report_text(const nlohmann::json& from) {
  return base::harmless_json(from.dump(kReportIndent, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string text_of_report(const HostReport& report) {
  auto document = nlohmann::ordered_json::array();
  for (const auto& file : report.document)
    document.push_back({{"name", file.name}, {"private", file.is_private}, {"text", file.text}});
  const nlohmann::ordered_json out{
      {"schema", kHostSchema},           {"version", report.version}, {"kernel", report.kernel},
      {"host_name", report.host_name},   {"boot_id", report.boot_id}, {"privileged", report.privileged},
      {"document", std::move(document)}, {"results", report.results}, {"agrees", report.agrees},
      {"observed", report.observed},     {"listing", report.listing}, {"left_out", report.left_out}};
  // Names of the host's hardware and lines of its files: a terminal that shows the file must not act on them.
  return base::harmless_json(
             out.dump(kReportIndent, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) +
         '\n';
}

/// An answer with its size.
struct SizedAnswer {
  std::size_t size = 0;
  std::string question, about;
};

std::vector<SizedAnswer> largest_first(const nlohmann::json& observed) {
  std::vector<SizedAnswer> out;
  for (const auto& [question, answers] : observed.items()) {
    for (const auto& [about, answer] : answers.items())
      out.push_back({report_text(answer).size(), question, about});
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.size > b.size; });
  return out;
}

std::vector<std::string> list_of_texts(const nlohmann::json& from) {
  return from.get<std::vector<std::string>>();
}

}  // namespace

std::string render_host_report(HostReport report) {
  auto text = text_of_report(report);
  if (text.size() <= limits::kHostReportBytes) return text;
  constexpr std::size_t kListing = 200;
  if (report.listing.size() > kListing) {
    report.listing.resize(kListing);
    report.left_out.emplace_back("listing");
    text = text_of_report(report);
  }
  auto excess =
      static_cast<std::ptrdiff_t>(text.size()) - static_cast<std::ptrdiff_t>(limits::kHostReportBytes);
  for (const auto& answer : largest_first(report.observed)) {
    if (excess <= 0) break;
    report.observed[answer.question].erase(answer.about);
    report.left_out.push_back(answer.question + ' ' + answer.about);
    // Less than it frees, as it is indented; a kind named here takes its own.
    excess -=
        static_cast<std::ptrdiff_t>(answer.size) - static_cast<std::ptrdiff_t>(report.left_out.back().size());
  }
  text = text_of_report(report);
  if (text.size() > limits::kHostReportBytes) {
    report.results = nlohmann::json::object();
    report.left_out.emplace_back("results");
    text = text_of_report(report);
  }
  return text;
}

base::Result<HostReport> parse_host_report(std::string_view text) {
  using base::Code;
  HostReport out;
  try {
    const auto from = nlohmann::json::parse(text);
    const auto schema = from.is_object() ? from.value("schema", std::string()) : std::string();
    if (schema != kHostSchema)
      return base::fail(Code::kInvalid,
                        schema.empty()
                            ? std::string("not a report of `rdma-configctl doctor --report`")
                            : fmt::format("schema {}; this program reads {}", schema, kHostSchema));
    out.version = from.value("version", std::string());
    out.kernel = from.value("kernel", std::string());
    out.host_name = from.value("host_name", std::string());
    out.boot_id = from.value("boot_id", std::string());
    out.privileged = from.value("privileged", false);
    for (const auto& file : from.at("document")) {
      config::Text document_text;
      document_text.name = file.at("name").get<std::string>();
      document_text.text = file.at("text").get<std::string>();
      document_text.is_private = file.value("private", false);
      out.document.push_back(std::move(document_text));
    }
    out.observed = from.at("observed");
    for (const auto& answers : out.observed) {
      if (!answers.is_object()) return base::fail(Code::kInvalid, "damaged (observed: an object is missing)");
    }
    out.results = from.value("results", nlohmann::json::object());
    out.agrees = from.value("agrees", nlohmann::json::object());
    if (from.contains("listing")) out.listing = list_of_texts(from.at("listing"));
    if (from.contains("left_out")) out.left_out = list_of_texts(from.at("left_out"));
  } catch (const nlohmann::json::exception& error) {
    return base::fail(Code::kInvalid,
                      fmt::format("damaged ({}); write it again: rdma-configctl doctor --report FILE",
                                  core::damage_in(error)));
  }
  return out;
}

base::Result<HostReport> read_host_report(const std::string& path) {
  const auto text = base::read_regular_file(path, limits::kHostReportReadBytes);
  if (!text) {
    const auto& error = text.error();
    if (error.sys_errno == EFBIG)
      return base::fail(base::Code::kInvalid, fmt::format("--host {}: longer than {} MiB", path,
                                                          limits::kHostReportReadBytes / 1024 / 1024));
    if (error.sys_errno == EISDIR || error.sys_errno == EINVAL)
      return base::fail(base::Code::kNotFound, fmt::format("--host {}: not a regular file", path));
    return base::fail(error.in("--host " + path));
  }
  auto report = parse_host_report(*text);
  if (!report) return base::fail(report.error().in("--host " + path));
  return report;
}

}  // namespace rdmacfg::ctl
