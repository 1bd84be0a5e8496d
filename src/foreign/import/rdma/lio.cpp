// SPDX-License-Identifier: Apache-2.0
// saveconfig.json of targetcli: the kernel's SCSI target (LIO) as it was saved. Sources: rtslib-fb's dump()
// and setup() in root.py, tcm.py, target.py, fabric.py and alua.py; saveconfig.json(5). Its secrets of CHAP
// are never repeated.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "foreign/import/formats.hpp"
#include "foreign/import/rdma/lio_defaults.hpp"
#include "foreign/import/rdma/lio_names.hpp"
#include "foreign/syntax/yaml.hpp"
#include "kinds/storage/lio/lio_settings.hpp"
#include "model/limits.hpp"
#include "model/types/inet_types.hpp"
#include "model/types/storage_types.hpp"

namespace rdmacfg::foreign {

namespace {

constexpr std::uint64_t kMostSavedLun = 65535, kMostDocumentLun = 255;
/// rtslib writes each value on a line of its own: as many keys and values as a file's lines can have.
constexpr std::size_t kSavedNodes = 2 * model::limits::kImportLines;
constexpr std::string_view kSrpFabric = "srpt", kIscsiFabric = "iscsi";

/// The value of a switch without asking for the key.
std::optional<bool> lio_switch_at(const YamlNode& node, std::string_view key) {
  const auto* value = node.find(key);
  return value == nullptr || !value->is_scalar() ? std::nullopt : yes_or_no(value->text);
}

/// Whether a switch that closes something is on; one with another value than off counts as on.
bool may_be_on(YamlKeys& keys, std::string_view key) {
  const auto on = keys.flag(key);
  return on ? *on : keys.take(key) != nullptr;
}

std::string lio_text_at(const YamlNode& node, std::string_view key) {
  const auto* value = node.find(key);
  return value == nullptr || !value->is_scalar() ? std::string() : value->text;
}

/// Whether a portal group of iSCSI listens with iSER anywhere.
bool has_iser_portal(const YamlNode& group) {
  const auto* portals = group.find("portals");
  return portals != nullptr &&
         std::any_of(portals->items.begin(), portals->items.end(),
                     [](const YamlNode& portal) { return lio_switch_at(portal, "iser") == true; });
}

/// Names and secrets of CHAP, none of which is repeated.
void tell_chap(YamlKeys& keys, const std::string& owner, Claims& claims) {
  const YamlNode* first = nullptr;
  for (const std::string_view key :
       {"chap_userid", "chap_password", "chap_mutual_userid", "chap_mutual_password"}) {
    const auto* node = keys.take(key);
    if (first == nullptr && node != nullptr && !(node->is_scalar() && node->text.empty())) first = node;
  }
  if (first != nullptr)
    claims.miss(first->place(),
                fmt::format("{}: name and secret of CHAP: cannot be expressed in the document", owner));
}

/// Targets of one or several saved files on their way into the document.
class SavedTargets {
 public:
  explicit SavedTargets(Claims& claims) : claims_(claims) {}

  void read(const YamlNode& root) {
    backstores_.clear();
    iser_ = false;
    YamlKeys keys(root, claims_);
    if (!keys.fits()) return;
    for (const auto& item : keys.list("storage_objects")) {
      const auto plugin = lio_text_at(item, "plugin"), name = lio_text_at(item, "name");
      if (plugin.empty() || name.empty()) {
        claims_.miss(item.place(), "storage_objects: has no plugin or no name");
      } else {
        backstores_.try_emplace(fmt::format("{}/{}", plugin, name), Backstore{.node = &item});
      }
    }
    for (const auto& item : keys.list("targets")) target(item);
    for (const auto& item : keys.list("fabric_modules")) fabric_module(item);
    for (const auto& [name, backstore] : backstores_) {
      if (!backstore.read)
        claims_.pass(backstore.node->place(), fmt::format("{}: no target over RDMA offers it", name));
    }
    keys.finish("saveconfig.json");
  }

