// SPDX-License-Identifier: Apache-2.0
// Files, units, modules, accounts and kernel settings over a tape.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ctl/bundle/taped_port.hpp"

namespace rdmacfg::ctl::taped {

class TapedFiles final : public system::Files, Taped {
 public:
  using Taped::Taped;
  Result<std::optional<std::string>> read(Name path) override {
    if (is_ours_alone(path)) return std::optional<std::string>();
    return ask("file", path, [&] { return real_->files.read(path); });
  }
  Result<std::optional<std::string>> read_linked(Name path) override {
    return ask("file.linked", path, [&] { return real_->files.read_linked(path); });
  }
  Result<std::vector<std::string>> list(Name folder) override {
    if (is_ours_alone(folder)) return std::vector<std::string>();
    return ask("folder", folder, [&] { return real_->files.list(folder); });
  }
  std::string odd_access(Name path, system::Readers readers) override {
    return ask(readers == system::Readers::kRoot ? "file.private_access" : "file.access", path,
               [&] { return real_->files.odd_access(path, readers); });
  }
  bool hidden(Name path) override {
    return ask("file.hidden", path, [&] { return real_->files.hidden(path); });
  }
  bool masks(Name path) override {
    return ask("file.masks", path, [&] { return real_->files.masks(path); });
  }
  std::string link_target(Name path) override {
    return ask("file.link", path, [&] { return real_->files.link_target(path); });
  }
  std::optional<std::uint64_t> born(Name path) override {
    return ask("file.born", path, [&] { return real_->files.born(path); });
  }
  std::optional<std::uint64_t> modified(Name path) override {
    return ask("file.modified", path, [&] { return real_->files.modified(path); });
  }
  bool open_to_others(Name path) override {
    return ask("file.open_to_others", path, [&] { return real_->files.open_to_others(path); });
  }
  bool not_executable(Name path) override {
    return ask("file.not_executable", path, [&] { return real_->files.not_executable(path); });
  }
  Result<void> write(Name /*path*/, std::string_view /*content*/) override { return refuse_to_change(); }
  Result<void> write_private(Name /*path*/, std::string_view /*content*/) override {
    return refuse_to_change();
  }
  Result<void> rename(Name /*from*/, Name /*to*/) override { return refuse_to_change(); }
  Result<void> remove(Name /*path*/) override { return refuse_to_change(); }

 private:
  /// The history of applies: it says nothing about the state of the host.
  static bool is_ours_alone(Name path) { return path.starts_with("/var/lib/rdma-configd/generations"); }
};

class TapedUdev final : public system::Udev {
 public:
  Result<void> reload_rules() override { return refuse_to_change(); }
  Result<void> trigger(std::span<const std::string> /*interfaces*/) override { return refuse_to_change(); }
  Result<void> trigger_rdma_device(const std::string& /*device*/) override { return refuse_to_change(); }
};

class TapedUnits final : public system::Units, Taped {
 public:
  using Taped::Taped;
  /// One by one, so that every set of them can be answered.
  Result<std::optional<std::vector<system::Unit>>> observe_units(
      std::span<const std::string> names) override {
    std::vector<system::Unit> out;
    for (const auto& name : names) {
      auto found = ask("unit", name, [&] { return real_->units.observe_units(std::span(&name, 1)); });
      if (!found) return base::fail(found.error());
      if (*found && !(*found)->empty()) {
        out.push_back((*found)->front());
      } else if (tape_.replays() && answers()) {
        system::Unit unit;
        unit.name = unit.id = name;
        unit.load = "not-found";
        out.push_back(std::move(unit));
      } else {
        return std::optional<std::vector<system::Unit>>();
      }
    }
    return out;
  }
  Result<std::optional<std::vector<system::Unit>>> observe_instances(Name unit) override {
    return ask("unit.instances", unit, [&] { return real_->units.observe_instances(unit); });
  }
  std::optional<model::LockLimit> observe_memlock(std::int64_t pid) override {
    return ask("memlock", std::to_string(pid), [&] { return real_->units.observe_memlock(pid); });
  }
  Result<void> set_enabled(Name /*unit*/, bool /*enabled*/) override { return refuse_to_change(); }
  Result<void> act(system::UnitAction /*action*/, Name /*unit*/) override { return refuse_to_change(); }
  Result<void> signal(Name /*unit*/, int /*number*/) override { return refuse_to_change(); }
  Result<void> kill(Name /*unit*/) override { return refuse_to_change(); }
  Result<void> reload_manager() override { return refuse_to_change(); }

