// SPDX-License-Identifier: Apache-2.0
// Targets as the tools of the kernel's targets save and restore them. Sources: rtslib-fb's restore() of
// root.py and setup() of target.py, tcm.py and fabric.py; restore() of nvmetcli's nvmet/nvme.py.
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "foreign/export/exporter.hpp"
#include "kinds/storage/lio/lio_settings.hpp"
#include "kinds/storage/lio/lio_target.hpp"
#include "kinds/storage/nvme/nvme_target.hpp"
#include "model/types/inet_types.hpp"
#include "model/types/storage_types.hpp"

namespace rdmacfg::foreign {

using model::Section;
using nlohmann::json;

namespace {

constexpr std::string_view kLinkLocalPrefix = "fe80000000000000";
constexpr std::int64_t kNvmeService = 4420;

/// In the form that both tools write: keys in order, two blanks for each level.
std::string text_of(const json& saved) {
  return saved.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

Place place_of_section(const Section& section) { return {section.where.file, section.where.line}; }

/// Addresses in the form in which the kernel is told of them.
std::vector<model::IpAddress> addresses_of(const std::optional<std::vector<std::string>>& written) {
  std::vector<model::IpAddress> out;
  for (const auto& text : written.value_or(std::vector<std::string>{})) {
    if (const auto address = model::IpAddress::parse(text)) out.push_back(*address);
  }
  return out;
}

/// Of names that old releases of rtslib generated; later ones restore another (Target.setup() in target.py).
constexpr std::string_view kOldNaa = "naa.6";

/// saveconfig.json of rtslib.
class SavedLio {
 public:
  SavedLio(const ExportHost& host, Output& out) : host_(host), out_(out) {}

  void add(const Section& section) {
    const auto entry = model::from_attributes<kinds::LioTargetEntry>(section.attributes());
    if (!entry.wwn) return;
    section_ = &section;
    name_ = entry.wwn->text;
    if (name_.starts_with(kOldNaa))
      note(fmt::format("its name, of which targetcli makes naa.5{}", name_.substr(kOldNaa.size())));
    const auto disks = luns();
    auto offered = json::array();
    for (const auto& [number, object] : disks)
      offered.push_back({{"index", number}, {"storage_object", object}});
    json group{{"enable", true},
               {"luns", offered},
               {"node_acls", acls(entry, disks)},
               {"portals", portals(entry)},
               {"tag", 1}};
    // The kernel's own asks for CHAP.
    const bool any = entry.any_initiator.value_or(false);
    if (!entry.wwn->port && any) {
      group["attributes"] = {{"authentication", 0},
                             {"cache_dynamic_acls", 1},
                             {"demo_mode_write_protect", 0},
                             {"generate_node_acls", 1}};
    } else if (!entry.wwn->port) {
      group["attributes"] = {{"authentication", 0}, {"generate_node_acls", 0}};
    }
    targets_.push_back({{"fabric", entry.wwn->port ? "srpt" : "iscsi"},
                        {"tpgs", json::array({group})},
                        {"wwn", entry.wwn->port ? gid(*entry.wwn->port) : name_}});
  }

  [[nodiscard]] std::string text() const {
    auto objects = json::array();
    for (const auto& [path, object] : objects_) objects.push_back(object);
    return text_of({{"fabric_modules", json::array()}, {"storage_objects", objects}, {"targets", targets_}});
  }

 private:
  using Disks = std::map<std::int64_t, std::string>;  ///< "/backstores/block/NAME" by number

  void note(const std::string& what) {
    out_.notes.push_back({place_of_section(*section_), fmt::format("{}: {}", name_, what)});
  }

  Disks luns() {
    Disks out;
    for (const auto& child : section_->children) {
      if (child.path != "lio_target.lun") continue;
      const auto lun = model::from_attributes<kinds::LioLunEntry>(child.attributes());
      if (!lun.number || (!lun.device && !lun.file)) continue;
      out.emplace(*lun.number,
                  lun.device ? backstore("block", lun.device->text) : backstore("fileio", lun.file->text));
    }
    return out;
  }

  /// One for all LUNs with the device or file.
  std::string backstore(std::string_view plugin, const std::string& path) {
    const auto name = kinds::lio_backstore_name(path);
    auto object = fmt::format("/backstores/{}/{}", plugin, name);
    const auto [at, fresh] = objects_.try_emplace(object);
    if (!fresh) return object;
    auto& members = at->second;
    members = {{"dev", path}, {"name", name}, {"plugin", plugin}, {"write_back", false}};
    if (plugin == "block") {
      members["readonly"] = false;
    } else if (const auto size = host_.file_size ? host_.file_size(path) : std::nullopt) {
      members["size"] = *size;
    } else {
      note(fmt::format("the size of {}, which does not exist; targetcli cannot restore a file without it",
                       path));
    }
    if (base::trim(host_.machine_id).empty()) {
      note(fmt::format(
          "the serial number of {}, which comes from /etc/machine-id of the host; targetcli generates one",
          path));
    } else {
      members["wwn"] = kinds::lio_serial_of(host_.machine_id, path);
    }
    return object;
  }

  /// rtslib knows SRP targets by the GID of their port.
  std::string gid(const model::Guid& guid) {
    const auto at = host_.gid_prefixes.find(guid);
    if (at == host_.gid_prefixes.end())
      note("the prefix of the port's GID, which is not on this host; fe80:: is assumed");
    return fmt::format("ib.{}{:016x}", at == host_.gid_prefixes.end() ? kLinkLocalPrefix : at->second,
                       guid.number);
  }

  static json acls(const kinds::LioTargetEntry& entry, const Disks& disks) {
    auto mapped = json::array(), out = json::array();
    for (const auto& [number, object] : disks)
      mapped.push_back({{"index", number}, {"tpg_lun", number}, {"write_protect", false}});
    std::vector<std::string> names;
    for (const auto& written : entry.initiators.value_or(std::vector<std::string>{})) {
      if (entry.wwn->port) {
        for (const auto& id : kinds::srp_port_ids(*entry.wwn->port, written))
          names.push_back("ib." + id.substr(2));
      } else if (auto name = model::IscsiName::parse(written)) {
        names.push_back(std::move(name->text));
      }
    }
    std::set<std::string> seen;
    for (const auto& name : names) {
      if (seen.insert(name).second) out.push_back({{"mapped_luns", mapped}, {"node_wwn", name}});
    }
    return out;
  }

  static json portals(const kinds::LioTargetEntry& entry) {
    auto out = json::array();
    const auto port = entry.port ? entry.port->number : model::kIscsiPort;
    for (const auto& address : addresses_of(entry.addresses)) {
      const auto text =
          address.family == model::Family::kIpv6 ? fmt::format("[{}]", address.text()) : address.text();
      out.push_back({{"ip_address", text}, {"iser", true}, {"port", port}});
    }
    return out;
  }

  const ExportHost& host_;
  Output& out_;
  const Section* section_ = nullptr;  ///< that is under way, and its name
  std::string name_;
  std::map<std::string, json> objects_;
  json targets_ = json::array();
};

/// config.json of nvmetcli.
class SavedNvmet {
 public:
  void add(const Section& section) {
    const auto entry = model::from_attributes<kinds::NvmeTargetSubsystem>(section.attributes());
    if (!entry.nqn) return;
    const auto& nqn = entry.nqn->text;
    auto allowed = json::array(), spaces = json::array();
    for (const auto& host : entry.hosts.value_or(std::vector<std::string>{})) {
      hosts_.insert(host);
      allowed.push_back(host);
    }
    for (const auto& [nsid, device] : devices_of(section)) {
      spaces.push_back({{"device", {{"path", device}, {"uuid", kinds::nvme_namespace_uuid(nqn, nsid)}}},
                        {"enable", 1},
                        {"nsid", nsid}});
    }
    const auto* any = entry.any_host.value_or(false) ? "1" : "0";
    subsystems_.push_back({{"allowed_hosts", allowed},
                           {"attr", {{"allow_any_host", any}}},
                           {"namespaces", spaces},
                           {"nqn", nqn}});
    const auto service = std::to_string(entry.port ? entry.port->number : kNvmeService);
    for (const auto& address : addresses_of(entry.addresses)) {
      const auto [at, fresh] = found_.try_emplace(address.text() + " " + service, ports_.size());
      if (fresh) ports_.push_back({address, service});
      ports_[at->second].subsystems.push_back(nqn);
    }
  }

  [[nodiscard]] std::string text() const {
    auto hosts = json::array(), ports = json::array();
    for (const auto& host : hosts_) hosts.push_back({{"nqn", host}});
    for (std::size_t at = 0; at < ports_.size(); ++at)
      ports.push_back(port_of(ports_[at], kinds::kOurNvmePorts + static_cast<std::int64_t>(at)));
    return text_of({{"hosts", hosts}, {"ports", ports}, {"subsystems", subsystems_}});
  }

 private:
  struct SavedPort {
    model::IpAddress address;
    std::string service;
    json subsystems = json::array();
  };

  static std::map<std::int64_t, std::string> devices_of(const Section& section) {
    std::map<std::int64_t, std::string> out;
    for (const auto& child : section.children) {
      if (child.path != "nvme_target.namespace") continue;
      const auto space = model::from_attributes<kinds::NvmeTargetNamespace>(child.attributes());
      if (space.nsid && space.device) out.emplace(*space.nsid, space.device->text);
    }
    return out;
  }

  static json port_of(const SavedPort& port, std::int64_t number) {
    const auto* family = port.address.family == model::Family::kIpv6 ? "ipv6" : "ipv4";
    return {{"addr",
             {{"adrfam", family},
              {"traddr", port.address.text()},
              {"treq", "not specified"},
              {"trsvcid", port.service},
              {"trtype", "rdma"}}},
            {"portid", number},
            {"referrals", json::array()},
            {"subsystems", port.subsystems}};
  }

  std::set<std::string> hosts_;
  json subsystems_ = json::array();
  std::vector<SavedPort> ports_;
  std::map<std::string, std::size_t> found_;  ///< places in `ports_`, by "ADDRESS SERVICE"
};

}  // namespace

void render_targetcli(const std::vector<const Section*>& sections, const ExportHost& host, Output& out) {
  if (sections.empty()) return;
  SavedLio saved(host, out);
  for (const auto* section : sections) saved.add(*section);
  const auto* folder = host.debian ? "/etc/rtslib-fb-target" : "/etc/target";
  out.files.push_back({fmt::format("{}/saveconfig.json", folder), saved.text()});
}

void render_nvmetcli(const std::vector<const Section*>& sections, const ExportHost& /*host*/, Output& out) {
  if (sections.empty()) return;
  SavedNvmet saved;
  for (const auto* section : sections) saved.add(*section);
  out.files.push_back({"/etc/nvmet/config.json", saved.text()});
}

}  // namespace rdmacfg::foreign