 private:
  struct Backstore {
    const YamlNode* node = nullptr;
    bool read = false;
    std::string key{};   ///< of [[lio_target.lun]]; empty: the document has none of this sort
    std::string path{};  ///< of its device or file
    std::string why{};   ///< it is left out
  };
  struct Portals {
    std::vector<std::string> addresses{};
    std::int64_t port = model::kIscsiPort;
  };
  /// A portal group on its way into an entry.
  struct Group {
    std::string name;  ///< of the target, as the document has it
    bool srp = false;
    bool any = false;  ///< any initiator may log in
  };

  void target(const YamlNode& node) {
    YamlKeys keys(node, claims_);
    if (!keys.fits()) return;
    const auto fabric = keys.text("fabric"), wwn = keys.text("wwn");
    const auto& groups = keys.list("tpgs");
    const bool srp = fabric == kSrpFabric;
    if (!srp && (fabric != kIscsiFabric || std::none_of(groups.begin(), groups.end(), has_iser_portal)))
      return claims_.pass(node.place(), fmt::format("{}: is not over RDMA", wwn));
    const auto name = name_of(wwn, srp, node);
    if (!name) return;
    tell_lio_values(keys.mapping("parameters"), kLioTargetParameterDefaults, *name, claims_);
    keys.finish("targets");
    const auto [at, fresh] = seen_.try_emplace(*name, node.place());
    if (!fresh)
      return claims_.miss(node.place(),
                          fmt::format("{}: {} has this target, too; left out", *name, at->second.text()));
    const YamlNode* chosen = nullptr;
    for (const auto& group : groups) {
      if (chosen == nullptr && (srp || has_iser_portal(group))) {
        chosen = &group;
      } else {
        claims_.miss(group.place(),
                     fmt::format("{}: portal group {}: the document supports one portal group per target",
                                 *name, lio_text_at(group, "tag")));
      }
    }
    if (chosen == nullptr) return claims_.miss(node.place(), *name + ": has no portal group");
    iser_ = iser_ || !srp;
    portal_group(*chosen, {.name = *name, .srp = srp}, node.place());
  }

  /// The name as the document has it; reports one that is not of such a target.
  std::optional<std::string> name_of(const std::string& wwn, bool srp, const YamlNode& node) {
    if (srp) {
      const auto digits = srp_digits_of(wwn);
      model::Guid guid;
      if (digits) {
        const auto* last = digits->data() + digits->size();
        std::from_chars(last - kSrpGuidDigits, last, guid.number, 16);
      }
      if (guid.number != 0) return guid.text();
      claims_.miss(node.place(), fmt::format("\"{}\" is not the GID of a port", wwn));
      return std::nullopt;
    }
    // rtslib restores those of its old releases so, too.
    const auto name = model::IscsiName::parse(wwn.starts_with("naa.6") ? "naa.5" + wwn.substr(5) : wwn);
    if (name) return name->text;
    claims_.miss(node.place(), name.error().message);
    return std::nullopt;
  }

  /// Why the document must not have the target: it would admit initiators that may not log in now, or let
  /// them write. An attribute that is not saved has the kernel's default.
  static std::string why_closed(const YamlNode& group, const YamlNode* attributes, bool srp) {
    if (group.find("enable") != nullptr && lio_switch_at(group, "enable") != true) return "is disabled";
    if (srp) return {};
    const auto is_set = [&](std::string_view key, std::string_view otherwise) {
      const auto text = attributes == nullptr ? std::string() : lio_text_at(*attributes, key);
      return (text.empty() ? otherwise : std::string_view(text)) != "0";
    };
    if (is_set("authentication", "1")) return "requires CHAP, which the document cannot express";
    if (is_set("generate_node_acls", "0") && is_set("demo_mode_write_protect", "1"))
      return "any initiator may read it but not write to it, which the document cannot express";
    if (is_set("prod_mode_write_protect", "0"))
      return "initiators may only read it, which the document cannot express";
    return {};
  }

