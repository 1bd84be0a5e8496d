// SPDX-License-Identifier: Apache-2.0
// [[nvme_connection]]: NVMe targets that this host connects to over RDMA.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "kinds/kind.hpp"
#include "model/section.hpp"
#include "model/spelled.hpp"
#include "model/types/inet_types.hpp"
#include "model/types/storage_types.hpp"

namespace rdmacfg::kinds {

/// A discovery controller: every subsystem that it offers to this host is connected, by nvme-cli.
struct NvmeConnection {
  std::optional<model::IpAddress> address, host_address;
  std::optional<model::ServicePorts> port;
  std::optional<std::vector<std::string>> subsystems;
  std::optional<std::int64_t> nr_io_queues, queue_size, keep_alive_tmo, reconnect_delay, ctrl_loss_tmo;
  std::optional<std::string> line;
  std::optional<bool> at_boot;
  std::optional<bool> connected;
  std::optional<std::vector<std::string>> controllers;
  std::optional<std::string> job;

  static constexpr std::string_view kPositive = R"({"type":"integer","minimum":1,"maximum":65535})";
  static constexpr auto kFields = std::tuple{
      model::field("address", &NvmeConnection::address, model::Role::kIdentity,
                   "IP address of the target: \"192.0.2.1\".", "-"),
      model::field("port", &NvmeConnection::port, model::Role::kPolicy,
                   "Port of its discovery controller, or a list, where the target has several: [4420, 4421].",
                   "4420"),
      model::field("subsystems", &NvmeConnection::subsystems, model::Role::kPolicy,
                   "NQNs of subsystems that must be among those connected; the entry is pending while one of "
                   "them is not. Without it, each port of a list must have a connection.",
                   "whatever it offers"),
      model::field("host_address", &NvmeConnection::host_address, model::Role::kPolicy,
                   "Address of this host that connections come from.", "by route"),
      model::spelled(
          model::field("nr_io_queues", &NvmeConnection::nr_io_queues, model::Role::kPolicy,
                       "Queues for data, at most as many as processors.", "one for each processor"),
          kPositive),
      model::spelled(model::field("queue_size", &NvmeConnection::queue_size, model::Role::kPolicy,
                                  "Commands that a queue holds, 16 to 1024.", "128 (the kernel's)"),
                     R"({"type":"integer","minimum":16,"maximum":1024})"),
      model::spelled(model::field("keep_alive_tmo", &NvmeConnection::keep_alive_tmo, model::Role::kPolicy,
                                  "Keep-alive timeout in seconds.", "nvme-cli's"),
                     kPositive),
      model::spelled(model::field("reconnect_delay", &NvmeConnection::reconnect_delay, model::Role::kPolicy,
                                  "Seconds between attempts to reach a lost target.", "10 (the kernel's)"),
                     kPositive),
      model::spelled(
          model::field("ctrl_loss_tmo", &NvmeConnection::ctrl_loss_tmo, model::Role::kPolicy,
                       "Seconds after which a lost target is given up; -1: never.", "600 (the kernel's)"),
          R"({"type":"integer","minimum":-1,"maximum":2147483647})"),
      model::field("line", &NvmeConnection::line, model::Role::kDerived,
                   "Its line in /etc/nvme/discovery.conf, one for each port."),
      model::field("at_boot", &NvmeConnection::at_boot, model::Role::kDerived,
                   "Whether nvmf-autoconnect.service waits for the interfaces at boot, by a drop-in."),
      model::field("connected", &NvmeConnection::connected, model::Role::kDerived,
                   "Whether the host is connected to a subsystem at this address."),
      model::field("controllers", &NvmeConnection::controllers, model::Role::kFact,
                   "Controllers at this address, with their subsystems and states.", "-"),
      model::field("job", &NvmeConnection::job, model::Role::kFact,
                   "Job that systemd has queued for nvmf-autoconnect.service.", "-")};
};

model::SectionSpec nvme_connection_section();

const Kind& nvme_connection();

}  // namespace rdmacfg::kinds
