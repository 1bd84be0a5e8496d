// SPDX-License-Identifier: Apache-2.0
// Rules of udev (udev(7), rdma-core's 70-persistent-ipoib.rules): names, and attributes of IPoIB interfaces.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>

#include "base/text.hpp"
#include "catalog/withdraw_files.hpp"
#include "foreign/import/boot/script_modules.hpp"
#include "foreign/import/boot/script_sections.hpp"
#include "foreign/import/boot/udev_devices.hpp"
#include "foreign/import/boot/udev_terms.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/keys.hpp"
#include "foreign/syntax/shell_line.hpp"
#include "formats/udev/udev_backend.hpp"

namespace rdmacfg::foreign {

namespace {

/// The GUID that a pattern for the whole hardware address ends in: "?*00:02:c9:03:00:31:78:f2".
std::optional<model::Guid> guid_of_pattern(std::string_view pattern) {
  constexpr std::size_t kGuid = 23;
  if (pattern.size() < kGuid || pattern.find('|') != std::string_view::npos) return std::nullopt;
  const auto tail = pattern.substr(pattern.size() - kGuid);
  const auto guid = model::Guid::parse(tail);
  return guid && tail[2] == ':' ? std::optional(*guid) : std::nullopt;
}

constexpr std::array<std::string_view, 2> kAddressKeys{"ATTR{address}", "ATTRS{address}"};
constexpr std::string_view kNameless = "does not name the port by the GUID at the end of its address";

/// Words about a command of RDMA that a rule runs; empty for others.
std::string advice_on(std::string_view command, const Claims& claims) {
  auto advice = modprobe_advice(command);
  return advice.empty() ? script_advice(command, claims) : advice;
}

/// Whether a file is one that `rdma-configctl withdraw` leaves: the rules that call its scripts, or those of
/// the backends under their other name.
bool is_left_by_withdraw(std::string_view path) {
  const auto name_in = [](std::string_view of) { return of.substr(of.rfind('/') + 1); };
  return name_in(path) == name_in(kinds::kSetupRules) ||
         kinds::plain_name(name_in(kinds::kBackendRules)) == name_in(path);
}

/// The GOTOs before a rule, of which the one that goes farthest counts.
class Jumps {
 public:
  /// A GOTO in line `line` to the rule `end`, which is not skipped itself.
  void add(UdevFit fit, std::size_t end, int line) {
    auto& jump = fit == UdevFit::kYes ? sure_ : unsure_;
    if (fit != UdevFit::kNot && end > jump.end) jump = {end, line};
  }
  [[nodiscard]] bool skips(std::size_t rule) const { return rule < sure_.end; }
  /// Why a rule may be skipped; empty: it is not.
  [[nodiscard]] std::string reason(std::size_t rule) const {
    if (skips(rule)) return fmt::format("is skipped by the GOTO in line {}", sure_.line);
    if (rule < unsure_.end) return fmt::format("may be skipped by the GOTO in line {}", unsure_.line);
    return {};
  }

 private:
  struct Jump {
    std::size_t end = 0;
    int line = 0;
  };
  Jump sure_, unsure_;
};

/// The settings of rules about interfaces; of several for one the last counts, or one with `:=`.
class NamedInterfaces {
 public:
  explicit NamedInterfaces(Claims& claims) : claims_(claims) {}

  enum class RulesOf {
    kIpoib,  ///< a file that names IPoIB interfaces, such as 70-persistent-ipoib.rules
    kAny,
  };

  /// `skipped`: why the rule may not be reached.
  void rule(const UdevTerms& terms, const Place& where, RulesOf file, std::string_view skipped) {
    const bool infiniband = matched_value(terms, "ATTR{type}") == "32";
    auto address = matched_value(terms, "ATTR{address}");
    if (address.empty()) address = matched_value(terms, "ATTRS{address}");
    const auto guid = guid_of_pattern(address);
    const auto subsystem = matched_value(terms, "SUBSYSTEM");
    const auto kernel = matched_value(terms, "KERNEL");
    // Without a word of InfiniBand an attribute that only IPoIB interfaces have says the same.
    const bool ipoib = sets(terms, "ATTR{umcast}") ||
                       (sets(terms, "ATTR{mode}") && (subsystem == "net" || claims_.knows(kernel)));
    const bool mtu =
        sets(terms, "ATTR{mtu}") && (claims_.knows(kernel) || claims_.knows(matched_value(terms, "NAME")));
    // Every action on interfaces of our names is ours too.
    const bool by_kernel = changes(terms) && is_for_us(kernel);
    const bool ours = guid || infiniband || ipoib || mtu || by_kernel || names_ours(terms, address, file);
    if (!ours || (!subsystem.empty() && subsystem != "net")) return;
    const auto condition = udev_condition(terms, UdevSubject::kInterface, claims_);
    if (!condition) return;
    if (asks_for_upper_case(terms, kAddressKeys)) return claims_.miss(where, std::string(kUpperCase));
    if (!skipped.empty() || !condition->empty()) {
      if (changes(terms)) claims_.miss(where, skipped.empty() ? *condition : std::string(skipped));
      return;
    }
    bool understood = false;
    for (const auto& term : terms)
      understood = (term.adds() && read_assignment(term, terms, guid, where)) || understood;
    if (understood) claims_.took(where);
  }

