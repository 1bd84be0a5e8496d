// SPDX-License-Identifier: Apache-2.0
// FakeKernel's side of RDMA netlink and of rdma_cm's configfs.
#include <fmt/format.h>

#include <cerrno>

#include "fakes/fake_kernel.hpp"

namespace rdmacfg::fakes {

using base::fail_errno;
using base::Result;

namespace {

Result<void> result_of(int err, const std::string& what) {
  if (err != 0) return fail_errno(err, what);
  return {};
}

}  // namespace

Result<std::vector<system::Gid>> FakeKernel::observe_gids(const std::string& device, int number) {
  const Device* owner = machine.device(device);
  if (owner == nullptr) return fail_errno(ENOENT, device);
  std::vector<system::Gid> table;
  for (const auto& port : owner->ports) {
    if (port.number != number) continue;
    if (port.link_layer != "Ethernet") {
      table.push_back({0, "IB/RoCE v1", "fe80:0000:0000:0000:0002:c903:0031:78f2", ""});
      continue;
    }
    for (const auto& type : port.gid_types) {
      table.push_back(
          {static_cast<int>(table.size()), type, "fe80:0000:0000:0000:0200:00ff:fe00:0001", port.netdev});
    }
  }
  return table;
}

Result<void> FakeKernel::rename_device(const std::string& device, const std::string& name) {
  const auto what = fmt::format("{}: rename device to {}", device, name);
  return result_of(faults.call(what, [&] { return machine.rename_device(device, name); }), what);
}

Result<void> FakeKernel::new_link(const std::string& name, const std::string& type,
                                  const std::string& interface) {
  const auto what = fmt::format("{}: create it as {} over {}", name, type, interface);
  return result_of(faults.call(what, [&] { return machine.new_soft(name, type, interface); }), what);
}

Result<void> FakeKernel::delete_link(const std::string& name) {
  const auto what = fmt::format("{}: remove soft device", name);
  return result_of(faults.call(what, [&] { return machine.delete_soft(name); }), what);
}

Result<std::string> FakeKernel::observe_instance() {
  return machine.rdma_cm == 0 ? std::string() : std::to_string(machine.rdma_cm);
}

Result<std::vector<std::string>> FakeKernel::observe_folders() {
  std::vector<std::string> names;
  for (const auto& [name, instance] : machine.rdma_cm_folders) names.push_back(name);
  return names;
}

Result<std::optional<system::RoceDefaults>> FakeKernel::observe_defaults(const std::string& device,
                                                                         int number) {
  const Port* port = machine.folder_port(device, number);
  if (port == nullptr) return std::optional<system::RoceDefaults>();
  return system::RoceDefaults{port->roce_mode, port->roce_tos};
}

Result<void> FakeKernel::start() {
  if (machine.rdma_cm != 0) return {};
  const std::string what = "rdma_cm: load";
  const auto effect = [&] {
    machine.load_rdma_cm();
    return 0;
  };
  return result_of(faults.call(what, effect), what);
}

Result<bool> FakeKernel::make_folder(const std::string& device) {
  if (machine.rdma_cm_folders.contains(device)) return false;
  const auto what = fmt::format("{}: make configfs folder", device);
  if (auto done = result_of(faults.call(what, [&] { return machine.make_folder(device); }), what); !done)
    return base::fail(done.error());
  ++folders_made_;
  return true;
}

Result<void> FakeKernel::write_gid_type(const std::string& device, int port, const std::string& gid_type) {
  const auto what = fmt::format("{}/{}: write RoCE mode {}", device, port, gid_type);
  return result_of(faults.call(what, [&] { return machine.set_roce_mode(device, port, gid_type); }), what);
}

Result<void> FakeKernel::write_tos(const std::string& device, int port, int tos) {
  const auto what = fmt::format("{}/{}: write RoCE ToS {}", device, port, tos);
  return result_of(faults.call(what, [&] { return machine.set_roce_tos(device, port, tos); }), what);
}

Result<void> FakeKernel::remove_folder(const std::string& device) {
  if (!machine.rdma_cm_folders.contains(device)) return {};
  const auto what = fmt::format("{}: remove configfs folder", device);
  return result_of(faults.call(what, [&] { return machine.remove_folder(device); }), what);
}

}  // namespace rdmacfg::fakes
