// SPDX-License-Identifier: Apache-2.0
#include "fakes/drivers/fake_drivers.hpp"

#include <fmt/format.h>

#include <cerrno>

namespace rdmacfg::fakes {

using base::fail_errno;
using base::Result;

std::string FakeInitramfs::dump() const {
  std::string out;
  for (const auto& [path, text] : image) {
    if (path.find("rdma-configd") != std::string::npos) out += "initramfs " + path + "\n";
  }
  return out;
}

std::optional<std::string> FakeInitramfs::tool() {
  return command.empty() ? std::nullopt : std::optional(command);
}

std::optional<std::string> FakeInitramfs::by_hand() {
  return reason.empty() ? std::nullopt : std::optional(reason);
}

std::optional<std::string> FakeInitramfs::unseen() {
  return awaits.empty() ? std::nullopt : std::optional(awaits);
}

bool FakeInitramfs::newer_than(std::span<const std::string> /*paths*/) { return newer && awaits.empty(); }

std::string FakeInitramfs::marks_ahead_of_clock() {
  return ahead ? fmt::format("0 {}", made) : std::string();
}

bool FakeInitramfs::is_marked(const std::string& marks) { return marks == fmt::format("0 {}", made); }

Result<void> FakeInitramfs::rebuild() {
  const int err = faults_.call(command, [&] {
    if (!makes) return EIO;
    ++made;
    image.clear();
    for (const auto& [path, text] : files_.content) {
      if (path.starts_with("/etc/modprobe.d/") || path.starts_with("/etc/udev/rules.d/")) image[path] = text;
    }
    return 0;
  });
  if (err != 0) return fail_errno(err, command);
  return {};
}

void FakeMlx4Ports::reboot() {
  for (auto& [pci, types] : adapters) types.assign(types.size(), "ib");
  in_mind.clear();
}

std::string FakeMlx4Ports::dump() const {
  std::string out;
  for (const auto& [pci, types] : adapters) {
    out += "mlx4 " + pci;
    for (const auto& type : types) out += " " + type;
    out += "\n";
  }
  return out;
}

Result<std::vector<system::Mlx4Device>> FakeMlx4Ports::observe_mlx4() {
  std::vector<system::Mlx4Device> out;
  for (const auto& [pci, types] : adapters) out.push_back({pci, types, fixed.contains(pci)});
  return out;
}

Result<void> FakeMlx4Ports::set_type(const std::string& pci, int port, const std::string& type) {
  const auto what = fmt::format("{}: make port {} {}", pci, port, type);
  const int err = faults_.call(what, [&] {
    const auto at = adapters.find(pci);
    if (at == adapters.end()) return ENODEV;
    if (fixed.contains(pci)) return EACCES;  // kernfs_fop_open() of a file of mode 0444
    auto wanted = at->second;
    wanted.at(static_cast<std::size_t>(port) - 1) = type == "auto" ? "auto (ib)" : type;
    if (without_dpdp.contains(pci)) {
      // mellanox/mlx4/main.c:1177 __set_port_type(), :307 mlx4_check_port_params()
      auto& kept = in_mind[pci];
      kept[port] = type;
      for (const auto& [other, kept_type] : kept) wanted.at(static_cast<std::size_t>(other) - 1) = kept_type;
      if (wanted.front() != wanted.back()) return EOPNOTSUPP;
      kept.clear();
    }
    // mlx4_check_port_params(): an Ethernet port 1 wants an Ethernet port 2.
    if (wanted.size() == 2 && wanted[0] == "eth" && wanted[1] == "ib") return EINVAL;
    at->second = wanted;
    return 0;
  });
  if (err != 0) return fail_errno(err, what);
  return {};
}

}  // namespace rdmacfg::fakes
