// SPDX-License-Identifier: Apache-2.0
// Questions for some kinds only. A kind that has an answer derives from the class; ability() finds it.
#pragma once

#include <chrono>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "kinds/kind.hpp"
#include "system/events.hpp"

namespace rdmacfg::kinds {

/// The kind's answers of one sort; nullptr when it has none, or there is no kind.
template <class Ability>
const Ability* ability(const Kind* kind) {
  return dynamic_cast<const Ability*>(kind);
}

/// How waiting for the kernel ended.
enum class Waited {
  kNot,     ///< there was nothing to wait for
  kEnough,  ///< it came
  kInVain,  ///< what has not come by now does not come by itself
};

/// The kernel's check of an address takes at most 2 s with its defaults: a random delay below
/// rtr_solicit_delay (1 s), then dad_transmits (1) times the retransmission timer (1 s).
constexpr std::chrono::milliseconds kAddressChecks{4000};

/// The rest of the time that all waits of one run have together. Without any they only look.
struct TimeLeft {
  std::chrono::milliseconds carrier{};  ///< for carrier
  std::chrono::milliseconds checks{};   ///< for checks of addresses, a wait for carrier before them included
};

/// The kernel goes on by itself after a change of the kind.
class AwaitsKernel {
 public:
  /// Waits, at most as long as there is time left, for the kernel's own actions after `changes` and those
  /// that they depend on. `now`: as it was just after the changes.
  virtual base::Result<Waited> await(std::span<const model::Change> changes, World& now,
                                     const TimeLeft& left) const = 0;

 protected:
  ~AwaitsKernel() = default;
};

/// A limit looks the same as a value that somebody else has just set. Of a kind without this the limit
/// stands.
class TestsLimits {
 public:
  /// Asks the kernel once more for what judge() took for limited by the fabric, and reads it back at once:
  /// what it gives even then is the limit; otherwise somebody else had set it back in between.
  /// @return the keys of `limited` of which the limit stands
  virtual base::Result<std::set<model::Key>> limits_standing(std::span<const model::Change> limited,
                                                             system::Host& host) const = 0;

 protected:
  ~TestsLimits() = default;
};

/// Undoing leaves more than settings to restore.
class ClearsAway {
 public:
  /// After undoing `changes`: removes what they only needed on their way and could not remove, and brings
  /// back what no setting shows.
  /// @return what is not as it was, one sentence each.
  virtual std::vector<std::string> clear_away(std::span<const model::Change> changes,
                                              system::Host& host) const = 0;

 protected:
  ~ClearsAway() = default;
};

/// Neither a message of the kernel's nor a uevent tells of changes to a resource.
class NeedsWatching {
 public:
  /// Adds what to watch of a resource. Pure.
  virtual void watched(const model::ResourceReport& resource, system::Settings& out) const = 0;

 protected:
  ~NeedsWatching() = default;
};

/// Some settings cannot be observed without touching the host, so a record stands for them.
class HasHiddenState {
 public:
  /// Brings the record up to date. Called before a hold that has a reason to (Event::Sort::kHandle, an audit,
  /// a start). `handles`: names of those that somebody has made; empty: any may have been.
  virtual base::Result<void> refresh_hidden(system::Host& host,
                                            const std::set<std::string>& handles) const = 0;

 protected:
  ~HasHiddenState() = default;
};

/// Some verdicts compare with what earlier looks have found.
class KeepsReadings {
 public:
  /// Adds what the kind's `resources` show to a record outside of the state. The daemon calls it after looks
  /// of its own; nobody else writes the record.
  virtual base::Result<void> keep_readings(std::span<const model::ResourceReport> resources,
                                           system::Host& host) const = 0;

 protected:
  ~KeepsReadings() = default;
};

/// An entry that cannot be resolved now may mean a resource which no other entry mentions.
class MayBeMeant {
 public:
  /// Why a resource that the document does not mention is left as it is all the same. Empty: no entry may
  /// mean it.
  [[nodiscard]] virtual std::string why_held(const model::Key& key,
                                             const std::vector<model::Desired>& desired,
                                             const World& world) const = 0;

 protected:
  ~MayBeMeant() = default;
};

/// A resource must not disappear on the way.
class MustStay {
 public:
  /// Whether a resource that was there before an apply, and was not to be changed, must be there after it;
  /// `then`: how it was. False where it may go with an object that comes back.
  [[nodiscard]] virtual bool has_to_stay(const model::Observed& then, const World& now) const = 0;

 protected:
  ~MustStay() = default;
};

/// Updates of another kind put back everything that was on an interface when the plan was made.
class PutBackByOthers {
 public:
  /// The resources whose updates do so. An object deleted there is deleted after them: it would come back.
  [[nodiscard]] virtual std::vector<model::Key> put_back_by(const model::Key& key) const = 0;

 protected:
  ~PutBackByOthers() = default;
};

/// Resources are kernel objects that we make, and that others make too.
class MakesObjects {
 public:
  /// Whether an update re-creates an object of somebody else's as ours, which goes when the document drops
  /// it.
  [[nodiscard]] virtual bool takes_over(const model::Change& change) const = 0;

  /// A new resource's values of those settings that a document need not give. One that we made goes back to
  /// them when the document drops a setting.
  [[nodiscard]] virtual model::Attributes when_new() const = 0;

 protected:
  ~MakesObjects() = default;
};

/// Some resources have values that only root may read on the host.
class KeepsSecrets {
 public:
  [[nodiscard]] virtual bool is_secret(const model::Key& key, system::Host& host) const = 0;

 protected:
  ~KeepsSecrets() = default;
};

/// put_back_by() of any kind; empty without the ability.
std::vector<model::Key> put_back_by(const Kind* kind, const model::Key& key);

/// why_held() of any kind; empty without the ability.
std::string why_held(const Kind* kind, const model::Key& key, const std::vector<model::Desired>& desired,
                     const World& world);

}  // namespace rdmacfg::kinds
