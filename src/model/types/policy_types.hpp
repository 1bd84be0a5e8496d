// SPDX-License-Identifier: Apache-2.0
// How the daemon behaves, as the document spells it.
#pragma once

#include <cstdint>
#include <string>

#include "model/field.hpp"

namespace rdmacfg::model {

/// The reaction to a setting that somebody else has changed.
enum class Drift { kRepair, kReport };

/// Time between two looks at the whole host without an event; 0: none.
struct Audit {
  static constexpr std::int64_t kMost = 86400;
  std::int64_t seconds = 0;
  auto operator<=>(const Audit&) const = default;
};

/// How much of what is managed may go without anybody having asked for it, in percent.
struct RemovalShare {
  std::int64_t percent = 50;
  auto operator<=>(const RemovalShare&) const = default;
};

/// The folder in which node_exporter's textfile collector looks for metrics; an absolute path.
struct MetricsFolder {
  std::string path;
  auto operator<=>(const MetricsFolder&) const = default;
};

RDMACFG_CODEC(Drift, "\"repair\" or \"report\"", R"({"enum":["repair","report"]})");

RDMACFG_CODEC(Audit, "seconds", R"({"type":"integer","anyOf":[{"const":0},{"minimum":10,"maximum":86400}]})");

RDMACFG_CODEC(RemovalShare, "percent", R"({"type":"integer","minimum":0,"maximum":100})");

RDMACFG_CODEC(MetricsFolder, "absolute path of a folder", R"({"type":"string","pattern":"^/[^/]"})");

}  // namespace rdmacfg::model
