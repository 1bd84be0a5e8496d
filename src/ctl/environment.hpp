// SPDX-License-Identifier: Apache-2.0
// Everything of the outside world that rdma-configctl uses, so that tests can bring their own.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <istream>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "config/document.hpp"
#include "ctl/service.hpp"
#include "system/fabric_reader.hpp"
#include "system/function_test.hpp"
#include "system/host.hpp"

namespace rdmacfg::ctl {

struct Environment {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool in_terminal = false;
  bool out_terminal = false;
  bool err_terminal = false;
  int columns = 0;          ///< of the terminal, 0 when unknown
  bool privileged = false;  ///< may change network interfaces and system files (root)
  std::string host_name;    ///< for [match]

  /// An environment variable; empty when it is not set.
  std::function<std::string(const char* name)> variable;

  /// The host below `root`; only its files are used unless that is "/".
  std::function<std::shared_ptr<system::Host>(const std::filesystem::path& root)> host;

  /// Tests of function on the running system.
  std::function<std::unique_ptr<system::FunctionTest>()> function_test{};

  /// Looks at fabrics; nothing where that is not possible.
  std::function<std::unique_ptr<system::FabricReader>()> fabric_reader = [] {
    return std::unique_ptr<system::FabricReader>();
  };

  /// Takes the lock that keeps two applies apart, for as long as the returned object lives. Waits for its
  /// holder for a bounded time and says once who that is.
  /// Below another root it is that folder's own.
  std::function<base::Result<std::shared_ptr<void>>(
      const std::filesystem::path& root, const std::function<void(const std::string& holder)>& waiting)>
      lock;

  /// Takes a lock that keeps two writers of a document apart, for as long as the returned object lives: of
  /// the running host's own where `folder` is empty, else of the documents in that folder.
  std::function<base::Result<std::shared_ptr<void>>(const std::filesystem::path& folder)> lock_document =
      [](const std::filesystem::path&) { return std::shared_ptr<void>(); };

  /// The daemon; nothing when it does not run.
  std::function<std::unique_ptr<Service>()> service = [] { return std::unique_ptr<Service>(); };

  /// Ends the process with exit status 1 and a message after so long, whatever it waits for.
  std::function<void(std::chrono::seconds)> give_up_after = [](std::chrono::seconds) {};

  /// Has a daemon read its configuration again (SIGHUP); false when there is no such process.
  std::function<bool(int pid)> hang_up = [](int) { return false; };

  /// Opens a file in the administrator's editor and waits for its end; its exit status.
  std::function<base::Result<int>(const std::filesystem::path& file)> edit =
      [](const std::filesystem::path&) { return base::fail(base::Code::kUnsupported, "there is no editor"); };

  /// Shows a text on the terminal page by page; false when it could not, and nothing was shown.
  std::function<bool(const std::string& text)> page = [](const std::string&) { return false; };
  int rows = 0;  ///< of the terminal, 0 when unknown

  /// Whether there is something to read on stdin within `time`; ^C ends the program meanwhile.
  std::function<bool(std::chrono::milliseconds time)> readable = [](std::chrono::milliseconds) {
    return true;
  };

  /// Holds back signals that would end the program, as long as the returned object lives.
  std::function<std::shared_ptr<void>()> hold_signals;

  /// Runs before other programs, as long as the returned object lives; nothing without the privilege.
  std::function<std::shared_ptr<void>()> take_precedence = [] { return std::shared_ptr<void>(); };

  /// Whether nobody reads stdout any more, as after `| head`.
  std::function<bool()> reader_is_gone = [] { return false; };

  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
  std::function<void(std::chrono::milliseconds)> sleep = [](std::chrono::milliseconds time) {
    std::this_thread::sleep_for(time);
  };

  /// The files of the system's own document where they are not read from its folders (a host in a report);
  /// empty: it has none.
  std::optional<std::vector<config::Text>> document{};

  /// The same world, with another place for data.
  [[nodiscard]] Environment writing_to(std::ostream& other) const {
    return {in,
            other,
            err,
            in_terminal,
            out_terminal,
            err_terminal,
            columns,
            privileged,
            host_name,
            variable,
            host,
            function_test,
            fabric_reader,
            lock,
            lock_document,
            service,
            give_up_after,
            hang_up,
            edit,
            page,
            rows,
            readable,
            hold_signals,
            take_precedence,
            reader_is_gone,
            now,
            sleep,
            document};
  }
};

}  // namespace rdmacfg::ctl