 private:
  /// Whether the host of the tape had a systemd that answers.
  [[nodiscard]] bool answers() const {
    const auto units = tape_.answers().find("unit");
    return units != tape_.answers().end() &&
           std::any_of(units->begin(), units->end(), [](const auto& unit) { return unit.is_array(); });
  }
};

class TapedTimers final : public system::Timers {
 public:
  Result<void> arm(Name /*name*/, std::chrono::milliseconds /*delay*/) override { return refuse_to_change(); }
  Result<void> disarm(Name /*name*/) override { return refuse_to_change(); }
};

class TapedModules final : public system::Modules, Taped {
 public:
  using Taped::Taped;
  Result<std::vector<std::string>> observe_loaded() override {
    return ask("modules", "", [&] { return real_->modules.observe_loaded(); });
  }
  std::optional<std::string> parameter(Name module, Name name) override {
    return ask("module.parameter", module + ' ' + name,
               [&] { return real_->modules.parameter(module, name); });
  }
  bool hidden(Name module, Name name) override {
    return ask("module.hidden", module + ' ' + name, [&] { return real_->modules.hidden(module, name); });
  }
  bool loaded_after(Name module, Name path) override {
    return ask("module.loaded_after", module + ' ' + path,
               [&] { return real_->modules.loaded_after(module, path); });
  }
  bool has_tree() override {
    return ask("module.tree", "", [&] { return real_->modules.has_tree(); });
  }
  Result<std::optional<system::ModuleInfo>> info(Name module) override {
    return ask("module.info", module, [&] { return real_->modules.info(module); });
  }
  std::vector<std::string> known() override { return {}; }
  Result<void> load(Name /*module*/) override { return refuse_to_change(); }
  Result<void> unload(Name /*module*/) override { return refuse_to_change(); }
};

class TapedInitramfs final : public system::Initramfs, Taped {
 public:
  using Taped::Taped;
  std::optional<std::string> tool() override {
    return ask("initramfs.tool", "", [&] { return real_->initramfs.tool(); });
  }
  std::optional<std::string> by_hand() override {
    return ask("initramfs.by_hand", "", [&] { return real_->initramfs.by_hand(); });
  }
  bool has_image() override {
    return ask("initramfs.image", "", [&] { return real_->initramfs.has_image(); });
  }
  std::optional<std::string> unseen() override {
    // A report of an earlier version does not have this question.
    if (tape_.replays() && !tape_.answers().contains("initramfs.unseen")) return std::nullopt;
    return ask("initramfs.unseen", "", [&] { return real_->initramfs.unseen(); });
  }
  bool newer_than(std::span<const std::string> paths) override {
    return ask("initramfs.newer", fmt::format("{}", fmt::join(paths, " ")),
               [&] { return real_->initramfs.newer_than(paths); });
  }
  bool is_marked(const std::string& marks) override {
    // Asked only while times do not tell.
    if (tape_.replays() && !tape_.answers().contains("initramfs.marked")) return false;
    return ask("initramfs.marked", marks, [&] { return real_->initramfs.is_marked(marks); });
  }
  Result<void> rebuild() override { return refuse_to_change(); }
};

class TapedAccounts final : public system::Accounts, Taped {
 public:
  using Taped::Taped;
  bool has_user(Name name) override {
    return ask("account.user", name, [&] { return real_->accounts.has_user(name); });
  }
  Result<bool> has_group(Name name) override {
    return ask("account.group", name, [&] { return real_->accounts.has_group(name); });
  }
  /// Reports leave out logged-in users; they change nothing that could cut anybody off.
  std::vector<std::string> login_hosts() override { return {}; }
  Result<void> make_declared(Name /*file*/) override { return refuse_to_change(); }
};

class TapedSysctl final : public system::Sysctl, Taped {
 public:
  using Taped::Taped;
  std::optional<std::string> read(Name path) override {
    return ask("sysctl", path, [&] { return real_->sysctl.read(path); });
  }
  bool hidden(Name path) override {
    return ask("sysctl.hidden", path, [&] { return real_->sysctl.hidden(path); });
  }
  Result<void> write(Name /*path*/, std::string_view /*value*/) override { return refuse_to_change(); }
};

}  // namespace rdmacfg::ctl::taped
