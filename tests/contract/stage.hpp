// SPDX-License-Identifier: Apache-2.0
// The stage of the contract suite: a scenario's host just before its last document, and how two states
// differ.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "catalog/all.hpp"
#include "config/document.hpp"
#include "contract/scenarios.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"

namespace rdmacfg::contract {
using fakes::FakeKernel;
using model::Exit;
using model::Report;

// How a child was made does not come back: one made by sysfs does all that one made over netlink does.
// A group is only a means of deleting many at once; a leftover in one that nobody else uses is harmless.
inline const fakes::DumpOptions kVisible{
    .groups = false, .makers = false, .without_files_below = "/var/lib/rdma-configd"};

/// A host of a scenario, just before its last document is applied.
class Stage {
 public:
  explicit Stage(const Scenario& scenario) : kernel_(FakeKernel::parse(scenario.host)) {
    for (const auto& text : scenario.documents) documents_.push_back(parse(text));
    for (std::size_t i = 0; i + 1 < documents_.size(); ++i) {
      auto host = kernel_->host();
      const auto report = core::apply(documents_[i], host);
      if (report.error) throw std::runtime_error("preparing: " + report.error->message);
    }
    kernel_->faults.clear();
  }

  Report apply(const core::Options& options = {}) {
    auto host = kernel_->host();
    return core::apply(documents_.back(), host, options);
  }
  Report diff() {
    auto host = kernel_->host();
    return core::diff(documents_.back(), host);
  }
  FakeKernel& kernel() { return *kernel_; }
  [[nodiscard]] std::string dump() const { return kernel_->dump(kVisible); }

 private:
  static config::Document parse(const std::string& text) {
    auto document = config::parse_texts({{"config.toml", text}}, "node1", kinds::grammar());
    if (model::has_errors(document.diagnostics)) {
      throw std::runtime_error(config::render_diagnostics(document, document.diagnostics));
    }
    return document;
  }

  std::unique_ptr<FakeKernel> kernel_;
  std::vector<config::Document> documents_;
};

inline std::string text_of(const Report& report) {
  std::string out = fmt::format("exit {}", static_cast<int>(report.exit));
  if (report.error) out += "; error: " + report.error->message;
  for (const auto& left : report.left_over) out += "; left over: " + left;
  for (const auto& note : report.notes) out += "; note: " + note.text;
  for (const auto& d : report.diagnostics) out += "; diagnostic: " + d.message;
  return out;
}

/// Policy rules that are too many.
enum class MoreRules { kCount, kPassedOver };

/// The lines of two dumps that differ; empty when none do.
inline std::string difference(const std::string& now, const std::string& wanted,
                              MoreRules rules = MoreRules::kCount) {
  const auto lines_of = [](const std::string& text) {
    std::vector<std::string> lines;
    std::string object;
    for (const auto line : base::split(text, '\n')) {
      if (!line.starts_with("  ")) object = std::string(line.substr(0, line.find(' ', line.find(' ') + 1)));
      lines.push_back(line.starts_with("  ") ? object + ":" + std::string(line) : std::string(line));
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  };
  const auto a = lines_of(now), b = lines_of(wanted);
  std::vector<std::string> more, missing;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(more));
  std::set_difference(b.begin(), b.end(), a.begin(), a.end(), std::back_inserter(missing));
  std::string out;
  for (const auto& line : more) {
    if (rules == MoreRules::kCount || !line.starts_with("rule ")) out += "\n  is:     " + line;
  }
  for (const auto& line : missing) out += "\n  wanted: " + line;
  return out;
}

inline bool applied(const Report& report) { return report.exit == Exit::kOk || report.exit == Exit::kPartly; }

class Contract : public testing::TestWithParam<Scenario> {
 protected:
  /// The number of changing calls of an undisturbed apply, and their names.
  std::vector<std::string> undisturbed() {
    Stage stage(GetParam());
    EXPECT_TRUE(applied(stage.apply()));
    goal_ = stage.dump();
    return stage.kernel().faults.log();
  }

  /// Runs `disturb` for every call of an undisturbed apply.
  /// With CONTRACT_STRIDE=N only every Nth call of a scenario, another part of them in each test: the
  /// sanitizers take ten times as long.
  void for_every_call(const std::function<void(std::size_t n, const std::string& what)>& disturb) {
    const auto calls = undisturbed();
    ASSERT_FALSE(calls.empty()) << "the scenario changes nothing";
    const char* given = std::getenv("CONTRACT_STRIDE");
    const std::size_t stride =
        std::max<std::size_t>(given == nullptr ? 1 : std::strtoul(given, nullptr, 10), 1);
    const std::string_view test = testing::UnitTest::GetInstance()->current_test_info()->name();
    for (std::size_t n = 1 + std::hash<std::string_view>{}(test) % stride; n <= calls.size(); n += stride) {
      SCOPED_TRACE(fmt::format("call {} of {}: {}", n, calls.size(), calls[n - 1]));
      disturb(n, calls[n - 1]);
    }
  }

  std::string goal_;
};

}  // namespace rdmacfg::contract
