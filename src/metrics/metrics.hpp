// SPDX-License-Identifier: Apache-2.0
// How a host compares with its document, as metrics for Prometheus. The text is what node_exporter's textfile
// collector reads (Prometheus text exposition format 0.0.4); docs/METRICS.md lists the names.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/report.hpp"

namespace rdmacfg::metrics {

/// Name of the file in the collector's folder.
inline constexpr const char* kFileName = "rdma-configd.prom";

/// Keeps the path of the daemon's file from one daemon to the next, and for `withdraw`.
inline constexpr const char* kNote = "/run/rdma-configd/metrics";

/// Knowledge of the daemon beyond a look at the host.
struct Daemon {
  std::string state;                             ///< property State of the D-Bus API
  std::map<std::string, std::uint64_t> repairs;  ///< changes of others that were changed back, by kind
  std::map<std::string, std::size_t> contended;  ///< resources that somebody else keeps changing, by kind
  bool refused = false;                          ///< the configuration is not what is held
  /// Of the last apply since the daemon started, which the ledger does not have; nothing: it ran none, or is
  /// asked over D-Bus.
  std::optional<bool> last_apply_failed{};
};

/// Properties of the daemon's D-Bus API, as the daemon and rdma-configctl both have them.
Daemon daemon_of(std::string state, std::map<std::string, std::uint64_t> repairs,
                 const std::vector<std::tuple<std::string, std::string, std::string>>& contention,
                 const std::string& refused);

/// The last document that was applied, or taken back.
struct LastApply {
  std::uint64_t number = 0;  ///< generation
  std::string when;          ///< UTC, "2026-11-21T14:03:22Z"
  bool rolled_back = false;
};

struct Facts {
  std::string version;  ///< of this program
  /// Resources by kind and status; one that was just changed is in sync.
  std::map<std::string, std::map<model::Status, std::size_t>> resources;
  /// Kind, status and reason of those that are not as wanted.
  std::map<std::tuple<std::string, model::Status, std::string>, std::size_t> open;
  bool known = true;             ///< false: the host could not be compared with the document
  bool ledger_known = true;      ///< false: it could not be read, so there are no metrics of what was applied
  std::uint64_t generation = 0;  ///< that is held; 0: none
  std::optional<LastApply> last;  ///< nothing: nothing was applied yet
  std::string unconfirmed;        ///< until when, UTC; empty: nothing waits
  bool degraded = false;          ///< a record of ours was damaged
  std::optional<Daemon> daemon;   ///< nothing: it does not run
};

/// Reasons may have values of the document in them, and everybody may read the file.
enum class Reasons { kShown, kHidden };

/// Replaces what was counted before: the resources of a report, and whether it could be made at all.
void count(const model::Report& report, Facts& facts, Reasons reasons = Reasons::kShown);

/// The metrics. Reasons are labels: the most frequent limits::kMetricReasons, cut to limits::kMetricText; the
/// rest is "other". The same facts give the same text.
std::string text_of(const Facts& facts);

/// The metrics of a daemon that was killed as they are when one ends by itself; nothing where they say
/// already that it does not run, and of another text.
std::optional<std::string> after_end(std::string_view text);

/// The same in short as a feature file of Kubernetes' Node Feature Discovery (its source "local"): lines
/// "NAME=VALUE" that become labels of the node, such as rdma-configd.in-sync=true.
std::string features_of(const Facts& facts);

}  // namespace rdmacfg::metrics
