// SPDX-License-Identifier: Apache-2.0
// Rules of srp_daemon: the SRP targets that a host logs in to. Sources: srp_daemon(8); get_rules_file(),
// is_enabled_by_rules_file() and add_non_exist_target() of srp_daemon/srp_daemon.c in rdma-core.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/types/storage_types.hpp"

namespace rdmacfg::kinds {

/// The file that srp_daemon reads: the package's and the administrator's. It is left as it is.
inline constexpr std::string_view kSrpDaemonFile = "/etc/srp_daemon.conf";
/// Ours, which it reads in place of that one by a drop-in. The first rule that matches a target decides, so
/// rules of two writers in one file would change each other's meaning.
inline constexpr std::string_view kSrpRulesFile = "/etc/rdma/srp_daemon.conf";
inline constexpr std::string_view kSrpDropIn =
    "/etc/systemd/system/srp_daemon_port@.service.d/50-rdma-configd.conf";

/// One rule. Without a field it matches any value of that field.
struct SrpRule {
  bool allow = true;
  std::optional<model::SrpId> id_ext{}, ioc_guid{}, service_id{};
  std::optional<model::PortGid> dgid{};
  std::optional<std::uint16_t> pkey{};  ///< all 16 bits count, that of the membership too
  std::string options{};                ///< "queue_size=128,max_sect=512", of a rule that allows

  [[nodiscard]] bool matches_all() const { return !id_ext && !ioc_guid && !service_id && !dgid && !pkey; }
  bool operator==(const SrpRule&) const = default;
};

/// "a id_ext=200500a0b81146a1,ioc_guid=00a0b80200402bef,queue_size=128", "d"
std::string render_srp_rule(const SrpRule& rule);

/// Lines of a file have no more bytes, without the line feed: srp_daemon reads the rest as a line of its own.
inline constexpr std::size_t kSrpLineBytes = 253;

/// Nothing for a line that srp_daemon would not read, either: it refuses the whole file then. Nothing, too,
/// for an identifier without digits, a GID with fewer than 32 and a P_Key of more than 16 bits, which compare
/// in ways that nobody means.
std::optional<SrpRule> parse_srp_rule(std::string_view line);

/// The lines of a file but for comments and empty ones: srp_daemon takes each for a rule.
std::vector<std::string> parse_srp_rules(std::string_view text);

/// Our file with these lines; empty for none.
std::string render_srp_rules(std::span<const std::string> rules);

/// Whether the text is that of a file of ours.
bool is_our_srp_file(std::string_view text);

/// The number of the first of these lines; 0 without one.
int first_srp_rule(std::string_view text);

/// Lets srp_daemon's units read our file in place of the administrator's.
std::string render_srp_drop_in();

}  // namespace rdmacfg::kinds
