// SPDX-License-Identifier: Apache-2.0
// Files of other tools, in our words: understood claims, and lines that were not, with file and line.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "model/limits.hpp"
#include "model/section.hpp"
#include "model/types.hpp"
#include "model/types/inet_types.hpp"

namespace rdmacfg::foreign {

/// A line of a file; line 0: the file as a whole.
struct Place {
  std::string file;
  int line = 0;

  [[nodiscard]] std::string text() const;  ///< "/etc/rdma/rdma.conf:3"
  auto operator<=>(const Place&) const = default;
};

/// A file as it was read.
struct File {
  std::string path;
  std::string text;
  bool open_to_others = false;  ///< others than root may read or write it
};

struct Route {
  model::RouteTarget to;
  std::optional<model::IpAddress> via;
  std::optional<std::uint32_t> metric;
  std::uint32_t table = 254;
  auto operator<=>(const Route&) const = default;
};

/// One family of addresses of an interface.
struct Inet {
  std::optional<model::InetMethod> method;
  model::IpPrefixes addresses;
  std::optional<model::IpAddress> gateway;
  model::IpAddresses dns;
  std::vector<std::string> search;
  std::vector<Route> routes;

  [[nodiscard]] bool empty() const { return *this == Inet{}; }
  /// The method that holds: manual where there are addresses.
  [[nodiscard]] model::InetMethod effective() const;
  bool operator==(const Inet&) const = default;
};

/// An IPoIB interface, of a port or of a P_Key.
struct Interface {
  Place where;
  std::string name;  ///< as the tool calls it
  /// Whether the tool (or a rule beside it) gives the interface this name, rather than expecting it.
  bool names = false;
  Place named_at = {};              ///< by what, when that is another place
  std::optional<model::Guid> guid;  ///< of the port
  std::string parent;               ///< name of the parent's interface, of a P_Key
  std::optional<model::Pkey> pkey;  ///< of a P_Key interface
  bool broken = false;              ///< which interface is meant was not understood; it is left out
  bool passive = false;             ///< from a rule that sets something and brings no interface up
  std::optional<model::IpoibMode> mode;
  std::optional<std::int64_t> mtu;
  std::optional<bool> umcast;
  std::optional<model::State> state;
  Inet ipv4, ipv6;
  /// Where single keys are written, by their path in the document: "mtu", "ipv4.gateway".
  std::map<std::string, Place, std::less<>> at = {};

  /// The place of a key, or of the first key below it ("ipv4"); that of the whole where it was not noted.
  [[nodiscard]] Place place_of(std::string_view key) const;
  Inet& inet(model::Family family) { return family == model::Family::kIpv4 ? ipv4 : ipv6; }
  [[nodiscard]] const Inet& inet(model::Family family) const {
    return family == model::Family::kIpv4 ? ipv4 : ipv6;
  }
};

/// Something to tell the administrator about a place.
struct Remark {
  Place where;
  std::string text;
  bool names_file = false;  ///< the text itself does, as errors of reading do
  bool operator==(const Remark&) const = default;
};

struct GivenName {
  std::string text;
  Place where;
};

/// An entry of the document other than [[ipoib]], and where it is from.
struct Entry {
  Place where;
  std::string path;  ///< "module"
  model::Attributes values;
  std::vector<Entry> children = {};  ///< tables below it: "partition.group"
};

inline constexpr std::size_t kMostEntries = model::limits::kImportEntries;

/// Of a file, for Claims::pass().
inline constexpr std::string_view kLeftByWithdraw =
    "`rdma-configctl withdraw` left this file; delete it once a document is applied again";

/// Everything that was claimed by the files of a host.
struct Claims {
  std::vector<Interface> interfaces;
  std::vector<Entry> entries;
  /// That rules give to the interfaces of ports, by give_name().
  std::map<model::Guid, GivenName> names;
  std::map<std::string, model::Guid, std::less<>> known;  ///< ports of interfaces that are there now
  std::map<std::string, int> understood;                  ///< lines by file
  std::vector<Remark> missed;                             ///< what was not understood
  std::vector<Remark> passed;                             ///< not about RDMA, or in need of no entry

  /// Names for ports without one: "{number}" is that of the kernel's name, "{guid_tail}" the
  /// last three bytes of the GUID. Empty: they stay without.
  std::string name_template;
  /// Text of /etc/machine-id of the host; empty: it is not known.
  std::string machine_id;
  /// Whether a module of the running kernel has an option; nothing where nobody knows.
  std::function<std::optional<bool>(const std::string& module, const std::string& option)> has_option;

  /// Whether a tool's interface of this name is an IPoIB interface: as the kernel names them, or as one that
  /// is known; a P_Key interface of such, too. In a pattern of names '*', '?' and '[' may be.
  [[nodiscard]] bool knows(std::string_view name) const;
  /// Lets knows() know the interfaces that were claimed so far, as files of other formats call them, too.
  void learn_names();
  /// The same of the interfaces that others have claimed, and of the names that they have given.
  void learn_names_of(const Claims& other);

  void took(const Place& where) { ++understood[where.file]; }
  void miss(Place where, std::string text) { missed.push_back({std::move(where), std::move(text)}); }
  /// A file or folder that cannot be read; the error names it.
  void miss_file(const std::string& path, const base::Error& error) {
    missed.push_back({{path, 0}, error.message, true});
  }
  void pass(Place where, std::string text) { passed.push_back({std::move(where), std::move(text)}); }

  /// The entry with this path and these identities; made when there is none. Of more than kMostEntries the
  /// rest is left out and reported.
  Entry& entry(std::string_view path, const model::Attributes& identity, const Place& where);

  /// The name that a rule gives to the interface of a port, in place of an earlier one.
  void give_name(const model::Guid& guid, GivenName name);

 private:
  std::map<std::pair<std::string, model::Attributes>, std::size_t> found_;  ///< places in `entries`
  std::map<std::string, int, std::less<>> given_;                           ///< how many of `names` are so
  std::set<std::string, std::less<>> learned_;                              ///< by learn_names()
  std::size_t learned_from_ = 0;                                            ///< how many of `interfaces`
  Entry surplus_;
  mutable std::size_t compared_ = 0;  ///< names with patterns, in knows()
};

/// The port GUID of a hardware address of 20 bytes (its last 8), separated by ':' or '-'.
base::Result<model::Guid> guid_of_address(std::string_view address);

/// A P_Key as the tool writes it; the error says what is wrong.
base::Result<model::Pkey> pkey_of(std::string_view text);

/// yes, true, on, 1 and no, false, off, 0, in upper and lower case.
std::optional<bool> yes_or_no(std::string_view text);

/// "255.255.255.0" → 24.
std::optional<int> prefix_of_netmask(std::string_view mask);

/// "PARENT.8002", cut to what an interface name may have (nm-setting-infiniband.c does it, too).
std::string child_name(std::string_view parent, model::Pkey pkey);

/// "ib0" and 0x8002 of "ib0.8002", the kernel's name for a P_Key interface.
struct ChildName {
  std::string parent;
  model::Pkey pkey;
};
std::optional<ChildName> child_of_name(std::string_view name);

/// Whether it may be the name of several interfaces, as systemd.network(5), netplan(5) and udev(7) have it.
bool is_pattern(std::string_view name);

/// Editors' and package managers' left-overs, which the tools pass over, too.
bool is_leftover(std::string_view file_name);

/// The fault of a name template: an unknown placeholder, or a name that would be too long; empty for
/// nothing.
std::string wrong_template(std::string_view pattern);

using base::words_of;

}  // namespace rdmacfg::foreign
