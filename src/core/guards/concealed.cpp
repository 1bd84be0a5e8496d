// SPDX-License-Identifier: Apache-2.0
#include "core/guards/concealed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "system/public_view.hpp"

namespace rdmacfg::core {

using model::Change;
using model::Report;
using model::ResourceReport;
using model::Value;

namespace {

/// The second has them while /var cannot be written (ADR 0056).
constexpr std::array<const char*, 2> kRecords{"/var/lib/rdma-configd/", "/run/rdma-configd/"};

bool is_nothing(const Value& value) { return std::holds_alternative<std::monostate>(value); }

void hide(Value& value) {
  if (!is_nothing(value)) value = std::string(kHidden);
}

/// @return false when nothing of the resource is to be seen on the host
bool conceal(ResourceReport& resource, const Visibility& visibility) {
  bool seen = false;
  for (auto& attribute : resource.attributes) {
    seen = seen || !is_nothing(attribute.now);
    if (attribute.wanted == attribute.now) continue;
    if (!visibility.document || (!visibility.records && !attribute.origin)) hide(attribute.wanted);
  }
  if (!visibility.document) {
    resource.reason.clear();
    resource.warnings.clear();
  }
  return seen;
}

void conceal(Change& change, const Visibility& visibility) {
  change.carried.clear();
  for (auto& [field, value] : change.after) {
    if (value == model::value_of(change.before, field)) continue;
    if (!visibility.document || (!visibility.records && !change.origins.contains(field))) hide(value);
  }
  if (!visibility.document) {
    change.interrupts.clear();
    change.interrupts_later.clear();
  }
}

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The values hidden from a report that saw the whole host; they are looked for in its texts.
class Hidden {
 public:
  void add(const model::Key& key, const std::string& label, const Value& value) {
    if (is_nothing(value)) return;
    for (const auto& name : {label, key.id}) add(name, label);
    add_value(model::text_of(value), label);
    if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
      for (const auto& item : *list) add_value(item, label);
    }
  }

  /// A text that names such a resource, or has such a value in it, is replaced.
  void replace_in(std::string& text) const {
    if (const auto* label = named_in(text)) {
      text = fmt::format(
          "{}: this message is hidden, since it may show values that only root may read; root sees more with "
          "`rdma-configctl diff`",
          *label);
    }
  }

 private:
  /// Shorter ones are everywhere. Without the name of their resource they tell nothing.
  static constexpr std::size_t kShortest = 8;

  void add_value(std::string text, const std::string& label) {
    if (text.size() >= kShortest) add(std::move(text), label);
  }

  void add(std::string text, const std::string& label) {
    if (!text.empty()) label_of_.try_emplace(std::move(text), label);
  }

  /// The label of the first resource that a text tells of; null without one.
  [[nodiscard]] const std::string* named_in(std::string_view text) const {
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (at > 0 && is_of_word(text[at - 1]) && is_of_word(text[at])) continue;
      if (const auto* label = named_at(text.substr(at))) return label;
    }
    return nullptr;
  }

  /// The same, of a text that begins with it.
  [[nodiscard]] const std::string* named_at(const std::string_view whole) const {
    for (auto rest = whole; !rest.empty();) {
      auto at = label_of_.upper_bound(rest);
      if (at == label_of_.begin()) return nullptr;
      --at;
      const std::string_view name = at->first;
      const auto same = static_cast<std::size_t>(
          std::mismatch(name.begin(), name.end(), rest.begin(), rest.end()).first - name.begin());
      const bool ends = same == whole.size() || !is_of_word(whole[same]) || !is_of_word(name.back());
      if (same == name.size() && ends) return &at->second;
      rest = rest.substr(0, same == name.size() ? same - 1 : same);  // a shorter one may fit
    }
    return nullptr;
  }

  std::map<std::string, std::string, std::less<>> label_of_;
};

/// Of a change that was made with the whole host in sight: the values that `seen`, the same one planned
/// through the public view, has too.
void replace_values(Change& change, const Change* seen, Hidden& hidden) {
  const auto replace = [&](model::Attributes& values, const model::Attributes* shown) {
    for (auto& [field, value] : values) {
      if (shown != nullptr && model::value_of(*shown, field) == value) continue;
      hidden.add(change.key, change.label, value);
      hide(value);
    }
  };
  replace(change.before, seen == nullptr ? nullptr : &seen->before);
  replace(change.after, seen == nullptr ? nullptr : &seen->after);
  change.carried.clear();
}

void replace_values(std::vector<Change>& changes, const std::vector<Change>& seen, Hidden& hidden) {
  const auto shown = model::by_key(seen);
  for (auto& change : changes) {
    const auto at = shown.find(change.key);
    replace_values(change, at == shown.end() ? nullptr : at->second, hidden);
  }
}

bool shows(const ResourceReport* resource, const std::string& name, const Value& value) {
  return resource != nullptr &&
         std::any_of(resource->attributes.begin(), resource->attributes.end(), [&](const auto& attribute) {
           return attribute.name == name && (attribute.now == value || attribute.wanted == value);
         });
}

/// The values of resources that neither look through the public view shows.
void find_hidden(const std::vector<ResourceReport>& resources, const Report& before, const Report& after,
                 Hidden& hidden) {
  const auto then = model::by_key(before.resources), now = model::by_key(after.resources);
  for (const auto& resource : resources) {
    const auto in_then = then.find(resource.key), in_now = now.find(resource.key);
    const auto* shown_before = in_then == then.end() ? nullptr : in_then->second;
    const auto* shown_after = in_now == now.end() ? nullptr : in_now->second;
    for (const auto& attribute : resource.attributes) {
      for (const auto* value : {&attribute.now, &attribute.wanted}) {
        if (!shows(shown_before, attribute.name, *value) && !shows(shown_after, attribute.name, *value))
          hidden.add(resource.key, resource.label, *value);
      }
    }
  }
}

