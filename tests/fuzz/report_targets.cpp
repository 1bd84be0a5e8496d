// SPDX-License-Identifier: Apache-2.0
// A report of a host that somebody has sent, and the texts that become one.
#include "catalog/all.hpp"
#include "core/pipeline.hpp"
#include "ctl/bundle/anonymiser.hpp"
#include "ctl/bundle/host_report.hpp"
#include "ctl/bundle/limits.hpp"
#include "ctl/bundle/taped_host.hpp"
#include "target.hpp"

namespace rdmacfg::fuzz {

namespace {

/// Looking at the host of any report ends, and changes nothing.
void run_host_report(std::string_view bytes) {
  auto report = ctl::parse_host_report(bytes);
  if (!report) return;
  const auto document = config::parse_texts(report->document, report->host_name, kinds::grammar());
  ctl::Tape tape(report->observed);
  ctl::TapedHost host(tape, report->boot_id);
  const auto diff = core::diff(document, host.host());
  require(tape.answers() == report->observed, "looking changes no answer");
  require(core::apply(document, host.host()).exit != model::Exit::kOk || diff.plan.empty(),
          "a host in a report cannot be changed");
  require(ctl::render_host_report(*report).size() <= ctl::limits::kHostReportBytes + bytes.size(),
          "a report is bounded");
}

void run_anonymiser(std::string_view bytes) {
  ctl::Anonymiser anonymiser({"node17.example.org", "node17", "jdoe"});
  const auto first = anonymiser.text(bytes);
  require(first.find("node17") == std::string::npos, "the host's name is not left");
  require(anonymiser.text(bytes) == first, "stand-ins are the same each time");
  require(first.size() <= 8 * bytes.size() + 64, "a stand-in is not much longer");
}

}  // namespace

std::vector<Target> report_targets() {
  return {
      {"host-report",
       run_host_report,
       {R"({"schema": "org.rdmaconfigd.host/1", "host_name": "xaa", "boot_id": "0", "document":
 [{"name": "config.toml", "text": "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nmtu = 2044\n"}],
 "observed": {"links": {"": [{"index": 1, "name": "ib0", "mtu": 4092, "kind": "ipoib", "up": true,
 "ipoib": {"guid": "00:02:c9:03:00:31:78:f2", "mode": "datagram"}}]}, "rdma": {"": [{"name": "mlx5_0",
 "ports": [{"number": 1, "guid": "00:02:c9:03:00:31:78:f2", "link_layer": "InfiniBand"}]}]},
 "file": {"/etc/rdma/mlx4.conf": {"error": {"code": "denied", "errno": 13}}}}})"}},
      {"anonymiser",
       run_anonymiser,
       {"password = \"x\"\nguid 00:02:c9:03:00:31:78:f2 fe80::202:c9ff:fe31:78f2 192.0.2.1/24\n",
        "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\nnode17\\u00e9 0x0002c903003178f2"}}};
}

}  // namespace rdmacfg::fuzz
