// SPDX-License-Identifier: Apache-2.0
// metrics: how the host stands, for Prometheus.
#include "metrics/metrics.hpp"

#include <string>

#include "config/document.hpp"
#include "ctl/host_status.hpp"
#include "ctl/output_file.hpp"
#include "store/damage.hpp"

namespace rdmacfg::ctl {

namespace {

/// Everybody may read a file that replace_output() makes.
metrics::Reasons reasons_for(const HostStatus& host_status, const std::string& output) {
  const bool is_private = host_status.document && config::is_private(*host_status.document);
  const bool is_file = !output.empty() && output != "-";
  return is_private && is_file ? metrics::Reasons::kHidden : metrics::Reasons::kShown;
}

metrics::Facts facts_of(const HostStatus& host_status, system::Host& host, metrics::Reasons reasons) {
  metrics::Facts facts;
  facts.version = RDMACFG_VERSION;
  metrics::count(host_status.report, facts, reasons);
  facts.degraded = !core::degraded(host.files).empty();
  if (const auto& applied_state = host_status.applied_state) {
    if (applied_state->active) facts.generation = applied_state->active->number;
    if (applied_state->unconfirmed) facts.unconfirmed = applied_state->unconfirmed->deadline;
    facts.last = applied_state->last;
  }
  facts.ledger_known = host_status.applied_state.has_value();
  if (const auto& daemon = host_status.daemon)
    facts.daemon =
        metrics::daemon_of(daemon->state, daemon->repairs_by_kind, daemon->contended, daemon->refused);
  return facts;
}

}  // namespace

int metrics(const Context& context) {
  if (context.offline()) {
    return refuse(context, {base::Code::kInvalid,
                            "metrics cannot be combined with --root: it describes the running system", 0});
  }
  if (context.arguments.json) {
    return refuse(context,
                  {base::Code::kInvalid,
                   "metrics are text for Prometheus; `status --json` has the same facts as JSON", 0});
  }
  const auto host = context.environment.host("/");
  const auto host_status = host_status_of(context, *host);
  if (host_status.document) tell(context, *host_status.document, host_status.report.diagnostics);
  if (host_status.report.error) context.say_error(host_status.report.error->message);
  const auto& output = context.arguments.output;
  const auto facts = facts_of(host_status, *host, reasons_for(host_status, output));
  const auto text =
      context.arguments.metrics.features ? metrics::features_of(facts) : metrics::text_of(facts);
  if (output.empty() || output == "-") {
    context.environment.out << text;
  } else if (auto done = replace_output(output, text); !done) {
    return refuse(context, done.error());
  }
  const bool compared = host_status.report.exit != model::Exit::kError;
  return static_cast<int>(compared ? model::Exit::kOk : model::Exit::kError);
}

}  // namespace rdmacfg::ctl