  void finish() {
    for (auto& [guid, interface] : by_guid_) claims_.interfaces.push_back(std::move(interface));
    for (auto& [name, interface] : by_name_) claims_.interfaces.push_back(std::move(interface));
  }

 private:
  /// Whether KERNEL== asks for names of our interfaces, not for those of every device.
  [[nodiscard]] bool is_for_us(std::string_view kernel) const {
    const auto parts = base::split(kernel, '|');
    return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
      return part.find_first_not_of("*?") != std::string_view::npos && claims_.knows(part);
    });
  }
  /// Whether the rule gives a name to what may be an interface of ours: in a file for them, or a name as
  /// theirs are, unless the rule asks for another type or for an address that is not 20 bytes long.
  [[nodiscard]] bool names_ours(const UdevTerms& terms, std::string_view address, RulesOf file) const {
    const auto type = matched_value(terms, "ATTR{type}");
    constexpr std::size_t kLongestEthernet = 19;  // with a star before or behind it
    const bool other = (!type.empty() && type != "32") ||
                       (!address.empty() && address.size() <= kLongestEthernet && !is_all_stars(address));
    return !other && std::any_of(terms.begin(), terms.end(), [&](const UdevTerm& term) {
      return term.key == "NAME" && term.adds() && (file == RulesOf::kIpoib || claims_.knows(term.value));
    });
  }
  static bool is_all_stars(std::string_view pattern) {
    return pattern.find_first_not_of("*?") == std::string_view::npos;
  }
  /// Whether the rule gives a name, runs something, or has others do so.
  static bool acts(const UdevTerms& terms) {
    return std::any_of(terms.begin(), terms.end(), [](const UdevTerm& term) {
      return term.adds() && (term.key == "NAME" || term.key.starts_with("RUN") || asks_others(term));
    });
  }
  /// Whether it does anything that is understood or named.
  static bool changes(const UdevTerms& terms) {
    return acts(terms) || std::any_of(terms.begin(), terms.end(), [](const UdevTerm& term) {
             return term.adds() && (term.key.starts_with("ATTR{") || term.key.starts_with("SYSCTL{"));
           });
  }
  /// Variables by which a rule has NetworkManager or systemd do something with an interface, or leave it.
  static bool asks_others(const UdevTerm& term) {
    return term.key == "ENV{NM_UNMANAGED}" || term.key == "ENV{SYSTEMD_WANTS}" ||
           term.key == "ENV{ID_NET_MANAGED_BY}";
  }
  static bool sets(const UdevTerms& terms, std::string_view key) {
    return std::any_of(terms.begin(), terms.end(),
                       [&](const UdevTerm& term) { return term.key == key && term.sets(); });
  }

  /// One assignment of a rule; whether it is understood.
  bool read_assignment(const UdevTerm& term, const UdevTerms& terms, const std::optional<model::Guid>& guid,
                       const Place& where) {
    const bool attribute = term.key == "ATTR{mode}" || term.key == "ATTR{umcast}" || term.key == "ATTR{mtu}";
    if (term.key == "NAME" && term.sets()) return name(term, guid, where);
    if (attribute && term.sets()) {
      // A value that makes no sense makes no entry: the rule may be for another sort of interface.
      Interface judged;
      auto why = set(term, judged);
      if (auto* interface = why.empty() ? matched_interface(terms, guid, where) : nullptr) {
        set(term, *interface);
      } else if (why.empty()) {
        why = fmt::format(
            "{}: is for several ports: write the setting below [defaults.ipoib], or into the entry of "
            "each port",
            term.key);
      }
      if (!why.empty()) claims_.miss(where, why);
      return why.empty();
    }
    const bool runs = term.key.starts_with("RUN");
    if ((runs || asks_others(term)) && is_left_by_withdraw(where.file)) {
      claims_.pass({where.file, 0}, std::string(kLeftByWithdraw));
      return false;
    }
    if (runs && !advice_on(term.value, claims_).empty()) return false;  // is told of every rule
    if (runs && touches_ipoib(term.value)) {
      claims_.miss(
          where,
          fmt::format("{}: {}: write the setting below [defaults.ipoib], or into the entry of each port",
                      term.key, without_secrets(term.value)));
    } else if (term.key.starts_with("ATTR{") || term.key.starts_with("SYSCTL{") || runs) {
      claims_.miss(where, fmt::format("{}: is not supported", term.key));
    }
    constexpr auto kOurs = kinds::kBackendRules.substr(kinds::kBackendRules.rfind('/'));
    const bool told = !advice_on_wanted(term, claims_).empty();  // of every rule
    if (asks_others(term) && !told && !where.file.ends_with(kOurs))
      claims_.miss(where, fmt::format("{}=\"{}\": cannot be expressed in the document; keep this rule",
                                      term.key, term.value));
    return false;
  }

