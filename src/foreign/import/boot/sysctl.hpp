// SPDX-License-Identifier: Apache-2.0
// Settings of the kernel by sysctl.d(5), in order, whichever file or program they come from.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

/// Whether a key such as "net.rds.ib.max_send_wr" or "net/smc/wmem" is a setting of a module of RDMA.
bool is_rdma_setting(std::string_view key);

/// Imports lines of sysctl.d(5); of several for a setting the last counts.
class SysctlSettings {
 public:
  explicit SysctlSettings(Claims& claims) : claims_(claims) {}

  /// "net.ipv4.conf.ib0.rp_filter = 2".
  void line(const Place& where, std::string_view text);
  /// Whether the document has words for the setting of such a line.
  [[nodiscard]] bool is_ours(std::string_view text) const;
  /// Says how many other settings each file has.
  void finish();

 private:
  [[nodiscard]] bool is_ours(const std::vector<std::string>& parts) const;
  void set(Entry& entry, const std::string& key, const model::Value& value, const Place& where,
           const std::string& setting);

  Claims& claims_;
  std::map<std::string, Place> places_;  ///< of the last line for a setting
  std::map<std::string, int> others_;
};

}  // namespace rdmacfg::foreign
