// SPDX-License-Identifier: Apache-2.0
// The multicast groups of a fabric, and the ports that are in the fabric.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/text.hpp"
#include "fleet/answer_json.hpp"
#include "fleet/host_answers.hpp"
#include "model/types.hpp"
#include "model/types/inet_types.hpp"

namespace rdmacfg::fleet {

namespace {

constexpr const char* kCollectFabric =
    "collect it with `rdma-configctl fabric --json` on a host of the fabric, or remove the file";

/// Keys that are read; links and counters are most of the rest.
bool is_read_of_fabric(std::string_view key) {
  constexpr std::array<std::string_view, 12> kKeys{"schema", "command", "error", "message",
                                                   "nodes",  "ports",   "guid",  "lid",
                                                   "groups", "gid",     "mtu",   "rate_gbps"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

/// The limits of a group for its members.
struct BroadcastGroup {
  std::int64_t mtu = 0;  ///< of the IB link, bytes; 0: not known
  int rate = 0;          ///< tenths of Gbit/s; 0: not known
};

/// The partition of a group that all IPv4 interfaces of a partition join: ff12:401b:PKEY::ffff:ffff (RFC
/// 4391, 4). The kernel knows no other scope (ipv4_bcast_addr in ipoib_main.c).
std::optional<std::uint16_t> broadcast_partition(std::string_view gid) {
  const auto address = model::IpAddress::parse(gid);
  if (!address || address->family != model::Family::kIpv6) return std::nullopt;
  const auto& bytes = address->bytes;
  std::array<std::uint8_t, 16> wanted{0xff, 0x12, 0x40, 0x1b, bytes[4], bytes[5]};
  std::fill(wanted.begin() + 12, wanted.end(), std::uint8_t{0xff});
  if (bytes != wanted || (bytes[4] & 0x80U) == 0) return std::nullopt;
  return static_cast<std::uint16_t>((bytes[4] & 0x7fU) << 8U | bytes[5]);
}

/// Tenths of Gbit/s; 0: not known.
int group_rate_of(const Json& group) {
  constexpr double kMostRate = 100'000;
  const auto& rate = at(group, "rate_gbps");
  if (!rate.is_number()) return 0;
  const auto number = rate.get<double>();
  return number > 0 && number <= kMostRate ? static_cast<int>(number * 10 + 0.5) : 0;
}

std::map<std::uint16_t, BroadcastGroup> broadcast_groups(const Json& fabric) {
  std::map<std::uint16_t, BroadcastGroup> out;
  for (const auto& group : list_at(fabric, "groups")) {
    if (const auto partition = broadcast_partition(text_at(group, "gid")))
      out[*partition] = {number_at(group, "mtu").value_or(0), group_rate_of(group)};
  }
  return out;
}

/// The complaint about an object without groups.
std::optional<model::Diagnostic> check_fabric(const config::Text& json, const Json& parsed) {
  constexpr std::string_view kSchema = "org.rdmaconfigd.fabric/1", kAnyVersion = "org.rdmaconfigd.fabric/";
  const model::Location where{json.name, 1, 1, 1};
  const auto schema = text_at(parsed, "schema");
  if (schema == "org.rdmaconfigd.report/1" && text_at(parsed, "command") == "fabric")
    return faulty(where, "the fabric could not be read: " + text_at(at(parsed, "error"), "message"),
                  kCollectFabric);
  if (schema.starts_with(kAnyVersion) && schema != kSchema)
    return faulty(where, fmt::format("is of another version: {}, but this program reads {}", schema, kSchema),
                  "use the rdma-configctl that the hosts have, or an older one there");
  if (schema != kSchema)
    return faulty(where,
                  schema.empty() ? "is not the output of rdma-configctl"
                                 : fmt::format("is {}, not the output of fabric", schema),
                  kCollectFabric);
  if (!at(parsed, "groups").is_array())
    return faulty(where, "has no multicast groups, as the subnet administrator did not answer",
                  kCollectFabric);
  return std::nullopt;
}

}  // namespace

std::optional<model::Diagnostic> HostAnswers::add_fabric(const config::Text& json) {
  if (base::trim(json.text).empty()) return faulty({json.name, 1, 1, 1}, "is empty", kCollectFabric);
  Json parsed;
  if (auto wrong = parse_answer(json, is_read_of_fabric, kCollectFabric, parsed)) return wrong;
  if (auto wrong = check_fabric(json, parsed)) return wrong;
  if (!members_by_guid_) {
    std::sort(group_members_.begin(), group_members_.end(),
              [](const GroupMember& a, const GroupMember& b) { return a.guid < b.guid; });
    members_by_guid_ = true;
  }
  const auto groups = broadcast_groups(parsed);
  for (const auto& node : list_at(parsed, "nodes")) {
    for (const auto& port : list_at(node, "ports")) {
      const auto guid = model::Guid::parse(text_at(port, "guid"));
      if (!guid) continue;
      auto member =
          std::lower_bound(group_members_.begin(), group_members_.end(), guid->number,
                           [](const GroupMember& each, std::uint64_t number) { return each.guid < number; });
      for (; member != group_members_.end() && member->guid == guid->number; ++member) {
        const auto group = groups.find(member->partition);
        // With another LID the port was in another fabric at that time.
        if (group == groups.end() || number_at(port, "lid") != member->lid) continue;
        const auto& [mtu, rate] = group->second;
        if (mtu > 0) {
          member->most_mtu = std::max(member->most_mtu, mtu);
          member->least_mtu = member->least_mtu > 0 ? std::min(member->least_mtu, mtu) : mtu;
        }
        if (rate > 0) member->least_rate = member->least_rate > 0 ? std::min(member->least_rate, rate) : rate;
      }
    }
  }
  return std::nullopt;
}

}  // namespace rdmacfg::fleet