  void portal_group(const YamlNode& node, Group group, const Place& where) {
    YamlKeys keys(node, claims_);
    if (!keys.fits()) return;
    const auto* attributes = keys.mapping("attributes");
    if (const auto why = why_closed(node, attributes, group.srp); !why.empty())
      return claims_.miss(where, fmt::format("{}: {}; left out", group.name, why));
    group.any =
        !group.srp && attributes != nullptr && lio_switch_at(*attributes, "generate_node_acls") == true;
    const auto own = group.srp ? std::span<const LioDefault>(kLioSrpGroupDefaults)
                               : std::span<const LioDefault>(kLioIscsiGroupDefaults);
    tell_lio_values(attributes, own, group.name, claims_);
    tell_lio_values(keys.mapping("parameters"), kLioIscsiParameterDefaults, group.name, claims_);
    tell_chap(keys, group.name, claims_);
    keys.usual("tag", "1");
    keys.pass({"enable"});
    const auto listens = portals(keys, group);
    std::vector<Entry> luns;
    for (const auto& item : keys.list("luns")) take_lun(item, luns);
    std::vector<std::string> initiators;
    for (const auto& item : keys.list("node_acls")) take_initiator(item, group, luns, initiators);
    keys.finish("tpgs");
    if (!listens) return;
    if (const auto port = model::Guid::parse(group.name); group.srp && port)
      initiators = with_srp_guids(*port, initiators);
    auto& entry = claims_.entry("lio_target", {{"wwn", group.name}}, where);
    if (!listens->addresses.empty()) entry.values["addresses"] = listens->addresses;
    if (!group.srp && listens->port != model::kIscsiPort) entry.values["port"] = listens->port;
    if (group.any) entry.values["any_initiator"] = true;
    if (!initiators.empty()) entry.values["initiators"] = std::move(initiators);
    entry.children = std::move(luns);
  }

  /// Nothing, and reported, where no address is left that the document can have.
  std::optional<Portals> portals(YamlKeys& keys, const Group& group) {
    Portals out;
    for (const auto& item : keys.list("portals")) {
      YamlKeys portal(item, claims_);
      if (!portal.fits()) continue;
      auto address = portal.text("ip_address");
      const auto port = portal.number("port", 0xffff);
      const bool iser = portal.flag("iser").value_or(false);
      portal.usual("offload", "false");
      portal.finish("portals");
      if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
      const auto parsed = model::IpAddress::parse(address);
      if (!parsed) {
        claims_.miss(item.place(), parsed.error().message);
      } else if (!port) {
        claims_.miss(item.place(), fmt::format("{}: {}: has no port", group.name, parsed->text()));
      } else if (!iser) {
        claims_.miss(item.place(),
                     fmt::format("{}: {} port {}: is without iSER, which all addresses of the document take",
                                 group.name, parsed->text(), *port));
      } else if (!out.addresses.empty() && *port != out.port) {
        claims_.miss(item.place(), fmt::format("{}: {} port {}: the document has one port for all addresses "
                                               "of a target, here {}",
                                               group.name, parsed->text(), *port, out.port));
      } else {
        out.addresses.push_back(parsed->text());
        out.port = *port;
      }
    }
    if (group.srp) return Portals{};
    const auto port = model::Codec<model::ServicePort>::parse(model::Value{out.port});
    if (!out.addresses.empty() && port) return out;
    const auto why = port ? std::string("no address with iSER is left") : "port: " + port.error().message;
    claims_.miss(keys_place(keys, "portals"), fmt::format("{}: {}; left out", group.name, why));
    return std::nullopt;
  }

  static Place keys_place(YamlKeys& keys, std::string_view key) {
    const auto* node = keys.take(key);
    return node == nullptr ? Place{} : node->place();
  }

