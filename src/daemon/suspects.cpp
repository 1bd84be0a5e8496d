// SPDX-License-Identifier: Apache-2.0
#include "daemon/suspects.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <string_view>

namespace rdmacfg::daemon {

std::string suspects(const std::filesystem::path& proc) {
  // As /proc/PID/comm has them: at most 15 characters.
  constexpr std::array<std::string_view, 9> kKnown{"NetworkManager", "systemd-network", "lldpad",
                                                   "openibd",        "tuned",           "mlnx_tune",
                                                   "wickedd-nanny",  "connmand",        "dcbd"};
  std::set<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(proc, error)) {
    const auto name = entry.path().filename().native();
    if (name.empty() || name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream in(entry.path() / "comm");
    std::string comm;
    if (std::getline(in, comm) && std::find(kKnown.begin(), kKnown.end(), comm) != kKnown.end())
      found.insert(comm);
  }
  std::string out;
  for (const auto& one : found) out += (out.empty() ? "" : ", ") + one;
  return out;
}

}  // namespace rdmacfg::daemon
