// SPDX-License-Identifier: Apache-2.0
// How the host stands, found out in one place for show, diff, doctor and status, so that all say the same.
#pragma once

#include <memory>
#include <optional>

#include "config/document.hpp"
#include "core/applied_state.hpp"
#include "ctl/command.hpp"
#include "ctl/service.hpp"
#include "model/report.hpp"

namespace rdmacfg::ctl {

struct HostStatus {
  std::optional<config::Document> document;  ///< nothing: there is none, or it cannot be read
  /// core::diff of it; with errors of the document its diagnostics, without a document only `error` or a
  /// note.
  model::Report report;
  bool none = false;                                ///< the system has no document, which is not an error
  std::optional<core::AppliedState> applied_state;  ///< of the running system, where it can be read
  std::optional<DaemonStatus> daemon;               ///< nothing: it does not run
};

/// `document`: instead of that of the command line.
HostStatus host_status_of(const Context& context, system::Host& host,
                          std::optional<base::Result<config::Document>> document = {});

/// Settings that another program keeps changing back, by resource.
std::map<model::Key, std::string> contended_in(const HostStatus& host_status);

}  // namespace rdmacfg::ctl
