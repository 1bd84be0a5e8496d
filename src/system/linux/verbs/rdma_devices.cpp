// SPDX-License-Identifier: Apache-2.0
// Sources: Documentation/ABI/stable/sysfs-class-infiniband, sysfs-class-net, ipoib_main.c (dev_port, iflink).
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "base/text.hpp"
#include "system/linux/files/sysfs_dir.hpp"
#include "system/linux/linux_host.hpp"
#include "system/linux/netlink/rdma_netlink.hpp"
#include "system/linux/verbs/verbs_query.hpp"

namespace rdmacfg::system {

namespace {

using base::Code;
using base::fail;
using base::Result;
using detail::FirstError;
using detail::SysfsDir;

constexpr std::int64_t kArphrdInfiniband = 32;
constexpr std::string_view kIwarpNode = "RNIC";
constexpr std::size_t kPortsAsked = 4;  // of a device at most; adapters have one or two
constexpr std::string_view kSiwDescription = "Software iWARP stack";  // include/uapi/rdma/siw-abi.h
constexpr std::size_t kPrefixText = 19;                               // "fe80:0000:0000:0000"
constexpr std::size_t kGuidText = 19;

/// "4: ACTIVE" → "ACTIVE"
std::string word_after_number(const std::string& text) {
  const auto colon = text.find(':');
  return colon == std::string::npos ? text
                                    : std::string(base::trim(std::string_view(text).substr(colon + 1)));
}

model::Guid guid_of(std::string_view text) { return model::Guid::parse(text).value_or(model::Guid{}); }

std::string last_part(const std::string& path) { return std::filesystem::path(path).filename(); }

std::optional<int> small(std::optional<std::int64_t> number) {
  if (!number) return std::nullopt;
  return static_cast<int>(*number);
}

/// The device that an entry of a class belongs to ("/sys/devices/…/0000:10:00.0"); empty without one.
std::string parent_of(const std::filesystem::path& entry, FirstError& first_error) {
  std::error_code error;
  const auto path = std::filesystem::canonical(entry / "device", error);
  first_error.note(error.value(), (entry / "device").string());
  return error ? std::string() : path.string();
}

/// An IPoIB interface of sysfs that is not a P_Key child.
struct IpoibNetdev {
  std::string name;
  std::string parent;
  std::int64_t port = -1;  // from 0
  model::Guid guid;
};

std::vector<IpoibNetdev> ipoib_netdevs(const std::filesystem::path& net,
                                       const std::set<std::string>& children, FirstError& first_error) {
  std::vector<IpoibNetdev> out;
  const auto folder = SysfsDir::open(net, &first_error);
  if (!folder) return out;
  for (const auto& name : folder->list()) {
    if (children.contains(name)) continue;
    const auto entry = folder->sub(name);
    if (!entry || entry->number("type") != kArphrdInfiniband) continue;
    // The kernel has a child say its parent's index here.
    if (entry->number("iflink") != entry->number("ifindex")) continue;
    IpoibNetdev netdev{name, parent_of(net / name, first_error), entry->number("dev_port").value_or(-1), {}};
    const auto address = entry->text("address");
    constexpr std::size_t kPairs = 8 * 3 - 1;
    if (address.size() > kPairs)
      netdev.guid = guid_of(std::string_view(address).substr(address.size() - kPairs));
    out.push_back(std::move(netdev));
  }
  return out;
}

class SysfsRdma final : public Rdma {
 public:
  SysfsRdma(std::filesystem::path sysfs, NetdevOf netdev_of, Registered registered)
      : sysfs_(std::move(sysfs)), netdev_of_(std::move(netdev_of)), registered_(std::move(registered)) {}

  Result<std::vector<RdmaDevice>> observe_devices(const std::set<std::string>& children) override {
    std::vector<RdmaDevice> devices;
    FirstError first_error;
    if (const auto folder = SysfsDir::open(devices_path(), &first_error)) {  // else ib_core is not loaded
      const auto netdevs = ipoib_netdevs(sysfs_ / "class/net", children, first_error);
      for (const auto& name : folder->list()) {
        if (auto device = read_device(*folder, name, netdevs, first_error))
          devices.push_back(std::move(*device));
      }
    }
    mark_registered(devices);
    return first_error.unless_any(std::move(devices));
  }

  Result<std::vector<std::uint16_t>> observe_pkeys(const std::string& device, int port) override {
    const auto what = fmt::format("{} port {}: reading the P_Key table", device, port);
    if (!usable(device)) return fail(Code::kInvalid, what + ": not a valid device name");
    const auto table = SysfsDir::open(devices_path() / device / "ports" / std::to_string(port) / "pkeys");
    if (!table) return base::fail_errno(errno, what);
    auto places = table->list();
    std::sort(places.begin(), places.end(), [](const auto& a, const auto& b) {
      return a.size() != b.size() ? a.size() < b.size() : a < b;  // by number: "9" before "10"
    });
    std::vector<std::uint16_t> pkeys;
    for (const auto& place : places) {
      const auto pkey = table->number(place);
      if (!pkey) return fail(Code::kNotFound, what + ": the device was removed");
      if (const auto number = static_cast<std::uint16_t>(*pkey); (number & 0x7fffU) != 0)
        pkeys.push_back(number);
    }
    return pkeys;
  }

