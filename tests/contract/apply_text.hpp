// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "contract/stage.hpp"

namespace rdmacfg::contract {

/// The parts of a plan that do not depend on each other.
enum class Parts {
  kTogether,      ///< all or nothing
  kEachByItself,  ///< at boot and on events
};

/// Applies a document that has no errors by itself.
inline Report apply_text(FakeKernel& kernel, const std::string& text, Parts parts = Parts::kTogether) {
  const auto document =
      config::parse_texts({{"config.toml", "version = 1\n" + text}}, "node1", kinds::grammar());
  EXPECT_FALSE(model::has_errors(document.diagnostics))
      << config::render_diagnostics(document, document.diagnostics);
  core::Options options;
  options.independent = parts == Parts::kEachByItself;
  auto host = kernel.host();
  return core::apply(document, host, options);
}

}  // namespace rdmacfg::contract
