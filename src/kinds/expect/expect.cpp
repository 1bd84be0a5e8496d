// SPDX-License-Identifier: Apache-2.0
#include "kinds/expect/expect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "formats/counter_record.hpp"
#include "kinds/abilities.hpp"
#include "kinds/entry.hpp"
#include "kinds/expect/judgement.hpp"
#include "kinds/expect/rows.hpp"
#include "kinds/ports/selector.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Observed;
using model::Section;
using About = ExpectRow::About;

namespace {

constexpr std::int64_t kUsualWindow = 3600;

std::string name_of_port(const PortRef& port) {
  return fmt::format("{}/{}", port.device->name, port.port->number);
}

/// The GUID, where no other port has it: names may change.
std::string id_of_port(const PortRef& port, const World& world) {
  if (port.port->guid.number == 0) return name_of_port(port);
  int others = 0;
  for (const auto& device : world.snapshot().devices) {
    others +=
        static_cast<int>(std::count_if(device.ports.begin(), device.ports.end(), [&](const auto& candidate) {
          return candidate.guid == port.port->guid;
        }));
  }
  return others == 1 ? port.port->guid.text() : name_of_port(port);
}

std::string id_of_device(const system::RdmaDevice& device) {
  return device.pci.empty() ? device.name : device.pci;
}

std::vector<PortRef> ports_of(const Section& section, const World& world) {
  const auto* match = section.child("expect.match");
  const auto wanted = match == nullptr ? PortMatch{} : match_of(*match);
  std::vector<PortRef> out;
  if (!world.has_host() || world.offline()) return out;
  for (const auto& device : world.snapshot().devices) {
    for (const auto& port : device.ports) {
      if (matches(wanted, device, port)) out.push_back({&device, &port});
    }
  }
  return out;
}

void refuse(Diagnostics& diagnostics, const model::Location& where, std::string message, std::string hint) {
  diagnostics.push_back({model::Severity::kError, where, std::move(message), std::move(hint), {}});
}

/// A counter that perfquery calls SymbolErrorCounter, as sysfs and this language do: symbol_error.
std::string name_in_sysfs(std::string_view name) {
  std::string out;
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (i > 0 && is_capital(name[i]) && !is_capital(name[i - 1])) out += '_';
    out += name[i];
  }
  out = base::lower(out);
  constexpr std::string_view kSuffix = "_counter";
  if (out.ends_with(kSuffix)) out.resize(out.size() - kSuffix.size());
  return out;
}

/// "did you mean symbol_error?"
std::string nearest_hint(const std::string& word, const std::vector<std::string>& known) {
  auto near = base::nearest(word, known);
  if (!near) near = base::nearest(name_in_sysfs(word), known);
  return near ? fmt::format("did you mean {}? docs/EXPECT.md lists all", *near)
              : std::string("docs/EXPECT.md lists them");
}

/// Turns the keys of an [[expect]] entry into policies, grouped by level (host, device, port).
class Entry {
 public:
  Entry(const Section& section, const World& world, Diagnostics& diagnostics)
      : section_(section), world_(world), diagnostics_(diagnostics), ports_(ports_of(section, world)) {}

  void add_to(std::vector<Desired>& out) {
    const auto* name = section_.find("name");
    if (name == nullptr) return;  // reported already, by the grammar
    name_ = model::text_of(name->value);
    if (name_.find('/') != std::string::npos)
      return refuse(diagnostics_, name->where, "[[expect]] name: contains a slash",
                    "reports separate the name and the port by a slash");
    const auto before = diagnostics_.size();
    read_keys();
    for (const auto& child : section_.children) {
      if (child.path == "expect.counter") read_counter(child);
      if (child.path == "expect.setting") read_setting(child);
    }
    if (host_.policy.empty() && device_.policy.empty() && port_.policy.empty()) {
      if (diagnostics_.size() > before) return;
      diagnostics_.push_back({model::Severity::kWarning,
                              section_.where,
                              fmt::format("[[expect]] {}: nothing is expected", name_),
                              "write an expectation, such as rate = 100",
                              {}});
      return;
    }
    make(out);
  }

 private:
  void put(Desired& level, const std::string& key, const model::Entry& entry) {
    level.policy.emplace(key, entry.value);
    level.origins.emplace(key, entry.where);
  }

  Desired& level_of(About about) {
    if (about == About::kDevice) return device_;
    return about == About::kPort || about == About::kCounter ? port_ : host_;
  }

  void read_keys() {
    for (const auto& [key, entry] : section_.entries) {
      const auto* row = expect_row(key);
      if (row == nullptr || !is_choice(*row, entry)) continue;
      put(level_of(row->about), key, entry);
    }
  }

