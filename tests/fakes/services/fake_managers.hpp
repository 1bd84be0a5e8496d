// SPDX-License-Identifier: Apache-2.0
// Fakes of systemd-resolved and of NetworkManager.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "fakes/faults.hpp"
#include "fakes/machine/machine.hpp"
#include "fakes/memory_files.hpp"
#include "system/managers/network_manager.hpp"
#include "system/managers/resolver.hpp"

namespace rdmacfg::fakes {

class FakeResolver final : public system::Resolver {
 public:
  FakeResolver(Faults& faults, Machine& machine) : faults_(faults), machine_(machine) {}

  bool running = false;
  std::map<int, system::LinkDns> links{};  ///< by index of the interface

  [[nodiscard]] std::string dump() const;

  base::Result<std::optional<system::LinkDns>> observe_dns(int index) override;
  base::Result<void> set_dns(int index, const system::LinkDns& dns) override;

 private:
  Faults& faults_;
  Machine& machine_;
};

/// NetworkManager with profiles of IPoIB: loaded profiles count, not those on disk. An activation sets
/// mode, MTU and addresses of the machine's interfaces, and makes P_Key interfaces.
class FakeNetworkManager final : public system::NetworkManager {
 public:
  FakeNetworkManager(Faults& faults, MemoryFiles& files, Machine& machine)
      : faults_(faults), files_(files), machine_(machine) {}

  bool running = false;
  std::set<std::string> fails{};                ///< ids of profiles whose activation goes wrong
  std::map<std::string, std::string> loaded{};  ///< file → content
  std::map<std::string, int> active{};          ///< uuid → index of the interface
  std::set<std::string> in_transition{};        ///< uuids of active profiles that are on the way up or down
  /// GUIDs of ports that its configuration says it is not to manage, as last read.
  std::set<std::uint64_t> unmanaged{};
  std::string version = "1.42.4";
  int activations = 0;
  int reapplies = 0;
  int readings = 0;  ///< of all that it has, while it runs

  /// Starts it, as at boot: profiles with autoconnect come up.
  void start();
  [[nodiscard]] std::string dump() const;

  base::Result<std::optional<system::NmState>> observe() override;
  bool is_running() override { return running; }
  base::Result<void> reread() override;
  base::Result<void> load(std::span<const std::string> files) override;
  base::Result<void> remove(const std::string& uuid) override;
  base::Result<void> activate(const std::string& uuid, const std::string& interface,
                              std::chrono::milliseconds deadline) override;
  base::Result<void> deactivate(const std::string& uuid) override;
  base::Result<std::string> active_on(const std::string& interface) override;
  base::Result<void> reapply(const std::string& interface) override;
  void wait_for_release(std::span<const std::string> /*interfaces*/,
                        std::chrono::milliseconds /*deadline*/) override {}
  void wait_for_ready(std::span<const std::string> /*interfaces*/,
                      std::chrono::milliseconds /*deadline*/) override {}
  base::Result<std::string> create_checkpoint(std::span<const std::string> interfaces,
                                              std::chrono::seconds timeout) override;
  base::Result<void> extend_checkpoint(const std::string& checkpoint, std::chrono::seconds timeout) override;
  base::Result<void> destroy_checkpoint(const std::string& checkpoint) override;
  base::Result<void> rollback(const std::string& checkpoint) override;

 private:
  using Profile = std::map<std::string, std::string>;  // "ipv4.address1" → value
  static Profile parse(const std::string& text);
  [[nodiscard]] std::pair<std::string, Profile> profile(const std::string& uuid) const;
  /// The interface of a profile; that of a P_Key is created where it is missing.
  Interface* interface_of(const Profile& profile);
  int bring_up(const Profile& profile);
  /// A mode stays when the profile goes; the kernel sets an MTU along with it.
  void set_mode(Interface& link, bool connected);
  void set_mtu(const Interface& link, const Profile& profile);
  void give_mtu_back(int index);
  /// `unmanaged` as the files of its configuration say it: in the order of their names, `=` replaces, `+=`
  /// adds.
  [[nodiscard]] std::set<std::uint64_t> configured() const;
  /// An interface that it configures goes down as it lets go; one that others configure stays as it is.
  void let_go(int index);
  /// An interface that it takes is brought up, empty.
  void take(int index);
  base::Result<void> checkpoint_there(const std::string& checkpoint);
  void take_down(const std::string& uuid);
  /// A P_Key interface that somebody deletes is re-created at once by the profile that is up on it, unless
  /// that was taken down by request (nm-policy.c, device_state_changed()).
  void notice();
  static void configure(Interface& link, const Profile& profile);

  Faults& faults_;
  MemoryFiles& files_;
  Machine& machine_;
  std::map<int, std::int64_t> first_mtu_;  ///< of interfaces, in the mode of the profile, before it set one
  std::set<int> made_;                     // P_Key interfaces
  std::chrono::seconds clock_{0};          ///< goes on with every activation
  int checkpoints_made_ = 0;
  std::map<std::string, std::chrono::seconds> checkpoints_;  ///< with the time at which they expire
};

}  // namespace rdmacfg::fakes
