// SPDX-License-Identifier: Apache-2.0
// [[iser_session]]: iSCSI targets that this host logs in to over RDMA (iSER).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "kinds/kind.hpp"
#include "model/section.hpp"
#include "model/spelled.hpp"
#include "model/types/inet_types.hpp"
#include "model/types/storage_types.hpp"

namespace rdmacfg::kinds {

/// A session of open-iscsi with a portal of a target, over iSER. Its key has all that tells it apart; another
/// port or portal group is another session.
struct IserSession {
  std::optional<model::IscsiName> target;
  std::optional<model::IpAddress> address;
  std::optional<std::int64_t> port, portal_group;
  std::optional<std::string> unit;
  std::optional<bool> at_boot;
  std::optional<bool> logged_in;
  std::optional<std::vector<std::string>> sessions;
  std::optional<std::string> job;

  static constexpr auto kFields = std::tuple{
      model::field("target", &IserSession::target, model::Role::kIdentity,
                   "iSCSI name of the target: \"iqn.2026-01.org.example:scratch\".", "-"),
      model::field("address", &IserSession::address, model::Role::kIdentity,
                   "IP address of the target on the RDMA network: \"192.0.2.1\".", "-"),
      model::spelled(
          model::field("port", &IserSession::port, model::Role::kPolicy, "Port of the target.", "3260"),
          R"({"type":"integer","minimum":1,"maximum":65535})"),
      model::spelled(
          model::field("portal_group", &IserSession::portal_group, model::Role::kPolicy,
                       "Tag of the target's portal group: the last number of a line of `iscsiadm -m "
                       "discovery`, before the name.",
                       "1"),
          R"({"type":"integer","minimum":0,"maximum":65535})"),
      model::field("unit", &IserSession::unit, model::Role::kDerived, "The unit that logs in."),
      model::field("at_boot", &IserSession::at_boot, model::Role::kDerived,
                   "Whether the unit is started at boot, once the interfaces are configured."),
      model::field("logged_in", &IserSession::logged_in, model::Role::kDerived,
                   "Whether the host is logged in by the unit."),
      model::field("sessions", &IserSession::sessions, model::Role::kFact,
                   "Sessions with this portal, with their transports, interfaces of open-iscsi and states.",
                   "-"),
      model::field("job", &IserSession::job, model::Role::kFact, "Job that systemd has queued for the unit.",
                   "-")};
};

model::SectionSpec iser_session_section();

const Kind& iser_session();

}  // namespace rdmacfg::kinds
