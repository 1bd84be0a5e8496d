// SPDX-License-Identifier: Apache-2.0
// A whole fake host: the ports of system::Host over a Machine, with faults, and a text of its state to
// compare.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fakes/drivers/fake_dcb.hpp"
#include "fakes/drivers/fake_drivers.hpp"
#include "fakes/fake_storage.hpp"
#include "fakes/faults.hpp"
#include "fakes/machine/fake_inet.hpp"
#include "fakes/machine/fake_modules.hpp"
#include "fakes/machine/fake_settings.hpp"
#include "fakes/machine/machine.hpp"
#include "fakes/memory_files.hpp"
#include "fakes/services/fake_accounts.hpp"
#include "fakes/services/fake_managers.hpp"
#include "fakes/services/fake_networkd.hpp"
#include "fakes/services/fake_timers.hpp"
#include "fakes/services/fake_units.hpp"
#include "system/host.hpp"

namespace rdmacfg::fakes {

/// A port as a test describes it, together with its interface.
struct PortSpec {
  std::string guid;          ///< any spelling
  std::string interface {};  ///< name; empty: the kernel's ibN
  std::string state = "ACTIVE";
  std::string link_layer = "InfiniBand";
  int mtu = 4096;
  int group_mtu = 4096;
  std::vector<std::uint16_t> pkeys = {0xffff};
  bool sm = true;
};

struct DumpOptions {
  bool devices = true;
  bool groups = true;                 ///< IFLA_GROUP
  bool makers = true;                 ///< whether a child was made over netlink or by sysfs
  std::string without_files_below{};  ///< "/var/lib/rdma-configd"; and without its records in /run
};

class FakeKernel;

/// Adds ports to a device: k.add_device({.name = "mlx4_0"}).ib_port({.guid = "…"}).ib_port({.guid = "…"});
class DeviceBuilder {
 public:
  DeviceBuilder(FakeKernel& kernel, std::string device) : kernel_(kernel), device_(std::move(device)) {}
  DeviceBuilder& ib_port(const PortSpec& spec);

