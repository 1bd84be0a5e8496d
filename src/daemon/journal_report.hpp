// SPDX-License-Identifier: Apache-2.0
// The journal messages of a job.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/jobs/job.hpp"
#include "model/report.hpp"

namespace rdmacfg::daemon {

/// A field's name in sentences (FieldSpec::spoken); of a field or kind that this program does not know, the
/// name.
std::string spoken(const model::Key& key, const std::string& field);

/// The object of "another program has changed … back": the field as spoken() has it, or the whole of which
/// its value lists the missing ones.
std::string contended_name(const model::Key& key, const std::string& field);

/// "ipoib ib0"; a label that says the kind itself ("memlock root", "DCB of eth0") stands alone.
std::string name_of(const model::Key& key, const std::string& label);

enum class Creation {
  kFirst,
  kAgain,  ///< the object had been there before
};

/// The result of carrying it out: "mtu 2044 → 65520", "made (mode datagram, mtu 2044)", "removed (hard 1)".
std::string done_by(const model::Change& change, Creation creation = Creation::kFirst);

/// How the host differs where it is yet to be carried out: "mtu 65520 → 2044", "is gone (…)", "is there (…)".
std::string drift_of(const model::Change& change);

/// The fields that it is about: of what comes or goes, all that it has.
std::vector<std::string> fields_of(const model::Change& change);

/// As much of it as `journalctl -x` puts into an explanation; longer, and only the field's name is there.
std::string for_catalog(std::string text);

/// "; cause unknown, but NetworkManager also sets this", or nothing.
std::string suspected(const std::string& suspect);

/// The likely author of the change that was reverted, empty without one; nothing for a resource that was not
/// as wanted before, such as a device that came.
using Suspect = std::function<std::optional<std::string>(const model::Key& key)>;

/// The messages of one run after the other.
class RepeatFilter {
 public:
  /// Whether the run before had not said it.
  bool fresh(const std::string& text) {
    now_.insert(text);
    return !before_.contains(text);
  }
  void ended() { before_ = std::exchange(now_, {}); }

 private:
  std::set<std::string> before_, now_;
};

/// Changes, failures, and notes about the run. With the filter of the runs before, a failure of holds or
/// expiries in a row is said once.
void report_to_journal(
    const Job& job, const model::Report& report,
    const Suspect& suspect = [](const model::Key& /*key*/) { return std::nullopt; },
    RepeatFilter* filter = nullptr);

/// The resources in `fresh` that have drifted and stay so. `suspect`: the likely author; empty
/// without one.
void report_drift(const model::Report& report, const std::vector<model::Key>& fresh,
                  const std::function<std::string(const model::Key& key)>& suspect);

/// Expectations from one look to the next.
class Expectations {
 public:
  /// Says which are not met and were (or were not looked at) before, and which are met that had been
  /// reported. A report of no resources, as of a look that failed, says nothing about any.
  void report_to_journal(const model::Report& report);

 private:
  std::set<model::Key> unmet_;  ///< that have been reported
};

}  // namespace rdmacfg::daemon