/// Messages of kinds quote values.
void replace_texts(Report& report, const Hidden& hidden) {
  if (report.error) hidden.replace_in(report.error->message);
  const auto erase_repeated = [](auto& list) {
    list.erase(std::unique(list.begin(), list.end()), list.end());
  };
  for (auto& note : report.notes) hidden.replace_in(note.text);
  erase_repeated(report.notes);
  for (auto& text : report.left_over) hidden.replace_in(text);
  erase_repeated(report.left_over);
}

/// The statuses are those of the change, all else is what can be seen now.
void replace_values(std::vector<ResourceReport>& resources, const std::vector<ResourceReport>& seen) {
  const auto shown = model::by_key(seen);
  std::erase_if(resources, [&](auto& resource) {
    const auto at = shown.find(resource.key);
    if (at == shown.end()) {
      resource.attributes.clear();
      resource.reason.clear();
      resource.warnings.clear();
      return resource.status == model::Status::kInSync;
    }
    resource.attributes = at->second->attributes;
    resource.reason = at->second->reason;
    resource.warnings = at->second->warnings;
    return false;
  });
}

/// Diagnostics quote files of the host.
void replace_diagnostics(Report& report, const config::Document* wanted, const Report& seen) {
  std::size_t errors = 0;
  std::set<std::pair<model::Location, std::string>> known;
  const auto own = wanted == nullptr ? model::Diagnostics{} : validate(*wanted).diagnostics;
  for (const auto* all : {&own, &seen.diagnostics}) {
    for (const auto& diagnostic : *all) known.emplace(diagnostic.where, diagnostic.message);
  }
  std::erase_if(report.diagnostics, [&](const auto& diagnostic) {
    if (known.contains({diagnostic.where, diagnostic.message})) return false;
    if (diagnostic.severity == model::Severity::kError) ++errors;
    return true;
  });
  if (errors > 0) {
    report.diagnostics.push_back({model::Severity::kError,
                                  {},
                                  "the document conflicts with host state that only root may read",
                                  "root sees more with `rdma-configctl diff`",
                                  {}});
  }
}

}  // namespace

void conceal(Report& report, const Visibility& visibility) {
  std::size_t unseen = 0;
  std::erase_if(report.resources, [&](auto& resource) {
    if (conceal(resource, visibility) || visibility.document) return false;
    ++unseen;
    return true;
  });
  for (auto* changes : {&report.plan.changes, &report.drifted}) {
    for (auto& change : *changes) conceal(change, visibility);
    if (!visibility.document)
      std::erase_if(*changes,
                    [](const auto& change) { return change.operation == model::Operation::kCreate; });
  }
  if (visibility.document) return;
  const bool faulty = model::has_errors(report.diagnostics);
  report.diagnostics.clear();
  if (faulty) report.diagnostics.push_back({model::Severity::kError, {}, "the document has errors", "", {}});
  report.notes.push_back(
      unseen == 0
          ? std::string("only root may read the document; desired values are not shown")
          : fmt::format(
                "only root may read the document; desired values and {} absent resources are not shown",
                unseen));
}

bool active_is_private(system::Files& files, const GenerationPaths& paths) {
  const auto ledger = read_ledger(files, paths);
  if (!ledger) return true;
  const auto is_private = [&](std::uint64_t number) {
    if (number == 0) return false;
    const auto texts = read_texts(files, paths, number);
    return !texts || std::any_of(texts->files.begin(), texts->files.end(),
                                 [](const auto& file) { return file.is_private; });
  };
  return is_private(ledger->active) || (ledger->unconfirmed && is_private(ledger->unconfirmed->previous));
}

Report look_concealed(Context& context,
                      const std::function<Report(Context& seen, bool& own_document)>& look) {
  system::PublicView view(context.host, {kRecords.begin(), kRecords.end()});
  Context seen{view.host(), context.options, context.paths, context.clock};
  bool own_document = false;
  auto report = look(seen, own_document);
  auto& files = context.host.files;
  const auto& paths = context.options.paths;
  conceal(report,
          {.document = own_document, .records = !files.hidden(paths.state) && !files.hidden(paths.held)});
  return report;
}

Report change_concealed(const config::Document* wanted, const Request& request, Context& context,
                        const std::function<Report()>& change) {
  const auto seen_now = [&](const config::Document* document) {
    return look_concealed(context, [&](Context& seen, bool& own_document) {
      own_document = document != nullptr || !active_is_private(seen.host.files, seen.paths);
      return document != nullptr ? diff(*document, seen.host, seen.options) : core::look(request, seen);
    });
  };
  const auto before = wanted == nullptr ? Report{} : seen_now(wanted);
  auto report = change();
  const auto after = seen_now(nullptr);
  Hidden hidden;
  find_hidden(report.resources, before, after, hidden);
  replace_values(report.plan.changes, before.plan.changes, hidden);
  replace_values(report.drifted, before.plan.changes, hidden);
  replace_texts(report, hidden);
  replace_values(report.resources, after.resources);
  replace_diagnostics(report, wanted, before);
  return report;
}

}  // namespace rdmacfg::core
