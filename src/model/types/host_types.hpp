// SPDX-License-Identifier: Apache-2.0
// Strong types of what the rest of the host is made of: units, limits, kernel settings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/field.hpp"

namespace rdmacfg::model {

/// A systemd unit with its suffix; ".service" where none is written. systemd.unit(5).
struct UnitName {
  std::string text;

  static base::Result<UnitName> parse(std::string_view text);
  auto operator<=>(const UnitName&) const = default;
};

RDMACFG_CODEC(UnitName, "systemd unit",
              R"({"type":"string","pattern":"^[A-Za-z0-9:_.\\\\@-]+$","maxLength":255})");

/// How much memory may be locked, in KiB. Read as 65536 (KiB), "64 GiB", "512M" or "unlimited"; written as a
/// number of KiB or "unlimited".
struct LockLimit {
  std::optional<std::int64_t> kib;  ///< nothing: unlimited

  static base::Result<LockLimit> parse(std::string_view text);
  [[nodiscard]] std::string text() const;  ///< "65536", "unlimited"
  auto operator<=>(const LockLimit&) const = default;
};

RDMACFG_CODEC(
    LockLimit, "KiB, size or \"unlimited\"",
    R"({"oneOf":[{"type":"integer","minimum":0},{"type":"string","pattern":"^(unlimited|[0-9]+ ?([KMGT](iB)?)?)$"}]})");

/// Whom a limit is for: a user, "@group" or "*". limits.conf(5).
struct LimitDomain {
  std::string text;

  /// The group of "@group", else empty.
  [[nodiscard]] std::string group() const { return text.starts_with('@') ? text.substr(1) : std::string(); }
  [[nodiscard]] bool everybody() const { return text == "*"; }
  auto operator<=>(const LimitDomain&) const = default;
};

RDMACFG_CODEC(LimitDomain, "user, \"@group\" or \"*\"",
              R"({"type":"string","pattern":"^(\\*|@?[A-Za-z_][A-Za-z0-9_.-]*\\$?)$"})");

/// A kernel setting as its path below /proc/sys: "net/ipv4/neigh/default/gc_thresh1". Read with dots or with
/// slashes, as sysctl.d(5) does: the first of them separates, the other belongs to a name.
struct SysctlPath {
  std::string text;

  static base::Result<SysctlPath> parse(std::string_view text);
  auto operator<=>(const SysctlPath&) const = default;
};

RDMACFG_CODEC(SysctlPath, "kernel setting", R"({"type":"string","pattern":"^[A-Za-z0-9_./:@-]+$"})");

/// The value of a kernel setting: a number or a string, words separated by one space.
struct SysctlValue {
  std::string text;
  auto operator<=>(const SysctlValue&) const = default;
};

RDMACFG_CODEC(SysctlValue, "integer or string", R"({"type":["integer","string"]})");

/// Whether RDMA devices are seen in every network namespace or only in their own.
enum class NetnsMode { kShared, kExclusive };

std::string_view text_of(NetnsMode mode);

RDMACFG_CODEC(NetnsMode, "\"shared\" or \"exclusive\"", R"({"enum":["shared","exclusive"]})");

}  // namespace rdmacfg::model
