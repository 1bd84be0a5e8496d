// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/verbs_watch.hpp"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "base/text.hpp"
#include "daemon/jobs/worker_process.hpp"

namespace rdmacfg::daemon {

using system::VerbsNode;

void VerbsWatch::want(bool any) {
  wanted_ = any;
  if (!any) {
    held_.clear();
    passed_over_.clear();
    return;
  }
  open_missing();
}

void VerbsWatch::stop() {
  wanted_ = false;
  held_.clear();
  if (pid_ > 0) (void)::kill(pid_, SIGKILL);
}

void VerbsWatch::open_missing() {
  if (pid_ > 0) return;  // and again when it has ended
  const auto there = nodes_();
  std::erase_if(passed_over_, [&](const auto& node) { return !there.contains(node); });
  asked_.clear();
  std::vector<std::string> arguments{"--verbs"};
  for (const auto& node : there) {
    if (held_.contains(node) || passed_over_.contains(node)) continue;
    asked_.insert(node);
    arguments.push_back(node.name + ":" + std::to_string(node.serial));
  }
  if (asked_.empty()) return;
  std::array<int, 2> pair{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0) return;
  socket_ = base::UniqueFd(pair[0]);
  const base::UniqueFd other(pair[1]);
  auto process = start_program(program_, std::move(arguments), other.get(), STDERR_FILENO);
  if (process.pid < 0) return;
  pid_ = process.pid;
  readable_ = loop_.on_readable(socket_.get(), [this] { take(); });
  exit_ = loop_.on_exit(pid_, [this](int /*status*/) {
    take();
    readable_.reset();
    socket_.reset();
    pid_ = -1;
    // A device that it did not reach, because it was killed, say, is not worth another try.
    for (const auto& node : asked_) {
      if (wanted_ && !held_.contains(node)) passed_over_.insert(node);
    }
    exit_.reset();
    if (wanted_) open_missing();
  });
}

void VerbsWatch::take() {
  bool at_end = false, any = false;
  while (auto open = system::receive_verbs(socket_.get(), at_end)) {
    if (!wanted_) asked_.erase(open->node);  // it could be opened
    if (!wanted_ || !open->command || !open->events || !asked_.contains(open->node)) continue;
    any = true;
    sink_.came({system::Event::Sort::kPort, open->device + " is listened to"});
    hold(std::move(*open));
  }
  if (at_end) readable_.reset();
  if (any) sink_.read();
}

void VerbsWatch::hold(system::OpenVerbs open) {
  const auto node = open.node;
  Held held{system::watch_verbs(std::move(open)), nullptr};
  held.handle = loop_.on_readable(held.source->fd(), [this, node] { on_node_event(node); });
  held_.insert_or_assign(node, std::move(held));
}

void VerbsWatch::on_node_event(const VerbsNode& node) {
  const auto at = held_.find(node);
  if (at == held_.end()) return;
  const auto events = at->second.source->read();
  if (at->second.source->ended()) {
    held_.erase(at);  // at once: an administrator who unloads modules unloads ib_uverbs next
    passed_over_.insert(node);
  }
  sink_.take(events);
}

int open_verbs_for(int socket, const std::vector<std::string>& nodes) {
  std::set<VerbsNode> wanted;
  for (const auto& text : nodes) {
    const auto colon = text.find(':');
    const auto serial =
        colon == std::string::npos ? std::nullopt : base::parse_number(text.substr(colon + 1));
    if (!serial) return 1;
    wanted.insert({text.substr(0, colon), *serial});
  }
  bool received = true;
  system::open_verbs(wanted, [&](const system::OpenVerbs& open) {
    received = received && system::send_verbs(socket, open);
  });
  return received ? 0 : 1;
}

}  // namespace rdmacfg::daemon