  bool name(const UdevTerm& term, const std::optional<model::Guid>& guid, const Place& where) {
    if (!guid) {
      claims_.miss(where, std::string(kNameless));
    } else if (term.value.find_first_of("$%") != std::string::npos) {
      claims_.miss(where, fmt::format("NAME=\"{}\": udev computes the name", term.value));
    } else if (final_.contains(*guid)) {
      claims_.pass(where, fmt::format("NAME: an earlier rule with := counts, not {}", term.value));
    } else {
      claims_.give_name(*guid, {term.value, where});
      if (term.sign == ":=") final_.insert(*guid);
      return true;
    }
    return false;
  }

  /// The interface that the rule is for: of a port, or of a name.
  Interface* matched_interface(const UdevTerms& terms, const std::optional<model::Guid>& guid,
                               const Place& where) {
    Interface fresh;
    fresh.where = where;
    fresh.passive = true;
    fresh.guid = guid;
    if (guid) return &by_guid_.try_emplace(*guid, std::move(fresh)).first->second;
    fresh.name = matched_value(terms, "NAME");
    if (fresh.name.empty()) fresh.name = matched_value(terms, "KERNEL");
    if (fresh.name.empty() || is_pattern(fresh.name)) return nullptr;
    const auto name = fresh.name;
    return &by_name_.try_emplace(name, std::move(fresh)).first->second;
  }

  /// @return what is wrong.
  static std::string set(const UdevTerm& term, Interface& interface) {
    // e"connected\n" is with the line feed that the kernel compares with.
    auto value = term.value;
    if (value.ends_with("\\n")) value.resize(value.size() - 2);
    const auto number = base::parse_number(value);
    if (term.key == "ATTR{mode}") {
      const auto mode = model::parse_named_mode(value);
      if (!mode) return fmt::format("ATTR{{mode}}: {}", mode.error().message);
      interface.mode = *mode;
    } else if (term.key == "ATTR{umcast}") {
      if (!number) return fmt::format("ATTR{{umcast}}: {} is not a number", value);
      interface.umcast = *number != 0;
    } else {
      if (!number || *number == 0 || *number > model::kMtuConnectedMax)
        return fmt::format("ATTR{{mtu}}: {} is not a number from 1 to {}", value, model::kMtuConnectedMax);
      interface.mtu = static_cast<std::int64_t>(*number);
    }
    return {};
  }

  Claims& claims_;
  std::map<model::Guid, Interface> by_guid_;
  std::map<std::string, Interface> by_name_;
  std::set<model::Guid> final_;
};

/// A rule as it is written.
struct UdevRule {
  std::string text;
  int line = 0;
  std::optional<UdevTerms> terms = {};

  [[nodiscard]] std::string_view value(std::string_view key) const {
    if (!terms) return {};
    const auto at =
        std::find_if(terms->begin(), terms->end(), [&](const UdevTerm& term) { return term.key == key; });
    return at == terms->end() ? std::string_view() : std::string_view(at->value);
  }
};

/// The rules of a file, and what jumps over them: udev knows GOTO in forward direction and within a file
/// only.
class RulesOfFile {
 public:
  RulesOfFile(std::string_view path, NamedInterfaces& interfaces, Claims& claims)
      : path_(path), interfaces_(interfaces), claims_(claims) {}

  void add(std::string text, int line) {
    auto terms = parse_udev_terms(text);
    rules_.push_back({std::move(text), line, std::move(terms)});
  }

  void finish() {
    // The next label of that name counts; a GOTO without one is none.
    std::map<std::string_view, std::size_t> labels;
    std::vector<std::size_t> targets(rules_.size(), 0);
    for (auto at = rules_.size(); at-- > 0;) {
      if (const auto to = labels.find(rules_[at].value("GOTO")); to != labels.end()) targets[at] = to->second;
      if (const auto label = rules_[at].value("LABEL"); !label.empty()) labels[label] = at;
    }
    for (std::size_t at = 0; at < rules_.size(); ++at) {
      const auto& rule = rules_[at];
      parse(rule, at);
      if (targets[at] == 0) continue;
      for (auto* jumps : {&of_interfaces_, &of_devices_}) {
        if (jumps->skips(at)) continue;
        const auto fit = udev_fit(
            *rule.terms, jumps == &of_devices_ ? UdevSubject::kDevice : UdevSubject::kInterface, claims_);
        const bool reached = jumps->reason(at).empty();
        jumps->add(reached ? fit : std::min(fit, UdevFit::kMaybe), targets[at], rule.line);
      }
    }
  }

