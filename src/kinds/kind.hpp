// SPDX-License-Identifier: Apache-2.0
// The contract of a kind of resource. docs/ADD-A-KIND.md walks through one.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "kinds/bound.hpp"
#include "kinds/world.hpp"
#include "model/change.hpp"
#include "model/diagnostic.hpp"
#include "model/field.hpp"
#include "model/report.hpp"
#include "model/resource.hpp"
#include "system/events.hpp"

namespace rdmacfg::kinds {

/// Why a resource is not (or not quite) as wanted although nobody refused anything.
struct Verdict {
  enum class Sort {
    kNone,     ///< nothing to say
    kLimited,  ///< by the fabric: keep it, do not fight
    kPending,  ///< waits for something
  };
  Sort sort = Sort::kNone;
  std::string reason;
  std::vector<std::string> fields;    ///< that `reason` explains; empty: the resource as a whole
  std::vector<std::string> warnings;  ///< works, but an administrator wants to know
};

/// How waiting for the kernel ended.
enum class Waited {
  kNot,     ///< there was nothing to wait for
  kEnough,  ///< it came
  kInVain,  ///< what has not come by now does not come by itself
};

/// One kind. Implementations hold no state; everything they know comes in as an argument.
class Kind {
 public:
  virtual ~Kind() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;

  /// The field table.
  [[nodiscard]] virtual std::span<const model::FieldSpec> fields() const = 0;

  /// Entries of the document → what is wanted. Pure. Rules across fields are checked here, every violation
  /// with its place; an entry that the host does not have yet comes out as pending.
  virtual void parse(const Bound& bound, std::vector<model::Desired>& out,
                     model::Diagnostics& diagnostics) const = 0;

  /// Every resource of the kind on the host, in one sweep. Changes nothing.
  virtual base::Result<std::vector<model::Observed>> observe(World& world) const = 0;

  /// Rules that need the host (capabilities, limits, collisions), before anything is written. May adapt what
  /// is wanted where the document allows it (on_unsupported), and add what it implies (prune).
  virtual void check(std::vector<model::Desired>& desired, const std::vector<model::Observed>& observed,
                     World& world, model::Diagnostics& diagnostics) const;

  /// Completes the kind's changes of a plan: interruptions, further needs, and state to be carried
  /// over.
  virtual base::Result<void> prepare(std::span<model::Change*> changes, World& world) const;

  /// Makes the host so, whatever it is like now (a change that is already there costs nothing): used for the
  /// plan, for undoing it and for finishing an interrupted one. All changes have the same operation and need
  /// none of each other.
  virtual base::Result<void> apply(std::span<const model::Change> changes, system::Host& host) const = 0;

  /// Waits, at most until the deadline, for the kernel's own actions after `changes` and their
  /// depend on. `now`: as it was just after the changes.
  virtual base::Result<Waited> await(std::span<const model::Change> changes, World& now,
                                     std::chrono::milliseconds deadline) const;

  /// Asks the kernel once more for what judge() took for limited by the fabric, and reads it back at once:
  /// what it gives even then is the limit; otherwise somebody else had set it back in between.
  /// @return the keys of `limited` of which the limit stands
  virtual base::Result<std::set<model::Key>> limits_standing(std::span<const model::Change> limited,
                                                             system::Host& host) const;

  /// Puts back what an interrupted apply took down and did not bring back (Change::carried).
  virtual base::Result<void> recover(std::span<const model::Change> changes, system::Host& host) const;

  /// After undoing `changes`: removes what they only needed on their way and could not remove, and brings
  /// back what no setting shows.
  /// @return what is not as it was, one sentence each.
  virtual std::vector<std::string> clear_away(std::span<const model::Change> changes,
                                              system::Host& host) const;

  /// Adds the settings of a resource whose changes neither a message of the kernel's nor a uevent tells.
  /// Pure.
  virtual void watched(const model::ResourceReport& /*resource*/, system::Settings& /*out*/) const {}

  /// Brings up to date what we remember of settings that observing cannot read without touching the host.
  /// Called before a hold that has a reason to (Event::Sort::kHandle, an audit, a start). `handles`: names of
  /// those that somebody has made; empty: any may have been.
  virtual base::Result<void> look_closely(system::Host& host, const std::set<std::string>& handles) const;

  /// Explains a resource after a fresh observation. `differing`: fields that are not as wanted.
  virtual Verdict judge(const model::Desired& desired, const model::Observed* observed,
                        const std::vector<std::string>& differing, World& world) const;

  /// Whether the kind has persistent files that can be written without a running host (--root).
  [[nodiscard]] virtual bool works_offline() const { return false; }

  /// Whether its changes cannot be taken back at once, and so wait until an apply is confirmed.
  [[nodiscard]] virtual bool waits_for_confirmation() const { return false; }

  /// Whether its changes only take back what somebody else has done: with drift = "report" they wait for the
  /// next apply, also where nothing was known of the resource before.
  [[nodiscard]] virtual bool only_mends() const { return false; }

  /// Whether a resource that the document does not mention is worth a line in a report.
  [[nodiscard]] virtual bool listed_when_foreign() const { return true; }

  /// Why a resource that the document does not mention is left as it is all the same: an entry that cannot be
  /// resolved now may mean it. Empty: none may. By default what hangs on a port, by the GUID in its key.
  [[nodiscard]] virtual std::string why_held(const model::Key& key,
                                             const std::vector<model::Desired>& desired,
                                             const World& world) const;

  /// Whether a released field goes back to the value from `before` we managed it, in a resource whose
  /// settings will be `then`; else it stays until the next reset.
  [[nodiscard]] virtual bool returns(std::string_view field, const model::Attributes& before,
                                     const model::Attributes& then) const;

  /// Whether the object of a resource can be there at all now; false makes a failed change pending ("removed
  /// meanwhile").
  [[nodiscard]] virtual bool reachable(const model::Key& key, const World& world) const = 0;

  /// Whether a resource that was there before an apply, and was not to be changed, must be there after it;
  /// `then`: how it was. False where it may go with an object that comes back.
  [[nodiscard]] virtual bool has_to_stay(const model::Observed& /*then*/, const World& /*now*/) const {
    return false;
  }

  /// Resources whose updates put back everything that was on an interface when the plan was made. Objects
  /// deleted there is deleted after them: it would come back.
  [[nodiscard]] virtual std::vector<model::Key> put_back_by(const model::Key& /*key*/) const { return {}; }

  /// Whether an update re-creates an object of somebody else's as ours, which goes when the document drops
  /// it.
  [[nodiscard]] virtual bool takes_over(const model::Change& /*change*/) const { return false; }

  /// A new resource's values of those settings that a document need not give. One that we made goes back to
  /// them when the document drops a setting; without any, what was once set stays.
  [[nodiscard]] virtual model::Attributes when_new() const { return {}; }

  /// The kernel object that a resource goes away with (its port's interface, its device), as one that comes
  /// back under the same name is another: a plan for one does not hold for the next. Empty when there
  /// is none now, or the resource depends on none. Asked of changes that are prepared.
  [[nodiscard]] virtual std::string footing(const model::Change& /*change*/, const World& /*world*/) const {
    return {};
  }
};

}  // namespace rdmacfg::kinds
