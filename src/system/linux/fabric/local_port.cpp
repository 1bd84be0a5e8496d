// SPDX-License-Identifier: Apache-2.0
#include "system/linux/fabric/local_port.hpp"

#include <endian.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/unique_fd.hpp"
#include "fabric/fabric.hpp"

namespace rdmacfg::system::detail {

namespace {

using base::Code;
using base::fail;

constexpr int kLinkUp = 5;

LocalPort port_of(const umad_port_t& port) {
  return {port.ca_name,
          port.portnum,
          be64toh(port.port_guid),
          be64toh(port.gid_prefix),
          static_cast<int>(port.base_lid),
          static_cast<int>(port.sm_lid),
          static_cast<int>(port.sm_sl),
          static_cast<int>(port.state),
          static_cast<int>(port.phys_state)};
}

std::vector<LocalPort> local_ports(const FabricLibraries& libraries) {
  // UMAD_MAX_DEVICES is 32 in the headers of rdma-core before 61, and 128 in later ones, while the library
  // accepts any number: eight adapters with many virtual functions have more devices.
  constexpr int kDevices = 1024;
  std::vector<LocalPort> out;
  std::vector<std::array<char, UMAD_CA_NAME_LEN>> names(kDevices);
  const int count =
      libraries.get_cas_names(reinterpret_cast<char(*)[UMAD_CA_NAME_LEN]>(names.data()), kDevices);
  for (int i = 0; i < count; ++i) {
    umad_ca_t device{};
    if (libraries.get_ca(names[static_cast<std::size_t>(i)].data(), &device) != 0) continue;
    for (const auto* port : std::span(device.ports)) {
      if (port == nullptr) continue;
      // libibumad says "IB" where the kernel says nothing.
      const std::string_view layer = port->link_layer;
      if (layer == "IB" || layer == "InfiniBand") out.push_back(port_of(*port));
    }
    libraries.release_ca(&device);
  }
  return out;
}

std::string condition(const LocalPort& port) {
  return fmt::format("{} is {}, {}", port.name(), fabric::state_text(port.state),
                     fabric::physical_text(port.physical));
}

LocalPort with_twin(LocalPort port, std::span<const LocalPort> all) {
  for (const auto& other : all) {
    if (port.guid == 0 || other.guid != port.guid || other.device == port.device) continue;
    port.twin = other.device;
    port.twin_number = other.number;
    break;
  }
  return port;
}

/// The first line of a file in sysfs.
std::string line_of(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
  std::array<char, 128> text{};
  if (!file || std::fgets(text.data(), text.size(), file.get()) == nullptr) return {};
  return std::string(base::trim(text.data()));
}

/// The number N of umadN; -1 when the kernel has made none for that port.
int umad_number(const LocalPort& port) {
  constexpr int kMost = 256;
  for (int i = 0; i < kMost; ++i) {
    const auto folder = fmt::format("/sys/class/infiniband_mad/umad{}/", i);
    if (line_of(folder + "ibdev") == port.device && line_of(folder + "port") == std::to_string(port.number))
      return i;
  }
  return -1;
}

}  // namespace

std::string LocalPort::name() const { return fmt::format("{}/{}", device, number); }

base::Result<LocalPort> find_local_port(const FabricLibraries& libraries, const std::string& wanted) {
  const auto ports = local_ports(libraries);
  if (ports.empty()) return fail(Code::kNotFound, "there is no InfiniBand port on this host");
  std::vector<std::string> names, conditions;
  const LocalPort* best = nullptr;
  for (const auto& port : ports) {
    names.push_back(port.name());
    conditions.push_back(condition(port));
    const bool fits = wanted.empty() || wanted == port.name();
    const bool better = best == nullptr || (port.state == fabric::kStateActive && best->state != port.state);
    if (fits && port.physical == kLinkUp && better) best = &port;
    if (wanted == port.name() && port.physical != kLinkUp)
      return fail(Code::kNotFound,
                  fmt::format("{}: the port has no link; check its cable and the port at the other end",
                              condition(port)));
  }
  if (best != nullptr) return with_twin(*best, ports);
  if (!wanted.empty())
    return fail(Code::kNotFound, fmt::format("no InfiniBand port is named {}; the ports are {}", wanted,
                                             base::join(names, ", ")));
  return fail(Code::kNotFound,
              fmt::format("no InfiniBand port has a link ({}); `rdma-configctl doctor` looks for the cause",
                          base::join(conditions, "; ")));
}

ManagementPorts open_management(const FabricLibraries& libraries, const LocalPort& port, bool targets) {
  const std::vector<int> subnet{IB_SMI_CLASS, IB_SMI_DIRECT_CLASS};
  std::vector<int> services{IB_SA_CLASS, IB_PERFORMANCE_CLASS};
  if (targets) services.push_back(IB_DEVICE_MGMT_CLASS);
  const auto open = [&](std::string device, int number, std::vector<int> classes) {
    return libraries.open_port(device.data(), number, classes.data(), static_cast<int>(classes.size()));
  };
  // A simulated port (umad2sim) takes one client of a management class at a time.
  auto all = subnet;
  all.insert(all.end(), services.begin(), services.end());
  if (auto* both = open(port.device, port.number, all); both != nullptr) return {both, both};
  if (port.twin.empty()) return {};
  // Which of the two has subnet management only an attempt tells.
  const std::array<std::pair<std::string, int>, 2> ends{
      {{port.device, port.number}, {port.twin, port.twin_number}}};
  for (std::size_t i = 0; i < ends.size(); ++i) {
    auto* first = open(ends[i].first, ends[i].second, subnet);
    if (first == nullptr) continue;
    const auto& other = ends[1 - i];
    if (auto* second = open(other.first, other.second, services); second != nullptr) return {first, second};
    libraries.close_port(first);
  }
  return {};
}

base::Error why_not_open(const LocalPort& port) {
  const auto what = fmt::format("{}: open it for management datagrams", port.name());
  const int number = umad_number(port);
  if (number < 0)
    return {Code::kUnsupported,
            what + ": there is no umad device; load the module ib_umad (modprobe ib_umad)", ENODEV};
  const auto path = fmt::format("/dev/infiniband/umad{}", number);
  const base::UniqueFd device(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (device) return {Code::kRefused, what + ": the subnet management class is not available", EIO};
  auto error = base::errno_error(errno, fmt::format("{}: {}", port.name(), path));
  if (error.code == Code::kDenied) error.message += "; run this as root";
  return error;
}

}  // namespace rdmacfg::system::detail
