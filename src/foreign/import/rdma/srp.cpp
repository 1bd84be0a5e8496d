// SPDX-License-Identifier: Apache-2.0
// The rules of srp_daemon, and what drop-ins of its units and Debian's /etc/default/srptools say of it.
// Sources: srp_daemon(8); get_rules_file() and get_config() of srp_daemon/srp_daemon.c,
// srp_daemon_port@.service.in and debian/srptools.init in rdma-core.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/keys.hpp"
#include "formats/storage/srp_rules.hpp"

namespace rdmacfg::foreign {

namespace {

constexpr std::string_view kSrpRulesName = "srp_daemon.conf";
constexpr std::uint16_t kFullMember = 0x8000;

std::string_view srp_file_name(const File& file) {
  return std::string_view(file.path).substr(file.path.rfind('/') + 1);
}

bool is_srp_drop_in(const File& file) {
  return file.path.find("/srp_daemon") != std::string::npos && !unit_of(file.path).empty();
}

class SrpFiles {
 public:
  explicit SrpFiles(Claims& claims) : claims_(claims) {}

  void read(std::span<const File> files) {
    std::vector<const File*> rules, others;
    for (const auto& file : files) {
      if (is_srp_drop_in(file)) {
        drop_in(file);
      } else if (srp_file_name(file) == "srptools") {
        defaults(file);
      } else {
        (srp_file_name(file) == kSrpRulesName ? rules : others).push_back(&file);
      }
    }
    // A file of any name may be given, as -f of srp_daemon takes it.
    if (rules.empty() && others.size() == 1) std::swap(rules, others);
    for (const auto* file : others) claims_.pass({file->path, 0}, "is not srp_daemon.conf");
    for (const auto* file : rules) {
      if (kinds::first_srp_rule(file->text) == 0) continue;
      if (file->path == kinds::kSrpDaemonFile && instead_) {
        claims_.pass({file->path, 0}, *instead_);
      } else if (!source_.empty()) {
        claims_.miss({file->path, 0},
                     fmt::format("left out, as srp_daemon reads only one file: {} is imported", source_));
      } else {
        source_ = file->path;
        take_rules(*file);
      }
    }
  }

 private:
  struct NumberedRule {
    int line = 0;
    kinds::SrpRule rule{};
  };

  /// One wrong line is enough for srp_daemon to refuse the file and end; without that line the others might
  /// log in to more.
  void take_rules(const File& file) {
    std::vector<NumberedRule> rules;
    bool refused = false;
    int number = 0;
    for (const auto line : base::split(file.text, '\n')) {
      ++number;
      const Place where{file.path, number};
      if (line.size() > kinds::kSrpLineBytes) {
        refused = true;
        claims_.miss(where,
                     fmt::format("is longer than {} bytes, and srp_daemon reads the rest as another line; "
                                 "no rule is imported until it is corrected",
                                 kinds::kSrpLineBytes));
      } else if (!line.empty() && line.front() != '#') {
        if (const auto rule = kinds::parse_srp_rule(line)) {
          rules.push_back({number, *rule});
        } else {
          refused = true;
          claims_.miss(
              where,
              "is not a rule of srp_daemon, which refuses a file with such a line; no rule is imported "
              "until it is corrected");
        }
      }
    }
    if (refused) return;
    // A comment there does no harm.
    if (!file.text.ends_with('\n') && !rules.empty() && rules.back().line == number)
      claims_.miss({file.path, number},
                   "ends without a line feed, so that srp_daemon misreads the rule, or refuses the file; the "
                   "document has it as it is written");
    add_rules(file, rules);
  }

  void add_rules(const File& file, const std::vector<NumberedRule>& rules) {
    int count = 0;
    for (std::size_t at = 0; at < rules.size(); ++at) {
      const auto& [line, rule] = rules[at];
      const Place where{file.path, line};
      if (at + 1 == rules.size() && rule.matches_all() && rule.options.empty()) {
        claims_.took(where);
        claims_.entry("srp_initiator", {}, where).values["others"] = rule.allow;
        return;
      }
      std::optional<model::Pkey> pkey;
      if (rule.pkey) {
        const auto made = model::Pkey::make(*rule.pkey);
        if (!made) {
          claims_.miss(
              where, fmt::format("{}; the rule, which matches no target, is left out", made.error().message));
          continue;
        }
        pkey = *made;
        if (at + 1 < rules.size() && is_other_membership(rule, rules[at + 1].rule)) {
          ++at;
          claims_.took({file.path, rules[at].line});
        } else {
          claims_.miss(where, fmt::format("pkey={:04x}: the rule of the document is for full and limited "
                                          "membership of the partition",
                                          *rule.pkey));
        }
      }
      claims_.took(where);
      add_rule(fmt::format("rule{}", ++count), rule, pkey, where);
    }
  }