 private:
  FakeKernel& kernel_;
  std::string device_;
};

class FakeKernel final : public system::Links,
                         public system::Ipoib,
                         public system::Rdma,
                         public system::RdmaAdmin,
                         public system::RdmaCm,
                         public system::Udev {
 public:
  FakeKernel() = default;
  /// From JSON; tests/data/README.md describes it. Throws std::runtime_error on a description that makes no
  /// sense.
  static std::unique_ptr<FakeKernel> parse(std::string_view json);
  /// Adds to the host what a description says (a device that appears later).
  void add(std::string_view json);

  FakeKernel(const FakeKernel&) = delete;
  FakeKernel& operator=(const FakeKernel&) = delete;

  // The state. Changing it here is not a call, and meets no fault.
  Machine machine;
  Faults faults;
  std::vector<std::chrono::milliseconds> carrier_waits;  ///< how long each wait might have taken
  MemoryFiles files{faults};
  FakeTimers timers{faults};
  FakeUnits units{faults, files};
  FakeModules modules{faults, files,
                      [this](const std::string& path, const std::optional<std::string>& value) {
                        value ? sysctl.set(path, *value) : sysctl.unset(path);
                      }};
  FakeInitramfs initramfs{faults, files};
  FakeInet inet{faults, machine};
  FakeResolver resolver{faults, machine};
  FakeNetworkManager network_manager{faults, files, machine};
  FakeNetworkd networkd{faults, files, machine};
  FakeDcb dcb{faults, machine};
  FakeMlx4Ports mlx4_ports{faults};
  FakeAccounts accounts{faults, files};
  FakeSysctl sysctl{faults, machine};
  FakeRdmaSystem rdma_system{faults};
  FakePci pci;
  FakeNfsd nfsd{faults, files, units};
  FakeNvmeTarget nvme_target{faults};
  FakeNvmeHost nvme_host{faults, files, units};
  FakeIscsi iscsi{units};
  FakeLio lio{faults};
  FakePackages packages{faults, files};
  std::string boot_id = "5f0c0de0-0000-4000-8000-000000000001";
  /// Whether the kernel goes on with a batch after a refusal; an adapter may see either.
  bool go_on_after_refusal = true;
  std::vector<std::pair<std::string, std::uint64_t>> device_limits{};  ///< of every device
  std::size_t udev_reloads = 0;
  std::vector<std::string> udev_triggers{};  ///< interfaces that udevd was to look at again
  int udev_error = 0;                        ///< errno of every reload_rules()
  int observe_error = 0;                     ///< errno of every observe_*()

  DeviceBuilder add_device(Device device);
  /// The interface of that name; throws when there is none.
  Interface& link(const std::string& name);
  /// Bring an interface up or down, as `ip link set` does.
  void set_up(const std::string& name);
  void set_down(const std::string& name);
  void set_mode(const std::string& name, model::IpoibMode mode);
  void set_mtu(const std::string& name, std::int64_t mtu);
  /// Makes a child as somebody else would. `name` empty: the kernel's choice.
  Interface& add_child(const std::string& parent, std::uint16_t pkey, const std::string& name = {},
                       Maker maker = Maker::kNetlink);
  /// "addr4 192.0.2.1/24", "addr6 2001:db8::1/64", "route 198.51.100.0/24 via 192.0.2.9", "rule iif ib0
  /// lookup 7".
  void carry(const std::string& name, const std::string& item);

  /// Surprise removal of a device just before the n-th call.
  void remove_device_at(std::size_t n, const std::string& device);
  /// It begins to go then: its interfaces are down, and still there.
  void leave_device_at(std::size_t n, const std::string& device);
  /// When udev names the interfaces of a device that came.
  enum class Naming { kAtOnce, kLater };
  /// It comes back at once.
  void replug_device_at(std::size_t n, const std::string& device, Naming naming);
  /// A reboot: interfaces come back, named by our udev rules if they can be; everything else of the kernel is
  /// gone.
  void reboot();
  /// udevd's answer to an add event of every interface of a port: NAME= of the rules with the port's GUID.
  void name_by_rules();

  [[nodiscard]] system::Host host();

  /// The state as canonical text, without interface indexes.
  [[nodiscard]] std::string dump(const DumpOptions& options = {}) const;

  // system::Links
  base::Result<std::vector<system::Link>> observe_links() override;
  base::Result<std::optional<int>> index_of(const std::string& name) override;
  std::size_t link_dumps = 0;  ///< calls of observe_links()
  base::Result<void> execute(std::span<const system::LinkRequest> requests) override;
  base::Result<std::vector<system::Carried>> observe_carried(std::span<const system::Link> links) override;
  std::vector<std::string> lacking(const system::Carried& then, const system::Carried& now) override;
  base::Result<void> restore_carried(const system::Carried& carried, int index,
                                     const std::string& name) override;
  base::Result<std::vector<int>> wait_for_carrier(std::span<const int> indexes,
                                                  std::chrono::milliseconds deadline) override;
  // system::Ipoib
  bool has_mode_file(const std::string& name) override;
  base::Result<void> write_mode(const std::string& name, model::IpoibMode mode) override;
  base::Result<void> create_child(const std::string& parent, model::Pkey pkey) override;
  // system::Rdma
  base::Result<std::vector<system::RdmaDevice>> observe_devices(
      const std::set<std::string>& children) override;
  base::Result<std::vector<std::uint16_t>> observe_pkeys(const std::string& device, int port) override;
  base::Result<std::vector<system::Gid>> observe_gids(const std::string& device, int port) override;
  std::optional<system::PortMtu> observe_mtu(const std::string& device, int port) override;
  std::optional<system::DeviceIds> observe_ids(const std::string& device) override;
  // system::RdmaAdmin
  base::Result<void> rename_device(const std::string& device, const std::string& name) override;
  base::Result<void> new_link(const std::string& name, const std::string& type,
                              const std::string& interface) override;
  base::Result<void> delete_link(const std::string& name) override;
  // system::RdmaCm
  base::Result<std::string> observe_instance() override;
  base::Result<std::vector<std::string>> observe_folders() override;
  base::Result<std::optional<system::RoceDefaults>> observe_defaults(const std::string& device,
                                                                     int port) override;
  base::Result<void> start() override;
  base::Result<bool> make_folder(const std::string& device) override;
  [[nodiscard]] std::size_t folders_made() const override { return folders_made_; }
  base::Result<void> write_gid_type(const std::string& device, int port,
                                    const std::string& gid_type) override;
  base::Result<void> write_tos(const std::string& device, int port, int tos) override;
  base::Result<void> remove_folder(const std::string& device) override;
  // system::Udev
  base::Result<void> reload_rules() override;
  base::Result<void> trigger(std::span<const std::string> interfaces) override;
  base::Result<void> trigger_rdma_device(const std::string& device) override;

 private:
  std::size_t folders_made_ = 0;
};

}  // namespace rdmacfg::fakes
