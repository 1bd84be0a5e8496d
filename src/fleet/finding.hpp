// SPDX-License-Identifier: Apache-2.0
// Something wrong with a site: one finding however many hosts it is on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/diagnostic.hpp"

namespace rdmacfg::fleet {

/// The number of a host in the list of hosts.
using HostId = std::uint32_t;

struct Finding {
  std::string rule;  ///< stable, for programs: one of rules(), or "document"
  model::Severity severity = model::Severity::kError;
  std::string message;
  std::string hint{};
  std::vector<HostId> hosts{};  ///< that it is about, each once, in the order of the list
  /// Lines of the document and of its tables; the first is where it is to be mended. At most kPlaces.
  std::vector<model::Diagnostic::Related> places{};
};

/// Places that a finding shows.
inline constexpr std::size_t kPlaces = 5;

struct Rule {
  std::string_view name;
  std::string_view about;
};

/// The rules across hosts.
const std::vector<Rule>& rules();

/// Adds a place unless it is there already or there are enough.
void add_place(Finding& finding, const model::Location& where, std::string note);

/// Hosts sorted, each once.
void tidy(std::vector<HostId>& hosts);

/// Names of hosts, folded.
std::string fold_hosts(const std::vector<std::string>& names, const std::vector<HostId>& hosts);

/// "1 host", "12 hosts".
std::string hosts_text(std::size_t count);

}  // namespace rdmacfg::fleet
