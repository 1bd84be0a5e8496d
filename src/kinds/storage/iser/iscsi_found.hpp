// SPDX-License-Identifier: Apache-2.0
// Sessions and records of iSCSI that are on the host, ours and those of others.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "formats/storage/iser_unit.hpp"
#include "system/host.hpp"

namespace rdmacfg::kinds {

/// Whether a session is with this target at this address, whoever logged in.
bool leads_to(const system::IscsiSession& session, const IserPortal& portal);
/// Whether it is ours: with this very portal, by our interface of open-iscsi.
bool is_ours(const system::IscsiSession& session, const IserPortal& portal);

/// Names of those that are ours.
std::vector<std::string> our_sessions(std::span<const system::IscsiSession> all, const IserPortal& portal);

/// "session3 iser rdma-configd LOGGED_IN"
std::string text_of(const system::IscsiSession& session);
/// Of such a text: whether our interface of open-iscsi made the session.
bool is_text_of_ours(std::string_view text);

/// A record of open-iscsi.
struct IscsiRecord {
  std::string file;       ///< "/etc/iscsi/nodes/iqn.2026-01.org.example:a/192.0.2.1,3260,1/iser"
  std::string portal;     ///< "192.0.2.1:3260,1"
  std::string interface;  ///< "iser"; empty where the record is older than interfaces
};

/// That of others by which open-iscsi logs in at boot to the same target and address; nothing where there is
/// none, or it may not be read.
std::optional<IscsiRecord> record_of_others(const IserPortal& portal, system::Files& files);

/// Whether somebody has put a secret of CHAP into our record; no where it may not be read.
bool record_has_secret(const IserPortal& portal, system::Files& files);

}  // namespace rdmacfg::kinds
