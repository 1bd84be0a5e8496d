// SPDX-License-Identifier: Apache-2.0
// Every command gives the same answer: on every host and document of tests/data, as they are, after an
// apply, and after somebody has changed things, show, diff, doctor, status and the daemon's look name the
// same resources as not matching the document; and what an apply would change is among them.
#include "truth.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <random>

namespace rdmacfg::ctl::truth_cases {
namespace {

using truth::compare;
using truth::disturb;
using truth::read;
namespace fs = std::filesystem;

struct Case {
  fs::path folder;
  std::string document;
};

std::vector<Case> cases() {
  std::vector<Case> found;
  for (const auto& entry : fs::recursive_directory_iterator(TEST_DATA)) {
    if (entry.path().filename() != "before.json") continue;
    const auto folder = entry.path().parent_path();
    const auto single = folder / "config.toml", first = folder / "config-1.toml";
    found.push_back({folder, fs::exists(single) ? single.string() : first.string()});
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.folder < b.folder; });
  return found;
}

class Truth : public testing::TestWithParam<Case> {};

TEST_P(Truth, IsTheSameWhateverAsks) {
  truth::Host host(read(GetParam().folder / "before.json"), GetParam().document);
  (void)compare(host, "before");
  host.apply();
  (void)compare(host, "applied");
  std::minstd_rand random(
      static_cast<unsigned>(std::hash<std::string>{}(GetParam().folder.filename().string()) & 0xffffU) + 1U);
  constexpr int kTimes = 4;
  for (int i = 0; i < kTimes; ++i) {
    disturb(host.kernel(), random);
    (void)compare(host, fmt::format("disturbed {} times", i + 1));
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Truth, testing::ValuesIn(cases()), [](const auto& instance) {
  auto name = instance.param.folder.parent_path().filename().string() + "_" +
              instance.param.folder.filename().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace rdmacfg::ctl::truth_cases
