// SPDX-License-Identifier: Apache-2.0
// The contract of a kind of resource. docs/ADD-A-KIND.md walks through one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "kinds/bound.hpp"
#include "kinds/owned_file.hpp"
#include "kinds/world.hpp"
#include "model/change.hpp"
#include "model/diagnostic.hpp"
#include "model/field.hpp"
#include "model/report.hpp"
#include "model/resource.hpp"

namespace rdmacfg::kinds {

/// Why a resource is not (or not quite) as wanted although nobody refused anything.
struct Verdict {
  enum class Sort {
    kNone,     ///< nothing to say
    kLimited,  ///< by the fabric: keep it, do not fight
    kPending,  ///< waits for something
    kUnmet,    ///< is not as expected, and nobody is to change it
  };
  Sort sort = Sort::kNone;
  std::string reason;
  std::vector<std::string> fields;    ///< that `reason` explains; empty: the resource as a whole
  std::vector<std::string> warnings;  ///< works, but an administrator wants to know
  /// Attributes that the kind has compared itself, for reports.
  std::vector<model::AttributeReport> measured{};
};

/// Properties of a kind that hold for all its resources at all times.
struct Traits {
  /// It has persistent files that can be written without a running host (--root).
  bool works_offline = false;
  /// Its changes cannot be taken back at once, and so wait until an apply is confirmed.
  bool waits_for_confirmation = false;
  /// Its changes only take back what somebody else has done: with drift = "report" they wait for the next
  /// apply, also where nothing was known of the resource before.
  bool only_repairs = false;
  /// Its resources are checked and never changed: it observes no settings, and has its say in judge().
  bool only_checked = false;
  /// Never taken back: neither by undoing nor when the document drops it. The plan says so.
  bool stays = false;
  /// A resource that the document does not mention is worth a line in a report.
  bool listed_when_foreign = true;
  /// Events of interfaces that are not IPoIB concern it.
  bool on_any_interface = false;
  /// Events of ports of RDMA devices concern it.
  bool on_rdma_port = false;
  /// Configuration managers such as Puppet change it, by files of others or by services. A kind with files
  /// below /etc of its own need not say so.
  bool rests_on_files = false;
  /// Its setting `name` is the name of a network interface.
  bool names_interface = false;
  /// The id of a resource is the name of the network interface that it is about.
  bool id_is_interface = false;
  /// Only the interruptions that a change of it names concern the way to the host's own file systems; a
  /// deletion alone does not.
  bool spares_root = false;
  /// After its changes a network manager puts addresses and routes back by itself, later than an undo ends.
  bool left_to_manager = false;
  /// Its interruptions are of services, such as a restart, which its settings do not tell: the journal does.
  bool interrupts_services = false;
  /// An entry of the document that makes its resources makes those of other kinds, too: reports show them as
  /// one thing.
  bool shares_entry = false;
};

/// Properties of a kind that never change.
struct KindInfo {
  std::string_view name;
  std::span<const model::FieldSpec> fields;  ///< the field table
  Traits traits{};
  std::span<const OwnedFile> files{};  ///< all that it writes below /etc and /var
  /// For `withdraw`: its settings that nothing restores after the next boot, and how an administrator sets
  /// them by hand; empty: none are lost.
  std::string_view lost_after_withdraw{};
  /// Other programs that are known to change what it sets, as /proc/PID/comm names them: at most 15
  /// characters. Configuration managers need not be listed.
  std::span<const std::string_view> competitors{};
  /// The section of the document whose keys are its settings; empty: it is called as the kind.
  std::string_view section{};
  /// The role of a resource at the port in its key, for titles: "subnet manager"; empty: the port's
  /// interface.
  std::string_view role_of_port{};
};

/// One kind. Implementations hold no state; everything they know comes in as an argument. Questions for
/// some kinds only are in kinds/abilities.hpp.
class Kind {
 public:
  virtual ~Kind() = default;

  [[nodiscard]] std::string_view name() const { return info_.name; }
  [[nodiscard]] std::span<const model::FieldSpec> fields() const { return info_.fields; }
  [[nodiscard]] const Traits& traits() const { return info_.traits; }
  [[nodiscard]] std::span<const OwnedFile> files() const { return info_.files; }
  [[nodiscard]] std::string_view lost_after_withdraw() const { return info_.lost_after_withdraw; }
  [[nodiscard]] std::span<const std::string_view> competitors() const { return info_.competitors; }
  [[nodiscard]] std::string_view section() const {
    return info_.section.empty() ? info_.name : info_.section;
  }
  [[nodiscard]] std::string_view role_of_port() const { return info_.role_of_port; }

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

  /// Puts back what an interrupted apply took down and did not bring back (Change::carried).
  virtual base::Result<void> recover(std::span<const model::Change> changes, system::Host& host) const;

  /// Explains a resource after a fresh observation. `differing`: fields that are not as wanted.
  virtual Verdict judge(const model::Desired& desired, const model::Observed* observed,
                        const std::vector<std::string>& differing, World& world) const;

  /// Whether a released field goes back to the value from `before` we managed it, in a resource whose
  /// settings will be `then`; else it stays until the next reset.
  [[nodiscard]] virtual bool returns(std::string_view field, const model::Attributes& before,
                                     const model::Attributes& then) const;

  /// Whether the object of a resource can be there at all now; false makes a failed change pending ("removed
  /// meanwhile"). By default true, as of a file, which can always be written.
  [[nodiscard]] virtual bool reachable(const model::Key& key, const World& world) const;

  /// The kernel object that a resource goes away with (its port's interface, its device), as one that comes
  /// back under the same name is another: a plan for one does not hold for the next. Empty when there
  /// is none now, or the resource depends on none. Asked of changes that are prepared.
  [[nodiscard]] virtual std::string parent_object(const model::Change& change, const World& world) const;

 protected:
  explicit Kind(const KindInfo& info) : info_(info) {}

 private:
  KindInfo info_;
};

}  // namespace rdmacfg::kinds
