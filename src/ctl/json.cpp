// SPDX-License-Identifier: Apache-2.0
#include "ctl/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "store/value_json.hpp"

namespace rdmacfg::ctl {

using Json = nlohmann::ordered_json;

namespace {

Json attributes_json(const model::Attributes& attributes) {
  Json out = Json::object();
  for (const auto& [name, value] : attributes) out[name] = value_json(value);
  return out;
}

Json key_json(const model::Key& key) { return {{"kind", key.kind}, {"id", key.id}}; }

std::string_view effect_name(model::Effect effect) {
  switch (effect) {
    case model::Effect::kNow:
      return "now";
    case model::Effect::kDriverReload:
      return "driver_reload";
    case model::Effect::kInitramfsReboot:
      return "initramfs_reboot";
  }
  return "now";
}

std::string status_name(model::Status status) {
  return status == model::Status::kInSync ? "in_sync" : std::string(model::text_of(status));
}

std::string_view exit_name(model::Exit exit) {
  switch (exit) {
    case model::Exit::kOk:
      return "ok";
    case model::Exit::kError:
      return "error";
    case model::Exit::kDiffers:
      return "differs";
    case model::Exit::kUndone:
      return "undone";
    case model::Exit::kUndoIncomplete:
      return "undo_incomplete";
    case model::Exit::kPartly:
      return "partly";
  }
  return "error";
}

std::string_view code_name(base::Code code) {
  switch (code) {
    case base::Code::kInvalid:
      return "invalid";
    case base::Code::kNotFound:
      return "not_found";
    case base::Code::kUnsupported:
      return "unsupported";
    case base::Code::kDenied:
      return "denied";
    case base::Code::kBusy:
      return "busy";
    case base::Code::kRefused:
      return "refused";
    case base::Code::kIo:
      return "io";
    case base::Code::kTimeout:
      return "timeout";
  }
  return "refused";
}

Json diagnostic_json(const model::Diagnostic& diagnostic) {
  Json related = Json::array();
  for (const auto& other : diagnostic.related) {
    related.push_back({{"where", location_json(other.where)}, {"note", other.note}});
  }
  return {{"severity", diagnostic.severity == model::Severity::kError ? "error" : "warning"},
          {"where", location_json(diagnostic.where)},
          {"message", diagnostic.message},
          {"hint", diagnostic.hint},
          {"related", std::move(related)}};
}

Json change_json(const model::Change& change) {
  Json needs = Json::array();
  for (const auto& need : change.needs) needs.push_back(key_json(need));
  Json origins = Json::object();
  for (const auto& [name, where] : change.origins) origins[name] = location_json(where);
  return {{"kind", change.key.kind},
          {"id", change.key.id},
          {"label", change.label},
          {"operation", std::string(model::text_of(change.operation))},
          {"before", attributes_json(change.before)},
          {"after", attributes_json(change.after)},
          {"fields", change.fields},
          {"needs", std::move(needs)},
          {"effect", effect_name(change.effect)},
          {"interrupts", change.interrupts},
          {"interrupts_later", change.interrupts_later},
          {"origins", std::move(origins)}};
}

template <class List, class F>
Json list_json(const List& list, F each) {
  Json out = Json::array();
  for (const auto& item : list) out.push_back(each(item));
  return out;
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
Json guid_json(model::Guid guid) { return guid.number == 0 ? Json(nullptr) : Json(guid.text()); }

template <class T>
Json optional_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json pkeys_json(const std::optional<std::vector<std::uint16_t>>& table) {
  if (!table) return nullptr;
  return list_json(*table, [](std::uint16_t raw) {
    return Json{{"pkey", fmt::format("{:#06x}", raw)},
                {"membership", (raw & 0x8000U) != 0 ? "full" : "limited"}};
  });
}

Json gids_json(const std::optional<std::vector<system::Gid>>& table) {
  if (!table) return nullptr;
  return list_json(*table, [](const system::Gid& gid) {
    return Json{
        {"index", gid.index}, {"type", gid.type}, {"gid", gid.gid}, {"netdev", text_or_null(gid.netdev)}};
  });
}

Json roce_json(const model::Attributes& roce) {
  Json out = Json::object();
  for (const auto* field : {"mode", "tos", "dscp"}) out[field] = value_json(model::value_of(roce, field));
  return out;
}

Json counters_json(const std::vector<CounterView>& counters) {
  Json out = Json::object();
  for (const auto& counter : counters) out[counter.name] = counter.value;
  return out;
}

Json port_json(const PortView& view) {
  const auto& port = *view.port;
  Json out = {{"device", view.device->name},
              {"port", port.number},
              {"link_layer", text_or_null(port.link_layer)},
              {"state", text_or_null(port.state)},
              {"physical_state", text_or_null(port.physical_state)},
              {"rate", text_or_null(port.rate)},
              {"lid", optional_json(port.lid)},
              {"sm_lid", optional_json(port.sm_lid)},
              {"lmc", optional_json(port.lmc)},
              {"capabilities", optional_json(port.capabilities)},
              {"mtu_active", view.mtu ? Json(view.mtu->active) : Json(nullptr)},
              {"mtu_max", view.mtu ? Json(view.mtu->max) : Json(nullptr)},
              {"guid", guid_json(view.guid())},
              {"gid_prefix", text_or_null(port.gid_prefix)},
              {"netdevs", port.netdevs},
              {"pkeys", pkeys_json(view.pkeys)},
              {"gids", gids_json(view.gids)},
              {"roce", view.port->link_layer == "Ethernet" ? roce_json(view.roce) : Json(nullptr)}};
  if (!view.counters.empty()) out["counters"] = counters_json(view.counters);
  return out;
}

Json protocol_of(const system::RdmaDevice& device) {
  if (device.omni_path) return "omni_path";
  if (device.node_type == "RNIC") return "iwarp";
  if (device.ports.empty() || device.ports.front().link_layer.empty()) return nullptr;
  return device.ports.front().link_layer == "InfiniBand" ? "infiniband" : "roce";
}

Json limits_json(const std::optional<system::DeviceIds>& ids) {
  if (!ids || ids->limits.empty()) return nullptr;
  Json out = Json::object();
  for (const auto& [name, value] : ids->limits) out[name] = value;
  return out;
}

Json device_json(const DeviceView& view) {
  const auto& device = *view.device;
  Json out = {{"name", device.name},
              {"hca_type", text_or_null(device.hca_type)},
              {"node_type", text_or_null(device.node_type)},
              {"firmware", text_or_null(device.firmware)},
              {"hardware", text_or_null(view.hardware)},
              {"vendor_id", view.ids ? Json(view.ids->vendor) : Json(nullptr)},
              {"vendor_part_id", view.ids ? Json(view.ids->part) : Json(nullptr)},
              {"limits", limits_json(view.ids)},
              {"board_id", text_or_null(device.board_id)},
              {"node_guid", guid_json(device.node_guid)},
              {"system_guid", guid_json(device.system_guid)},
              {"node_description", text_or_null(device.node_description)},
              {"driver", text_or_null(device.driver)},
              {"pci", text_or_null(device.pci)},
              {"soft", text_or_null(device.soft)},
              {"protocol", protocol_of(device)},
              {"ports", list_json(view.ports, port_json)}};
  if (!view.counters.empty()) out["counters"] = counters_json(view.counters);
  return out;
}

Json interface_json(const InterfaceView& view) {
  const auto& link = *view.link;
  const auto& ipoib = *link.ipoib;
  return {{"name", link.name},
          {"index", link.index},
          {"altnames", link.altnames},
          {"device", view.port ? Json(view.port->device->name) : Json(nullptr)},
          {"port", view.port ? Json(view.port->port->number) : Json(nullptr)},
          {"guid", guid_json(ipoib.guid)},
          {"parent", text_or_null(view.parent)},
          {"pkey", ipoib.pkey.text()},
          {"mode", std::string(model::text_of(ipoib.mode))},
          {"connected_capable", ipoib.connected_capable},
          {"mtu", link.mtu},
          {"umcast", ipoib.umcast},
          {"addresses", view.addresses},
          {"up", link.up},
          {"carrier", link.carrier}};
}

Json dcb_json(const DcbView& view) {
  Json out = {{"interface", view.interface}};
  for (const auto& [name, value] : model::to_attributes(view.dcb)) {
    if (name != "interface" && name != "strict") out[name] = value_json(value);
  }
  return out;
}

Json memlock_json(const kinds::MemlockLine& line) {
  return {{"domain", line.domain},
          {"type", line.type},
          {"limit", line.limit},
          {"where", location_json({line.file, line.line, 1, 1})}};
}

Json module_json(const ModuleView& module) {
  const auto text = [](const model::ModuleOption& option) { return option.text(); };
  return {{"name", module.name},
          {"loaded", optional_json(module.loaded)},
          {"options", list_json(module.wanted, text)},
          {"running", list_json(module.running, text)}};
}

Json service_json(const ServiceView& service) {
  const auto& unit = service.unit;
  return {{"unit", unit.name},
          {"load", unit.load},
          {"at_boot", text_or_null(unit.file)},
          {"active", unit.active},
          {"sub", unit.sub},
          {"job", text_or_null(unit.job)},
          {"pid", unit.main_pid == 0 ? Json(nullptr) : Json(unit.main_pid)},
          {"memlock", service.memlock ? Json(service.memlock->text()) : Json(nullptr)},
          {"priority", optional_json(service.priority)}};
}

Json expansion_json(const ExpansionView& view) {
  return {{"section", "lossless"},
          {"interface", view.interface},
          {"where", location_json(view.where)},
          {"settings", list_json(view.settings, [](const ExpansionView::Setting& setting) {
             return Json{{"kind", setting.key.kind},
                         {"id", setting.key.id},
                         {"name", setting.name},
                         {"value", value_json(setting.value)},
                         {"where", location_json(setting.origin)}};
           })}};
}

}  // namespace

Json location_json(const model::Location& where) {
  if (where.file.empty() && where.line == 0) return nullptr;
  return {{"file", where.file}, {"line", where.line}, {"column", where.column}};
}

Json value_json(const model::Value& value) { return core::to_json(value); }

Json resource_json(const model::ResourceReport& resource) {
  Json attributes = Json::array();
  for (const auto& attribute : resource.attributes) {
    attributes.push_back({{"name", attribute.name},
                          {"now", value_json(attribute.now)},
                          {"wanted", value_json(attribute.wanted)},
                          {"origin", attribute.origin ? location_json(*attribute.origin) : Json(nullptr)}});
  }
  return {{"kind", resource.key.kind},
          {"id", resource.key.id},
          {"label", resource.label},
          {"status", status_name(resource.status)},
          {"reason", resource.reason},
          {"warnings", resource.warnings},
          {"attributes", std::move(attributes)}};
}

Json head(const char* schema, const std::string& command, const model::Report& report, int status) {
  return {{"schema", schema},
          {"command", command},
          {"exit", {{"status", status}, {"name", exit_name(report.exit)}}},
          {"error", report.error ? Json{{"code", code_name(report.error->code)},
                                        {"message", report.error->message},
                                        {"errno", report.error->sys_errno}}
                                 : Json(nullptr)},
          {"diagnostics", list_json(report.diagnostics, diagnostic_json)}};
}

Json summary_json(const model::Report& report) {
  using model::Status;
  constexpr std::array kAll{Status::kInSync,   Status::kDiffers, Status::kDone,   Status::kLimited,
                            Status::kPending,  Status::kUnmet,   Status::kFailed, Status::kForeign,
                            Status::kReleased, Status::kIgnored};
  Json out{{"resources", report.resources.size()}};
  for (const auto status : kAll) {
    out[status_name(status)] =
        std::count_if(report.resources.begin(), report.resources.end(),
                      [&](const model::ResourceReport& resource) { return resource.status == status; });
  }
  Json changes = Json::object();
  for (const auto operation :
       {model::Operation::kCreate, model::Operation::kUpdate, model::Operation::kDelete}) {
    changes[std::string(model::text_of(operation))] =
        std::count_if(report.plan.changes.begin(), report.plan.changes.end(),
                      [&](const model::Change& change) { return change.operation == operation; });
  }
  out["changes"] = std::move(changes);
  return out;
}

Json to_json(const model::Report& report, const std::string& command, int status) {
  Json out = head(kReportSchema, command, report, status);
  out["summary"] = summary_json(report);
  out["resources"] = list_json(report.resources, resource_json);
  out["changes"] = list_json(report.plan.changes, change_json);
  out["notes"] = model::note_texts(report.notes);
  out["left_over"] = report.left_over;
  return out;
}

Json to_json(const HostView& host, const model::Report& report, int status) {
  Json out = head(kShowSchema, "show", report, status);
  out["summary"] = summary_json(report);
  out["devices"] = list_json(host.devices, device_json);
  out["interfaces"] = list_json(host.interfaces, interface_json);
  out["dcb"] = list_json(host.facts.dcb, dcb_json);
  out["expansions"] = list_json(host.facts.expansions, expansion_json);
  out["memlock"] = list_json(host.facts.memlock, memlock_json);
  out["modules"] = list_json(host.facts.modules, module_json);
  out["services"] = list_json(host.facts.services, service_json);
  out["resources"] = list_json(report.resources, resource_json);
  out["notes"] = model::note_texts(report.notes);
  return out;
}

}  // namespace rdmacfg::ctl
