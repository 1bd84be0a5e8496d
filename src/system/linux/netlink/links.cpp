// SPDX-License-Identifier: Apache-2.0
#include "system/linux/netlink/links.hpp"

#include <fmt/format.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <tuple>

#include "system/linux/linux_host.hpp"
#include "system/linux/netlink/link_dump.hpp"
#include "system/linux/netlink/link_requests.hpp"

namespace rdmacfg::system {

namespace detail {

using base::fail;
using base::Result;

namespace {

constexpr int kTries = 16;
constexpr int kInterrupted = 3;  ///< from then on two interrupted readings that agree will do

/// Whether two readings say the same of what we change. In a storm of other interfaces (containers that come
/// and go) no dump is consistent, but one that is left out by accident is not left out twice.
bool agree(const std::vector<Link>& first, const std::vector<Link>& second) {
  const auto ours = [](const std::vector<Link>& links) {
    std::vector<std::tuple<int, std::string, std::int64_t, bool, int>> out;
    for (const auto& link : links) {
      if (link.ipoib || link.kind.empty())  // hardware has no kind
        out.emplace_back(link.index, link.name, link.mtu, link.up, link.parent);
    }
    return out;
  };
  return ours(first) == ours(second);
}

}  // namespace

Result<NetlinkSocket*> LinuxLinks::socket() {
  if (!socket_) {
    auto opened = NetlinkSocket::open();
    if (!opened) return fail(opened.error());
    socket_.emplace(std::move(*opened));
  }
  return &*socket_;
}

// Not by SIOCGIFINDEX: for each name that is free, dev_load() would run modprobe(8), with CAP_SYS_MODULE even
// for a module of that very name.
Result<std::optional<int>> LinuxLinks::index_of(const std::string& name) {
  if (name.empty() || name.size() >= IFNAMSIZ) return std::optional<int>();
  const auto netlink = socket();
  if (!netlink) return fail(netlink.error());
  Message request(RTM_GETLINK, NLM_F_REQUEST | NLM_F_ACK, ifinfomsg{}, name + ": asking for its index");
  request.put(IFLA_EXT_MASK, std::uint32_t{RTEXT_FILTER_SKIP_STATS});
  request.put(IFLA_IFNAME, name);
  std::optional<int> index;
  const auto answered = (*netlink)->dump_once(request, [&](const nlmsghdr& header) {
    if (const auto link = parse_link(header)) index = link->index;
  });
  if (!answered && answered.error().sys_errno != ENODEV) return fail(answered.error());
  return index;
}

Result<std::vector<Link>> LinuxLinks::observe_links() {
  const auto netlink = socket();
  if (!netlink) return fail(netlink.error());
  const auto request = link_dump_request();
  std::vector<Link> links, before;
  for (int tries = 1;; ++tries) {
    links.clear();
    const auto consistent = (*netlink)->dump_once(request, [&](const nlmsghdr& header) {
      if (auto link = parse_link(header)) links.push_back(std::move(*link));
    });
    if (!consistent) return fail(consistent.error());
    std::sort(links.begin(), links.end(), [](const Link& a, const Link& b) { return a.index < b.index; });
    if (*consistent || (tries > kInterrupted && agree(before, links))) break;
    if (tries == kTries)
      return fail(base::Code::kBusy,
                  fmt::format("{}: they change faster than they can be read", request.what()));
    before.swap(links);
    std::this_thread::sleep_for(std::chrono::milliseconds(tries));
  }
  names_.clear();
  for (const auto& link : links) names_.emplace(link.index, link.name);
  return links;
}

Result<void> LinuxLinks::execute(std::span<const LinkRequest> requests) {
  const auto netlink = socket();
  if (!netlink) return fail(netlink.error());
  const auto name_of = [this](int index) {
    const auto found = names_.find(index);
    return found == names_.end() ? fmt::format("interface {}", index) : found->second;
  };
  std::vector<Message> messages;
  messages.reserve(requests.size());
  for (const auto& request : requests) encode(request, name_of, messages);
  auto done = (*netlink)->execute(messages);
  if (!done) return done;
  for (const auto& request : requests) {
    const auto* set = std::get_if<SetLink>(&request);
    if (set != nullptr && set->name) names_[set->index] = *set->name;
  }
  return {};
}

Result<std::vector<int>> LinuxLinks::wait_for_carrier(std::span<const int> indexes,
                                                      std::chrono::milliseconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  std::set<int> without(indexes.begin(), indexes.end());
  if (without.empty()) return std::vector<int>{};
  auto events = NetlinkSocket::open();
  if (!events) return fail(events.error());
  if (auto joined = events->join(RTNLGRP_LINK); !joined) return fail(joined.error());

  const std::set<int> asked = without;
  const auto note = [&](const Link& link) {
    if (!asked.contains(link.index)) return;
    if (link.carrier) {
      without.erase(link.index);
    } else {
      without.insert(link.index);
    }
  };
  // Joined first, read second: changes in between are seen twice rather than never.
  bool known = false;
  while (!known || !without.empty()) {
    if (!known) {
      const auto links = observe_links();
      if (!links) return fail(links.error());
      without = asked;  // one that has gone has no carrier
      for (const auto& link : *links) note(link);
      known = true;
      continue;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    const auto whole = events->wait(left, [&](const nlmsghdr& header) {
      if (const auto link = parse_link(header)) note(*link);
    });
    if (!whole) return fail(whole.error());
    known = *whole;
  }
  return std::vector<int>(without.begin(), without.end());
}

}  // namespace detail

std::unique_ptr<Links> make_linux_links() { return std::make_unique<detail::LinuxLinks>(); }

}  // namespace rdmacfg::system
