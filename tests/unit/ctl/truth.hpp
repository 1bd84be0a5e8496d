// SPDX-License-Identifier: Apache-2.0
// One fake host and document, of which every subcommand and the daemon's look are asked the same.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>

#include "catalog/all.hpp"
#include "console.hpp"
#include "core/commit/commit.hpp"
#include "core/plan.hpp"

namespace rdmacfg::ctl::truth {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Keys = std::set<std::string>;

inline std::string read(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

inline bool is_open(const std::string& status) {
  return status == "differs" || status == "failed" || status == "pending" || status == "limited" ||
         status == "unmet";
}

/// One host, asked by every subcommand.
class Host {
 public:
  Host(const std::string& json, std::string file)
      : kernel_(fakes::FakeKernel::parse(json)), file_(std::move(file)) {
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

  /// Its output for people, in one line each.
  std::string say(const std::string& command) {
    (void)console_.run({command, "-f", file_});
    return console_.out.str() + console_.err.str();
  }

  static Keys open_in(const Json& report) {
    Keys keys;
    if (!report.contains("resources")) return keys;
    for (const auto& resource : report["resources"]) {
      if (is_open(resource["status"]))
        keys.insert(resource["kind"].get<std::string>() + " " + resource["id"].get<std::string>());
    }
    return keys;
  }

  static Keys found_in(const Json& doctor) {
    Keys keys;
    for (const auto& finding : doctor["findings"]) {
      if (!finding["resource"].is_null())
        keys.insert(finding["resource"]["kind"].get<std::string>() + " " +
                    finding["resource"]["id"].get<std::string>());
    }
    return keys;
  }

  static Keys changed_in(const Json& diff) {
    Keys keys;
    for (const auto& change : diff["changes"])
      keys.insert(change["kind"].get<std::string>() + " " + change["id"].get<std::string>());
    return keys;
  }

  /// The daemon's knowledge of the active generation.
  Keys looked() {
    auto host = kernel_->host();
    core::Context context{host, {}};
    const auto report = core::look({.who = "", .what = "", .host_name = "node1"}, context);
    Keys keys;
    for (const auto& resource : report.resources) {
      const auto status = std::string(model::text_of(resource.status));
      if (is_open(status)) keys.insert(resource.key.text());
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

/// @return whether the document fits the host, so that there is something to compare
inline bool compare(Host& host, const std::string& when) {
  const auto diff = host.ask("diff");
  if (diff["exit"]["name"] == "error") {
    for (const auto* command : {"show", "doctor", "status"})
      EXPECT_EQ(host.ask(command)["exit"]["name"], "error") << command << ' ' << when;
    return false;
  }
  const auto open = Host::open_in(diff);
  EXPECT_EQ(Host::open_in(host.ask("show")), open) << when;
  EXPECT_EQ(Host::open_in(host.ask("status")), open) << when;
  EXPECT_EQ(Host::found_in(host.ask("doctor")), open) << when;
  const auto changes = Host::changed_in(diff);
  EXPECT_TRUE(std::includes(open.begin(), open.end(), changes.begin(), changes.end()))
      << when << ": a change of what is said to be as wanted: " << ::testing::PrintToString(changes);
  Keys differing;
  for (const auto& resource : diff["resources"]) {
    if (resource["status"] == "differs")
      differing.insert(resource["kind"].get<std::string>() + " " + resource["id"].get<std::string>());
  }
  EXPECT_TRUE(std::includes(changes.begin(), changes.end(), differing.begin(), differing.end()))
      << when << ": nothing is done about what is said to differ: " << ::testing::PrintToString(differing);
  EXPECT_EQ(diff["summary"]["differs"].get<std::size_t>(), differing.size()) << when;
  if (host.is_active()) {
    EXPECT_EQ(host.looked(), open) << when;
  }
  return true;
}

/// Somebody changes something, as hands and other programs do.
inline void disturb(fakes::FakeKernel& kernel, std::minstd_rand& random) {
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

}  // namespace rdmacfg::ctl::truth
