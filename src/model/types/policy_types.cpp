// SPDX-License-Identifier: Apache-2.0
#include "model/types/policy_types.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/text.hpp"

namespace rdmacfg::model {

using base::Code;
using base::fail;
using base::Result;

Result<Drift> Codec<Drift>::parse(const Value& written) {
  const auto* text = std::get_if<std::string>(&written);
  if (text != nullptr && *text == "repair") return Drift::kRepair;
  if (text != nullptr && *text == "report") return Drift::kReport;
  return fail(Code::kInvalid, "must be \"repair\" or \"report\"" +
                                  base::did_you_mean(text == nullptr ? "" : *text, {"repair", "report"}));
}

Value Codec<Drift>::value(const Drift& parsed) {
  return std::string(parsed == Drift::kRepair ? "repair" : "report");
}

Result<Audit> Codec<Audit>::parse(const Value& written) {
  constexpr std::int64_t kLeast = 10;
  constexpr std::int64_t kMost = 86400;
  const auto* seconds = std::get_if<std::int64_t>(&written);
  if (seconds != nullptr && (*seconds == 0 || (*seconds >= kLeast && *seconds <= kMost)))
    return Audit{*seconds};
  return fail(Code::kInvalid, fmt::format("must be {} to {} seconds, or 0 for never", kLeast, kMost));
}

Value Codec<Audit>::value(const Audit& parsed) { return parsed.seconds; }

Result<RemovalShare> Codec<RemovalShare>::parse(const Value& written) {
  constexpr std::int64_t kMost = 100;
  const auto* percent = std::get_if<std::int64_t>(&written);
  if (percent != nullptr && *percent >= 0 && *percent <= kMost) return RemovalShare{*percent};
  return fail(Code::kInvalid, fmt::format("must be a percentage from 0 to {}", kMost));
}

Value Codec<RemovalShare>::value(const RemovalShare& parsed) { return parsed.percent; }

Result<MetricsFolder> Codec<MetricsFolder>::parse(const Value& written) {
  constexpr std::size_t kMost = 1024;
  const auto* text = std::get_if<std::string>(&written);
  if (text == nullptr || !text->starts_with('/'))
    return fail(Code::kInvalid,
                "must be the absolute path of a folder, such as \"/var/lib/prometheus/node-exporter\"");
  std::string path;
  for (const auto part : base::split(*text, '/')) {
    if (part.empty()) continue;
    if (part == "." || part == "..")
      return fail(Code::kInvalid, fmt::format("must be a path without \"{}\"", part));
    path += '/';
    path += part;
  }
  if (path.empty()) return fail(Code::kInvalid, "must be a folder for metrics, not the root of all files");
  if (path.size() > kMost)
    return fail(Code::kInvalid, fmt::format("must be a path of at most {} bytes", kMost));
  return MetricsFolder{std::move(path)};
}

Value Codec<MetricsFolder>::value(const MetricsFolder& parsed) { return parsed.path; }

}  // namespace rdmacfg::model
