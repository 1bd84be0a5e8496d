// SPDX-License-Identifier: Apache-2.0
#include "fleet/site.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "kinds/opensm/partition.hpp"
#include "model/field.hpp"

namespace rdmacfg::fleet {

using model::Section;

std::uint32_t StringTable::id(std::string_view text) {
  const auto [at, fresh] = ids_.try_emplace(std::string(text), static_cast<std::uint32_t>(texts_.size()));
  if (fresh) texts_.push_back(&at->first);
  return at->second;
}

namespace {

constexpr std::string_view kPkeySection = "ipoib.pkey";
constexpr std::int64_t kUsualGroupMtu = 2048;                  // of OpenSM, where a partition has none
constexpr std::int64_t kPresetDscp = 26, kPresetPriority = 3;  // [[lossless]] without them

/// The document of one host.
class Reader {
 public:
  Reader(Site& site, HostId host, const config::Document& document)
      : site_(site), host_(host), document_(document) {}

  void read() {
    for (const auto& section : document_.sections) {
      if (section.path == "ipoib") {
        port(section);
      } else if (section.path == "opensm") {
        manager(section);
      } else if (section.path == "partition") {
        partition(section);
      } else if (section.path == "rdma_device") {
        if (const auto guid = guid_at(section, "node_guid"))
          own(*guid, GuidOf::kNode, *section.find("node_guid"));
      } else if (section.path == "roce" || section.path == "pfc" || section.path == "lossless") {
        traffic(section);
      }
    }
  }

 private:
  SourcePosition spot(const model::Location& where) {
    return {site_.words.id(where.file), where.line, where.column, where.length};
  }
  /// Where the value of a text comes from: the first that is not the document's own place.
  SourcePosition source(const model::Location& where) {
    const auto at = document_.filled.find(where);
    if (at == document_.filled.end() || at->second.empty()) return {};
    return spot(at->second.front().where);
  }
  /// The first value that is filled into each element of a list.
  using FilledItems = std::unordered_map<std::size_t, const config::FilledValue*>;
  [[nodiscard]] FilledItems filled_items(const model::Location& where) const {
    FilledItems out;
    const auto at = document_.filled.find(where);
    if (at == document_.filled.end()) return out;
    for (const auto& value : at->second) out.try_emplace(value.item, &value);
    return out;
  }
  SourcedValue sourced_value(const Section& section, std::string_view key) {
    const auto* entry = section.find(key);
    if (!entry) return {};
    const auto from = source(entry->where);
    return {site_.words.id(model::text_of(entry->value)), from.line > 0 ? from : spot(entry->where)};
  }
  static std::string text(const Section& section, std::string_view key) {
    const auto* entry = section.find(key);
    return entry ? model::text_of(entry->value) : std::string();
  }
  static std::optional<std::int64_t> number(const Section& section, std::string_view key) {
    const auto* entry = section.find(key);
    const auto* value = entry ? std::get_if<std::int64_t>(&entry->value) : nullptr;
    return value ? std::optional(*value) : std::nullopt;
  }
  static std::optional<model::Guid> guid_at(const Section& section, std::string_view key) {
    const auto* entry = section.find(key);
    const auto* value = entry ? std::get_if<std::string>(&entry->value) : nullptr;
    if (!value) return std::nullopt;
    const auto guid = model::Guid::parse(*value);
    return guid ? std::optional(*guid) : std::nullopt;
  }

  enum class GuidOf { kPort, kNode };

  void own(model::Guid guid, GuidOf owner, const model::Entry& entry) {
    if (owner == GuidOf::kPort) port_guids_.insert(guid.number);
    site_.guids.push_back(
        {guid.number, host_, owner == GuidOf::kNode, spot(entry.where), source(entry.where)});
  }

  /// The word for a port on every host: its name unless that has the host in it, else its device.
  std::uint32_t rail_of(const Section& section) {
    if (const auto* name = section.find("name"); name && !document_.filled.contains(name->where))
      return site_.words.id(model::text_of(name->value));
    for (const auto* key : {"interface", "device"}) {
      const auto* entry = section.find(key);
      if (!entry || document_.filled.contains(entry->where)) continue;
      const auto port = text(section, "port");
      return site_.words.id(model::text_of(entry->value) + (port.empty() ? "" : "/" + port));
    }
    return site_.words.id(section.where.text());
  }

  void port(const Section& section) {
    if (text(section, "state") == "ignore") return;
    const auto rail = rail_of(section);
    const auto guid = guid_at(section, "guid");
    if (guid) own(*guid, GuidOf::kPort, *section.find("guid"));
    interface(section, rail, guid.value_or(model::Guid{}), kinds::kDefaultPartition);
    for (const auto& child : section.children) {
      const auto state = text(child, "state");
      if (child.path != kPkeySection || state == "absent" || state == "ignore") continue;
      const auto pkey = model::Pkey::parse(text(child, "pkey"));
      if (pkey) interface(child, rail, guid.value_or(model::Guid{}), pkey->partition());
    }
  }

