// SPDX-License-Identifier: Apache-2.0
// [[nvme_target]]: block devices that this host offers to others as NVMe over RDMA.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "kinds/kind.hpp"
#include "model/section.hpp"
#include "model/types/storage_types.hpp"

namespace rdmacfg::kinds {

/// A subsystem of the kernel's NVMe target, with all that belongs to it.
struct NvmeTargetSubsystem {
  std::optional<model::Nqn> nqn;
  std::optional<std::vector<std::string>> hosts;
  std::optional<bool> any_host;
  std::optional<std::vector<std::string>> addresses;
  std::optional<model::ServicePort> port;
  std::optional<std::vector<std::string>> listeners;
  std::optional<std::vector<std::string>> namespaces;

  static constexpr auto kFields =
      std::tuple{model::field("nqn", &NvmeTargetSubsystem::nqn, model::Role::kIdentity,
                              "Name of the subsystem: \"nqn.2014-08.org.example:scratch\".", "-"),
                 model::field("hosts", &NvmeTargetSubsystem::hosts, model::Role::kSetting,
                              "NQNs of the hosts that may connect, from their /etc/nvme/hostnqn.", "none"),
                 model::field("any_host", &NvmeTargetSubsystem::any_host, model::Role::kSetting,
                              "Whether every host may connect, whatever its NQN.", "false"),
                 model::field("addresses", &NvmeTargetSubsystem::addresses, model::Role::kPolicy,
                              "Addresses of this host on which it is offered: [\"192.0.2.1\"]."),
                 model::field("port", &NvmeTargetSubsystem::port, model::Role::kPolicy,
                              "Port at these addresses.", "4420"),
                 model::field("listeners", &NvmeTargetSubsystem::listeners, model::Role::kDerived,
                              "Addresses and ports on which it is offered."),
                 model::field("namespaces", &NvmeTargetSubsystem::namespaces, model::Role::kDerived,
                              "Its namespaces: number and device.")};
};

/// A block device of a subsystem.
struct NvmeTargetNamespace {
  std::optional<std::int64_t> nsid;
  std::optional<model::PlainPath> device;

  static constexpr auto kFields = std::tuple{
      model::field("nsid", &NvmeTargetNamespace::nsid, model::Role::kIdentity,
                   "Its number, from 1 on; hosts know the device by it.", "-"),
      model::field(
          "device", &NvmeTargetNamespace::device, model::Role::kPolicy,
          "A block device or a file: \"/dev/disk/by-id/…\". Use a name that persists across reboots.")};
};

/// Ports that we make have numbers from here on, by which they are known as ours; others, nvmetcli among
/// them, begin at 1.
inline constexpr int kOurNvmePorts = 0xc000;

/// The UUID of a namespace: the kernel would draw another one at each boot, and hosts know disks by it.
std::string nvme_namespace_uuid(std::string_view nqn, std::int64_t nsid);

model::SectionSpec nvme_target_section();

const Kind& nvme_target();

}  // namespace rdmacfg::kinds
