// SPDX-License-Identifier: Apache-2.0
// Sources: drivers/scsi/scsi_transport_iscsi.c; usr/iscsi_sysfs.c of open-iscsi (transport by the host's
// proc_name).
#include <algorithm>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "model/types/inet_types.hpp"
#include "system/linux/files/disk_uses.hpp"
#include "system/linux/files/sysfs_dir.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::system {

namespace {

using base::Result;
using detail::SysfsDir;

constexpr std::string_view kSessionPrefix = "session";

/// "session12"
bool is_session_name(std::string_view name) {
  return name.starts_with(kSessionPrefix) && base::parse_number(name.substr(kSessionPrefix.size()));
}

/// "iser" of a SCSI host whose driver calls itself "iscsi_iser".
std::string transport_of(const SysfsDir& session) {
  constexpr std::string_view kDriverPrefix = "iscsi_";
  const auto hosts = session.sub("device/../scsi_host");
  if (!hosts) return {};
  for (const auto& name : hosts->list()) {
    const auto host = hosts->sub(name);
    const auto driver = host ? host->text("proc_name") : std::string();
    if (!driver.empty())
      return driver.starts_with(kDriverPrefix) ? driver.substr(kDriverPrefix.size()) : driver;
  }
  return {};
}

class SysfsIscsi final : public Iscsi {
 public:
  SysfsIscsi(std::filesystem::path sysfs, std::filesystem::path proc)
      : sysfs_(std::move(sysfs)), proc_(std::move(proc)) {}

  Result<std::vector<IscsiSession>> observe() override {
    std::vector<IscsiSession> out;
    detail::FirstError first_error;
    const auto all = SysfsDir::open(sysfs_ / "class/iscsi_session", &first_error);
    if (!all) return first_error.unless_any(std::move(out));
    const auto connections = SysfsDir::open(sysfs_ / "class/iscsi_connection", &first_error);
    for (const auto& name : all->list()) {
      const auto folder = is_session_name(name) ? all->sub(name) : std::nullopt;
      if (!folder) continue;
      IscsiSession session;
      session.name = name;
      session.target = folder->text("targetname");
      session.group = folder->number("tpgt").value_or(0);
      session.transport = transport_of(*folder);
      session.interface = folder->text("ifacename");
      session.state = folder->text("state");
      const auto number = name.substr(kSessionPrefix.size());
      const auto connection =
          connections ? connections->sub("connection" + number + ":0") : std::optional<SysfsDir>();
      if (connection) {
        session.address = connection->text("persistent_address");
        if (!model::IpAddress::parse(session.address)) {  // a host name, as the record of others has it
          if (auto connected = connection->text("address"); !connected.empty())
            session.address = std::move(connected);
        }
        session.port = connection->number("persistent_port").value_or(0);
      }
      if (!session.target.empty()) out.push_back(std::move(session));  // it is not logged in yet, or has gone
    }
    return first_error.unless_any(std::move(out));
  }

  Result<std::vector<DiskUse>> uses(const std::vector<std::string>& names) override {
    detail::FirstError first_error;
    std::set<std::string> disks;
    for (const auto& name : names) {
      const auto session = SysfsDir::open(sysfs_ / "class/iscsi_session" / name / "device", &first_error);
      if (session) note_disks(*session, disks);
    }
    return first_error.unless_any(detail::uses_of(disks, sysfs_, proc_));
  }

 private:
  /// target2:0:0/2:0:0:1/block/sdb
  static void note_disks(const SysfsDir& session, std::set<std::string>& disks) {
    for (const auto& target : session.list()) {
      const auto units = target.starts_with("target") ? session.sub(target) : std::nullopt;
      if (!units) continue;
      for (const auto& unit : units->list()) {
        if (unit.find(':') == std::string::npos) continue;
        const auto block = units->sub(unit + "/block");
        if (!block) continue;
        for (auto& disk : block->list()) disks.insert(std::move(disk));
      }
    }
  }

  std::filesystem::path sysfs_, proc_;
};

}  // namespace

std::unique_ptr<Iscsi> make_linux_iscsi(const std::filesystem::path& sysfs,
                                        const std::filesystem::path& proc) {
  return std::make_unique<SysfsIscsi>(sysfs, proc);
}

}  // namespace rdmacfg::system
