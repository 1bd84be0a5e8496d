// SPDX-License-Identifier: Apache-2.0
// reload: the daemon reads the configuration again, and this waits for what comes of it.
#include <fmt/format.h>

#include "base/text.hpp"
#include "ctl/changing.hpp"
#include "ctl/json.hpp"
#include "ctl/render/render_report.hpp"

namespace rdmacfg::ctl {

using base::Code;
using model::Exit;

namespace {

/// As ExecReload= early in the boot there is no bus yet: systemd names the daemon's process then.
int by_signal(const Context& context, std::uint64_t pid) {
  if (!context.environment.hang_up(static_cast<int>(pid))) {
    return refuse(context,
                  {Code::kNotFound, fmt::format("rdma-configd (process {}) is not running", pid), 0});
  }
  context.say(
      "there is no system bus yet: rdma-configd received the reload signal; see its journal for the result");
  return 0;
}

}  // namespace

int reload(const Context& context) {
  if (context.offline()) {
    return refuse(context,
                  {Code::kInvalid, "reload cannot be combined with --root: no daemon runs in an image", 0});
  }
  if (!context.own_document()) {
    return refuse(context,
                  {Code::kInvalid,
                   "reload reads /etc/rdma-configd and no other file: `rdma-configctl apply FILE` applies "
                   "one, and --install keeps it",
                   0});
  }
  const auto service = context.environment.service();
  if (service == nullptr) {
    const auto pid = base::parse_number(context.environment.variable("MAINPID"));
    if (pid && *pid > 1) return by_signal(context, *pid);
    return refuse(context,
                  {Code::kNotFound,
                   "rdma-configd is not running: `systemctl start rdma-configd` starts it, `rdma-configctl "
                   "apply` applies the document without it",
                   0});
  }
  auto report = change_there(context, [&](const Service::Call& call) { return service->reload(call); });
  if (!report) return refuse(context, report.error());
  // A document that is not what is held has not been loaded, whatever was done instead.
  const auto document = load(context);
  if (model::has_errors(report->diagnostics) && (report->exit == Exit::kOk || report->exit == Exit::kPartly))
    report->exit = Exit::kError;
  if (document && !report->error) {
    const auto host = context.environment.host("/");
    const auto ledger = core::read_ledger(host->files, core::GenerationPaths());
    const bool refused = ledger && !ledger->is_active(core::digest_of(*document)) &&
                         ledger->refuses(core::digest_of(*document));
    if (refused) report->exit = Exit::kError;
  }
  const int status = status_of(context, *report);
  if (context.arguments.json) {
    emit(context, to_json(*report, "reload", status));
    return status;
  }
  if (document) {
    tell(context, *document, report->diagnostics);
  } else if (!report->error) {
    context.say(document.error().message);
  }
  if (report->error) context.say_error(report->error->message);
  const bool well = report->exit == Exit::kOk || report->exit == Exit::kPartly;
  if (!well && !report->error)
    for (const auto& note : report->notes) context.say_error(note.text);
  if (well || report->exit == Exit::kUndone) {
    if (!context.arguments.quiet) context.environment.out << render_applied(*report, context.out);
    context.say_open(*report);
  }
  return status;
}

}  // namespace rdmacfg::ctl
