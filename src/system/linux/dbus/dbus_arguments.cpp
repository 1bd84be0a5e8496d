// SPDX-License-Identifier: Apache-2.0
// Common to both releases of sdbus-c++: arguments that are too large to be taken from a message.
#include <fmt/format.h>

#include "system/linux/dbus/dbus.hpp"

namespace rdmacfg::system::dbus::arguments {

namespace {

constexpr const char* kTooLarge = "org.rdmaconfigd1.Error.LimitsExceeded";

}  // namespace

void refuse_entries() {
  throw make_error(kTooLarge,
                   fmt::format("a list in the call has more than the {} entries allowed", kMostEntries));
}

void refuse_containers(const sdbus::Message& message) {
  const auto type = type_in_variant(message);
  if (type.size() != 1 || type == "v")
    throw make_error(kTooLarge, fmt::format("an option of the type \"{}\" is not allowed", type));
}

}  // namespace rdmacfg::system::dbus::arguments