  bool is_choice(const ExpectRow& row, const model::Entry& entry) {
    std::vector<std::string> written;
    if (const auto* list = std::get_if<std::vector<std::string>>(&entry.value)) {
      written = *list;
    } else {
      written.push_back(model::text_of(entry.value));
    }
    if (written.empty()) {
      refuse(diagnostics_, entry.where, fmt::format("[[expect]] {}: the list is empty", row.name),
             "name at least one");
      return false;
    }
    if (const auto* number = std::get_if<std::int64_t>(&entry.value); number != nullptr && row.most != 0) {
      if (const auto why = why_out_of_range(*number, 1, row.most); !why.empty()) {
        refuse(diagnostics_, entry.where, fmt::format("[[expect]] {}: {}", row.name, why),
               row.unit.empty() ? std::string() : fmt::format("{} is in {}", row.name, row.unit));
        return false;
      }
    }
    const auto& first = written.front();
    const auto empty = std::find_if(written.begin(), written.end(),
                                    [](const std::string& text) { return base::trim(text).empty(); });
    const auto place_of = [&](std::vector<std::string>::const_iterator word) {
      return entry.place_of(static_cast<std::size_t>(word - written.cbegin()));
    };
    if (empty != written.end() && row.relation == ExpectRow::Relation::kOneOf && row.choices.empty()) {
      refuse(diagnostics_, place_of(empty), fmt::format("[[expect]] {}: \"\" is not a version", row.name),
             fmt::format("write it as the adapter reports it: {} = \"28.39.1002\"", row.name));
      return false;
    }
    if (row.relation == ExpectRow::Relation::kNotBefore &&
        (first.empty() || first.front() == '.' ||
         first.find_first_not_of("0123456789.") != std::string::npos)) {
      refuse(diagnostics_, entry.where,
             fmt::format("[[expect]] {}: \"{}\" is not a version", row.name, first),
             fmt::format("numbers between dots: {} = \"28.39.1002\"", row.name));
      return false;
    }
    if (row.choices.empty()) return true;
    std::vector<std::string> known;
    for (const auto choice : base::split(row.choices, ' ')) known.emplace_back(choice);
    for (auto word = written.cbegin(); word != written.cend(); ++word) {
      if (std::find(known.begin(), known.end(), *word) != known.end()) continue;
      const auto near = base::nearest(*word, known);
      refuse(diagnostics_, place_of(word),
             fmt::format("[[expect]] {}: \"{}\" is not one of {}", row.name, *word, base::join(known, ", ")),
             near ? fmt::format("did you mean \"{}\"?", *near) : "write one of these values");
      return false;
    }
    return true;
  }

  /// The name of a child that the table has.
  std::optional<std::string> known_name(const Section& child, About about) {
    const auto* entry = child.find("name");
    if (entry == nullptr) return std::nullopt;
    auto name = model::text_of(entry->value);
    if (expect_row(name, about) != nullptr) return name;
    refuse(diagnostics_, entry->where,
           fmt::format("[[{}]] name: there is no {} \"{}\"", child.path, text_of(about), name),
           nearest_hint(name, expect_names(about)));
    return std::nullopt;
  }

  void read_counter(const Section& child) {
    const auto name = known_name(child, About::kCounter);
    if (!name) return;
    const auto *max = child.find("max"), *growth = child.find("growth"), *window = child.find("window");
    if (max == nullptr && growth == nullptr)
      return refuse(diagnostics_, child.where,
                    fmt::format("[[expect.counter]] {}: neither max nor growth", *name),
                    "write max = 0, or growth = 10 and window = \"1h\"");
    if (window != nullptr && growth == nullptr)
      return refuse(diagnostics_, window->where,
                    fmt::format("[[expect.counter]] {}: window without growth", *name),
                    "write growth too: window is its period");
    if (max != nullptr) put(port_, *name, *max);
    if (growth == nullptr) return;
    put(port_, growth_key(*name), *growth);
    const model::Entry hour{.value = kUsualWindow, .where = growth->where};
    put(port_, window_key(*name), window == nullptr ? hour : *window);
  }

  void read_setting(const Section& child) {
    const auto name = known_name(child, About::kSetting);
    if (!name) return;
    const auto *value = child.find("value"), *min = child.find("min");
    if ((value == nullptr) == (min == nullptr))
      return refuse(diagnostics_, child.where,
                    fmt::format("[[expect.setting]] {}: {}", *name,
                                value == nullptr ? "neither value nor min" : "both value and min"),
                    "write value = \"never\", or min = 4096");
    put(host_, value != nullptr ? *name : least_key(*name), value != nullptr ? *value : *min);
  }

