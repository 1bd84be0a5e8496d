// SPDX-License-Identifier: Apache-2.0
// The options of a call on the bus (docs/DBUS.md), as values: a client's data is not kept while polkit is
// asked.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "model/limits.hpp"
#include "system/linux/dbus/dbus.hpp"

namespace rdmacfg::daemon {

/// org.rdmaconfigd1.Error.NAME
sdbus::Error api_error(const char* name, const std::string& message);

struct ApiOptions {
  using Sent = std::map<std::string, sdbus::Variant>;

  static constexpr std::size_t kMost = model::limits::kOptions;
  static constexpr std::size_t kLongest = model::limits::kOptionBytes;  ///< of a text
  static constexpr std::uint64_t kConfirmMax = 24ULL * 3600;

  bool interactive = false;
  bool retry = false;
  bool allow_removal = false;
  bool public_texts = false;  ///< everybody may read what was sent anyway
  std::uint64_t confirm = 0;  ///< seconds
  std::uint64_t active = 0;   ///< generation
  std::string expect{};
  std::string who{};                    ///< at most 64 bytes
  std::optional<sdbus::Error> wrong{};  ///< is for those to know who may call at all

  /// Throws LimitsExceeded for what is too large to be kept until it is known who asks.
  static ApiOptions read(const Sent& sent, const std::set<std::string>& known);

  /// Throws what is wrong.
  void check() const {
    if (wrong) throw sdbus::Error(*wrong);
  }
};

}  // namespace rdmacfg::daemon
