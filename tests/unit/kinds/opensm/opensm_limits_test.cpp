// SPDX-License-Identifier: Apache-2.0
// Files of subnet managers' own, at the limits and one beyond.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "model/limits.hpp"

namespace rdmacfg::kinds {
namespace {

using testing::HasSubstr;

/// The first error of a document with subnet managers that have as many options of their own.
std::string own_conf_error(std::size_t managers, std::size_t options) {
  std::string text = "version = 1\n";
  for (std::size_t manager = 0; manager < managers; ++manager) {
    text += fmt::format("[[opensm]]\nguid = '00:02:c9:03:00:31:78:{:02x}'\n", manager + 1);
    for (std::size_t option = 0; option < options; ++option)
      text += fmt::format("[[opensm.option]]\nkey = 'zz_option_{}'\nvalue = 1\n", option);
  }
  const auto report = core::validate(config::parse_texts({{"config.toml", text}}, "node1", grammar()));
  for (const auto& diagnostic : report.diagnostics) {
    if (diagnostic.severity == model::Severity::kError) return diagnostic.message;
  }
  return {};
}

TEST(OpensmLimits, FilesAndTheirOptions) {
  using model::limits::kOpensmConfs, model::limits::kOpensmConfOptions;
  constexpr const char* kRefused = "at most 64 subnet managers can have their own options, with 400 each";
  EXPECT_EQ(own_conf_error(kOpensmConfs, 1), "");
  EXPECT_THAT(own_conf_error(kOpensmConfs + 1, 1), HasSubstr(kRefused));
  EXPECT_EQ(own_conf_error(1, kOpensmConfOptions), "");
  EXPECT_THAT(own_conf_error(1, kOpensmConfOptions + 1), HasSubstr(kRefused));
}

}  // namespace
}  // namespace rdmacfg::kinds
