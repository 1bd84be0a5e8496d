// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/lio/lio_target_parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kinds/entry.hpp"
#include "kinds/storage/lio/lio_settings.hpp"
#include "kinds/storage/lio/lio_target.hpp"
#include "kinds/storage/target_entry.hpp"
#include "model/types/inet_types.hpp"

namespace rdmacfg::kinds {

using model::Desired;
using model::Diagnostics;
using model::Severity;

namespace {

constexpr std::int64_t kLunMost = 255;
constexpr std::size_t kLunFileLongest = 255, kLunDeviceLongest = 511;  // LIO's

using Texts = std::vector<std::string>;

class LioEntry {
 public:
  LioEntry(const model::Section& section, const model::TargetName& name, Desired& desired,
           Diagnostics& diagnostics)
      : section_(section), port_(name.port), desired_(desired), diagnostics_(diagnostics) {}

  void complete() {
    initiators();
    portals();
    luns();
    set_derived(desired_, "enabled", true, section_.where);
  }

 private:
  void wrong(const model::Location& where, std::string_view key, const std::string& message,
             std::string hint) {
    report_entry_error(section_, where, key, message, std::move(hint), diagnostics_);
  }

  [[nodiscard]] Texts list_of(std::string_view key) const {
    const auto* entry = section_.find(key);
    const auto* texts = entry == nullptr ? nullptr : std::get_if<Texts>(&entry->value);
    return texts == nullptr ? Texts{} : *texts;
  }

  void initiators() {
    const auto* any = section_.find("any_initiator");
    const auto* named = section_.find("initiators");
    const auto written = list_of("initiators");
    const bool everybody = any != nullptr && any->value == model::Value{true};
    Texts list;
    for (std::size_t i = 0; i < written.size(); ++i) {
      const auto& where = named->place_of(i);
      port_ ? add_srp(where, written[i], list) : add_iscsi(where, written[i], list);
    }
    if (everybody && port_) {
      wrong(any->where, "any_initiator", "SRP targets of the kernel admit named initiators only",
            "initiators = [\"GUID of a port\"]");
    } else if (everybody && !written.empty()) {
      wrong(any->where, "any_initiator", "initiators are named as well",
            "leave initiators out, or any_initiator");
    } else if (!everybody && written.empty()) {
      wrong(section_.where, "initiators", "no initiator may log in",
            port_ ? "name them by the GUIDs of their ports" : "name them, or write any_initiator = true");
    }
    desired_.settings["any_initiator"] = everybody;
    desired_.origins.try_emplace("any_initiator", section_.where);
    desired_.settings["initiators"] = value_of_set(std::move(list));
    desired_.origins.try_emplace("initiators", section_.where);
  }

  void add_iscsi(const model::Location& where, const std::string& text, Texts& list) {
    auto name = model::IscsiName::parse(text);
    if (!name) return wrong(where, "initiators", name.error().message, "");
    list.push_back(std::move(name->text));
  }

  void add_srp(const model::Location& where, const std::string& text, Texts& list) {
    const auto ids = srp_port_ids(*port_, text);
    if (ids.empty()) {
      return wrong(where, "initiators",
                   fmt::format("\"{}\" is neither the GUID of a port nor a port identifier of {} digits",
                               text, kSrpPortIdDigits),
                   "the initiator's `ibstat` shows the GUID");
    }
    list.insert(list.end(), ids.begin(), ids.end());
  }

  void portals() {
    const auto* addresses = section_.find("addresses");
    const auto* port = section_.find("port");
    const auto wanted = model::from_attributes<LioTargetEntry>(desired_.policy);
    auto out = portals_of(section_, wanted.addresses, wanted.port ? wanted.port->number : model::kIscsiPort,
                          diagnostics_);
    for (const auto* entry : {addresses, port}) {
      if (entry == nullptr || !port_) continue;
      wrong(entry->where, entry == port ? "port" : "addresses", "an SRP target has no addresses",
            "leave it out: the GUID identifies the port");
    }
    if (!port_ && list_of("addresses").empty()) {
      wrong(section_.where, "addresses", "an iSER target needs at least one", "addresses = [\"192.0.2.1\"]");
    }
    set_derived(desired_, "portals", port_ ? model::Value{} : value_of_set(std::move(out)),
                addresses == nullptr ? section_.where : addresses->where);
  }

  /// ProtectHome= of the daemon.
  void warn_of_hidden(const model::Entry& file, std::string_view path) {
    for (const std::string_view folder : {"/home/", "/root/", "/run/user/"}) {
      if (!path.starts_with(folder)) continue;
      diagnostics_.push_back(
          {Severity::kWarning,
           file.where,
           fmt::format("[[lio_target]] lun.file: the daemon cannot see {} and does not offer it after a boot",
                       path),
           "services see nothing below /home, /root and /run/user; use a path such as /srv/disk.img",
           {}});
    }
  }

  void warn_of_second(const model::Entry& disk, std::string_view key, std::string_view path,
                      const model::Location& first) {
    diagnostics_.push_back({Severity::kWarning,
                            disk.where,
                            fmt::format("[[lio_target]] {}: {} has two logical unit numbers", key, path),
                            "initiators without multipath treat them as two disks: remove one",
                            {{first, "first used here"}}});
  }

  void luns() {
    std::map<std::int64_t, std::string> disks;
    std::map<std::string, model::Location> places;
    for (const auto& child : section_.children) {
      if (child.path != "lio_target.lun") continue;
      const auto* number = child.find("number");
      const auto* device = child.find("device");
      const auto* file = child.find("file");
      if (number == nullptr) continue;  // reported already, by the grammar
      const auto lun = std::get<std::int64_t>(number->value);
      if (const auto why = why_out_of_range(lun, 0, kLunMost); !why.empty()) {
        wrong(number->where, "lun.number", why, "");
      } else if (device == nullptr && file == nullptr) {
        wrong(child.where, "lun.device", "is missing",
              "either device = \"/dev/disk/by-id/…\" or file = \"/srv/disk.img\"");
      } else if (device != nullptr && file != nullptr) {
        wrong(file->where, "lun.file", "the LUN has a device already", "keep one: device or file");
      } else {
        const auto* disk = device == nullptr ? file : device;
        const auto path = model::text_of(disk->value);
        const auto longest = disk == file ? kLunFileLongest : kLunDeviceLongest;
        if (path.find(',') != std::string::npos || path.size() > longest) {
          wrong(disk->where, disk == file ? "lun.file" : "lun.device",
                fmt::format("LIO accepts a path of at most {} bytes, without commas", longest),
                "give another path to it, such as a symbolic link");
          continue;
        }
        if (disk == file) warn_of_hidden(*disk, path);
        const auto [at, fresh] = places.try_emplace(path, disk->where);
        if (!fresh) warn_of_second(*disk, disk == file ? "lun.file" : "lun.device", path, at->second);
        using Sort = LioDisk::Sort;
        disks.emplace(lun, LioDisk{disk == file ? Sort::kFile : Sort::kBlock, path}.text());
      }
    }
    set_derived(desired_, "luns", value_of_numbered(disks), section_.where);
  }

  const model::Section& section_;
  std::optional<model::Guid> port_;  ///< of SRP
  Desired& desired_;
  Diagnostics& diagnostics_;
};

}  // namespace

void complete_lio_target(const model::Section& section, Desired& desired, Diagnostics& diagnostics) {
  const auto name = model::TargetName::parse(desired.key.id);
  if (name) LioEntry(section, *name, desired, diagnostics).complete();
}

}  // namespace rdmacfg::kinds
