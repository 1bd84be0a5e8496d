// SPDX-License-Identifier: Apache-2.0
// The files that tell other programs which port is whose: the decision of `Backends`, pinned and signalled.
#pragma once

#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

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

/// NetworkManager lets an interface go together with its profile, so its settings are set up again: wants
/// that of a resource of `kind`, after the backend, where it is NetworkManager's now and is not to be.
void take_from_network_manager(std::string_view kind, std::vector<model::Desired>& desired,
                               const std::vector<model::Observed>& observed);

/// Has everybody read the rules again, for all ports that are in them.
base::Result<void> tell_backends(system::Host& host);

/// Key: the port's GUID.
const Kind& backend();

}  // namespace rdmacfg::kinds
