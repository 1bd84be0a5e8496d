// SPDX-License-Identifier: Apache-2.0
#include "daemon/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "model/limits.hpp"
#include "store/report_json.hpp"

namespace rdmacfg::daemon {

namespace limits = model::limits;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kListItems = 16;
constexpr std::size_t kTexts = 256;  ///< notes, diagnostics, and the like
/// The demands of NeedsWatching::watched() for a resource.
constexpr std::array<std::string_view, 2> kWatched{"mode", "umcast"};

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string shorten(std::string text) {
  if (text.size() <= limits::kSummaryText) return text;
  auto end = limits::kSummaryText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // within a character
  text.resize(end);
  return text + "…";
}

void shorten(model::Value& value) {
  if (auto* text = std::get_if<std::string>(&value)) {
    *text = shorten(std::move(*text));
  } else if (auto* list = std::get_if<std::vector<std::string>>(&value)) {
    const auto more = list->size() > kListItems ? list->size() - kListItems : 0;
    if (more > 0) list->resize(kListItems);
    for (auto& item : *list) item = shorten(std::move(item));
    if (more > 0) list->push_back(fmt::format("… and {} more", more));
  }
}

void cut(std::string& text) { text = shorten(std::move(text)); }

void cut(model::Note& note) { cut(note.text); }

/// Of texts or notes.
template <class Item>
void shorten(std::vector<Item>& list) {
  const auto more = list.size() > kTexts ? list.size() - kTexts : 0;
  if (more > 0) list.resize(kTexts);
  for (auto& item : list) cut(item);
  if (more > 0) list.push_back(fmt::format("{} more are not shown", more));
}

/// How much of a resource or change a summary has.
enum class Extent { kWithValues, kStatusOnly };

model::Change short_of(const model::Change& change, Extent extent) {
  model::Change out;
  out.key = change.key;
  out.label = shorten(change.label);
  out.operation = change.operation;
  out.fields = change.fields;
  shorten(out.fields);
  out.overruled = change.overruled;
  out.parent_object = change.parent_object;
  out.returned = change.returned;
  if (extent == Extent::kStatusOnly) return out;
  out.effect = change.effect;
  out.interrupts = change.interrupts;  // the journal names the services that are restarted
  shorten(out.interrupts);
  out.interrupts_later = change.interrupts_later;
  shorten(out.interrupts_later);
  out.before = change.before;
  out.after = change.after;
  for (auto* side : {&out.before, &out.after}) {
    for (auto& [name, value] : *side) shorten(value);
  }
  return out;
}

model::ResourceReport short_of(const model::ResourceReport& resource, Extent extent) {
  model::ResourceReport out;
  out.key = resource.key;
  out.label = shorten(resource.label);
  out.status = resource.status;
  out.reason = extent == Extent::kWithValues ? shorten(resource.reason) : resource.reason.substr(0, 160);
  out.instance = resource.instance;
  out.there = resource.there;
  for (const auto& attribute : resource.attributes) {
    if (std::find(kWatched.begin(), kWatched.end(), attribute.name) == kWatched.end()) continue;
    auto& kept = out.attributes.emplace_back(attribute);
    kept.origin.reset();
    shorten(kept.now);
    shorten(kept.wanted);
  }
  return out;
}

/// Without resources and changes.
model::Report frame_of(const model::Report& report) {
  model::Report out;
  out.exit = report.exit;
  out.error = report.error;
  if (out.error) out.error->message = shorten(std::move(out.error->message));
  out.notes = report.notes;
  shorten(out.notes);
  out.left_over = report.left_over;
  shorten(out.left_over);
  for (const auto& diagnostic : report.diagnostics) {
    if (out.diagnostics.size() == kTexts) break;
    out.diagnostics.push_back({diagnostic.severity, diagnostic.where, shorten(diagnostic.message), "", {}});
  }
  return out;
}

}  // namespace

Json summary_of(const model::Report& report) {
  for (const auto extent : {Extent::kWithValues, Extent::kStatusOnly}) {
    auto out = frame_of(report);
    out.resources.reserve(report.resources.size());
    for (const auto& resource : report.resources) out.resources.push_back(short_of(resource, extent));
    for (const auto& change : report.plan.changes) out.plan.changes.push_back(short_of(change, extent));
    for (const auto& change : report.drifted) out.drifted.push_back(short_of(change, extent));
    auto json = core::report_json(out);
    if (dump(json).size() <= limits::kSummaryBytes - kStatusBytes) return json;
  }
  auto out = frame_of(report);
  out.notes.emplace_back(
      "too many resources to track individually: failures are not retried before the next event");
  return core::report_json(out);
}

std::string bounded_report(const model::Report& report, ReportOf subject) {
  auto text = dump(core::report_json(report));
  if (text.size() <= limits::kReportBytes) return text;
  const auto why = fmt::format("the report has {} bytes, more than the {} that can be transferred",
                               text.size(), limits::kReportBytes);
  text.clear();
  text.shrink_to_fit();
  model::Report out;
  if (subject == ReportOf::kChange) {
    out = frame_of(report);
    out.notes.push_back(why +
                        ": resources and changes are left out; `rdma-configctl show` on this host has them");
  } else {
    out.exit = model::Exit::kError;
    out.error = base::Error{base::Code::kRefused,
                            why + "; `rdma-configctl` on this host has no such limit for root", 0};
  }
  return dump(core::report_json(out));
}

}  // namespace rdmacfg::daemon
