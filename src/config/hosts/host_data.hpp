// SPDX-License-Identifier: Apache-2.0
// Where the values of hosts come from: the [host] sections of a document, and the files that these name. The
// same for every host; HostValues is what one host makes of it. docs/CONFIGURATION.md describes the language.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "config/check.hpp"
#include "config/hosts/host_table.hpp"
#include "model/types/inet_types.hpp"

namespace rdmacfg::config {

/// One of [host.address]: counted from the host's name, or looked up in /etc/hosts.
struct AddressRule {
  model::Location where;
  std::optional<model::IpPrefix> network;
  std::vector<std::uint64_t> step;  ///< one for each number in the name; empty: 1 for the last one
  std::uint64_t offset = 0;
  std::string lookup;  ///< name to look for, with {host…}; empty: counted
  std::optional<int> prefix;
  model::Family family = model::Family::kIpv4;
};

/// A value as the document gives it.
struct GivenValue {
  std::string text;
  model::Location where;
};
using GivenValues = std::map<std::string, GivenValue, std::less<>>;

/// The [host] section of one file.
struct HostSection {
  std::vector<HostTable> tables;
  bool incomplete = false;  ///< it or a table has a fault, and may hold the missing values
  std::unordered_map<std::string, GivenValues> exact;  ///< [host.values.NAME], by the name in lower case
  std::vector<std::pair<std::string, GivenValues>> patterns;
  std::map<std::string, AddressRule, std::less<>> addresses;
  std::set<std::string> names;  ///< of all values above, of whichever host
};

/// Lines of /etc/hosts by name, in lower case: hosts(5).
struct HostsFile {
  struct Line {
    model::IpAddress address;
    model::Location where;
  };
  std::string file;
  std::unordered_map<std::string, std::vector<Line>> by_name;

  static HostsFile parse(const Text& text);
};

/// Whether {host.NAME} has a meaning of its own, so that no value can have the name.
bool is_reserved(std::string_view name);

/// Whether a text of a document is a table (.csv) or /etc/hosts, and no TOML.
bool is_host_data(std::string_view file);

/// Tables that the [host] section of a tree names, as they are written, and whether names are looked up.
struct NamedFiles {
  std::vector<std::string> tables;
  bool hosts_file = false;
};
NamedFiles files_named(const Node& root);

class HostData {
 public:
  /// @param texts  all of the document, the tables among them
  HostData(const std::vector<Text>& texts, const Limits& limits);

  /// Takes the [host] section of the next file, if it has one, and reports what is wrong with it and with its
  /// tables.
  void add(const Node& root, const Text& text, model::Diagnostics& diagnostics);

  /// One for each file that was added, in that order.
  [[nodiscard]] const std::vector<HostSection>& sections() const { return sections_; }
  [[nodiscard]] const std::optional<HostsFile>& hosts_file() const { return hosts_file_; }
  [[nodiscard]] const Limits& limits() const { return limits_; }

 private:
  void parse_section(const Node& section, const Reporter& report, HostSection& out);
  void parse_tables(const Node& node, const Reporter& report, HostSection& out);

  const std::vector<Text>& texts_;
  Limits limits_;
  std::size_t tables_ = 0;
  std::vector<HostSection> sections_;
  std::optional<HostsFile> hosts_file_;
};

}  // namespace rdmacfg::config
