// SPDX-License-Identifier: Apache-2.0
#include "ctl/host_status.hpp"

#include <fmt/format.h>

#include "store/damage.hpp"

namespace rdmacfg::ctl {

namespace {

/// Of what the daemon has given up on an apply would change nothing for long.
void mark_contended(HostStatus& host_status) {
  const auto contended = contended_in(host_status);
  for (auto& resource : host_status.report.resources) {
    const auto at = contended.find(resource.key);
    if (at == contended.end()) continue;
    resource.warnings.push_back(
        fmt::format("contended ({}): the daemon leaves it alone until the next apply", at->second));
  }
}

}  // namespace

std::map<model::Key, std::string> contended_in(const HostStatus& host_status) {
  std::map<model::Key, std::string> out;
  if (!host_status.daemon) return out;
  for (const auto& [kind, id, why] : host_status.daemon->contended) out.emplace(model::Key{kind, id}, why);
  return out;
}

HostStatus host_status_of(const Context& context, system::Host& host,
                          std::optional<base::Result<config::Document>> document) {
  HostStatus out;
  auto loaded = document ? std::move(*document) : load(context);
  if (!loaded) {
    out.none = loaded.error().code == base::Code::kNotFound && context.arguments.config.empty();
    if (out.none) {
      out.report.notes.push_back(loaded.error().message);
      for (const auto& reason : core::degraded(host.files)) {  // else diff() says so
        out.report.notes.emplace_back(core::degraded_note(reason), model::Note::Sort::kDamage);
      }
    } else {
      out.report.error = loaded.error();
      out.report.exit = model::Exit::kError;
    }
  } else {
    out.document = std::move(*loaded);
    out.report = model::has_errors(out.document->diagnostics)
                     ? report_of(*out.document)
                     : placed(context, core::diff(*out.document, host, options_of(context)));
    out.report.diagnostics = together(*out.document, out.report);
  }
  if (context.offline()) return out;
  // Of a document of the command line nobody holds anything; but an apply may wait all the same.
  if (const auto ledger = core::look_up_ledger(host.files, core::GenerationPaths())) {
    const bool own = context.own_document() && out.document;
    out.applied_state =
        core::applied_state_of(*ledger, own ? &*out.document : nullptr, host.boot_id, core::system_clock());
    out.applied_state->gone = out.none && out.applied_state->active.has_value();
  }
  if (const auto service = context.environment.service()) {
    if (auto status = service->status()) out.daemon = std::move(*status);
  }
  mark_contended(out);
  return out;
}

}  // namespace rdmacfg::ctl
