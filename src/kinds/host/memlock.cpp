// SPDX-License-Identifier: Apache-2.0
#include "kinds/host/memlock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "formats/limits_conf.hpp"
#include "formats/pam_stack.hpp"
#include "kinds/entry.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::LimitDomain;
using model::Observed;
using model::Severity;

namespace {

constexpr std::string_view kMemlockKind = "memlock";
constexpr std::string_view kUndeclared = "its group was not declared";  // in Change::carried, for undoing

/// Below another root there is nobody to ask but the files.
Result<bool> has_group(system::Host& host, const std::string& group) {
  if (!host.offline) return host.accounts.has_group(group);
  const auto declared = read_declared_groups(host.files);
  if (!declared) return base::fail(declared.error());
  if (declared->contains(group)) return true;
  const auto text = host.files.read("/etc/group");
  if (!text) return base::fail(text.error());
  if (!*text) return false;
  for (const auto line : base::split(**text, '\n')) {
    if (line.starts_with(group + ":")) return true;
  }
  return false;
}

/// Whether a limit for a group is for nobody: packages bring limits for a group of their own (PipeWire does),
/// which many hosts do not have, or have without members. False where a directory may know better.
bool is_empty_group(system::Host& host, const std::string& group) {
  if (group.find(':') != std::string::npos) return false;  // a range of numbers
  const auto there = has_group(host, group);
  if (there && !*there) return true;
  const auto groups = host.files.read("/etc/group"), users = host.files.read("/etc/passwd");
  if (!groups || !*groups || !users || !*users) return false;
  for (const auto line : base::split(**groups, '\n')) {
    const auto fields = base::split(line, ':');
    if (fields.size() < 4 || fields[0] != group) continue;
    // People have a primary group above 999, or "users"; below are those that packages add.
    const auto number = base::parse_number(fields[2]);
    if (!number || *number <= 100 || *number > 999 || !base::trim(fields[3]).empty()) return false;
    const auto accounts = base::split(**users, '\n');
    return std::none_of(accounts.begin(), accounts.end(), [&](std::string_view account) {
      const auto words = base::split(account, ':');
      const auto user = words.size() > 3 ? base::parse_number(words[2]) : std::nullopt;
      return user && *user > 999 && words[3] == fields[2];
    });
  }
  return false;
}

constexpr std::array kMemlockFiles{OwnedFile{.path = kLimitsFile, .what = "Memory that logins may lock."},
                                   OwnedFile{.path = kSysusersFile,
                                             .what = "Groups of [[memlock]], for systemd-sysusers.",
                                             .rendered = [](std::string_view text) {
                                               return render_declared_groups(parse_declared_groups(text));
                                             }}};

class MemlockKind final : public Kind {
 public:
  MemlockKind()
      : Kind({.name = kMemlockKind,
              .fields = model::specs<Memlock>(),
              .traits = {.works_offline = true},
              .files = kMemlockFiles}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    for (const auto* section : bound.of(kMemlockKind)) {
      const auto* domain = section->find("domain");
      if (domain == nullptr) continue;  // reported already, by the grammar
      const auto id = model::text_of(domain->value);
      auto desired = desired_of(*section, fields(), {std::string(kMemlockKind), id}, "memlock " + id);
      if (!desired.settings.contains("limit")) {
        diagnostics.push_back({Severity::kError,
                               section->where,
                               "[[memlock]] limit is missing",
                               "write limit = \"unlimited\", or a size such as \"64 GiB\"",
                               {},
                               model::Topic::kMissingKey});
      }
      if (!LimitDomain{id}.group().empty()) {
        desired.settings["group"] = std::string(LimitDomain{id}.group());
        desired.origins["group"] = domain->where;
      }
      out.push_back(std::move(desired));
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    auto limits = read_limits(world.host().files);
    if (!limits) return base::fail(limits.error());
    std::set<std::string> asked;
    for (auto& id : world.tracked(kMemlockKind)) asked.insert(std::move(id));
    auto declared = read_declared_groups(world.host().files);
    if (!declared) return base::fail(declared.error());
    auto written = read_limit_domains(world.host().files);
    if (!written) return base::fail(written.error());
    auto domains = std::move(*written);
    for (const auto& group : *declared) domains.insert("@" + group);
    std::vector<Observed> out;
    for (const auto& domain : domains) {
      Memlock now;
      if (const auto at = limits->find(domain); at != limits->end()) now.limit = at->second;
      // A group is asked for only while the document has it: nothing is ever done about one that it dropped.
      const auto group = LimitDomain{domain}.group();
      if (!group.empty() && asked.contains(domain)) {
        const auto there = has_group(world.host(), group);
        if (!there) return base::fail(there.error());
        if (*there) now.group = group;
      }
      out.push_back(observed_in_own_file({std::string(kMemlockKind), domain}, "memlock " + domain,
                                         model::to_attributes(now)));
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& /*observed*/, World& world,
             Diagnostics& diagnostics) const override {
    std::optional<Result<std::map<std::string, std::vector<ForeignLimit>>>> others;  // once they are needed
    std::optional<std::map<std::string, ForeignLimit>> exempted;
    std::optional<std::vector<MemlockLine>> lines_of_all;
    std::map<std::string, bool> empty_groups;  // those that were asked about
    for (auto& resource : desired) {
      if (resource.key.kind != kMemlockKind) continue;
      if (!lines_of_all) {
        lines_of_all = memlock_lines(world.host().files);
        warn_of_stacks(resource, world.host().files, diagnostics);
      }
      const LimitDomain domain{resource.key.id};
      leave_to_directory(resource, world, diagnostics);
      const bool is_user = domain.group().empty() && !domain.everybody();
      if (is_user && !world.offline() && !world.host().accounts.has_user(domain.text)) {
        diagnostics.push_back(
            {Severity::kWarning,
             resource.where,
             fmt::format("[[memlock]] domain: there is no user {} on this host", domain.text),
             "write @ before the name of a group",
             {}});
      }
      if (!exempted) exempted = exempted_domains(world.host().files);
      if (const auto at = exempted->find(domain.text); at != exempted->end()) {
        diagnostics.push_back({Severity::kWarning,
                               resource.where,
                               fmt::format("{}:{} exempts {} from all limits: \"{}\"", at->second.file,
                                           at->second.line, domain.text, at->second.text),
                               "pam_limits then ignores all other lines: remove that line",
                               {}});
      }
      warn_of_closer_lines(resource, domain, *lines_of_all, world.host(), empty_groups, diagnostics);
      if (!others) others = foreign_limits(world.host().files);
      if (!*others) continue;
      const auto lines = (*others)->find(domain.text);
      if (lines == (*others)->end()) continue;
      for (const auto& other : lines->second) {
        diagnostics.push_back(
            {Severity::kWarning,
             resource.where,
             fmt::format("{}:{} limits the same: \"{}\"", other.file, other.line, other.text),
             other.wins
                 ? "pam_limits reads that file after ours, so it wins: remove the line there"
                 : "ours is read later and wins; remove the line there to keep the two from disagreeing",
             {}});
      }
    }
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    const auto declared = read_declared_groups(world.host().files);
    if (!declared) return base::fail(declared.error());
    for (auto* change : changes) {
      const auto wanted = model::from_attributes<Memlock>(change->after);
      if (!wanted.group) continue;
      const auto there = has_group(world.host(), *wanted.group);
      if (!there) return base::fail(there.error());
      if (!*there && !declared->contains(*wanted.group)) change->carried.emplace_back(kUndeclared);
      // Only a group that is made is news.
      if (!*there || change->operation != model::Operation::kCreate) continue;
      change->after.erase("group");
      std::erase(change->fields, "group");
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    auto limits = read_limits(host.files);
    if (!limits) return base::fail(limits.error());
    auto declared = read_declared_groups(host.files);
    if (!declared) return base::fail(declared.error());
    const auto declared_before = *declared;
    bool missing = false;
    for (const auto& change : changes) {
      const auto wanted = model::from_attributes<Memlock>(change.after);
      const auto group = LimitDomain{change.key.id}.group();
      if (wanted.limit) {
        limits->insert_or_assign(change.key.id, *wanted.limit);
      } else {
        limits->erase(change.key.id);
        declared->erase(group);
      }
      if (!wanted.group && was_undeclared(change)) declared->erase(group);
      if (!wanted.group) continue;
      const auto there = has_group(host, group);
      if (!there) return base::fail(there.error());
      if (*there) continue;
      declared->insert(group);
      missing = true;
    }
    if (auto done = write_limits(host.files, *limits); !done) return done;
    if (*declared != declared_before) {
      if (auto done = write_declared_groups(host.files, *declared); !done) return done;
    }
    // Last, since a group that was made stays. Below another root systemd-sysusers.service makes it at boot.
    return missing && !host.offline ? host.accounts.make_declared(std::string(kSysusersFile))
                                    : Result<void>{};
  }

 private:
  /// Once for a document: limits are set by a module of PAM.
  static void warn_of_stacks(const Desired& resource, system::Files& files, Diagnostics& diagnostics) {
    if (const auto place = sshd_without_pam(files); !place.empty()) {
      diagnostics.push_back(
          {Severity::kWarning,
           resource.where,
           fmt::format("[[memlock]]: {} switches PAM off in sshd, so no limit applies to its sessions",
                       place),
           "write \"UsePAM yes\" there, and reload sshd",
           {}});
    }
    const auto logins = logins_without_limits(files);
    if (logins.empty()) return;
    diagnostics.push_back(
        {Severity::kWarning,
         resource.where,
         fmt::format(
             "[[memlock]]: PAM's session stack of {} has no pam_limits.so that reads limits.d, so no limit "
             "applies there",
             base::join(logins, ", ")),
         fmt::format("add \"session required pam_limits.so\" to /etc/pam.d/{}", logins.front()),
         {}});
  }

  /// pam_limits prefers the lines of a user to those of groups, and these to "*"; of one sort the last line
  /// counts (process_limit() in pam_limits.c).
  static int closeness(std::string_view domain) {
    if (domain == "*") return 0;
    return domain.starts_with('@') ? 1 : 2;
  }

  /// Lower limits of others for some of the same users.
  static void warn_of_closer_lines(const Desired& resource, const LimitDomain& domain,
                                   const std::vector<MemlockLine>& lines, system::Host& host,
                                   std::map<std::string, bool>& empty_groups, Diagnostics& diagnostics) {
    constexpr std::size_t kShown = 3;
    const auto wanted = model::from_attributes<Memlock>(resource.settings).limit;
    if (!wanted) return;
    const auto ours = closeness(domain.text);
    std::vector<std::string> places;
    for (const auto& line : lines) {
      const auto limit = model::LockLimit::parse(line.limit);
      const bool lower = limit && limit->kib && (!wanted->kib || *limit->kib < *wanted->kib);
      const auto theirs = closeness(line.domain);
      const bool counts = theirs > ours || (theirs == ours && ours == 1 && line.after_ours);
      if (!lower || !counts || line.file == kLimitsFile || line.domain == domain.text ||
          line.domain.starts_with('%') || line.domain == "root")
        continue;
      const auto group = LimitDomain{line.domain}.group();
      if (!group.empty()) {
        const auto [known, is_new] = empty_groups.try_emplace(group, false);
        if (is_new) known->second = is_empty_group(host, group);
        if (known->second) continue;
      }
      places.push_back(fmt::format("{}:{} ({})", line.file, line.line, line.domain));
    }
    if (places.empty()) return;
    diagnostics.push_back({Severity::kWarning,
                           resource.where,
                           fmt::format("[[memlock]] {}: a lower limit holds for some of these users: {}",
                                       domain.text, base::join_first(kShown, places, ", ")),
                           "in pam_limits, a user's line overrides those of groups, and these override "
                           "\"*\"; among groups, the last "
                           "line counts",
                           {}});
  }

  /// Whether undoing takes the group's declaration back, whether the group could be made or not.
  static bool was_undeclared(const Change& change) {
    return std::find(change.carried.begin(), change.carried.end(), kUndeclared) != change.carried.end();
  }

  /// A local group would hide one that a directory has. Below another root the directory cannot be asked, and
  /// early in a boot it does not answer yet (sssd starts later), so an account that is not found may still
  /// exist.
  static void leave_to_directory(Desired& desired, World& world, Diagnostics& diagnostics) {
    const auto group = LimitDomain{desired.key.id}.group();
    if (group.empty() || !desired.settings.contains("group")) return;
    if (const auto there = has_group(world.host(), group); !there || *there) return;
    const auto directory = group_directory(world.host().files);
    if (!directory) return;
    desired.settings.erase("group");
    diagnostics.push_back({Severity::kWarning,
                           desired.origins.at("group"),
                           fmt::format("[[memlock]] domain: group {} is {}, and {}:{} also takes groups from "
                                       "{}, so rdma-configd creates none",
                                       group, world.offline() ? "in no file here" : "not found",
                                       directory->file, directory->line, directory->name),
                           fmt::format("for a local group, create it: groupadd -r {}", group),
                           {}});
  }
};

}  // namespace

model::SectionSpec memlock_section() {
  model::SectionSpec section{.name = "memlock",
                             .doc = "Memory that logins and services may lock, as RDMA programs need.",
                             .identities = {{"domain"}}};
  add_written(section.fields, model::specs<Memlock>());
  // It follows from the domain.
  std::erase_if(section.fields, [](const auto& spec) { return spec.name == "group"; });
  return section;
}

const Kind& memlock() {
  static const MemlockKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
