// SPDX-License-Identifier: Apache-2.0
#include "system/linux/netlink/link_filter.hpp"

#include <linux/if_addr.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cstdint>
#include <utility>

#include "system/linux/netlink/netlink_message.hpp"

namespace rdmacfg::system::detail {

std::optional<std::string> LinkFilter::take(const nlmsghdr& header) {
  switch (header.nlmsg_type) {
    case RTM_NEWLINK:
    case RTM_DELLINK:
      return take_link(header);
    case RTM_NEWADDR:
    case RTM_DELADDR:
      return concerns_address(header) ? std::optional<std::string>("address") : std::nullopt;
    case RTM_NEWROUTE:
    case RTM_DELROUTE:
      return concerns_route(header) ? std::optional<std::string>("route") : std::nullopt;
    case RTM_SETDCB:
    case RTM_GETDCB:
      return "dcb";
    default:
      return std::nullopt;
  }
}

std::optional<std::string> LinkFilter::take_link(const nlmsghdr& header) {
  const auto link = Parsed<ifinfomsg>::of(header);
  if (!link) return std::nullopt;
  const bool infiniband = link->family.ifi_type == ARPHRD_INFINIBAND;
  if (infiniband && header.nlmsg_type == RTM_NEWLINK) ours_.insert(link->family.ifi_index);
  if (header.nlmsg_type == RTM_DELLINK) ours_.erase(link->family.ifi_index);
  if ((header.nlmsg_flags & NLM_F_MULTI) != 0 || (!infiniband && !all_)) return std::nullopt;
  return link->attributes.text(IFLA_IFNAME);
}

bool LinkFilter::concerns_address(const nlmsghdr& header) const {
  const auto address = Parsed<ifaddrmsg>::of(header);
  if (!address || !ours_.contains(static_cast<int>(address->family.ifa_index))) return false;
  const auto scope = address->family.ifa_scope;
  if (scope >= RT_SCOPE_HOST || (address->family.ifa_family == AF_INET6 && scope >= RT_SCOPE_LINK))
    return false;
  if (header.nlmsg_type == RTM_DELADDR) return true;
  // One with a lifetime is a lease's or a router's, and told again whenever that is renewed.
  const auto flags = address->attributes.number<std::uint32_t>(IFA_FLAGS).value_or(address->family.ifa_flags);
  return (flags & IFA_F_PERMANENT) != 0;
}

bool LinkFilter::concerns_route(const nlmsghdr& header) const {
  const auto route = Parsed<rtmsg>::of(header);
  if (!route) return false;
  const auto& family = route->family;
  if ((family.rtm_family != AF_INET && family.rtm_family != AF_INET6) || family.rtm_type != RTN_UNICAST ||
      (family.rtm_flags & RTM_F_CLONED) != 0)
    return false;
  switch (family.rtm_protocol) {
    case RTPROT_KERNEL:
    case RTPROT_RA:
    case RTPROT_REDIRECT:
      return false;
    case RTPROT_BOOT:
    case RTPROT_STATIC:
      // "ip route replace" over another interface: nothing tells that ours has gone.
      if ((header.nlmsg_flags & NLM_F_REPLACE) != 0) return true;
      break;
    default:
      // A routing daemon's route beside ours changes nothing of ours, and there may be many a second.
      if (header.nlmsg_type == RTM_NEWROUTE && (header.nlmsg_flags & NLM_F_REPLACE) == 0) return false;
      break;
  }
  const auto index = route->attributes.number<std::uint32_t>(RTA_OIF);
  return index && ours_.contains(static_cast<int>(*index));
}

LinkList::State LinkList::take(const nlmsghdr& header) {
  constexpr unsigned kPartInterrupted = NLM_F_MULTI | NLM_F_DUMP_INTR;
  if ((header.nlmsg_flags & kPartInterrupted) == kPartInterrupted) interrupted_ = true;
  if (header.nlmsg_type != NLMSG_DONE && header.nlmsg_type != NLMSG_ERROR) return State::kUnderWay;
  const auto end = Parsed<int>::of(header);
  const bool refused = header.nlmsg_type == NLMSG_ERROR || (end && end->family < 0);
  const bool interrupted = std::exchange(interrupted_, false);
  return refused || interrupted ? State::kTorn : State::kWhole;
}

}  // namespace rdmacfg::system::detail