  Result<std::vector<Gid>> observe_gids(const std::string& device, int port) override {
    const auto what = fmt::format("{} port {}: reading the GID table", device, port);
    if (!usable(device)) return fail(Code::kInvalid, what + ": not a valid device name");
    const auto entry = SysfsDir::open(devices_path() / device / "ports" / std::to_string(port));
    if (!entry) return base::fail_errno(errno, what);
    const auto types = entry->sub("gid_attrs/types"), netdevs = entry->sub("gid_attrs/ndevs"),
               gids = entry->sub("gids");
    if (!types || !gids) return fail(Code::kNotFound, what + ": the device was removed");
    std::vector<Gid> table;
    for (const auto& place : gids->list()) {
      const auto number = base::parse_number(place);
      const auto gid = gids->text(place);
      if (!number || gid.find_first_not_of("0:") == std::string::npos) continue;
      Gid row{static_cast<int>(*number), types->text(place), gid, netdevs ? netdevs->text(place) : ""};
      if (!row.type.empty()) table.push_back(std::move(row));
    }
    std::sort(table.begin(), table.end(), [](const Gid& a, const Gid& b) { return a.index < b.index; });
    return table;
  }

  std::optional<PortMtu> observe_mtu(const std::string& device, int port) override {
    auto mtu = has_verbs(device) ? detail::query_verbs_mtu(device, port) : std::nullopt;
    // ibv_mtu ends at 4096; IPoIB has the link's physical MTU there (rdma_mtu_from_attr(), OPA_MTU_10240).
    constexpr int kOpaMtu = 10240;
    if (sysfs_ == "/sys" && detail::protocol_of(device) == "opa")
      mtu = PortMtu{kOpaMtu, mtu ? mtu->active : 0};
    return mtu;
  }

  std::optional<DeviceIds> observe_ids(const std::string& device) override {
    return has_verbs(device) ? detail::query_verbs_ids(device) : std::nullopt;
  }

 private:
  /// libibverbs opens character devices, which may load modules: not before ib_uverbs itself knows the
  /// device.
  [[nodiscard]] bool has_verbs(const std::string& device) const {
    const auto folder = SysfsDir::open(sysfs_ / "class/infiniband_verbs");
    if (!folder || sysfs_ != "/sys") return false;
    const auto entries = folder->list();
    return std::any_of(entries.begin(), entries.end(), [&](const auto& entry) {
      const auto uverbs = folder->sub(entry);
      return uverbs && uverbs->text("ibdev") == device;
    });
  }

  [[nodiscard]] std::filesystem::path devices_path() const { return sysfs_ / "class/infiniband"; }

  /// Facts that only RDMA netlink has.
  void mark_registered(std::vector<RdmaDevice>& devices) const {
    if (devices.empty() || !registered_) return;
    const auto names = registered_();
    if (!names) return;
    for (auto& device : devices) {
      const auto at = names->find(device.name);
      device.leaving = at == names->end();
      device.omni_path = at != names->end() && at->second == "opa";
    }
  }

  static bool usable(const std::string& name) {
    return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos;
  }

