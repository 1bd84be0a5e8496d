// SPDX-License-Identifier: Apache-2.0
// Lists of hosts as people write them, "gpu[001-512,600],login1", and back. A number has at least as many
// digits as the first one of its range: [001-512], [9-10]; [1-010] is a mistake. Every bracket stands for
// each of its numbers; [1-9/2] is every second one (as in the node sets of ClusterShell).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/document.hpp"
#include "model/diagnostic.hpp"
#include "model/limits.hpp"

namespace rdmacfg::fleet {

/// An item of a list: bytes of its text behind the byte order mark.
struct ListItem {
  std::uint32_t at = 0;
  std::uint32_t length = 0;
};

/// Hosts in the order in which they are listed, each once; or what is wrong with the list.
struct HostList {
  std::vector<std::string> names;
  model::Diagnostics diagnostics;  ///< a faulty item is left out; the others are in `names`
  bool complete = true;            ///< false: an item was left out, so that other hosts may be meant, too
  std::vector<ListItem> items{};   ///< of each name the one that gives it
};

/// Reads a list: items are separated by commas, blanks and ends of lines; '#' begins a comment, and a byte
/// order mark is skipped. Ranges in a bracket are separated by commas, with or without blanks. A reversed
/// or empty range, a bracket without end, a name that no host can have, a host that is listed before, and
/// more hosts than `most` are errors with their place in `text`; those beyond kErrors are counted. An empty
/// list is one, too.
HostList parse_hosts(const config::Text& text, std::size_t most = model::limits::kFleetHosts);

/// Where an item is in the text that parse_hosts() has read.
model::Location location_in(const config::Text& text, const ListItem& item);

/// The shortest list that parse_hosts() reads as these names, in natural order: "gpu[003-007,9],login1".
std::string fold_hosts(const std::vector<std::string>& names);

/// Whether a host may have this name, short or with its domain: labels of letters, digits, '-' and '_' with
/// dots between them, each at most 63 and neither beginning nor ending with '-', at most 253 in all
/// (RFC 1123, RFC 1035; '_' as sites use it).
bool is_host_name(std::string_view name);

}  // namespace rdmacfg::fleet