  void take_lun(const YamlNode& node, std::vector<Entry>& luns) {
    YamlKeys keys(node, claims_);
    if (!keys.fits()) return;
    keys.pass({"alias"});  // a name of rtslib's for a link in configfs
    keys.usual("alua_tg_pt_gp_name", "default_tg_pt_gp");
    const auto number = keys.number("index", kMostSavedLun);
    auto object = keys.text("storage_object");
    keys.finish("luns");
    if (!number) return claims_.miss(node.place(), "luns: has no index; left out");
    const auto left_out = [&](const std::string& why) {
      claims_.miss(node.place(), fmt::format("LUN {}: {}; left out", *number, why));
    };
    constexpr std::string_view kFront = "/backstores/";
    if (object.starts_with(kFront)) object.erase(0, kFront.size());
    const auto at = backstores_.find(object);
    if (at == backstores_.end()) return left_out(fmt::format("the file has no backstore \"{}\"", object));
    if (!at->second.read) read_backstore(object, at->second);
    if (!at->second.why.empty()) return left_out(at->second.why);
    if (static_cast<std::uint64_t>(*number) > kMostDocumentLun)
      return left_out(fmt::format("the document supports numbers up to {}", kMostDocumentLun));
    const bool is_there = std::any_of(luns.begin(), luns.end(), [&](const Entry& lun) {
      return std::get<std::int64_t>(lun.values.at("number")) == *number;
    });
    if (is_there) return left_out("the target has that number twice");
    luns.push_back(
        {node.place(), "lio_target.lun", {{"number", *number}, {at->second.key, at->second.path}}});
  }

  /// Once for all LUNs that it is behind.
  void read_backstore(const std::string& name, Backstore& out) {
    out.read = true;
    YamlKeys keys(*out.node, claims_);
    const auto plugin = keys.text("plugin");
    out.path = keys.text("dev");
    const bool file = plugin == "fileio";
    if (!file && plugin != "block" && plugin != "iblock") {
      out.why = fmt::format("{}: the document supports block devices and files only", name);
      return;
    }
    if (may_be_on(keys, "readonly")) {
      out.why = fmt::format("{}: is read-only, which the document cannot express", name);
      return;
    }
    const bool device = out.path.starts_with("/dev/") && !out.path.starts_with("/dev/shm/");
    out.key = file && !device ? "file" : "device";
    const auto where = out.node->place();
    if (file && device)
      claims_.miss(
          where, fmt::format("{}: {}: a device as a file: the document describes it as a block device", name,
                             out.path));
    // That of the document comes back by itself.
    const auto* serial = keys.take("wwn");
    if (serial != nullptr &&
        (claims_.machine_id.empty() || serial->text != kinds::lio_serial_of(claims_.machine_id, out.path)))
      claims_.miss(serial->place(), fmt::format("{}: serial number: cannot be expressed in the document; "
                                                "initiators see a different disk after the next boot",
                                                name));
    if (file && !device && keys.take("size") != nullptr)
      claims_.pass(where, fmt::format("{}: size: the document takes that of the file", name));
    const bool write_back = keys.flag("write_back").value_or(false);
    if (write_back)
      claims_.miss(keys_place(keys, "write_back"),
                   fmt::format("{}: write_back: cannot be expressed in the document; the disk is written "
                               "through",
                               name));
    keys.usual("aio", "false");
    keys.usual("exclusive", "true");
    keys.pass({"name", "size", "exists", "buffered_mode"});  // the last two are of old releases
    tell_lio_values(keys.mapping("attributes"), kLioBackstoreDefaults, name, claims_,
                    write_back ? "emulate_write_cache" : "");
    for (const auto& item : keys.list("alua_tpgs")) alua_group(item, name);
    keys.finish("storage_objects");
  }

  void alua_group(const YamlNode& node, const std::string& backstore) {
    const auto name = lio_text_at(node, "name");
    if (name != "default_tg_pt_gp")
      return claims_.miss(node.place(), fmt::format("{}: ALUA group {}: cannot be expressed in the document",
                                                    backstore, name));
    YamlKeys keys(node, claims_);
    keys.pass({"name"});
    tell_lio_values(keys, kLioAluaDefaults, backstore);
    keys.finish("alua_tpgs");
  }

