// SPDX-License-Identifier: Apache-2.0
// wait-online: for rdma-configd-wait-online.service.
#include <fmt/format.h>

#include "base/text.hpp"
#include "catalog/online.hpp"
#include "ctl/command.hpp"
#include "ctl/json.hpp"
#include "ctl/render/render_report.hpp"
#include "store/generations.hpp"
#include "withdraw/withdraw.hpp"

namespace rdmacfg::ctl {

using base::Code;
using model::Exit;
using model::Report;

namespace {

constexpr std::chrono::seconds kPeriod{1};
constexpr std::uint64_t kDefaultTimeout = 120;  // seconds; rdma-configd-wait-online.service says the same

int finish(const Context& context, const Report& report) {
  const int status = status_of(context, report.exit);
  if (context.arguments.json) {
    emit(context, to_json(report, context.arguments.command, status));
    return status;
  }
  if (report.error) context.say_error(report.error->message);
  if (context.arguments.quiet && status == 0) return status;
  for (const auto& note : report.notes) context.environment.out << clean(note.text, context.out.utf8) << '\n';
  return status;
}

int nothing_to_wait_for(const Context& context, std::string why) {
  Report report;
  report.notes.push_back(std::move(why));
  return finish(context, report);
}

/// Without an active generation nobody sets anything up: there is no point in waiting.
int without_generation(const Context& context, system::Host& host) {
  const auto withdrawn = host.files.read(core::kWithdrawnMark);
  if (withdrawn && withdrawn->has_value())
    return nothing_to_wait_for(context, "Nothing to wait for: this host was withdrawn.");
  const auto document = load(context);
  if (!document && document.error().code == Code::kNotFound)
    return nothing_to_wait_for(context, "Nothing to wait for: there is no document.");
  if (!document) return refuse(context, document.error());
  if (model::has_errors(document->diagnostics)) {
    return refuse(
        context, {Code::kInvalid,
                  "the document has errors and no document was applied before, so nothing is configured: see "
                  "`rdma-configctl validate`",
                  0});
  }
  return refuse(context,
                {Code::kNotFound,
                 "no document is applied, so nothing is configured: see `systemctl status rdma-configd`, "
                 "`rdma-configctl diff` and `rdma-configctl history`",
                 0});
}

}  // namespace

int wait_online(const Context& context) {
  auto& environment = context.environment;
  if (context.offline()) {
    return refuse(context, {Code::kInvalid,
                            "wait-online cannot be combined with --root: an image has no interfaces", 0});
  }
  const auto host = environment.host("/");
  const std::chrono::seconds timeout(context.arguments.timeout.value_or(kDefaultTimeout));
  const auto end = environment.now() + timeout;
  kinds::Online online;
  for (;;) {
    // An apply meanwhile may have changed what there is to wait for.
    const auto ledger = core::read_ledger(host->files, core::GenerationPaths());
    if (!ledger) return refuse(context, ledger.error());
    if (ledger->active == 0) return without_generation(context, *host);
    auto texts = core::read_texts(host->files, core::GenerationPaths(), ledger->active);
    if (!texts) return refuse(context, texts.error());
    const auto document = core::parse_again(std::move(*texts), environment.host_name);
    if (!document.whole && model::has_errors(document.diagnostics))
      return refuse(context, {Code::kInvalid, document.diagnostics.front().message, 0});
    auto found = kinds::observe_online(document.sections, *host);
    if (!found) return refuse(context, found.error().in("reading the host"));
    online = std::move(*found);
    if (online.lacking.empty() || environment.now() >= end) break;
    environment.sleep(kPeriod);
  }
  Report report;
  if (online.waited_for == 0) {
    report.notes.emplace_back("Nothing to wait for: no present interface has addresses in the document.");
  } else if (online.lacking.empty()) {
    report.notes.push_back(
        fmt::format("Online: {} with carrier and addresses.", count(online.waited_for, "interface")));
  } else {
    report.error = base::Error{
        Code::kTimeout,
        fmt::format("not online after {} s: {}", timeout.count(), base::join(online.lacking, "; ")), 0};
    report.exit = Exit::kError;
  }
  return finish(context, report);
}

}  // namespace rdmacfg::ctl
