// SPDX-License-Identifier: Apache-2.0
#include "kinds/expect/readings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "formats/storage/mount_table.hpp"
#include "kinds/expect/versions.hpp"

namespace rdmacfg::kinds::readings {

namespace {

using model::Value;

Reading unknown(std::string why) { return {{}, std::move(why), {}}; }

/// The path of a row for a subject.
std::string path_of(std::string_view reads, const Subject& subject) {
  std::string out(reads);
  const auto put = [&](std::string_view name, const std::string& text) {
    if (const auto at = out.find(name); at != std::string::npos) out.replace(at, name.size(), text);
  };
  if (subject.ports.empty()) return out;
  const auto& port = subject.ports.front();
  put("{device}", port.device->name);
  put("{pci}", port.device->pci);
  put("{port}", port.port == nullptr ? "" : std::to_string(port.port->number));
  return out;
}

Reading text_in(const std::string& path, World& world) {
  constexpr std::string_view kSettings = "/proc/sys/";
  auto& host = world.host();
  if (path.starts_with(kSettings)) {
    const auto value = host.sysctl.read(path.substr(kSettings.size()));
    return value ? Reading{Value(*value), {}, {}} : unknown(path + " cannot be read");
  }
  const auto text = host.files.read(path);
  if (!text) return unknown(text.error().message);
  if (!*text) return unknown(path + " does not exist");
  return {Value(std::string(base::trim(**text))), {}, {}};
}

/// The digits that a text begins with.
Value leading_number(std::string_view text) {
  const auto digits = text.substr(0, text.find_first_not_of("0123456789"));
  const auto number = base::parse_number(digits);
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return number && *number <= kMost ? Value(static_cast<std::int64_t>(*number)) : Value{};
}

const system::RdmaDevice& device_of(const Subject& subject) { return *subject.ports.front().device; }
const system::RdmaPort& port_of(const Subject& subject) { return *subject.ports.front().port; }

Reading not_on_pci(const Subject& subject) {
  return unknown(device_of(subject).name + " is not a PCI device");
}

bool is_loaded(const std::vector<std::string>& modules, std::string_view name) {
  return std::find(modules.begin(), modules.end(), name) != modules.end();
}

/// Whether the running kernel was built with an option; nothing when that is not known.
std::optional<bool> has_option(std::string_view option, const std::string& release, World& world) {
  auto& files = world.host().files;
  const auto path = "/boot/config-" + release;
  if (waits_for_access(path, observe_mounts(files))) return std::nullopt;
  const auto text = files.read_linked(path);
  if (!text || !*text) return std::nullopt;
  return (*text)->find(fmt::format("\n{}=y\n", option)) != std::string::npos;
}

/// Whether a driver of GPUs gives out memory as dma-buf that RDMA can register; nothing when that is not
/// known. NVIDIA: the open kernel modules, from Linux 5.12 on. AMD: amdgpu with two options of the kernel.
std::optional<bool> has_dmabuf(const std::vector<std::string>& modules, World& world) {
  auto& host = world.host();
  const auto release = host.sysctl.read("kernel/osrelease");
  const auto nvidia = host.files.read("/proc/driver/nvidia/version");
  if (nvidia && *nvidia && (*nvidia)->find("Open Kernel Module") != std::string::npos)
    return release ? std::optional(!version_before(*release, "5.12")) : std::nullopt;
  if (!is_loaded(modules, "amdgpu")) return false;
  const auto notify = release ? has_option("CONFIG_DMABUF_MOVE_NOTIFY", *release, world) : std::nullopt;
  const auto peers = release ? has_option("CONFIG_PCI_P2PDMA", *release, world) : std::nullopt;
  if (!notify || !peers) return std::nullopt;
  return *notify && *peers;
}

}  // namespace

Reading devices(const ExpectRow& /*row*/, const Subject& subject) {
  std::set<const system::RdmaDevice*> found;
  for (const auto& port : subject.ports) found.insert(port.device);
  return {Value(static_cast<std::int64_t>(found.size())), {}, {}};
}

Reading active_ports(const ExpectRow& /*row*/, const Subject& subject) {
  const auto count = std::count_if(subject.ports.begin(), subject.ports.end(),
                                   [](const PortRef& port) { return port.port->state == "ACTIVE"; });
  return {Value(static_cast<std::int64_t>(count)), {}, {}};
}

Reading acs_redirect(const ExpectRow& /*row*/, const Subject& subject) {
  constexpr std::size_t kNamed = 4;
  auto& pci = subject.world.host().pci;
  const auto all = pci.list();
  if (!all) return unknown(all.error().message);
  if (all->empty()) return unknown("there are no PCI devices");
  std::vector<std::string> redirecting;
  std::string open;
  for (const auto& address : *all) {
    const auto found = pci.observe(address);
    if (!found) return unknown(found.error().message);
    if (!*found || !(*found)->bridge) continue;
    if (!(*found)->redirects) open = address;
    if ((*found)->redirects.value_or(false)) redirecting.push_back(address);
  }
  if (redirecting.empty() && !open.empty())
    return unknown(fmt::format("the PCI configuration space of {} cannot be read", open));
  return {Value(!redirecting.empty()), {}, base::join_first(kNamed, redirecting, ", ")};
}

Reading gpu_memory(const ExpectRow& /*row*/, const Subject& subject) {
  auto& host = subject.world.host();
  const auto modules = host.modules.observe_loaded();
  if (!modules) return unknown(modules.error().message);
  const auto peers = host.files.list("/sys/kernel/mm/memory_peers");
  std::vector<std::string> out;
  const bool registered = peers && is_loaded(*peers, "amdkfd");
  if (is_loaded(*modules, "nvidia_peermem") || is_loaded(*modules, "nv_peer_mem") || registered)
    out.emplace_back("peermem");
  const auto dmabuf = has_dmabuf(*modules, subject.world);
  if (dmabuf.value_or(false)) out.emplace_back("dmabuf");
  if (out.empty() && !dmabuf) return unknown("the options of the running kernel cannot be read in /boot");
  return {Value(std::move(out)), {}, {}};
}

Reading firmware(const ExpectRow& /*row*/, const Subject& subject) {
  const auto& device = device_of(subject);
  if (device.firmware.empty()) return unknown(device.name + " does not report its firmware");
  return {Value(device.firmware), {}, {}};
}

Reading pcie_number(const ExpectRow& row, const Subject& subject) {
  if (device_of(subject).pci.empty()) return not_on_pci(subject);
  const auto path = path_of(row.reads, subject);
  auto text = text_in(path, subject.world);
  if (text.now.index() == 0) return text;
  const auto said = model::text_of(text.now);
  const auto number = leading_number(said);
  if (number.index() == 0) return unknown(fmt::format("{} says \"{}\"", path, said));
  return {number, {}, {}};
}

Reading max_read_request(const ExpectRow& /*row*/, const Subject& subject) {
  const auto& address = device_of(subject).pci;
  if (address.empty()) return not_on_pci(subject);
  const auto found = subject.world.host().pci.observe(address);
  if (!found) return unknown(found.error().message);
  if (!*found || !(*found)->max_read_request)
    return unknown(fmt::format("the PCI configuration space of {} cannot be read", address));
  return {Value(static_cast<std::int64_t>(*(*found)->max_read_request)), {}, {}};
}

Reading iommu(const ExpectRow& row, const Subject& subject) {
  if (device_of(subject).pci.empty()) return not_on_pci(subject);
  auto& files = subject.world.host().files;
  const auto path = path_of(row.reads, subject);
  const auto type = files.read(path);
  if (!type) return unknown(type.error().message);
  if (*type) {
    const auto text = base::trim(**type);
    if (text == "identity") return {Value(std::string("passthrough")), {}, {}};
    if (text.starts_with("DMA")) return {Value(std::string("translated")), {}, {}};
    return {Value(std::string(text)), {}, {}};
  }
  // Without a group nothing translates its addresses.
  const auto folder = files.list(path_of("/sys/bus/pci/devices/{pci}", subject));
  if (!folder || folder->empty()) return unknown(path + " cannot be read");
  const bool grouped = std::find(folder->begin(), folder->end(), "iommu_group") != folder->end();
  if (grouped) return unknown(path + " does not exist");
  return {Value(std::string("off")), {}, {}};
}

Reading rate(const ExpectRow& /*row*/, const Subject& subject) {
  const auto number = leading_number(port_of(subject).rate);
  if (number.index() == 0) return unknown("the port does not report its rate");
  return {number, {}, {}};
}

Reading width(const ExpectRow& /*row*/, const Subject& subject) {
  const std::string_view text = port_of(subject).rate;
  const auto at = text.find('(');
  const auto number = at == std::string_view::npos ? Value{} : leading_number(text.substr(at + 1));
  if (number.index() == 0) return unknown("the port does not report its width");
  return {number, {}, {}};
}

Reading link_layer(const ExpectRow& /*row*/, const Subject& subject) {
  const auto& text = port_of(subject).link_layer;
  if (text.empty()) return unknown("the port does not report its link layer");
  return {Value(text), {}, {}};
}

Reading subnet_manager(const ExpectRow& /*row*/, const Subject& subject) {
  const auto& lid = port_of(subject).sm_lid;
  if (!lid) return unknown("the port does not report the LID of its subnet manager");
  return {Value(*lid != 0), {}, {}};
}

Reading counter(const ExpectRow& row, const Subject& subject) {
  constexpr std::string_view kHardware = "/hw_counters";
  const bool hardware = row.reads.ends_with(kHardware);
  const auto port = row.reads.substr(0, row.reads.rfind('/'));
  Reading first;
  for (const auto folder : {row.reads.substr(port.size()), hardware ? "/counters" : kHardware}) {
    const auto path = path_of(fmt::format("{}{}/{}", port, folder, row.name), subject);
    auto text = text_in(path, subject.world);
    if (text.now.index() != 0) {
      const auto number = leading_number(model::text_of(text.now));
      if (number.index() != 0) return {number, {}, {}};
      text = unknown(fmt::format("{} says \"{}\"", path, model::text_of(text.now)));
    }
    if (first.why.empty()) first = std::move(text);
  }
  return first;
}

Reading setting(const ExpectRow& row, const Subject& subject) {
  return text_in(std::string(row.reads), subject.world);
}

Reading governors(const ExpectRow& row, const Subject& subject) {
  const std::string folder(row.reads.substr(0, row.reads.rfind("/cpu*")));
  const std::string rest(row.reads.substr(row.reads.rfind('*') + 1));
  auto& files = subject.world.host().files;
  const auto names = files.list(folder);
  if (!names) return unknown(names.error().message);
  std::map<std::string, std::string> first;  // processor with each
  for (const auto& name : *names) {
    const bool processor = name.size() > 3 && name.starts_with("cpu") &&
                           name.find_first_not_of("0123456789", 3) == std::string::npos;
    if (!processor) continue;
    const auto text = files.read(folder + "/" + name + rest);
    if (!text) return unknown(text.error().message);
    if (*text) first.try_emplace(std::string(base::trim(**text)), name);  // one that is offline has none
  }
  if (first.empty()) return unknown(fmt::format("{} does not exist", row.reads));
  if (first.size() == 1) return {Value(first.begin()->first), {}, {}};
  std::vector<std::string> all, where;
  for (const auto& [text, name] : first) {
    all.push_back(text);
    where.push_back(name);
  }
  return {Value(base::join(all, ", ")), {}, base::join(where, ", ")};
}

Reading bracketed(const ExpectRow& row, const Subject& subject) {
  auto text = text_in(std::string(row.reads), subject.world);
  if (text.now.index() == 0) return text;
  const auto said = model::text_of(text.now);
  const auto from = said.find('['), to = said.find(']');
  if (from == std::string::npos || to == std::string::npos || to < from)
    return unknown(fmt::format("{} says \"{}\"", row.reads, said));
  return {Value(said.substr(from + 1, to - from - 1)), {}, {}};
}

}  // namespace rdmacfg::kinds::readings
