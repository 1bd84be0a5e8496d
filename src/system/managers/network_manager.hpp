// SPDX-License-Identifier: Apache-2.0
// NetworkManager, in our words. Profiles are keyfiles, which the kinds write; this is about having it read
// and activate them. Sources: its D-Bus API 1.42 (org.freedesktop.NetworkManager, .Settings, .Device,
// .Checkpoint), nm-dbus-interface.h.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace rdmacfg::system {

/// A profile in use.
struct NmActive {
  std::string uuid;
  std::string id;          ///< its name for people
  bool activated = false;  ///< false: on the way up or down
};

struct NmDevice {
  std::string interface;
  bool managed = false;
  std::string active;  ///< uuid of the profile that it has; empty without one
};

struct NmState {
  std::string version;             ///< "1.42.4"
  std::vector<std::string> files;  ///< of the profiles that it has loaded; without those in memory only
  std::vector<NmActive> active;
  std::vector<NmDevice> devices;
};

class NetworkManager {
 public:
  virtual ~NetworkManager() = default;

  /// Nothing when it does not run (it is not started by this). It reads all that NetworkManager has, so once
  /// for a phase of a run: World::network_manager() keeps it.
  virtual base::Result<std::optional<NmState>> observe() = 0;

  /// Whether it runs now (it is not started by this): one question to the bus, not to NetworkManager. True
  /// where the bus does not answer: its other functions fail then.
  virtual bool is_running() = 0;

  /// Reads its configuration again (Manager.Reload, CONF), that of others too. Returns when interfaces have
  /// the managed state that it says. An interface that NetworkManager configures is taken down as it becomes
  /// unmanaged (the link, the profile's addresses), an interface that others configure is left as it is; an
  /// interface that becomes managed loses its addresses and routes (nm-device.c, _set_state_full()). An error
  /// when NetworkManager does not run; nothing happens with releases before 1.22, which have no such call.
  virtual base::Result<void> reread() = 0;

  /// Reads these keyfiles, new ones and changed ones (Settings.LoadConnections). An error names a file that
  /// it did not take. Active connections go on as before.
  virtual base::Result<void> load(std::span<const std::string> files) = 0;

  /// Deletes a profile with its file; its connections go down, and P_Key interfaces that
  /// NetworkManager made (and knows that it did) go. Returns when it is down. No error when it is not there.
  virtual base::Result<void> remove(const std::string& uuid) = 0;

  /// Activates a profile and waits until addresses are there, at most the deadline. `interface` may be empty:
  /// NetworkManager finds or makes it.
  virtual base::Result<void> activate(const std::string& uuid, const std::string& interface,
                                      std::chrono::milliseconds deadline) = 0;

  /// Returns when it is down. No error when it is not active.
  virtual base::Result<void> deactivate(const std::string& uuid) = 0;

  /// The profile that an interface has, by its uuid: a few questions about single objects, unlike observe().
  /// Empty without one, and while NetworkManager does not run or does not know the interface.
  virtual base::Result<std::string> active_on(const std::string& interface) = 0;

  /// Takes over the profile as loaded without going down (Device.Reapply). kUnsupported when it holds a
  /// change that needs an activation.
  virtual base::Result<void> reapply(const std::string& interface) = 0;

  /// Waits until it does not manage these interfaces any more, and so does nothing to them, at most the
  /// deadline.
  virtual void wait_for_release(std::span<const std::string> interfaces,
                                std::chrono::milliseconds deadline) = 0;

  /// Waits until those that it has just taken are ready for a profile, at most the deadline: until then IPv6
  /// is off. One without carrier stays as it is.
  virtual void wait_for_ready(std::span<const std::string> interfaces,
                              std::chrono::milliseconds deadline) = 0;

  /// A snapshot of these interfaces with their profiles. Without destroy() in time NetworkManager goes back
  /// to it by itself, also when we are gone. @return its name.
  virtual base::Result<std::string> create_checkpoint(std::span<const std::string> interfaces,
                                                      std::chrono::seconds timeout) = 0;
  /// From now on it has this time. An error when it is not there any more: NetworkManager has gone back to
  /// it.
  virtual base::Result<void> extend_checkpoint(const std::string& checkpoint,
                                               std::chrono::seconds timeout) = 0;
  virtual base::Result<void> destroy_checkpoint(const std::string& checkpoint) = 0;
  virtual base::Result<void> rollback(const std::string& checkpoint) = 0;
};

}  // namespace rdmacfg::system
