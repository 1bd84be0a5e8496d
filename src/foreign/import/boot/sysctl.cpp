// SPDX-License-Identifier: Apache-2.0
// sysctl.d(5) and sysctl.conf(5): settings of IPoIB interfaces, and those that large fabrics and modules of
// RDMA need.
#include "foreign/import/boot/sysctl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "foreign/import/formats.hpp"

namespace rdmacfg::foreign {

namespace {

/// Keys of [[sysctl]] with `interface`.
constexpr std::array<std::string_view, 5> kOfInterfaces{"arp_ignore", "arp_announce", "arp_filter",
                                                        "rp_filter", "accept_local"};

/// Remarks on a line "-KEY". With a pattern as its key, such a line cancels only the same pattern.
constexpr std::string_view kExcluded =
    "neither patterns nor earlier lines set it at boot; leave it out of the document";
constexpr std::string_view kExcludedPattern =
    "earlier lines with this pattern set nothing at boot; leave their settings out of the document";

/// "net.ipv4.conf.ib0/8002.rp_filter" and "net/ipv4/conf/ib0.8002/rp_filter" in parts: the first separator
/// decides which of the two separates (sysctl.d(5)).
std::vector<std::string> parts_of_key(std::string_view key) {
  const auto first = key.find_first_of("./");
  const char separator = first == std::string_view::npos ? '.' : key[first];
  std::vector<std::string> out;
  for (const auto part : base::split(key, separator)) {
    std::string text(part);
    if (separator == '.') std::replace(text.begin(), text.end(), '/', '.');
    out.push_back(std::move(text));
  }
  return out;
}

/// A line of sysctl.d(5) without the mark for errors that do not matter.
std::string_view without_mark(std::string_view text) {
  return text.starts_with('-') ? base::trim(text.substr(1)) : text;
}

bool is_rail_setting(std::string_view name) {
  return std::find(kOfInterfaces.begin(), kOfInterfaces.end(), name) != kOfInterfaces.end();
}

std::string dotted(std::vector<std::string> parts) {
  for (auto& part : parts) std::replace(part.begin(), part.end(), '.', '/');
  return base::join(parts, ".");
}

/// Sources: net/rds/sysctl.c, net/smc/smc_sysctl.c, net/sunrpc/xprtrdma,
/// drivers/infiniband/core/{ucma,iwcm}.c.
bool is_of_rdma_module(const std::vector<std::string>& parts) {
  constexpr auto kOfNet = std::to_array<std::string_view>({"rds", "smc", "rdma_ucm", "iw_cm"});
  if (parts.size() < 2) return false;
  if (parts[0] == "sunrpc") return parts[1].starts_with("rdma_") || parts[1] == "svc_rdma";
  return parts[0] == "net" && parts.size() > 2 &&
         std::find(kOfNet.begin(), kOfNet.end(), parts[1]) != kOfNet.end();
}

}  // namespace

bool is_rdma_setting(std::string_view key) { return is_of_rdma_module(parts_of_key(key)); }

bool SysctlSettings::is_ours(std::string_view text) const {
  text = without_mark(text);
  return is_ours(parts_of_key(base::trim(text.substr(0, text.find('=')))));
}

void SysctlSettings::line(const Place& where, std::string_view text) {
  const bool marked = text.starts_with('-');
  text = without_mark(text);
  const auto equals = text.find('=');
  const auto key = base::trim(text.substr(0, equals));
  const auto parts = parts_of_key(key);
  if (!is_ours(parts)) {
    ++others_[where.file];
    return;
  }
  if (equals == std::string_view::npos && marked)
    return claims_.miss(where, fmt::format("-{}: {}", key, is_pattern(key) ? kExcludedPattern : kExcluded));
  if (equals == std::string_view::npos) return claims_.miss(where, fmt::format("{}: has no value", key));
  const auto value = base::trim(text.substr(equals + 1));
  const bool of_module = is_of_rdma_module(parts);
  if (!of_module && is_pattern(parts[3]))
    return claims_.miss(where, fmt::format("{}: write a setting for each interface", key));
  if (is_pattern(key))
    return claims_.miss(where, fmt::format("{}: write each setting that it stands for", key));
  claims_.took(where);
  const bool of_interface =
      !of_module && parts[1] == "ipv4" && parts[2] == "conf" && is_rail_setting(parts[4]);
  const auto number = base::parse_as<std::int64_t>(value);
  if (of_interface && number) {
    auto& entry = claims_.entry("sysctl", {{"interface", parts[3]}}, where);
    set(entry, parts[4], *number, where, dotted(parts));
    return;
  }
  auto& entry = claims_.entry("sysctl", {{"key", dotted(parts)}}, where);
  set(entry, "value", number ? model::Value(*number) : model::Value(std::string(value)), where,
      dotted(parts));
}

void SysctlSettings::finish() {
  for (const auto& [file, count] : others_)
    claims_.pass({file, 0}, fmt::format("{} other {} that file", count,
                                        count == 1 ? "setting stays in" : "settings stay in"));
}

/// Of an interface of ours, by its name or by a pattern, or of all where several rails need it, the sizes of
/// the neighbour tables, or of a module of RDMA.
bool SysctlSettings::is_ours(const std::vector<std::string>& parts) const {
  if (is_of_rdma_module(parts)) return true;
  if (parts.size() != 5 || parts[0] != "net") return false;
  const auto& who = parts[3];
  if (who == "default" && parts[2] == "neigh") return parts[4].starts_with("gc_");
  if (who == "all" || who == "default")
    return parts[1] == "ipv4" && parts[2] == "conf" && is_rail_setting(parts[4]);
  return (parts[2] == "conf" || parts[2] == "neigh") &&
         (claims_.knows(who) ||
          (is_pattern(who) && (is_rail_setting(parts[4]) || base::matches_glob(who, "ib0"))));
}

/// The last line counts, as it does for the kernel. @param setting  its whole key, dotted
void SysctlSettings::set(Entry& entry, const std::string& key, const model::Value& value, const Place& where,
                         const std::string& setting) {
  const auto earlier = places_.find(setting);
  if (const auto at = entry.values.find(key); at != entry.values.end() && at->second != value)
    claims_.pass(earlier == places_.end() ? entry.where : earlier->second,
                 fmt::format("{}: {} sets it again", key, where.text()));
  places_.insert_or_assign(setting, where);
  entry.values[key] = value;
  entry.where = where;
}

void parse_sysctl(std::span<const File> files, Claims& claims) {
  SysctlSettings settings(claims);
  for (const auto& file : files) {
    int number = 0;
    for (const auto raw : base::split(file.text, '\n')) {
      ++number;
      const auto text = base::trim(raw);
      if (text.empty() || text.front() == '#' || text.front() == ';') continue;
      settings.line({file.path, number}, text);
    }
  }
  settings.finish();
}

}  // namespace rdmacfg::foreign
