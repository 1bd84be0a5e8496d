// SPDX-License-Identifier: Apache-2.0
// Whatever asks, the answer is the same: on every host and document of tests/data, as they are, after an
// apply, and after somebody has changed things, show, diff, doctor, status and the daemon's look name the
// same resources as not being as the document says; and what an apply would change is among them.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <sstream>

#include "console.hpp"
#include "core/commit.hpp"
#include "core/plan.hpp"
#include "kinds/all.hpp"

namespace rdmacfg::ctl {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Keys = std::set<std::string>;

std::string read(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

struct TruthCase {
  fs::path folder;
  std::string document;
};

std::vector<TruthCase> cases() {
  std::vector<TruthCase> found;
  for (const auto& entry : fs::recursive_directory_iterator(TEST_DATA)) {
    if (entry.path().filename() != "before.json") continue;
    const auto folder = entry.path().parent_path();
    const auto one = folder / "config.toml", first = folder / "config-1.toml";
    found.push_back({folder, fs::exists(one) ? one.string() : first.string()});
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.folder < b.folder; });
  return found;
}

bool is_open(const std::string& status) {
  return status == "differs" || status == "failed" || status == "pending" || status == "limited";
}

/// One host, asked by every subcommand.
class TruthHost {
 public:
  explicit TruthHost(const TruthCase& one)
      : kernel_(fakes::FakeKernel::parse(read(one.folder / "before.json"))), file_(one.document) {
    console_.environment.host = [this](const fs::path& /*root*/) {
      return std::make_shared<system::Host>(kernel_->host());
    };
  }

  fakes::FakeKernel& kernel() { return *kernel_; }

  void apply() { (void)console_.run({"apply", "--yes", "--local", "-f", file_}); }

  Json ask(const std::string& command) {
    (void)console_.run({command, "--json", "-f", file_});
    auto json = Json::parse(console_.out.str(), nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << command << console_.out.str();
    return json;
  }

  static Keys open_in(const Json& report) {
    Keys keys;
    if (!report.contains("resources")) return keys;
    for (const auto& one : report["resources"]) {
      if (is_open(one["status"]))
        keys.insert(one["kind"].get<std::string>() + " " + one["id"].get<std::string>());
    }
    return keys;
  }

  static Keys found_in(const Json& doctor) {
    Keys keys;
    for (const auto& one : doctor["findings"]) {
      if (!one["resource"].is_null())
        keys.insert(one["resource"]["kind"].get<std::string>() + " " +
                    one["resource"]["id"].get<std::string>());
    }
    return keys;
  }

  static Keys changed_in(const Json& diff) {
    Keys keys;
    for (const auto& one : diff["changes"])
      keys.insert(one["kind"].get<std::string>() + " " + one["id"].get<std::string>());
    return keys;
  }

  /// What the daemon tells of the active generation.
  Keys looked() {
    auto host = kernel_->host();
    core::Context context{host, {}};
    const auto report = core::look({.who = "", .what = "", .host_name = "node1"}, context);
    Keys keys;
    for (const auto& one : report.resources) {
      const auto status = std::string(model::text_of(one.status));
      if (is_open(status)) keys.insert(one.key.text());
    }
    return keys;
  }

  [[nodiscard]] bool is_active() {
    const auto ledger = core::load_ledger(kernel_->files, core::GenerationPaths().ledger);
    const auto texts = config::read_files({.root = "/", .file = file_, .host = {}});
    if (!ledger || !texts) return false;
    return ledger->is_active(core::digest_of(config::parse_texts(*texts, "node1", kinds::grammar())));
  }

 private:
  Console console_;
  std::unique_ptr<fakes::FakeKernel> kernel_;
  std::string file_;
};

void compare(TruthHost& host, const std::string& when) {
  const auto diff = host.ask("diff");
  if (diff["exit"]["name"] == "error") {
    for (const auto* command : {"show", "doctor", "status"})
      EXPECT_EQ(host.ask(command)["exit"]["name"], "error") << command << ' ' << when;
    return;
  }
  const auto open = TruthHost::open_in(diff);
  EXPECT_EQ(TruthHost::open_in(host.ask("show")), open) << when;
  EXPECT_EQ(TruthHost::open_in(host.ask("status")), open) << when;
  EXPECT_EQ(TruthHost::found_in(host.ask("doctor")), open) << when;
  const auto changes = TruthHost::changed_in(diff);
  EXPECT_TRUE(std::includes(open.begin(), open.end(), changes.begin(), changes.end()))
      << when << ": a change of what is said to be as wanted: " << ::testing::PrintToString(changes);
  Keys differing;
  for (const auto& one : diff["resources"]) {
    if (one["status"] == "differs")
      differing.insert(one["kind"].get<std::string>() + " " + one["id"].get<std::string>());
  }
  EXPECT_TRUE(std::includes(changes.begin(), changes.end(), differing.begin(), differing.end()))
      << when << ": nothing is done about what is said to differ: " << ::testing::PrintToString(differing);
  EXPECT_EQ(diff["summary"]["differs"].get<std::size_t>(), differing.size()) << when;
  if (host.is_active()) {
    EXPECT_EQ(host.looked(), open) << when;
  }
}

/// Somebody changes something, as hands and other programs do.
void disturb(fakes::FakeKernel& kernel, std::minstd_rand& random) {
  const auto pick = [&](std::size_t size) {
    return std::uniform_int_distribution<std::size_t>(0, size - 1)(random);
  };
  switch (pick(5)) {
    case 0:
    case 1: {  // a file below /etc goes, or is edited
      std::vector<std::string> paths;
      for (const auto& [path, text] : kernel.files.content) {
        if (path.starts_with("/etc/")) paths.push_back(path);
      }
      if (paths.empty()) return;
      const auto& path = paths[pick(paths.size())];
      if (pick(2) == 0) {
        kernel.files.content.erase(path);
      } else {
        auto& text = kernel.files.content[path];
        const auto line = text.find('\n', pick(text.size() + 1));
        text =
            line == std::string::npos ? "" : text.substr(0, line + 1) + "# by hand\n" + text.substr(line + 1);
      }
      return;
    }
    case 2:
    case 3: {  // an interface is another
      if (kernel.machine.links.empty()) return;
      auto at = kernel.machine.links.begin();
      std::advance(at, static_cast<std::ptrdiff_t>(pick(kernel.machine.links.size())));
      if (pick(2) == 0) {
        at->up = !at->up;
      } else {
        at->mtu = 1500;
      }
      return;
    }
    default: {  // a unit is stopped or disabled
      if (kernel.units.units.empty()) return;
      auto at = kernel.units.units.begin();
      std::advance(at, static_cast<std::ptrdiff_t>(pick(kernel.units.units.size())));
      if (pick(2) == 0) {
        at->second.running = false;
      } else {
        at->second.enabled = !at->second.enabled;
      }
    }
  }
}

class Truth : public testing::TestWithParam<TruthCase> {};

TEST_P(Truth, IsTheSameWhateverAsks) {
  TruthHost host(GetParam());
  compare(host, "before");
  host.apply();
  compare(host, "applied");
  std::minstd_rand random(
      static_cast<unsigned>(std::hash<std::string>{}(GetParam().folder.filename().string()) & 0xffffU) + 1U);
  constexpr int kTimes = 4;
  for (int i = 0; i < kTimes; ++i) {
    disturb(host.kernel(), random);
    compare(host, fmt::format("disturbed {} times", i + 1));
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Truth, testing::ValuesIn(cases()), [](const auto& one) {
  auto name = one.param.folder.parent_path().filename().string() + "_" + one.param.folder.filename().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace rdmacfg::ctl
