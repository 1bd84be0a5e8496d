// SPDX-License-Identifier: Apache-2.0
// /etc/nvme/discovery.conf: discovery controllers for `nvme connect-all`, one line each, and how
// nvmf-autoconnect.service comes to read them. Sources: discover_from_conf_file() of fabrics.c and
// nvmf-autoconnect/systemd in nvme-cli 2.3 to 2.16.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "formats/managed_block.hpp"

namespace rdmacfg::kinds {

inline constexpr std::string_view kDiscoveryFile = "/etc/nvme/discovery.conf";
/// libnvme's other file with connections; nvme-cli reads both. It is left as it is.
inline constexpr std::string_view kNvmeConfigFile = "/etc/nvme/config.json";
/// nvme-cli 3 reads this one alone, and makes it once from the others (nvme_config_convert_auto() in
/// config-convert.c).
inline constexpr std::string_view kNvmeFabricsFile = "/etc/nvme/nvme-fabrics.conf";
inline constexpr std::string_view kAutoconnectUnit = "nvmf-autoconnect.service";
inline constexpr std::string_view kAutoconnectDropIn =
    "/etc/systemd/system/nvmf-autoconnect.service.d/50-rdma-configd.conf";
inline constexpr std::string_view kNvmeBootDropIn =
    "/etc/systemd/system/remote-fs.target.d/50-rdma-configd-nvme.conf";

/// Before a line of ours whose connections are being ended: nvme-cli reads over it, and whoever goes on after
/// an interruption sees that some of them may be gone.
inline constexpr std::string_view kGoingMark = "# disconnecting: ";

/// The administrator's lines, and ours behind them. nvme-cli 2 keeps the transport, address and service of a
/// line for the lines after it, so ours give all three.
struct DiscoveryConf {
  std::string others;  ///< the text without our part
  std::map<std::string, int>
      others_lead{};  ///< addresses that the others' lines lead to, with a line of each
  /// Lines by the address that they lead to, those that differ in their ports alone together, with line
  /// breaks. Those that are not as we write them are their own key.
  std::map<std::string, std::string> ours{};
  std::optional<Damage> damage{};  ///< it cannot be rewritten
};

DiscoveryConf parse_discovery_conf(std::string_view text);

/// Only `others` when there are none of ours.
std::string render_discovery_conf(const DiscoveryConf& conf);

/// "192.0.2.1" of "--transport=rdma --traddr=192.0.2.1 …" or of "-t rdma -a 192.0.2.1"; empty for a line
/// without one.
std::string traddr_of(std::string_view line);

/// Ports of lines of ours, "4420"; those of lines that are to go, too.
std::set<std::string> services_of_lines(std::string_view lines);

/// Of nvmf-autoconnect.service: it connects once the interfaces are configured, and whenever our lines are
/// there, as the condition of nvme-cli 2.3 is the wrong way round.
std::string render_autoconnect_drop_in();

/// Of remote-fs.target: at boot the interfaces are waited for. Not of the service, whose start in an apply
/// would start the daemon, which waits for the apply.
std::string render_nvme_boot_drop_in();

}  // namespace rdmacfg::kinds
