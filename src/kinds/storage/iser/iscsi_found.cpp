// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/iser/iscsi_found.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace rdmacfg::kinds {

namespace {

/// Of open-iscsi as Debian 12 builds it, and as RHEL and Debian 13 do.
constexpr std::array<std::string_view, 2> kNodeFolders{"/etc/iscsi/nodes", "/var/lib/iscsi/nodes"};

bool same_address(std::string_view spelled, const model::IpAddress& address) {
  const auto parsed = model::IpAddress::parse(spelled);
  return parsed && *parsed == address;
}

/// "192.0.2.1:3260,1" of the folder "192.0.2.1,3260,1", as iscsiadm takes it.
std::string portal_in(const std::string& folder) {
  const auto comma = folder.find(',');
  if (comma == std::string::npos) return folder;
  const auto address = folder.substr(0, comma);
  const bool ipv6 = address.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", ipv6 ? "[" : "", address, ipv6 ? "]" : "", folder.substr(comma + 1));
}

bool at_boot_by(const std::string& file, system::Files& files) {
  const auto text = files.read(file);
  return text && *text && logs_in_at_boot(**text);
}

}  // namespace

bool leads_to(const system::IscsiSession& session, const IserPortal& portal) {
  return session.target == portal.target && same_address(session.address, portal.address);
}

bool is_ours(const system::IscsiSession& session, const IserPortal& portal) {
  return leads_to(session, portal) && session.port == portal.port && session.group == portal.group &&
         session.transport == "iser" && session.interface == kIserInterface;
}

std::vector<std::string> our_sessions(std::span<const system::IscsiSession> all, const IserPortal& portal) {
  std::vector<std::string> out;
  for (const auto& session : all) {
    if (is_ours(session, portal)) out.push_back(session.name);
  }
  return out;
}

std::string text_of(const system::IscsiSession& session) {
  return fmt::format("{} {} {} {}", session.name, session.transport, session.interface, session.state);
}

bool is_text_of_ours(std::string_view text) {
  return text.find(fmt::format(" iser {} ", kIserInterface)) != std::string_view::npos;
}

std::optional<IscsiRecord> record_of_others(const IserPortal& portal, system::Files& files) {
  for (const auto folder : kNodeFolders) {
    const auto target = fmt::format("{}/{}", folder, portal.target);
    const auto portals = files.list(target);
    if (!portals) continue;
    for (const auto& name : *portals) {
      if (!same_address(name.substr(0, name.find(',')), portal.address)) continue;
      const auto at = target + "/" + name;
      const auto interfaces = files.list(at);
      if (!interfaces || interfaces->empty()) {  // a record of a portal without a group is a file
        if (at_boot_by(at, files)) return IscsiRecord{at, portal_in(name), {}};
        continue;
      }
      for (const auto& interface : *interfaces) {
        const auto file = at + "/" + interface;
        if (interface != kIserInterface && at_boot_by(file, files))
          return IscsiRecord{file, portal_in(name), interface};
      }
    }
  }
  return std::nullopt;
}

bool record_has_secret(const IserPortal& portal, system::Files& files) {
  for (const auto folder : kNodeFolders) {
    const auto text =
        files.read(fmt::format("{}/{}/{},{},{}/{}", folder, portal.target, portal.address.text(), portal.port,
                               portal.group, kIserInterface));
    if (text && *text && (*text)->find("node.session.auth.password") != std::string::npos) return true;
  }
  return false;
}

}  // namespace rdmacfg::kinds
