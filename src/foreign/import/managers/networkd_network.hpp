// SPDX-License-Identifier: Apache-2.0
// A .network file of systemd-networkd (systemd.network(5)) with its drop-ins.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/inet.hpp"
#include "foreign/keys.hpp"

namespace rdmacfg::foreign {

/// A file with its sections, and those of its drop-ins; those of one name are joined where they may be.
class Unit {
 public:
  Unit(const File& of, const DropIns& drop_ins, Claims& to);

  [[nodiscard]] Keys section(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const;
  /// Reports the sections that are none of these.
  void refuse_others(const std::set<std::string_view>& known) const;

  const File& file;
  Claims& claims;
  std::vector<Group> groups;
};

/// [IPoIB] of a .netdev or .network file.
void ipoib_section(const Unit& unit, Interface& out);

/// The interface that it is for, and its settings.
class Network {
 public:
  Network(const File& file, const DropIns& drop_ins, Claims& claims) : unit_(file, drop_ins, claims) {}

  /// Names that it is for; children that it makes.
  std::vector<std::string> names, children;
  /// Ports that it is for, by their addresses.
  std::vector<model::Guid> ports;

  [[nodiscard]] bool is_infiniband() const;
  /// Whether nothing but names, and that it is of InfiniBand, decides what it is for.
  [[nodiscard]] bool fits_by_name_alone() const;
  /// Type= is there and says something else; "!ether" says nothing of ours.
  [[nodiscard]] bool is_of_another_type() const;

  /// Finds `names`, `children` and `ports`.
  void look();

  /// The settings of one of its interfaces.
  void parse(Interface& out);

  [[nodiscard]] const File& file() const { return unit_.file; }

 private:
  void network(Interface& out);
  void sections(Interface& out);
  static std::optional<model::State> activation(Keys& link);
  [[nodiscard]] bool is_in_vrf() const { return !unit_.section("Network").peek("VRF").empty(); }
  void vrf(Interface& out) const;
  /// Whether the interface takes the addresses of routers without being told so: without IPv6AcceptRA=, and
  /// where it forwards nothing (systemd.network(5)).
  [[nodiscard]] bool listens_to_routers(const Interface& out) const;
  /// The handling of offers of a DHCP server or a router.
  void offers(const Interface& out) const;
  /// A section about offers of a sort that the interface does not ask for.
  void tell_unused(std::string_view section) const;
  void route(Keys& keys, Interface& out);

  Unit unit_;
  Interface of_tables_;  ///< the routes with a table of their own, of an interface in a VRF
};

}  // namespace rdmacfg::foreign
