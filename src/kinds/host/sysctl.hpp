// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "kinds/kind.hpp"
#include "model/section.hpp"
#include "model/types/host_types.hpp"

namespace rdmacfg::model {

/// Whose settings below /proc/sys/net/ipv4/conf: an interface's, or the kernel's own "all" and "default".
struct ConfName {
  std::string text;
  auto operator<=>(const ConfName&) const = default;
};

RDMACFG_CODEC(ConfName, "interface name, \"all\" or \"default\"",
              R"({"type":"string","minLength":1,"maxLength":15,"pattern":"^[A-Za-z0-9_.][A-Za-z0-9_.-]*$"})");

}  // namespace rdmacfg::model

namespace rdmacfg::kinds {

/// An entry of [[sysctl]]: settings of one interface, or one setting of the kernel by its name.
/// Documentation/networking/ip-sysctl.rst.
struct SysctlEntry {
  std::optional<model::ConfName> interface;
  std::optional<model::SysctlPath> key;
  std::optional<model::SysctlValue> value;
  std::optional<std::int64_t> arp_ignore;
  std::optional<std::int64_t> arp_announce;
  std::optional<std::int64_t> arp_filter;
  std::optional<std::int64_t> rp_filter;
  std::optional<std::int64_t> accept_local;

  static constexpr auto kFields = std::tuple{
      model::field("interface", &SysctlEntry::interface, model::Role::kIdentity,
                   "Interface to configure. \"all\" applies to every interface in addition to its own "
                   "setting, \"default\" to new interfaces.",
                   "-"),
      model::field("key", &SysctlEntry::key, model::Role::kIdentity,
                   "A setting by its name: \"net.ipv4.neigh.default.gc_thresh3\"; its value is in value.",
                   "-"),
      model::field("value", &SysctlEntry::value, model::Role::kSetting, "Value of key."),
      model::field(
          "arp_ignore", &SysctlEntry::arp_ignore, model::Role::kSetting,
          "0 to 8; 1: answer ARP only for an address of this interface (several rails in one subnet)."),
      model::field("arp_announce", &SysctlEntry::arp_announce, model::Role::kSetting,
                   "0 to 2; 2: ask with an address of the outgoing interface."),
      model::field("arp_filter", &SysctlEntry::arp_filter, model::Role::kSetting,
                   "0 or 1; 1: answer ARP only where the route back leaves by this interface."),
      model::field("rp_filter", &SysctlEntry::rp_filter, model::Role::kSetting,
                   "0 to 2; 2: loose check of source addresses, which several rails need."),
      model::field("accept_local", &SysctlEntry::accept_local, model::Role::kSetting,
                   "0 or 1; 1: accept packets from an address of this host.")};
};

/// One setting: the value that the kernel has, and that in our file of sysctl.d(5).
struct Sysctl {
  std::optional<model::SysctlValue> value;
  std::optional<model::SysctlValue> file;

  static constexpr auto kFields = std::tuple{
      model::field("value", &Sysctl::value, model::Role::kSetting, "Current value."),
      model::field("file", &Sysctl::file, model::Role::kDerived,
                   "Value in our file, which systemd-sysctl sets at boot and when an interface appears.")};
};

model::SectionSpec sysctl_section();

const Kind& sysctl();

}  // namespace rdmacfg::kinds
