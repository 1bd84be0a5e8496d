// SPDX-License-Identifier: Apache-2.0
// .network files of systemd-networkd. Source: systemd.network(5), systemd 252.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kinds/address/request.hpp"
#include "model/field.hpp"
#include "model/spelled.hpp"
#include "system/inet.hpp"

namespace rdmacfg::kinds {

inline constexpr std::string_view kNetworkdFolder = "/etc/systemd/network";

/// systemd-networkd's tasks for an interface.
struct NetworkdFile {
  std::optional<std::vector<std::string>> addresses;
  std::optional<std::vector<std::string>> routes;
  std::optional<std::vector<std::string>> dns;
  std::optional<std::vector<std::string>> search;
  std::optional<bool> dhcp;
  std::optional<bool> router_advertisements;
  std::optional<bool> link_local;
  std::optional<bool> unmanaged;
  std::optional<std::vector<std::string>> edited;
  std::optional<std::string> older_name;
  std::optional<bool> active;
  std::optional<std::vector<std::string>> missing;
  std::optional<std::vector<std::string>> duplicate;
  std::optional<std::vector<std::string>> tentative;

  static constexpr auto kFields = std::tuple{
      model::field("addresses", &NetworkdFile::addresses, model::Role::kSetting,
                   "Addresses with prefix length.", "-"),
      model::field("routes", &NetworkdFile::routes, model::Role::kSetting,
                   "Routes, that of the gateway among them.", "-"),
      model::field("dns", &NetworkdFile::dns, model::Role::kSetting, "DNS servers.", "-"),
      model::field("search", &NetworkdFile::search, model::Role::kSetting, "Search domains.", "-"),
      model::field("dhcp", &NetworkdFile::dhcp, model::Role::kSetting, "Whether DHCP configures IPv4.", "-"),
      model::field("router_advertisements", &NetworkdFile::router_advertisements, model::Role::kSetting,
                   "Whether router advertisements configure IPv6, with DHCP where they ask for it.", "-"),
      model::field("link_local", &NetworkdFile::link_local, model::Role::kSetting,
                   "Whether there is an IPv6 link-local address.", "-"),
      model::field("unmanaged", &NetworkdFile::unmanaged, model::Role::kSetting,
                   "Whether systemd-networkd ignores the interface because it is to be down.", "-"),
      model::field("edited", &NetworkdFile::edited, model::Role::kSetting,
                   "Lines that others added to the file (+) or removed from it (-).", "-"),
      model::field("older_name", &NetworkdFile::older_name, model::Role::kSetting,
                   "Name of the file as an older version wrote it, which is removed.", "-"),
      model::field("active", &NetworkdFile::active, model::Role::kSetting,
                   "Whether systemd-networkd has applied the file, while it runs.", "-"),
      model::lacking(
          model::field("missing", &NetworkdFile::missing, model::Role::kDerived,
                       "Addresses and routes of the file that systemd-networkd uses and that are not there.",
                       "-"),
          "addresses"),
      model::field("duplicate", &NetworkdFile::duplicate, model::Role::kFact,
                   "Addresses of the file that another host has.", "-"),
      model::field("tentative", &NetworkdFile::tentative, model::Role::kFact,
                   "Addresses of the file that the kernel is still checking for duplicates.", "-")};
};

/// "GUID" or "GUID/0x8002" → the file.
std::string networkd_file(std::string_view id);

/// The id of a file name of ours; nothing for another's.
std::optional<std::string> networkd_id(std::string_view file_name);

/// The file of the port or P_Key interface `id`, without `edited` and the fields after it, which do not
/// matter of the file.
std::string render_network(std::string_view id, const NetworkdFile& file);
NetworkdFile parse_network(std::string_view id, std::string_view text);

/// The document's values for an interface.
NetworkdFile wanted_network(const Addressing& interface);

/// The addresses and routes that are written in a file; unreadable ones are skipped. Routes have no
/// index.
std::vector<model::IpPrefix> addresses_in(const NetworkdFile& file);
std::vector<system::InetRoute> routes_in(const NetworkdFile& file);

}  // namespace rdmacfg::kinds