  static bool is_other_membership(const kinds::SrpRule& rule, kinds::SrpRule next) {
    if (!next.pkey) return false;
    next.pkey = static_cast<std::uint16_t>(*next.pkey ^ kFullMember);
    return next == rule;
  }

  void add_rule(const std::string& name, const kinds::SrpRule& rule, const std::optional<model::Pkey>& pkey,
                const Place& where) {
    auto& values = claims_.entry("srp_rule", {{"name", name}}, where).values;
    if (!rule.allow) values["allow"] = false;
    if (rule.id_ext) values["id_ext"] = rule.id_ext->text();
    if (rule.ioc_guid) values["ioc_guid"] = rule.ioc_guid->text();
    if (rule.dgid) values["dgid"] = rule.dgid->text();
    if (rule.service_id) values["service_id"] = rule.service_id->text();
    if (pkey) values["pkey"] = pkey->text();
    if (rule.options.empty()) return;
    for (const auto option : base::split(rule.options, ',')) {
      const auto equals = option.find('=');
      const std::string key(option.substr(0, equals));
      const auto number =
          static_cast<std::int64_t>(base::parse_number(option.substr(equals + 1)).value_or(0));
      if (key == "allow_ext_sg") {
        values[key] = number != 0;
      } else {
        values[key] = number;
      }
    }
  }

  void drop_in(const File& file) {
    if (file.path == kinds::kSrpDropIn) {
      instead_ = "srp_daemon reads the rules of the document in place of this file";
      return;
    }
    for (const auto& group : parse_groups(file, claims_)) {
      for (const auto& item : group.items) {
        const Place where{file.path, item.line};
        if (item.key == "ExecStart") {
          command(item, where);
        } else if (item.key == "BindReadOnlyPaths" || item.key == "BindPaths") {
          bound(item, where);
        } else {
          claims_.pass(where,
                       fmt::format("{}: concerns the service, not its rules; keep this file", item.key));
        }
      }
    }
  }

  /// "/etc/srp/mine.conf:/etc/srp_daemon.conf"
  void bound(const Item& item, const Place& where) {
    for (const auto word : words_of(item.value)) {
      const auto parts = base::split(word, ':');
      if (parts.size() >= 2 && parts[1] == kinds::kSrpDaemonFile) replaced(std::string(parts[0]), where);
    }
  }

  /// Options other than those of the unit itself stay where they are.
  void command(const Item& item, const Place& where) {
    constexpr auto kOfUnit =
        std::to_array<std::string_view>({"--systemd", "-e", "-c", "-n", "-j", "%I", "%i", "-R", "60"});
    const auto words = words_of(item.value);
    std::vector<std::string> others;
    for (std::size_t at = 1; at < words.size(); ++at) {
      if (words[at] == "-f" && at + 1 < words.size()) {
        replaced(std::string(words[++at]), where);
      } else if (words[at].starts_with("-f") && words[at].size() > 2) {
        replaced(std::string(words[at].substr(2)), where);
      } else if (std::find(kOfUnit.begin(), kOfUnit.end(), words[at]) == kOfUnit.end()) {
        others.emplace_back(words[at]);
      }
    }
    if (!others.empty())
      claims_.miss(where,
                   fmt::format("{}: the document does not support options of srp_daemon; keep this file",
                               base::join(others, " ")));
  }

  void replaced(const std::string& by, const Place& where) {
    claims_.miss(where,
                 fmt::format("srp_daemon reads {0} in place of {1}: run `rdma-configctl import srp {0}`, and "
                             "remove this line before the document has rules",
                             by, kinds::kSrpDaemonFile));
    instead_ = fmt::format("srp_daemon reads {} in place of this file", by);
  }

  /// Only sysvinit's script reads it: srptools.service of systemd is another name of srp_daemon.service.
  void defaults(const File& file) {
    Keys keys(file.path, parse_assignments(file), claims_);
    const auto ports = keys.take("PORTS");
    if (ports && ports->value != "NONE")
      claims_.pass(
          keys.place(*ports),
          "PORTS: only the script of sysvinit reads it; with rules in the document srp_daemon.service "
          "runs on every InfiniBand port");
    keys.usual("RETRIES", "60");
    keys.pass({"LOG"});
    keys.finish();
  }

  Claims& claims_;
  std::optional<std::string> instead_;  ///< why /etc/srp_daemon.conf is not read
  std::string source_;                  ///< the file with the rules
};

}  // namespace

void parse_srp(std::span<const File> files, Claims& claims) { SrpFiles(claims).read(files); }

}  // namespace rdmacfg::foreign