  void interface(const Section& section, std::uint32_t rail, model::Guid guid, std::uint16_t partition) {
    const bool child = section.path == kPkeySection;
    const auto index = static_cast<std::uint32_t>(site_.interfaces.size());
    // A P_Key of a table is corrected there.
    const auto* pkey = child ? section.find("pkey") : nullptr;
    const auto from = pkey ? source(pkey->where) : SourcePosition{};
    const auto where = from.line > 0 ? from : spot(section.where);
    site_.interfaces.push_back({host_, rail, partition, child, guid, where, sourced_value(section, "mode"),
                                sourced_value(section, "mtu")});
    for (const auto* family : {".ipv4", ".ipv6"}) {
      const auto* inet = section.child(section.path + family);
      const auto* entry = inet ? inet->find("addresses") : nullptr;
      const auto* list = entry ? std::get_if<std::vector<std::string>>(&entry->value) : nullptr;
      if (!list) continue;
      const auto filled = filled_items(entry->where);
      for (std::size_t item = 0; item < list->size(); ++item) {
        const auto prefix = model::IpPrefix::parse((*list)[item]);
        if (!prefix) continue;
        const auto value = filled.find(item);
        site_.addresses.push_back({index, *prefix, spot(entry->where),
                                   value == filled.end() ? SourcePosition{} : spot(value->second->where)});
      }
    }
  }

  void manager(const Section& section) {
    const auto guid = guid_at(section, "guid");
    // That of an [[ipoib]] entry of the same host is the same port.
    if (guid && !port_guids_.contains(guid->number)) own(*guid, GuidOf::kPort, *section.find("guid"));
    const auto said = sourced_value(section, "priority");
    site_.managers.push_back({host_, managers_++, number(section, "priority").value_or(-1),
                              said.value != 0 ? said.where : spot(section.where),
                              guid.value_or(model::Guid{})});
  }

  /// The values of a rule besides its members and its MTU, as one word to compare; those that it leaves out
  /// are OpenSM's own (osm_prtn_config.c).
  static std::string how_of(const kinds::Partition& rule) {
    constexpr std::int64_t kUsualRate = 3, kUsualQkey = 0x0b1b;  // 10 Gb/s; that of IPoIB
    return fmt::format("{} {} {} {} {} {}", rule.sl.value_or(0), rule.rate.value_or(kUsualRate),
                       rule.q_key.value_or(kUsualQkey), rule.tclass.value_or(0), rule.flow_label.value_or(0),
                       rule.indx0.value_or(false));
  }

  void partition(const Section& section) {
    const auto wanted = model::from_attributes<kinds::Partition>(section.attributes());
    if (!wanted.pkey) return;
    model::Diagnostics known;  // said when the host's document is checked
    const auto rule = kinds::make_rule(section, wanted, known);
    PartitionFact out;
    out.host = host_;
    out.number = wanted.pkey->partition();
    out.name = site_.words.id(wanted.name.value_or(
        out.number == kinds::kDefaultPartition ? "Default" : fmt::format("p{:04x}", wanted.pkey->full())));
    out.where = spot(section.where);
    out.without_ipoib = rule.right && !rule.ipoib;
    if (rule.ipoib && rule.right) {
      constexpr std::int64_t kLargestCode = 5;  // of IB_MTU_4096; 1 is IB_MTU_256
      const auto mtu = wanted.mtu.value_or(kUsualGroupMtu);
      out.group_mtu = static_cast<std::uint32_t>(mtu <= kLargestCode ? std::int64_t{128} << mtu : mtu);
    }
    out.how = site_.words.id(how_of(wanted));
    PartitionMembers members;
    for (const auto& member : rule.members) members.add(member, rule.defmember);
    out.members = &*site_.members.insert(std::move(members)).first;
    site_.partitions.push_back(std::move(out));
  }

  void traffic(const Section& section) {
    using What = Traffic::What;
    const auto rail = rail_of(section);
    const auto add = [&](Traffic::What sort, SourcedValue value) {
      if (value.value != 0) site_.traffic.push_back({host_, sort, rail, value});
    };
    const auto value = [&](std::int64_t given, std::string_view key) {
      const auto* entry = section.find(key);
      const auto from = entry ? source(entry->where) : SourcePosition{};
      return SourcedValue{site_.words.id(std::to_string(given)),
                          from.line > 0 ? from : spot(entry ? entry->where : section.where)};
    };
    if (section.path == "lossless") {
      const auto dscp = number(section, "dscp").value_or(kPresetDscp);
      const auto priority = number(section, "priority").value_or(kPresetPriority);
      add(What::kDscp, value(dscp, "dscp"));
      add(What::kPriorities, value(priority, "priority"));
    } else if (section.path == "pfc") {
      add(What::kPriorities, sourced_value(section, "priorities"));
      add(What::kMap, sourced_value(section, "dscp"));
    } else {
      add(What::kMode, sourced_value(section, "mode"));
      if (const auto tos = number(section, "tos")) {
        add(What::kDscp, value(*tos / 4, "tos"));
      } else {
        add(What::kDscp, sourced_value(section, "dscp"));
      }
    }
  }

  Site& site_;
  HostId host_;
  const config::Document& document_;
  std::uint32_t managers_ = 0;          ///< of this host, so far
  std::set<std::uint64_t> port_guids_;  ///< of this host, so far
};

}  // namespace

void PartitionMembers::add(const kinds::PartitionMember& member, std::string_view defmember) {
  const auto word = member.membership.empty() ? defmember : std::string_view(member.membership);
  const auto membership = word == "full" || word == "both" ? Membership::kFull : Membership::kLimited;
  if (member.who == "ALL" || member.who == "ALL_CAS") {
    all = membership;
    self = Membership::kNone;
    ports.clear();
  } else if (member.who == "SELF") {
    self = membership;
  } else if (const auto guid = model::Guid::parse(member.who)) {  // else switches or routers
    ports[guid->number] = membership;
  }
}

PartitionMembers::Membership PartitionMembers::of(std::uint64_t port) const {
  const auto named = ports.find(port);
  return named == ports.end() ? all : named->second;
}

void Site::add(HostId host, const config::Document& document) { Reader(*this, host, document).read(); }

}  // namespace rdmacfg::fleet
