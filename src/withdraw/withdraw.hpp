// SPDX-License-Identifier: Apache-2.0
// Handing a host over to its administrator: the work of our files goes on by files that are not ours, and
// nothing is remembered any more (ADR 0020).
#pragma once

#include <string>
#include <vector>

#include "catalog/withdraw_files.hpp"
#include "core/commit/commit.hpp"

namespace rdmacfg::core {

/// While it is there nothing is applied by itself (the unit's condition); an apply that somebody asks for
/// removes it.
inline constexpr const char* kWithdrawnMark = "/var/lib/rdma-configd/withdrawn";
inline constexpr const char* kDaemonUnit = "rdma-configd.service";

/// The steps of a withdrawal.
struct Withdrawal {
  /// A file that is kept under another name, or, where both are the same, without our marks.
  struct Kept {
    std::string from;
    std::string to;
    std::string content;
    bool operator==(const Kept&) const = default;
  };
  std::vector<Kept> kept;
  std::vector<kinds::SetupFile> setup;
  std::vector<std::string> lost;   ///< what nothing makes after the next boot
  std::vector<std::string> notes;  ///< what the administrator still has to do
  bool operator==(const Withdrawal&) const = default;

  [[nodiscard]] bool empty() const { return kept.empty() && setup.empty(); }
};

/// Looks, and changes nothing. Fails while an apply waits for its confirmation or was interrupted, and where
/// a file that is not ours has one of the names. `image`: the document below --root, which its host would
/// apply when it boots; null where there is none. The document applied there comes before it.
base::Result<Withdrawal> plan_withdrawal(const std::string& host_name, Context& context,
                                         const config::Document* image = nullptr);

/// First what is new, then what was ours goes: at no time is a name or an address given by nobody. A run that
/// fails half way can be run again. Nothing of the network is changed.
base::Result<void> withdraw(const Withdrawal& plan, Context& context);

}  // namespace rdmacfg::core
