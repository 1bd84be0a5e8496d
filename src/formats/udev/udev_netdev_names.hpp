// SPDX-License-Identifier: Apache-2.0
// Our udev rule file with the names of IPoIB interfaces, and what other files say about the same interfaces.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "model/types.hpp"
#include "system/files.hpp"

namespace rdmacfg::kinds {

/// Sorts before 80-net-setup-link.rules, so that the name is taken before udev would choose one.
inline constexpr std::string_view kRuleFile = "/etc/udev/rules.d/70-rdma-configd-ipoib.rules";

using Rules = std::map<model::Guid, std::string>;

/// Lines that are not ours (or were damaged) are not in the result; writing drops them.
Rules parse_rules(std::string_view text);

/// One line a port, matched by the last 8 bytes of the hardware address: the first 12 change with every boot.
/// DRIVERS=="?*" keeps the rule from P_Key children, which have the same GUID but no parent device.
std::string render_rules(const Rules& rules);

base::Result<Rules> read_rules(system::Files& files);

/// Writes the file, or removes it when there is no rule.
base::Result<void> write_rules(system::Files& files, const Rules& rules);

/// A line of another file that names an interface too.
struct ForeignName {
  std::string file;
  int line = 0;
  std::string name;
  bool wins = false;       ///< udev reads it so that ours has no effect
  bool is_final = false;   ///< it is read before ours, and lets no other change the name
  bool link_file = false;  ///< systemd.link(5), which names only what no rule has named
  bool same_port = true;   ///< it speaks of this port; else it gives the name to something else
};

/// Other udev rules and .link files that would name the interface of this port.
class ForeignNames {
 public:
  static base::Result<ForeignNames> read(system::Files& files);
  [[nodiscard]] std::vector<ForeignName> of(model::Guid guid, const std::string& name) const;

 private:
  struct Line {
    ForeignName what;
    std::string text;
  };
  std::vector<Line> lines_;
};

}  // namespace rdmacfg::kinds
