// SPDX-License-Identifier: Apache-2.0
// The record that rdma-configd keeps between runs: objects it made, values it found before, limits of
// allow.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "model/change.hpp"
#include "model/resource.hpp"
#include "system/files.hpp"

namespace rdmacfg::core {

/// Where the state lives. Paths below the host's Files.
struct Paths {
  std::string state = "/var/lib/rdma-configd/state.json";
  std::string journal = "/var/lib/rdma-configd/journal.json";
  /// Instead of both, of a hold while /var cannot be written (store/held_record.hpp).
  std::string held = "/run/rdma-configd/held.json";
};

/// A setting that the fabric kept from being as wanted.
struct Limit {
  model::Value wanted;
  model::Value got;
  std::string reason;
  bool operator==(const Limit&) const = default;
};

/// Of one resource. It speaks of one kernel object: when `instance` is another, all of it is void.
struct Record {
  bool created = false;  ///< by us; so it is removed when the document drops it
  std::string instance;
  /// Every setting from before we changed the first of them. All of them, since they hang together: an MTU
  /// belongs to the mode that it was set in. Of what we made: kinds::MakesObjects.
  model::Attributes before;
  std::set<std::string> managed;  ///< names of what we changed; given back when the document drops them
  std::map<std::string, Limit> limits;
  bool operator==(const Record&) const = default;
};

struct State {
  std::map<model::Key, Record> records;
  bool operator==(const State&) const = default;

  /// The record of a resource as it is now; nullptr when there is none or it speaks of another kernel object.
  [[nodiscard]] const Record* of(const model::Observed& observed) const;
};

/// An absent file is an empty state; a damaged one is an error (is_damage()). Records that this program does
/// not understand (of a kind of a newer version) are left out; `dropped` is told of them.
base::Result<State> load_state(system::Files& files, const std::string& path,
                               std::vector<std::string>* dropped = nullptr);
base::Result<void> save_state(system::Files& files, const std::string& path, const State& state);

/// An apply that is under way: written before the first change, removed after the commit (ADR 0024).
struct Journal {
  std::string boot_id;
  model::Plan plan;
  /// The ledger has this number once the apply is committed; 0: it changes nothing in the ledger.
  std::uint64_t transaction = 0;
  State before{};  ///< what was remembered before it
};

base::Result<std::optional<Journal>> load_journal(system::Files& files, const std::string& path,
                                                  std::vector<std::string>* dropped = nullptr);
/// For root alone, whatever the document's mode: nobody else needs it.
base::Result<void> write_journal(system::Files& files, const std::string& path, const Journal& journal);

}  // namespace rdmacfg::core
