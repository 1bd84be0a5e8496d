// SPDX-License-Identifier: Apache-2.0
// What the daemon does when: at start, on events, at deadlines, on request.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/api.hpp"
#include "daemon/expiry.hpp"
#include "daemon/jobs.hpp"
#include "daemon/loop.hpp"
#include "daemon/reconciler.hpp"
#include "system/events.hpp"
#include "system/files.hpp"

namespace rdmacfg::daemon {

class Controller {
 public:
  /// `program`: what does the jobs (jobs.hpp).
  explicit Controller(Loop& loop, std::string program = "/proc/self/exe");

  /// Listens, and applies what is there. The service is ready when that is done, whatever came of it: devices
  /// that are not there yet are waited for by nobody.
  void start();
  /// Reads the configuration again.
  void reload();
  /// A change that is under way is finished first.
  void stop();

 private:
  void listen();
  void connect();
  void listen_to(std::unique_ptr<system::EventSource> source);
  void came(const system::Event& event);
  void apply_configuration(const std::string& what);
  void plan_next();
  void run(bool look);
  void looked(const Job& job, const Outcome& outcome);
  void ended(const Job& job, const Outcome& outcome);
  void take_status(const Outcome& outcome);
  void plan_expiry();
  void expired(const Job& job, const Outcome& outcome);
  void watch_again();
  void publish();

  Loop& loop_;
  Jobs jobs_;
  Reconciler reconciler_;
  Expiry expiry_;
  std::unique_ptr<system::Files> files_;
  std::unique_ptr<Api> api_;
  std::vector<std::pair<std::unique_ptr<system::EventSource>, Loop::Handle>> sources_;
  system::FileSource* watched_ = nullptr;  ///< one of the sources
  Loop::Handle next_, deadline_, connecting_, audit_;
  Properties properties_;
  bool ready_ = false;
  bool running_ = false;   ///< an apply or a hold of ours
  bool expiring_ = false;  ///< an expiry of ours
  std::string again_;      ///< what for the configuration has to be applied again; empty: it has not
  int tries_ = 0;          ///< of it, in vain
  std::optional<std::uint64_t> active_;  ///< generation; nothing: no worker has told yet
  bool stopping_ = false;
  bool reload_again_ = false;
  bool report_drift_ = false;
  std::chrono::seconds audit_every_{0};
  bool all_links_ = false;  ///< also interfaces that are not IPoIB
};

}  // namespace rdmacfg::daemon
