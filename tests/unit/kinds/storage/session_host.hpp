// SPDX-License-Identifier: Apache-2.0
// A host on which documents with sessions of storage are applied and held.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"

namespace rdmacfg::kinds {

class SessionHost : public testing::Test {
 protected:
  explicit SessionHost(std::string_view machine) : kernel(fakes::FakeKernel::parse(machine)) {}

  /// `holding`: as the daemon does, part by part.
  model::Report run(const std::string& text, bool holding = false) {
    auto host = kernel->host();
    host.holding = holding;
    core::Options options;
    options.independent = holding;
    return core::apply(config::parse_texts({{"config.toml", text}}, "node1", grammar()), host, options);
  }

  std::unique_ptr<fakes::FakeKernel> kernel;
};

}  // namespace rdmacfg::kinds
