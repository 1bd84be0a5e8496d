// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fakes/faults.hpp"
#include "fakes/memory_files.hpp"
#include "system/units.hpp"

namespace rdmacfg::fakes {

/// A unit of the fake systemd.
struct FakeUnit {
  bool enabled = false;
  bool running = false;
  bool masked = false;
  bool installable = true;             ///< its file has an [Install] section
  bool starts = true;                  ///< false: its start job fails
  bool reloads = true;                 ///< has ExecReload=
  bool oneshot = false;                ///< ends as soon as it was started
  bool needed = true;                  ///< false: StopWhenUnneeded=yes, and no unit needs it
  std::int64_t pid = 0;                ///< of the main process while it runs
  std::string refuses{};               ///< its start fails while LimitMEMLOCK= is this
  std::vector<std::string> aliases{};  ///< of its [Install] section: there while it is enabled
  int hangups = 0;                     ///< SIGHUPs that the main process got
  int starts_seen = 0;
  std::string drop_ins{};  ///< the drop-in files as systemd read them last
  std::string fragment{};  ///< the same of its file in /etc/systemd/system; of those that have one
  bool hangs = false;      ///< its processes do not end when they are told to, only when they are killed
  bool busy = false;       ///< a mount that is in use: it cannot be stopped
  std::string memlock{};   ///< LimitMEMLOCK of the main process, as its drop-ins said at its start
  std::function<bool()> ends{};  ///< asked at each start: whether its process ends at once
  bool restarts = false;         ///< Restart=: systemd starts one that has ended again and again
  bool restarting = false;       ///< that is so now
  bool failed = false;           ///< its process has ended by itself, and that was all
  bool generated = false;        ///< made by a generator of systemd
  std::string condition{};       ///< of its unit file, and does not hold: a start is done, and nothing runs
  bool indirect = false;         ///< its [Install] section has nothing but Also=
  bool transient = false;        ///< made by systemd-run
};

/// systemd: units that are declared in tests; "name@.service" stands for any instance. Drop-ins count from
/// the next reload of the manager on, limits of a process from the next start of its unit. Mount units and
/// services of Type=oneshot are there when they have a file, too; mounts are in /proc/1/mountinfo.
class FakeUnits final : public system::Units {
 public:
  FakeUnits(Faults& faults, MemoryFiles& files) : faults_(faults), files_(files) {}

  bool answers = true;  ///< false: no systemd
  int observe_error = 0;
  std::map<std::string, FakeUnit> units;
  std::function<void(const std::string& unit)> started{};  ///< told of each start

  FakeUnit& add(const std::string& name, const FakeUnit& unit);
  /// Loads units from their files.
  void read_fragments();
  /// Running units stop, and enabled ones start.
  void reboot();
  [[nodiscard]] std::string dump() const;

  base::Result<std::optional<std::vector<system::Unit>>> observe_units(
      std::span<const std::string> names) override;
  base::Result<std::optional<std::vector<system::Unit>>> observe_instances(const std::string& unit) override;
  base::Result<void> set_enabled(const std::string& unit, bool enabled) override;
  base::Result<void> act(system::UnitAction action, const std::string& unit) override;
  std::string unmet_condition(const std::string& unit) override;
  base::Result<void> signal(const std::string& unit, int number) override;
  base::Result<void> kill(const std::string& unit) override;
  std::optional<model::LockLimit> observe_memlock(std::int64_t pid) override;
  base::Result<void> reload_manager() override;

 private:
  /// The unit's own name where `name` is an alias of it.
  [[nodiscard]] std::string own_name(const std::string& name) const;
  FakeUnit* find(const std::string& name);
  FakeUnit* find_mount(const std::string& name);
  FakeUnit* find_oneshot(const std::string& name);
  [[nodiscard]] std::string drop_ins_of(const std::string& name) const;
  void start(FakeUnit& unit);
  void mount(const std::string& name, const FakeUnit& unit);
  void unmount(const FakeUnit& unit);

  Faults& faults_;
  MemoryFiles& files_;
  std::int64_t next_pid_ = 1000;
};

}  // namespace rdmacfg::fakes
