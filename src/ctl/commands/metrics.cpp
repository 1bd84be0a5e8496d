// SPDX-License-Identifier: Apache-2.0
// metrics: how the host stands, for Prometheus.
#include "metrics/metrics.hpp"

#include "ctl/outlook.hpp"
#include "ctl/output_file.hpp"
#include "store/damage.hpp"

namespace rdmacfg::ctl {

namespace {

metrics::Facts facts_of(const Outlook& outlook, system::Host& host) {
  metrics::Facts facts;
  facts.version = RDMACFG_VERSION;
  metrics::count(outlook.report, facts);
  facts.degraded = !core::degraded(host.files).empty();
  if (const auto& standing = outlook.standing) {
    if (standing->active) facts.generation = standing->active->number;
    if (standing->unconfirmed) facts.unconfirmed = standing->unconfirmed->deadline;
    facts.last = standing->last;
  }
  facts.ledger_known = outlook.standing.has_value();
  if (const auto& daemon = outlook.daemon)
    facts.daemon =
        metrics::daemon_of(daemon->state, daemon->repairs_by_kind, daemon->contended, daemon->refused);
  return facts;
}

}  // namespace

int metrics(const Context& context) {
  if (context.offline()) {
    return refuse(context, {base::Code::kInvalid, "metrics are about the running system; --root is not", 0});
  }
  if (context.arguments.json) {
    return refuse(context,
                  {base::Code::kInvalid,
                   "metrics are text for Prometheus; `status --json` has the same facts as JSON", 0});
  }
  const auto host = context.environment.host("/");
  const auto outlook = outlook_of(context, *host);
  if (outlook.document) tell(context, *outlook.document, outlook.report.diagnostics);
  if (outlook.report.error) context.say_error(outlook.report.error->message);
  const auto facts = facts_of(outlook, *host);
  const auto text = context.arguments.features ? metrics::features_of(facts) : metrics::text_of(facts);
  const auto& output = context.arguments.output;
  if (output.empty()) {
    context.environment.out << text;
  } else if (auto done = replace_output(output, text); !done) {
    return refuse(context, done.error());
  }
  const bool compared = outlook.report.exit != model::Exit::kError;
  return static_cast<int>(compared ? model::Exit::kOk : model::Exit::kError);
}

}  // namespace rdmacfg::ctl
