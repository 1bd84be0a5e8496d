// SPDX-License-Identifier: Apache-2.0
// Checks of the document: whether it is what is held, and whether the host is as it says.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <variant>

#include "base/text.hpp"
#include "catalog/all.hpp"
#include "doctor/checks.hpp"
#include "withdraw/withdraw.hpp"

namespace rdmacfg::core::detail {

using model::ResourceReport;
using model::Status;

namespace {

constexpr const char* kDaemon = "rdma-configd.service";

/// A value in a sentence.
std::string said(const model::Value& value, std::string_view unit) {
  auto text = model::text_of(value);
  if (!unit.empty() && std::holds_alternative<std::int64_t>(value)) text += fmt::format(" {}", unit);
  return text.empty() ? "none" : text;  // an empty list
}

/// "mode is datagram, not connected; mtu is 2044, not 65520".
std::string differences(const ResourceReport& resource) {
  std::vector<std::string> written, derived;
  for (const auto& attribute : resource.attributes) {
    if (attribute.wanted.index() == 0 || attribute.now == attribute.wanted) continue;
    auto& parts = kinds::is_derived(resource.key, attribute.name) ? derived : written;
    const auto unit = kinds::field_unit(resource.key, attribute.name);
    parts.push_back(attribute.now.index() == 0
                        ? fmt::format("{} is not set to {}", attribute.name, said(attribute.wanted, unit))
                        : fmt::format("{} is {}, not {}", attribute.name, said(attribute.now, unit),
                                      said(attribute.wanted, unit)));
  }
  auto& parts = written.empty() ? derived : written;
  // Of several lines, such as the content of a file, nothing can be read in a sentence.
  std::erase_if(parts, [](const auto& part) { return part.find('\n') != std::string::npos; });
  if (!resource.there) return "missing";
  return base::join(parts, "; ");
}

Finding of_differing(const ResourceReport& resource) {
  const auto how = differences(resource);
  return {"not_as_wanted",
          Finding::Weight::kProblem,
          resource.label,
          fmt::format("{} does not match the document{}{}{}", resource.key.kind, how.empty() ? "" : ": ", how,
                      resource.reason.empty() ? "" : " (" + resource.reason + ")"),
          "`rdma-configctl diff` shows what an apply would change, `rdma-configctl apply` does it",
          resource.key};
}

/// GUID, or device and port, of what hangs on a port.
bool is_on(const ResourceReport& resource, const std::string& guid, const std::string& name) {
  const auto& id = resource.key.id;
  return id == guid || id.starts_with(guid + "/") || id == name;
}

}  // namespace

void document_held(const DoctorContext& context, std::vector<Finding>& out) {
  if (context.applied_state == nullptr) return;
  const auto& applied_state = *context.applied_state;
  const std::string object = "document";
  if (applied_state.unconfirmed) {
    out.push_back(
        {"document_held", Finding::Weight::kRisk,
         fmt::format("generation {}", applied_state.unconfirmed->generation),
         applied_state.left.count() > 0
             ? fmt::format("waits for confirmation; will be rolled back in {}", spoken(applied_state.left))
             : fmt::format("was not confirmed {} and is about to be rolled back",
                           applied_state.rebooted ? "before the host was rebooted" : "in time"),
         "`rdma-configctl confirm` keeps it, `rdma-configctl rollback` rolls it back now"});
  }
  if (applied_state.gone && applied_state.active) {
    out.push_back(
        {"document_held", Finding::Weight::kRisk, object,
         fmt::format("is missing from /etc/rdma-configd, and the daemon enforces generation {} ({})",
                     applied_state.active->number, applied_state.active->when),
         fmt::format("`rdma-configctl history show {}` prints it; write it to "
                     "/etc/rdma-configd/config.toml",
                     applied_state.active->number)});
  }
  if (!applied_state.compared || applied_state.is_active) return;
  if (applied_state.refused) {
    const auto why = applied_state.why.empty() ? std::string() : fmt::format(" ({})", applied_state.why);
    out.push_back({"document_held", Finding::Weight::kProblem, object,
                   fmt::format("was rolled back{}, so it is not applied at boot or by a reload; {}", why,
                               applied_state.active ? fmt::format("generation {} stays active instead",
                                                                  applied_state.active->number)
                                                    : "no generation is enforced"),
                   "change it, or apply it again with `rdma-configctl apply --confirm 5m`"});
  } else if (applied_state.active) {
    out.push_back(
        {"document_held", Finding::Weight::kRisk, object,
         fmt::format("differs from the one applied last; the daemon enforces generation {} ({}) until "
                     "it reads the document again, at a reload or at the next boot",
                     applied_state.active->number, applied_state.active->when),
         "`rdma-configctl diff` shows what it would change; then `rdma-configctl apply`"});
  }
}

void daemon_down(const DoctorContext& context, std::vector<Finding>& out) {
  if (context.applied_state == nullptr || !context.applied_state->active) return;
  if (read(context, kWithdrawnMark)) return;
  const auto found = units(context, {kDaemon});
  if (found.empty() || !found.front().there()) return;
  const auto& unit = found.front();
  if (unit.active == "active" || unit.active == "activating" || unit.active == "reloading") return;
  const bool masked = unit.load == "masked";  // systemctl start refuses it
  out.push_back({"daemon_down", Finding::Weight::kProblem, kDaemon,
                 fmt::format("is {}: changes by others are not repaired until it runs again",
                             masked ? "masked" : unit.active),
                 masked ? "systemctl unmask rdma-configd, then systemctl start rdma-configd"
                 : unit.active == "failed"
                     ? "`journalctl -u rdma-configd` says why; then systemctl restart rdma-configd"
                     : "systemctl start rdma-configd"});
}

void contended(const DoctorContext& context, std::vector<Finding>& out) {
  for (const auto& [key, why] : context.contended) {
    std::string label = key.text();
    if (context.report != nullptr) {
      for (const auto& resource : context.report->resources) {
        if (resource.key == key && !resource.label.empty()) label = resource.label;
      }
    }
    out.push_back(
        {"contended", Finding::Weight::kProblem, label,
         fmt::format("another program keeps changing it: {}; the daemon leaves it alone until the next apply",
                     why),
         "find the program that sets it (`journalctl -u rdma-configd` names the suspect), stop it or remove "
         "the setting from the document, then `rdma-configctl apply`",
         key});
  }
}

void port_down(const DoctorContext& context, std::vector<Finding>& out) {
  if (context.report == nullptr) return;
  for (const auto& device : context.world.snapshot().devices) {
    for (const auto& port : device.ports) {
      if (port.state != "DOWN") continue;
      const auto name = fmt::format("{}/{}", device.name, port.number);
      const auto guid = port.guid.number == 0 ? std::string("-") : port.guid.text();
      const bool wanted = std::any_of(context.report->resources.begin(), context.report->resources.end(),
                                      [&](const ResourceReport& resource) {
                                        const bool ours = resource.status != Status::kForeign &&
                                                          resource.status != Status::kIgnored &&
                                                          resource.status != Status::kReleased;
                                        return ours && is_on(resource, guid, name);
                                      });
      if (!wanted) continue;
      const bool disabled = port.physical_state == "Disabled";
      out.push_back({"port_down", Finding::Weight::kProblem, name,
                     fmt::format("the document configures this port, but the port has no link{}",
                                 port.physical_state.empty()
                                     ? std::string()
                                     : fmt::format(" (physical state {})", port.physical_state)),
                     disabled
                         ? "the port is disabled: enable it (ibportstate … enable, or bring its interface up)"
                         : "check the cable and the port at the other end"});
    }
  }
}

void unmet(const DoctorContext& context, std::vector<Finding>& out) {
  if (context.report == nullptr) return;
  for (const auto& resource : context.report->resources) {
    if (resource.status != Status::kUnmet) continue;
    out.push_back({"unmet", Finding::Weight::kProblem, resource.label, resource.reason,
                   "rdma-configd only checks it: repair the host, or change the expectation", resource.key});
  }
}

void not_as_wanted(const DoctorContext& context, std::vector<Finding>& out) {
  if (context.report == nullptr) return;
  std::set<model::Key> said;
  for (const auto& finding : out) {
    if (finding.resource) said.insert(*finding.resource);
  }
  for (const auto& resource : context.report->resources) {
    if (said.contains(resource.key)) continue;
    switch (resource.status) {
      case Status::kDiffers:
        out.push_back(of_differing(resource));
        break;
      case Status::kFailed:
        out.push_back({"not_as_wanted", Finding::Weight::kProblem, resource.label,
                       fmt::format("{}: {}", resource.key.kind, resource.reason),
                       "remove the cause, then `rdma-configctl apply`", resource.key});
        break;
      case Status::kPending:
        out.push_back(
            {"not_as_wanted", Finding::Weight::kRisk, resource.label,
             fmt::format("{} waits: {}", resource.key.kind, resource.reason),
             "it is applied when that condition is met; otherwise remove the entry from the document",
             resource.key});
        break;
      case Status::kLimited:
        out.push_back(
            {"not_as_wanted", Finding::Weight::kRisk, resource.label,
             fmt::format("{} is limited by the fabric: {}", resource.key.kind, resource.reason),
             "change the fabric and then `rdma-configctl apply --retry`, or lower the value in the document",
             resource.key});
        break;
      case Status::kUnmet:
      case Status::kInSync:
      case Status::kDone:
      case Status::kForeign:
      case Status::kReleased:
      case Status::kIgnored:
        break;
    }
  }
}

}  // namespace rdmacfg::core::detail
