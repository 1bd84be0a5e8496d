// SPDX-License-Identifier: Apache-2.0
// The worker process's task, and its answer. The daemon's main process never parses a
// document nor touches the kernel: a slow driver cannot block the bus.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/document.hpp"
#include "model/report.hpp"
#include "model/resource.hpp"

namespace rdmacfg::daemon {

struct Job {
  enum class Verb {
    kShow,  ///< diff without the plan
    kValidate,
    kDiff,
    kApply,  ///< `texts`, or the system's own configuration when there are none
    kHold,   ///< the active generation, part by part
    kConfirm,
    kRollBack,  ///< to `generation`
    kExpire,
    kHistory,
  };
  std::uint32_t id = 0;
  Verb verb = Verb::kShow;
  std::vector<config::Text> texts{};
  std::uint64_t generation = 0;
  std::uint64_t from = 0;      ///< core::Request::from
  std::int64_t confirm_s = 0;  ///< 0: needs no confirmation
  bool by_itself = false;      ///< boot, reload, an event
  bool retry = false;          ///< try again what the fabric limited
  bool allow_removal = false;  ///< core::RemovalGuard::kNone
  bool awaited = false;        ///< others wait for it: slow steps are left to a later job
  bool resumes = false;        ///< kApply after a crash: the active generation is held, and nothing else read
  /// With drift = "report": core::Options::settled. The worker sees which policy there is.
  std::map<model::Key, std::string> settled{};
  /// kApply at a start: the generation for which a daemon of this boot had left `settled`. 0: none.
  std::uint64_t settled_at = 0;
  /// kApply that is tried again: core::kAppliedMark when it fell due. When it says something else
  /// now, somebody has applied since, past the daemon, and that is held instead. Nothing: the first try.
  std::optional<std::string> applied_then{};
  /// Before a hold or an apply of its own: kinds::HasHiddenState, with these handles.
  std::optional<std::set<std::string>> closely{};
  std::string expect{};  ///< core::digest_of the plan that was agreed to; empty: any
  std::string who{};
  std::string what{};
  std::optional<std::uint32_t> uid{};              ///< of the client that asked; nothing: the daemon itself
  std::string client{};                            ///< its unique name on the bus; not told to the worker
  std::map<model::Key, std::string> left_alone{};  ///< resources, with the reason
  std::map<model::Key, model::LeftFields> fields_left_alone{};

  [[nodiscard]] bool changes() const {
    return verb == Verb::kApply || verb == Verb::kHold || verb == Verb::kConfirm || verb == Verb::kRollBack ||
           verb == Verb::kExpire;
  }
};

nlohmann::ordered_json to_json(const Job& job);
/// Throws nlohmann::json::exception on another shape: both ends are the same program.
Job job_from(const nlohmann::ordered_json& json);

/// The worker process: one job on `in`, lines of JSON on `out`: {"progress": [done, total, what]} any number
/// of times (0 of 0: it waits, and for what), then {"exit": n, "cancelled": whether somebody did not want it
/// before it had begun, "looked": whether it has looked closely, "handles_made": n, "report": summary_of() of
/// a change, null of a look, "status": {…}}. The whole report goes to `whole` first (bounded_report()); -1:
/// to nobody. It takes the limits of model/limits.hpp upon itself. SIGUSR1 cancels it at any time; SIGUSR2
/// only while it has not begun, and waits for the lock, say.
/// @return exit status of the process.
int work(int in, int out, int whole = -1);

}  // namespace rdmacfg::daemon
