// SPDX-License-Identifier: Apache-2.0
// The daemon's main process with a worker of the test's.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "daemon/controller.hpp"
#include "store/report_json.hpp"
#include "unit/system/temp_tree.hpp"

namespace rdmacfg::daemon {

/// Writes down what it was asked to do; how it goes is in the file "play".
constexpr std::string_view kWorker = R"(#!/bin/sh
trap '' USR2
here=${{0%/*}}
job=$(cat)
printf '%s\n' "$job" >>"$here/jobs"
verb=$(printf '%s\n' "$job" | sed 's/.*"verb":\([0-9]*\).*/\1/')
echo "$verb" >>"$here/verbs"
status='{{"active":1}}'
result() {{ printf '{{"exit":0,"report":%s,"status":%s}}\n' '{}' "$status"; }}
. "$here/play"
result
)";

inline std::string verb(Job::Verb value) { return std::to_string(static_cast<int>(value)); }

class ControllerFixture : public ::testing::Test {
 protected:
  /// `bus`: address of the system bus.
  explicit ControllerFixture(const std::string& bus = "unix:path=/nonexistent") {
    ::setenv("DBUS_SYSTEM_BUS_ADDRESS", bus.c_str(), 1);
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &child, nullptr);
    tree.put("/worker", fmt::format(kWorker, core::report_json(model::Report{}).dump()));
    ::chmod(tree.at("/worker").c_str(), 0755);
  }

  void play(const std::string& script) const { tree.put("/play", script); }
  /// The worker's tasks, in that order.
  [[nodiscard]] std::vector<std::string> verbs() const { return lines_of("/verbs"); }
  /// The same with all particulars, as JSON.
  [[nodiscard]] std::vector<std::string> asked() const { return lines_of("/jobs"); }
  [[nodiscard]] std::vector<std::string> lines_of(const std::string& file) const {
    std::istringstream lines(tree.get(file));
    std::vector<std::string> out;
    for (std::string line; std::getline(lines, line);) out.push_back(line);
    return out;
  }
  /// Calls `then` as soon as `ready`.
  void when(std::function<bool()> ready, std::function<void()> then) {
    poll =
        loop.after(std::chrono::milliseconds(10), [this, ready = std::move(ready), then = std::move(then)] {
          if (ready()) return then();
          when(ready, then);
        });
  }
  /// Calls `then` once the worker was started so often.
  void when_started(std::size_t jobs, std::function<void()> then) {
    when([this, jobs] { return verbs().size() >= jobs; }, std::move(then));
  }
  int run() {
    const auto too_long = loop.after(std::chrono::seconds(180), [this] {
      ADD_FAILURE() << "what it waits for does not come; these jobs were begun:\n" << tree.get("/jobs");
      loop.stop(1);
    });
    return loop.run();
  }

  system::TempTree tree;
  Loop loop;
  Controller controller{loop, tree.at("/worker").native(), tree.at("/run/running").native()};
  Loop::Handle poll;
};

}  // namespace rdmacfg::daemon
