// SPDX-License-Identifier: Apache-2.0
// tests/data/<kind>/<case>: a document and a host in, the run's output and the host's state afterwards
// out.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "catalog/all.hpp"
#include "catalog/owned_files.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"

namespace rdmacfg {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<fs::path> cases() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(TEST_DATA)) {
    if (entry.path().filename() == "before.json") found.push_back(entry.path().parent_path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string text_of(const model::Plan& plan) {
  std::string out;
  for (const auto& change : plan.changes) {
    out += fmt::format("{} {} ({})\n", model::text_of(change.operation), change.key.text(), change.label);
    for (const auto& [field, after] : change.after) {
      const auto& before = model::value_of(change.before, field);
      const bool differs =
          change.operation == model::Operation::kCreate ||
          std::find(change.fields.begin(), change.fields.end(), field) != change.fields.end();
      if (differs)
        out += fmt::format("  {}: {} -> {}\n", field, model::text_of(before), model::text_of(after));
    }
    for (const auto& sentence : change.interrupts) out += fmt::format("  interrupts: {}\n", sentence);
    if (change.effect != model::Effect::kNow)
      out += fmt::format("  effect: {}\n", model::text_of(change.effect));
  }
  return out.empty() ? "nothing\n" : out;
}

std::string text_of(const std::vector<model::ResourceReport>& resources) {
  std::string out;
  for (const auto& resource : resources) {
    out += fmt::format("{}: {} ({})", model::text_of(resource.status), resource.key.text(), resource.label);
    out += resource.reason.empty() ? "\n" : fmt::format(": {}\n", resource.reason);
    for (const auto& warning : resource.warnings) out += fmt::format("  warning: {}\n", warning);
  }
  return out;
}

/// One document, applied.
std::string run(const std::string& name, const std::string& text, fakes::FakeKernel& kernel) {
  const auto document = config::parse_texts({{name, text}}, "node1", kinds::grammar());
  auto host = kernel.host();
  std::string out = fmt::format("=== {}\n", name);
  for (const auto& skipped : document.skipped) out += fmt::format("skipped: {}\n", skipped.text());

  const auto before = kernel.dump();
  const auto diff = core::diff(document, host);
  EXPECT_EQ(kernel.dump(), before) << "diff changes nothing";
  if (!diff.diagnostics.empty()) {
    out += "--- diagnostics\n" + config::render_diagnostics(document, diff.diagnostics);
  }
  out += fmt::format("--- diff: exit {}\n{}", static_cast<int>(diff.exit), text_of(diff.plan));

  const auto apply = core::apply(document, host);
  out += fmt::format("--- apply: exit {}\n", static_cast<int>(apply.exit));
  if (apply.error) out += fmt::format("error: {}\n", apply.error->message);
  for (const auto& note : apply.notes) out += fmt::format("note: {}\n", note.text);
  for (const auto& left : apply.left_over) out += fmt::format("left over: {}\n", left);
  out += text_of(apply.resources);

  kernel.faults.clear();
  const auto again = core::diff(document, host);
  out += fmt::format("--- diff again: exit {}\n", static_cast<int>(again.exit));
  if (!again.plan.empty()) out += text_of(again.plan);
  return out;
}

/// Paths below /etc and /var, by themselves.
std::set<std::string> paths_in(const fakes::FakeKernel& kernel) {
  std::set<std::string> out;
  for (const auto& [path, content] : kernel.files.content) {
    if (path.starts_with("/etc/") || path.starts_with("/var/")) out.insert(path);
  }
  return out;
}

/// All that a run writes is declared by its kind, but for the state and the journal.
void expect_declared(const std::set<std::string>& given, const fakes::FakeKernel& kernel) {
  const core::Paths records;
  for (const auto& path : paths_in(kernel)) {
    if (given.contains(path) || path == records.state || path == records.journal) continue;
    EXPECT_NE(kinds::owned_file(path), nullptr) << path << ": written, and no kind declares it";
  }
}

class Golden : public testing::TestWithParam<fs::path> {};

TEST_P(Golden, IsAsExpected) {
  const auto& folder = GetParam();
  const auto kernel = fakes::FakeKernel::parse(read(folder / "before.json"));
  auto given = paths_in(*kernel);
  std::string got;
  if (fs::exists(folder / "config.toml")) {
    got = run("config.toml", read(folder / "config.toml"), *kernel);
    expect_declared(given, *kernel);
  } else {
    for (int i = 1; fs::exists(folder / fmt::format("config-{}.toml", i)); ++i) {
      const auto name = fmt::format("config-{}.toml", i);
      got += run(name, read(folder / name), *kernel);
      expect_declared(given, *kernel);
      const auto event = folder / fmt::format("event-{}.json", i);
      const auto before_event = paths_in(*kernel);
      if (fs::exists(event)) kernel->add(read(event));
      for (const auto& path : paths_in(*kernel)) {
        if (!before_event.contains(path)) given.insert(path);
      }
    }
  }
  got += "=== host\n" + kernel->dump({.devices = false, .without_files_below = "/var/lib/rdma-configd"});

  const auto expected = folder / "expected.txt";
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    std::ofstream(expected) << got;
    return;
  }
  EXPECT_EQ(read(expected), got) << "UPDATE_GOLDEN=1 rewrites " << expected << "; read what it wrote";
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden, testing::ValuesIn(cases()), [](const auto& instance) {
  auto name = instance.param.parent_path().filename().string() + "_" + instance.param.filename().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace rdmacfg
