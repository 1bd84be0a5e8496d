// SPDX-License-Identifier: Apache-2.0
#include "model/types/policy_types.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/text.hpp"
#include "model/types/choices.hpp"

namespace rdmacfg::model {

using base::Code;
using base::fail;
using base::Result;

namespace {

constexpr Choices<Drift, 2> kDrifts{{{Drift::kRepair, "repair"}, {Drift::kReport, "report"}}};

}  // namespace

Result<Drift> Codec<Drift>::parse(const Value& written) { return parse_choice(kDrifts, written); }
Value Codec<Drift>::value(const Drift& parsed) { return std::string(choice_text(kDrifts, parsed)); }

Result<Audit> Codec<Audit>::parse(const Value& written) {
  constexpr std::int64_t kLeast = 10, kMost = Audit::kMost;
  const auto* seconds = std::get_if<std::int64_t>(&written);
  constexpr std::string_view kNever = ", or 0 for never";
  if (seconds == nullptr)
    return fail(Code::kInvalid,
                fmt::format("must be an integer from {} to {}, in seconds{}", kLeast, kMost, kNever));
  if (*seconds != 0 && (*seconds < kLeast || *seconds > kMost))
    return fail(Code::kInvalid, fmt::format("{}{}", out_of_range(*seconds, kLeast, kMost), kNever));
  return Audit{*seconds};
}

Value Codec<Audit>::value(const Audit& parsed) { return parsed.seconds; }

Result<RemovalShare> Codec<RemovalShare>::parse(const Value& written) {
  constexpr std::int64_t kMost = 100;
  const auto* percent = std::get_if<std::int64_t>(&written);
  if (percent == nullptr)
    return fail(Code::kInvalid,
                fmt::format("must be an integer from 0 to {}, in percent, such as 50", kMost));
  if (*percent < 0 || *percent > kMost) return fail(Code::kInvalid, out_of_range(*percent, 0, kMost));
  return RemovalShare{*percent};
}

Value Codec<RemovalShare>::value(const RemovalShare& parsed) { return parsed.percent; }

Result<MetricsFolder> Codec<MetricsFolder>::parse(const Value& written) {
  constexpr std::size_t kMost = 1024;
  const auto* text = std::get_if<std::string>(&written);
  constexpr std::string_view kWanted =
      "must be the absolute path of a folder, such as \"/var/lib/prometheus/node-exporter\"";
  if (text == nullptr) return fail(Code::kInvalid, std::string(kWanted));
  if (!text->starts_with('/')) return fail(Code::kInvalid, fmt::format("is \"{}\"; {}", *text, kWanted));
  std::string path;
  for (const auto part : base::split(*text, '/')) {
    if (part.empty()) continue;
    if (part == "." || part == "..")
      return fail(Code::kInvalid, fmt::format("is \"{}\"; must be a path without \"{}\"", *text, part));
    path += '/';
    path += part;
  }
  if (path.empty())
    return fail(Code::kInvalid,
                fmt::format("is \"{}\"; must be a folder for metrics, not the root of all files", *text));
  if (path.size() > kMost)
    return fail(Code::kInvalid,
                fmt::format("has {} bytes; must be a path of at most {}", path.size(), kMost));
  return MetricsFolder{std::move(path)};
}

Value Codec<MetricsFolder>::value(const MetricsFolder& parsed) { return parsed.path; }

}  // namespace rdmacfg::model
