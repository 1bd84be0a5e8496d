// SPDX-License-Identifier: Apache-2.0
// The document's entries with the ports that they mean on this host (ADR 0002).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kinds/world.hpp"
#include "model/diagnostic.hpp"
#include "model/section.hpp"

namespace rdmacfg::kinds {

struct Addressing;

/// An [[ipoib]] entry and the port that it means on this host.
struct BoundPort {
  const model::Section* section = nullptr;
  std::string id;  ///< of the port in keys: its GUID, or "mlx4_0/1" while that is unknown
  std::optional<model::Guid> guid;
  std::optional<PortRef> port;         ///< while the device is there
  const system::Link* link = nullptr;  ///< while it has an interface here
  std::string name;                    ///< wanted name, else the present one; empty when neither is known
  bool names = false;                  ///< the document wants the name
  std::string label;                   ///< for people
  std::optional<std::string> pending;  ///< why nothing can be done with it now
  /// The error because of which the entry is not carried out for this port; it is reported. The port is
  /// still the entry's, so that what the entry has made of it is not taken for dropped.
  std::optional<std::string> wrong;
};

/// The document's entries with the objects of this host that they mean. Valid as long as the sections and the
/// World.
struct Bound {
  Bound() = default;
  Bound(Bound&&) = default;
  Bound& operator=(Bound&&) = default;
  Bound(const Bound&) = delete;  // others point into `ports`
  Bound& operator=(const Bound&) = delete;

  std::vector<BoundPort> ports;              ///< of every [[ipoib]] entry
  std::span<const model::Section> sections;  ///< all entries, for kinds that bind their own
  std::shared_ptr<const std::vector<model::Section>> expanded;  ///< what they are when presets are in them
  const World* world = nullptr;  ///< that they are bound to; one without a host for `validate`

  Unresolved unresolved;  ///< what the entries of `ports` without a GUID may mean

  mutable std::shared_ptr<const std::vector<Addressing>> addressing;  ///< of addressing_of(), once asked for

  /// The entries of a top-level section, in the document's order.
  [[nodiscard]] std::vector<const model::Section*> of(std::string_view path) const {
    std::vector<const model::Section*> out;
    for (const auto& section : sections) {
      if (section.path == path) out.push_back(&section);
    }
    return out;
  }
};

/// Resolves selectors (guid; device + port; match) against the host. Anything that is not there is pending,
/// not an error; two entries for one port (both then have it), a port whose GUID another one has too, a fixed
/// name for several ports and an unknown placeholder are errors.
Bound bind_ports(const std::vector<model::Section>& sections, const World& world,
                 model::Diagnostics& diagnostics);

}  // namespace rdmacfg::kinds