  void make(std::vector<Desired>& out) {
    const bool needs_ports = !device_.policy.empty() || !port_.policy.empty();
    if (!host_.policy.empty() || (needs_ports && ports_.empty())) {
      auto desired = host_;
      if (needs_ports && ports_.empty()) desired.policy.emplace(std::string(kNoPorts), true);
      finish(std::move(desired), "", "", ports_, out);
    }
    if (!device_.policy.empty()) {
      std::set<const system::RdmaDevice*> said;
      for (const auto& port : ports_) {
        if (said.insert(port.device).second)
          finish(device_, id_of_device(*port.device), port.device->name, {port}, out);
      }
    }
    if (port_.policy.empty()) return;
    for (const auto& port : ports_) finish(port_, id_of_port(port, world_), name_of_port(port), {port}, out);
  }

  void finish(Desired desired, const std::string& id, const std::string& label,
              const std::vector<PortRef>& ports, std::vector<Desired>& out) {
    desired.key = {std::string(kExpectKind), id.empty() ? name_ : fmt::format("{}/{}", name_, id)};
    desired.label = label.empty() ? name_ : fmt::format("{} of {}", name_, label);
    desired.where = section_.where;
    std::vector<std::string> names;
    names.reserve(ports.size());
    for (const auto& port : ports) names.push_back(name_of_port(port));
    desired.policy.emplace(std::string(kPorts), std::move(names));
    out.push_back(std::move(desired));
  }

  const Section& section_;
  const World& world_;
  Diagnostics& diagnostics_;
  std::vector<PortRef> ports_;
  std::string name_;
  Desired host_, device_, port_;  ///< what is expected of each
};

/// The device that a resource is about; nullptr for those of the host, and while it is away.
const system::RdmaDevice* device_of(const model::Key& key, const World& world) {
  const auto slash = key.id.find('/');
  if (slash == std::string::npos) return nullptr;
  const auto id = key.id.substr(slash + 1);
  for (const auto& device : world.snapshot().devices) {
    if (id_of_device(device) == id) return &device;
    for (const auto& port : device.ports) {
      const PortRef ref{&device, &port};
      if (name_of_port(ref) == id || (port.guid.number != 0 && port.guid.text() == id)) return &device;
    }
  }
  return nullptr;
}

class ExpectKind final : public Kind, public KeepsReadings {
 public:
  ExpectKind()
      : Kind({.name = kExpectKind,
              .fields = model::specs<Expect>(),
              .traits = {.only_checked = true, .listed_when_foreign = false, .on_rdma_port = true}}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    for (const auto* section : bound.of(kExpectKind)) Entry(*section, *bound.world, diagnostics).add_to(out);
  }

  /// The rows are read when they are judged: only then it is known which.
  Result<std::vector<Observed>> observe(World& /*world*/) const override { return std::vector<Observed>(); }

  Result<void> apply(std::span<const Change> /*changes*/, system::Host& /*host*/) const override {
    return {};
  }

  Verdict judge(const Desired& desired, const Observed* /*observed*/,
                const std::vector<std::string>& /*differing*/, World& world) const override {
    return judge_expectation(desired, world);
  }

  [[nodiscard]] std::string parent_object(const Change& change, const World& world) const override {
    const auto* device = device_of(change.key, world);
    return device == nullptr ? std::string() : device->instance;
  }

  Result<void> keep_readings(std::span<const model::ResourceReport> resources,
                             system::Host& host) const override {
    return keep_counters(resources, host);
  }
};

}  // namespace

model::SectionSpec expect_section() {
  model::SectionSpec match{
      .name = "match",
      .repeated = false,
      .doc = "Ports selected by their properties; a port must match all that are given."};
  add_written(match.fields, model::specs<PortMatch>());
  model::SectionSpec counter{
      .name = "counter", .doc = "An error counter of each port.", .identities = {{"name"}}};
  add_written(counter.fields, model::specs<ExpectCounter>());
  model::SectionSpec setting{.name = "setting", .doc = "A setting of the host.", .identities = {{"name"}}};
  add_written(setting.fields, model::specs<ExpectSetting>());
  model::SectionSpec section{
      .name = kExpectKind,
      .doc = "Expectations that are checked and never repaired: of all ports, or of those that match.",
      .identities = {{"name"}}};
  add_written(section.fields, model::specs<Expect>());
  section.children = {std::move(match), std::move(counter), std::move(setting)};
  return section;
}

const Kind& expect() {
  static const ExpectKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