 private:
  void parse(const UdevRule& rule, std::size_t at) {
    const Place where{std::string(path_), rule.line};
    const std::string_view line = rule.text;
    if (!rule.terms) {
      // Rules about something else are udev's matter.
      const bool ours = line.find("address}") != std::string_view::npos ||
                        line.find("rdma_rename") != std::string_view::npos ||
                        line.find("type}==\"32\"") != std::string_view::npos;
      if (ours) claims_.miss(where, "is not a valid rule");
      return;
    }
    if (is_for_removal(*rule.terms)) return;
    tell_tools(*rule.terms, where);
    tell_owners(*rule.terms, where);
    tell_wanted(*rule.terms, where, claims_);
    if (matched_value(*rule.terms, "SUBSYSTEM") == "infiniband" || renames_device(*rule.terms)) {
      parse_device(*rule.terms, where, of_devices_.reason(at), claims_);
      if (!of_devices_.skips(at)) tell_device_settings(*rule.terms, where, claims_);
    } else {
      const auto file = path_.substr(path_.rfind('/') + 1);
      const auto rules_of = file.find("ipoib") != std::string_view::npos ? NamedInterfaces::RulesOf::kIpoib
                                                                         : NamedInterfaces::RulesOf::kAny;
      interfaces_.rule(*rule.terms, where, rules_of, of_interfaces_.reason(at));
    }
  }

  /// Tools of RDMA that a rule runs, whatever it is for.
  void tell_tools(const UdevTerms& terms, const Place& where) {
    if (is_left_by_withdraw(where.file)) return;  // is told where its rules are read
    for (const auto& term : terms) {
      const bool told = !rename_words(term).empty();  // by parse_device()
      if (!term.adds() || !term.key.starts_with("RUN") || told) continue;
      if (const auto advice = advice_on(term.value, claims_); !advice.empty())
        claims_.miss(where, fmt::format("{}: {}: {}", term.key, without_secrets(term.value), advice));
    }
  }

  /// Owners and modes of /dev/infiniband, which stay in force as long as the file does.
  void tell_owners(const UdevTerms& terms, const Place& where) {
    constexpr auto kDevices = std::to_array<std::string_view>({"uverbs", "umad", "issm", "rdma_cm", "hfi1"});
    const auto kernel = matched_value(terms, "KERNEL"), subsystem = matched_value(terms, "SUBSYSTEM");
    const bool ours = subsystem == "infiniband_verbs" || subsystem == "infiniband_mad" ||
                      std::any_of(kDevices.begin(), kDevices.end(),
                                  [&](std::string_view device) { return kernel.starts_with(device); });
    const auto sets = std::find_if(terms.begin(), terms.end(), [](const UdevTerm& term) {
      return term.sets() && (term.key == "MODE" || term.key == "GROUP" || term.key == "OWNER");
    });
    if (!ours || sets == terms.end()) return;
    claims_.pass(where, sets->key +
                            ": the document does not set owners and modes of device files; keep "
                            "this file");
  }

  std::string_view path_;
  NamedInterfaces& interfaces_;
  Claims& claims_;
  std::vector<UdevRule> rules_;
  Jumps of_interfaces_, of_devices_;
};

void parse_rules(const File& file, NamedInterfaces& interfaces, Claims& claims) {
  RulesOfFile rules(file.path, interfaces, claims);
  int number = 0, first = 0;
  std::string joined;
  for (const auto raw : base::split(file.text, '\n')) {
    ++number;
    const auto line = base::trim(raw);
    if (joined.empty()) {
      if (line.empty() || line.front() == '#') continue;
      first = number;
    }
    if (line.ends_with('\\')) {
      joined += std::string(line.substr(0, line.size() - 1)) + ' ';
      continue;
    }
    joined += line;
    rules.add(std::move(joined), first);
    joined.clear();
  }
  rules.finish();
}

}  // namespace

void parse_udev(std::span<const File> files, Claims& claims) {
  NamedInterfaces interfaces(claims);
  const DropIns drop_ins(files);
  for (const auto& file : files) {
    if (file.path.ends_with(".link")) {
      parse_link(file, drop_ins, claims);
    } else if (!unit_of(file.path).ends_with(".link")) {
      parse_rules(file, interfaces, claims);
    }
  }
  interfaces.finish();
}

}  // namespace rdmacfg::foreign
