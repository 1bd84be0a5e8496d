// SPDX-License-Identifier: Apache-2.0
// The program that configures a port's interfaces: decided once, pinned, and signalled to the others.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "formats/udev/udev_backend.hpp"
#include "kinds/address/request.hpp"
#include "kinds/kind.hpp"

namespace rdmacfg::kinds {

/// The backend of one port.
struct PortBackend {
  std::optional<model::Backend> backend;

  static constexpr auto kFields = std::tuple{model::field(
      "backend", &PortBackend::backend, model::Role::kSetting,
      "Program that configures the port's interfaces; other programs are told to ignore them.", "-")};
};

/// The meaning of "auto" for each port of `bound`: the earlier decision (our rule file is the pin), else the
/// network manager of the host.
class Backends {
 public:
  explicit Backends(const Bound& bound);

  /// `port` is one of `bound`. Never auto, but where there is no host to look at.
  [[nodiscard]] model::Backend of(const BoundPort& port) const;

  /// Why that is only a guess, which must not be pinned; nullptr where it is not.
  [[nodiscard]] const base::Error* why_unknown(const BoundPort& port) const;

 private:
  std::map<std::string, model::Backend, std::less<>> decided_;  ///< by BoundPort::id
  std::set<std::string, std::less<>> guessed_;
  std::optional<base::Error> error_;
};

/// NetworkManager lets an interface go together with its profile, so its settings are set up again: wants
/// that of a resource of `kind`, after the backend, where it is NetworkManager's now and is not to be.
void take_from_network_manager(std::string_view kind, std::vector<model::Desired>& desired,
                               const std::vector<model::Observed>& observed);

/// Has everybody read the rules again, for all ports that are in them.
base::Result<void> tell_backends(system::Host& host);

/// Key: the port's GUID.
const Kind& backend();

}  // namespace rdmacfg::kinds
