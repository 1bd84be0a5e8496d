// SPDX-License-Identifier: Apache-2.0
// Resources as they are wanted and as they are, both under one key.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/value.hpp"

namespace rdmacfg::model {

/// The one identity of a resource: stable over renames, driver reloads and reboots.
struct Key {
  std::string kind;  ///< "ipoib"
  std::string id;    ///< "00:02:c9:03:00:31:78:f2", "00:02:c9:03:00:31:78:f2/0x8002"

  [[nodiscard]] std::string text() const { return kind + " " + id; }
  auto operator<=>(const Key&) const = default;
};

/// A resource as the document wants it.
struct Desired {
  Key key;
  std::string label;                        ///< as an administrator calls it: "mlx4_ib0"
  Attributes settings;                      ///< wanted; a field that is not here is left as it is
  Attributes policy;                        ///< of Role kPolicy
  std::map<std::string, Location> origins;  ///< of every setting and policy: the place that set it
  Location where;                           ///< of the entry
  bool absent = false;                      ///< must not exist
  bool ignore = false;                      ///< state = "ignore": shown, never touched
  std::vector<Key> needs;                   ///< resources that must be right before it
  std::optional<std::string> pending;       ///< why it cannot be had now: "no device mlx4_0"
  std::string netdev{};  ///< of one that is an interface with a name: the name, also where it is absent
};

/// A resource as it is.
struct Observed {
  Key key;
  std::string label;
  Attributes settings;          ///< the current value of every setting that is known
  Attributes facts;             ///< of Role kFact: values that are shown but cannot be set
  std::string instance;         ///< changes when the kernel object is another one: "<boot id>/<ifindex>"
  bool ours_by_nature = false;  ///< lives in a file of ours, so nobody else can have made it
};

/// The first one of each key, for those that look up many.
template <class Resource>
std::map<Key, const Resource*> by_key(const std::vector<Resource>& all) {
  std::map<Key, const Resource*> out;
  for (const auto& resource : all) out.emplace(resource.key, &resource);
  return out;
}

}  // namespace rdmacfg::model
