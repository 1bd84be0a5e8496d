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

  model::Report run(const std::string& text) {
    auto host = kernel->host();
    return core::apply(document_of(text), host);
  }
  /// As the daemon does, part by part.
  model::Report hold(const std::string& text) {
    auto host = kernel->host();
    host.holding = true;
    core::Options options;
    options.independent = true;
    return core::apply(document_of(text), host, options);
  }

  std::unique_ptr<fakes::FakeKernel> kernel;

 private:
  static config::Document document_of(const std::string& text) {
    return config::parse_texts({{"config.toml", text}}, "node1", grammar());
  }
};

}  // namespace rdmacfg::kinds
