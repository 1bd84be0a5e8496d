// SPDX-License-Identifier: Apache-2.0
// Controllers that were connected before an [[nvme_connection]] for their address came into the document.
// They stay connected when it goes. Of this boot only: at the next one our line connects them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "formats/storage/discovery_conf.hpp"
#include "system/host.hpp"

namespace rdmacfg::kinds {

inline constexpr std::string_view kNvmeFoundFile = "/var/lib/rdma-configd/nvme-found";

/// "192.0.2.1 nvme0 nqn.x:a"
std::string found_text(const system::NvmeController& controller, const std::string& address);

base::Result<std::set<std::string>> read_nvme_found(system::Host& host);
/// None: no file.
base::Result<void> write_nvme_found(const std::set<std::string>& found, system::Host& host);

/// NVMe controllers over RDMA by the target's address; without those of discovery services, which end by
/// themselves or are somebody else's (`nvme discover --persistent`).
using NvmeControllers = std::multimap<std::string, system::NvmeController>;
base::Result<NvmeControllers> observe_nvme_controllers(system::Host& host);

/// Which controllers are ours. The files of others are read once, at the first controller that they may name.
class NvmeOwners {
 public:
  explicit NvmeOwners(system::Host& host) : host_(host) {}

  /// Controllers at an address that an entry has connected: neither were they there before it, nor does a
  /// line of somebody else's lead there.
  base::Result<std::vector<std::string>> ours_at(const std::string& address, const DiscoveryConf& conf,
                                                 const NvmeControllers& controllers);

  /// Those of them at one of these ports ("4420").
  base::Result<std::vector<std::string>> ours_at_ports(const std::string& address,
                                                       const std::set<std::string>& ports,
                                                       const DiscoveryConf& conf,
                                                       const NvmeControllers& controllers);

 private:
  system::Host& host_;
  std::optional<std::set<std::string>> config_, found_;  ///< addresses of config.json; read_nvme_found()
};

}  // namespace rdmacfg::kinds