  void take_initiator(const YamlNode& node, const Group& group, const std::vector<Entry>& luns,
                      std::vector<std::string>& initiators) {
    YamlKeys keys(node, claims_);
    if (!keys.fits()) return;
    const auto written = keys.text("node_wwn");
    const auto* attributes = keys.mapping("attributes");
    tell_lio_values(attributes, kLioInitiatorDefaults, written, claims_);
    tell_chap(keys, written, claims_);
    keys.usual("tag", "");
    const auto& mapped = keys.list("mapped_luns");
    keys.finish("node_acls");
    const auto left_out = [&](std::string_view why) {
      claims_.miss(node.place(), fmt::format("{}: {}; left out", written, why));
    };
    // -1: as the portal group has it.
    const auto authentication =
        attributes == nullptr ? std::string() : lio_text_at(*attributes, "authentication");
    if (!authentication.empty() && authentication != "0" && authentication != "-1")
      return left_out("must use CHAP, which the document cannot express");
    if (group.any) return left_out("the document names no initiators where any may log in");
    if (!sees_all(mapped, luns))
      return left_out("the document gives each initiator all LUNs, writable and with their own numbers");
    if (group.srp) {
      const auto digits = srp_digits_of(written);
      if (!digits) return claims_.miss(node.place(), fmt::format("\"{}\" is not a port identifier", written));
      initiators.push_back("0x" + *digits);
      return;
    }
    auto name = model::IscsiName::parse(written);
    if (!name) return claims_.miss(node.place(), name.error().message);
    initiators.push_back(std::move(name->text));
  }

  /// Whether an initiator sees those LUNs that the document has, each under its own number and to write.
  bool sees_all(const std::vector<YamlNode>& mapped, const std::vector<Entry>& luns) {
    std::map<std::string, bool> seen;  // numbers of the document's LUNs
    for (const auto& lun : luns)
      seen.emplace(std::to_string(std::get<std::int64_t>(lun.values.at("number"))), false);
    bool plain = true;
    for (const auto& item : mapped) {
      YamlKeys keys(item, claims_);
      keys.pass({"alias"});
      const auto number = keys.text("index"), lun = keys.text("tpg_lun");
      const bool read_only = may_be_on(keys, "write_protect");
      keys.finish("mapped_luns");
      const auto at = seen.find(lun);
      if (at == seen.end()) continue;  // left out itself
      plain = plain && number == lun && !read_only;
      at->second = true;
    }
    return plain && std::all_of(seen.begin(), seen.end(), [](const auto& lun) { return lun.second; });
  }

  /// Settings of a fabric for all its targets: CHAP of discoveries.
  void fabric_module(const YamlNode& node) {
    if (lio_text_at(node, "name") != kIscsiFabric || !iser_)
      return claims_.pass(node.place(), "fabric_modules: no target over RDMA needs it");
    YamlKeys keys(node, claims_);
    keys.pass({"name", "discovery_userid", "discovery_password", "discovery_mutual_userid",
               "discovery_mutual_password"});
    if (keys.flag("discovery_enable_auth").value_or(false))
      claims_.miss(node.place(),
                   "fabric_modules: CHAP for iSCSI discovery: cannot be expressed in the document");
    keys.finish("fabric_modules");
  }

  Claims& claims_;
  std::map<std::string, Backstore> backstores_;  ///< of the file, by "block/NAME"
  std::map<std::string, Place> seen_;            ///< targets of all files, by name
  bool iser_ = false;                            ///< the file has a target with iSER
};

}  // namespace

void parse_lio(std::span<const File> files, Claims& claims) {
  SavedTargets targets(claims);
  for (const auto& file : files) {
    if (const auto root = parse_yaml(file, claims, kSavedNodes)) targets.read(*root);
  }
}

}  // namespace rdmacfg::foreign