  std::optional<RdmaDevice> read_device(const SysfsDir& folder, const std::string& name,
                                        const std::vector<IpoibNetdev>& netdevs,
                                        FirstError& first_error) const {
    const auto entry = folder.sub(name);
    if (!entry) return std::nullopt;
    const auto type = entry->read("node_type");
    const auto ports = entry->sub("ports");
    if (!type || !ports) return std::nullopt;
    RdmaDevice device;
    device.name = name;
    device.node_type = word_after_number(*type);
    device.firmware = entry->text("fw_ver");
    device.board_id = entry->text("board_id");
    device.hca_type = entry->text("hca_type");
    device.node_description = entry->text("node_desc");
    device.node_guid = guid_of(entry->text("node_guid"));
    device.system_guid = guid_of(entry->text("sys_image_guid"));
    const auto parent = parent_of(devices_path() / name, first_error);
    if (const auto node = parent.empty() ? std::nullopt : SysfsDir::open(parent, &first_error)) {
      device.driver = last_part(node->link("driver"));
      if (last_part(node->link("subsystem")) == "pci") device.pci = last_part(parent);
    }
    device.instance = instance_of(devices_path() / name);
    if (device.node_type == kIwarpNode &&
        (device.driver.empty() || device.node_description == kSiwDescription)) {
      // Older kernels make it a child of what its interface belongs to, whose driver is not its own.
      device.soft = "siw";
      device.driver.clear();
      device.pci.clear();
    } else if (device.driver.empty() && entry->read("parent")) {
      device.soft = "rxe";  // it says what it runs over
    }
    for (const auto& number : ports->list()) {
      const auto port = ports->sub(number);
      const auto parsed = base::parse_number(number);
      if (!port || !parsed) continue;
      device.ports.push_back(read_port(*port, static_cast<int>(*parsed), parent, netdevs, first_error));
    }
    for (auto& port : device.ports) {
      // Before Linux 6.6 sysfs has no interface for the GIDs of iWARP, an adapter's (irdma, cxgb4) either;
      // and the idle port of a bond has no GID (bond_delete_netdev_default_gids() in roce_gid_mgmt.c).
      // Devices of a switch have many ports without a GID.
      const bool asked = port.link_layer == "Ethernet" && device.ports.size() <= kPortsAsked;
      if (!asked || !port.netdevs.empty() || !netdev_of_) continue;
      if (auto netdev = netdev_of_(name, port.number)) port.netdevs.push_back(std::move(*netdev));
    }
    std::sort(device.ports.begin(), device.ports.end(),
              [](const RdmaPort& a, const RdmaPort& b) { return a.number < b.number; });
    // The values read of a device that went away meanwhile are a mixture of values and blanks.
    if (entry->read("node_type") != type) return std::nullopt;
    return device;
  }

  /// sysfs gives every entry a number of its own, also one that comes again under the same name.
  static std::string instance_of(const std::filesystem::path& path) {
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0 ? std::to_string(found.st_ino) : std::string();
  }

  /// Of an interface over others (a bond, which the GIDs of its ports belong to), those of `parent`: they are
  /// the port's own.
  void add_lower(std::vector<std::string>& netdevs, const std::string& upper, const std::string& parent,
                 int number, FirstError& first_error) const {
    constexpr std::string_view kLower = "lower_";
    const auto net = sysfs_ / "class/net";
    const auto folder =
        parent.empty() || !usable(upper) ? std::nullopt : SysfsDir::open(net / upper, &first_error);
    if (!folder || parent_of(net / upper, first_error) == parent) return;
    for (const auto& link : folder->list()) {
      if (!link.starts_with(kLower)) continue;
      const auto name = link.substr(kLower.size());
      const auto entry = SysfsDir::open(net / name, &first_error);
      if (entry && parent_of(net / name, first_error) == parent &&
          entry->number("dev_port").value_or(0) == number - 1)
        netdevs.push_back(name);
    }
  }

  [[nodiscard]] RdmaPort read_port(const SysfsDir& entry, int number, const std::string& parent,
                                   const std::vector<IpoibNetdev>& netdevs, FirstError& first_error) const {
    RdmaPort port;
    port.number = number;
    port.state = word_after_number(entry.text("state"));
    port.physical_state = word_after_number(entry.text("phys_state"));
    port.rate = entry.text("rate");
    port.link_layer = entry.text("link_layer");
    port.lid = small(entry.number("lid"));
    port.sm_lid = small(entry.number("sm_lid"));
    port.lmc = small(entry.number("lid_mask_count"));
    if (const auto bits = entry.number("cap_mask")) port.capabilities = static_cast<std::uint32_t>(*bits);
    const bool infiniband = port.link_layer == "InfiniBand";
    if (const auto gid = entry.text("gids/0"); infiniband && gid.size() == kPrefixText + 1 + kGuidText) {
      port.gid_prefix = gid.substr(0, kPrefixText);
      port.guid = guid_of(std::string_view(gid).substr(kPrefixText + 1));
    }
    if (!infiniband) {
      if (const auto netdev = entry.text("gid_attrs/ndevs/0"); !netdev.empty()) {
        port.netdevs.push_back(netdev);
        add_lower(port.netdevs, netdev, parent, number, first_error);
      }
      return port;
    }
    for (const auto& netdev : netdevs) {
      // Two ports of one device share the parent. Without one (software devices) only the GUID tells.
      const bool ours = parent.empty()
                            ? netdev.parent.empty() && netdev.guid.number != 0 && netdev.guid == port.guid
                            : netdev.parent == parent && netdev.port == number - 1;
      if (ours) port.netdevs.push_back(netdev.name);
    }
    return port;
  }

  std::filesystem::path sysfs_;
  NetdevOf netdev_of_;
  Registered registered_;
};

}  // namespace

std::unique_ptr<Rdma> make_linux_rdma(std::filesystem::path sysfs, NetdevOf netdev_of,
                                      Registered registered) {
  return std::make_unique<SysfsRdma>(std::move(sysfs), std::move(netdev_of), std::move(registered));
}

}  // namespace rdmacfg::system
