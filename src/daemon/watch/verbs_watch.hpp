// SPDX-License-Identifier: Apache-2.0
// Holds verbs devices open, for what their ports report (system/verbs_events.hpp).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"
#include "daemon/loop.hpp"
#include "daemon/watch/event_sink.hpp"
#include "system/verbs_events.hpp"

namespace rdmacfg::daemon {

class VerbsWatch {
 public:
  /// `program`: the program that opens them (open_verbs_for()); `nodes`: which devices there are.
  VerbsWatch(Loop& loop, std::string program, EventSink sink,
             std::function<std::set<system::VerbsNode>()> nodes = system::verbs_nodes)
      : loop_(loop), program_(std::move(program)), sink_(std::move(sink)), nodes_(std::move(nodes)) {}
  VerbsWatch(const VerbsWatch&) = delete;
  VerbsWatch& operator=(const VerbsWatch&) = delete;
  ~VerbsWatch() { stop(); }

  /// Has all devices open that there are now and that may be, or closes all. A device that could not be
  /// opened is not tried again until the device has gone and come back. Returns at once; devices come when
  /// they are open, which makes an event: earlier reports of their ports were not heard.
  void want(bool any);
  /// Started work ends too.
  void stop();

  [[nodiscard]] std::size_t held() const { return held_.size(); }

 private:
  struct Held {
    std::unique_ptr<system::EndingSource> source;
    Loop::Handle handle;
  };

  void open_missing();
  /// The devices that the process has opened by now.
  void take();
  void hold(system::OpenVerbs open);
  void on_node_event(const system::VerbsNode& node);

  Loop& loop_;
  std::string program_;
  EventSink sink_;
  std::function<std::set<system::VerbsNode>()> nodes_;
  std::map<system::VerbsNode, Held> held_;
  std::set<system::VerbsNode> passed_over_;  ///< not to be opened (again)
  int pid_ = -1;                             ///< of the process that opens
  std::set<system::VerbsNode> asked_;        ///< of it
  base::UniqueFd socket_;
  Loop::Handle readable_, exit_;
  bool wanted_ = false;
};

/// That process: `nodes` as NAME:SERIAL. @return its exit status
int open_verbs_for(int socket, const std::vector<std::string>& nodes);

}  // namespace rdmacfg::daemon
