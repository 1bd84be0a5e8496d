// SPDX-License-Identifier: Apache-2.0
// The program's files below /var/lib/rdma-configd, damaged in any way: they are refused or read, and every
// value read is written and read again as the same. A run over a damaged state or journal ends with a report.
#include "catalog/all.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"
#include "store/generations.hpp"
#include "store/held_record.hpp"
#include "store/report_json.hpp"
#include "store/state.hpp"
#include "target.hpp"

namespace rdmacfg::fuzz {
namespace {

constexpr const char* kPath = "/var/lib/rdma-configd/file.json";
constexpr const char* kHost =
    R"({"devices": [{"name": "mlx4_0", "ports": [{"guid": "00:02:c9:03:00:31:78:f2", "interface":
  {"name": "ib0", "up": true, "children": [{"pkey": "0x8002", "name": "ib0.8002"}]}}]}],
  "sysctl": {"net/ipv4/neigh/default/gc_thresh1": "128"}})";
constexpr const char* kDocument =
    "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nmode = \"connected\"\n"
    "name = \"fab0\"\n[[sysctl]]\nkey = \"net.ipv4.neigh.default.gc_thresh1\"\nvalue = 256\n";

struct Kept {
  fakes::Faults faults;
  fakes::MemoryFiles files{faults};

  explicit Kept(std::string_view bytes) { files.content[kPath] = bytes; }
};

const config::Document& document() {
  static const auto kParsed = config::parse_texts({{"config.toml", kDocument}}, "node1", kinds::grammar());
  return kParsed;
}

/// The records of an apply, and its plan.
struct Sample {
  std::string state, journal, held, rollback_record, report;
};

Sample sample() {
  Sample out;
  const auto kernel = fakes::FakeKernel::parse(kHost);
  auto host = kernel->host();
  const auto planned = core::diff(document(), host);
  out.report = core::report_json(planned).dump();
  Kept kept("");
  if (core::write_journal(kept.files, kPath, {host.boot_id, planned.plan}))
    out.journal = kept.files.content[kPath];
  const core::Paths paths;
  if (core::save_held_record(kept.files, paths, {.journal = {host.boot_id, planned.plan}}))
    out.held = kept.files.content[paths.held];
  const auto done = core::apply(document(), host);
  out.state = kernel->files.content[core::Paths().state];
  core::RollbackRecord rollback_record;
  rollback_record.boot_id = host.boot_id;
  rollback_record.plan = done.plan;
  if (core::save_rollback_record(kept.files, kPath, rollback_record))
    out.rollback_record = kept.files.content[kPath];
  return out;
}

std::string sample_ledger() {
  core::Ledger ledger;
  ledger.active = 2;
  ledger.generations = {
      {1, "ab", "2026-11-21T14:03:22Z", "root", "apply", "rolled back: it was not confirmed"},
      {2, "cd", "2026-11-21T14:03:23Z", "alice (uid 1000)", "apply --confirm 60", ""}};
  ledger.refused = {"ab"};
  ledger.unconfirmed = core::Unconfirmed{2, 1, "boot", 60'000, "2026-11-21T14:04:23Z", true};
  Kept kept("");
  return core::save_ledger(kept.files, kPath, ledger) ? kept.files.content[kPath] : "";
}

void run_state(std::string_view bytes) {
  Kept kept(bytes);
  if (const auto state = core::load_state(kept.files, kPath)) {
    require(core::save_state(kept.files, kPath, *state).has_value(), "a state can be written");
    const auto again = core::load_state(kept.files, kPath);
    require(again && *again == *state, "a state is read as it was written");
  }
  const auto kernel = fakes::FakeKernel::parse(kHost);
  kernel->files.content[core::Paths().state] = bytes;
  auto host = kernel->host();
  (void)core::report_json(core::apply(document(), host));
}

void run_journal(std::string_view bytes) {
  Kept kept(bytes);
  (void)core::load_journal(kept.files, kPath);
  const auto kernel = fakes::FakeKernel::parse(kHost);
  kernel->files.content[core::Paths().journal] = bytes;
  auto host = kernel->host();
  (void)core::report_json(core::apply(document(), host));
}

void run_held(std::string_view bytes) {
  const auto kernel = fakes::FakeKernel::parse(kHost);
  const core::Paths paths;
  kernel->files.content[paths.held] = bytes;
  auto host = kernel->host();
  (void)core::load_known_state(host.files, paths, host.boot_id);
  (void)core::load_open_journal(host.files, paths, host.boot_id);
  core::Options options;
  options.bracket.holds = true;
  (void)core::report_json(core::apply(document(), host, options));
}

void run_ledger(std::string_view bytes) {
  Kept kept(bytes);
  const auto ledger = core::load_ledger(kept.files, kPath);
  if (!ledger) return;
  require(core::save_ledger(kept.files, kPath, *ledger).has_value(), "a ledger can be written");
  const auto again = core::load_ledger(kept.files, kPath);
  require(again && *again == *ledger, "a ledger is read as it was written");
  for (const auto& generation : ledger->generations) (void)ledger->before(generation.number);
}

void run_texts(std::string_view bytes) {
  Kept kept(bytes);
  kept.files.content["/texts/1.json"] = bytes;
  if (auto texts = core::load_texts(kept.files, "/texts", 1))
    (void)core::parse_again(std::move(*texts), "node1");
}

void run_take_back(std::string_view bytes) {
  Kept kept(bytes);
  const auto record = core::load_rollback_record(kept.files, kPath);
  if (!record || !*record) return;
  require(core::save_rollback_record(kept.files, kPath, **record).has_value(), "a record can be written");
  const auto again = core::load_rollback_record(kept.files, kPath);
  require(again && *again && (*again)->before == (*record)->before, "a record is read as it was written");
}

void run_report(std::string_view bytes) {
  const auto report = core::report_from(std::string(bytes));
  if (!report) return;
  using Json = nlohmann::ordered_json;
  const auto once = core::report_json(*report).dump(-1, ' ', false, Json::error_handler_t::replace);
  const auto again = core::report_from(once);
  require(again && core::report_json(*again).dump(-1, ' ', false, Json::error_handler_t::replace) == once,
          "a report is read as it was written");
}

}  // namespace

std::vector<Target> state_targets() {
  static const auto kSample = sample();
  return {
      {"state", run_state, {kSample.state}},
      {"journal", run_journal, {kSample.journal}},
      {"held", run_held, {kSample.held}},
      {"ledger", run_ledger, {sample_ledger()}},
      {"texts", run_texts, {R"({"schema":1,"files":[{"name":"a","text":"version = 1\n"}],"host":"node1"})"}},
      {"take-back", run_take_back, {kSample.rollback_record}},
      {"report", run_report, {kSample.report}}};
}

}  // namespace rdmacfg::fuzz
