// SPDX-License-Identifier: Apache-2.0
// Reading verbs async events. Source: ib_uverbs_event_read() in drivers/infiniband/core/uverbs_main.c: one
// event for each read(2), EIO when the device has gone and all was read.
#include "system/verbs_events.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

namespace rdmacfg::system {

namespace {

constexpr int kEventsAtOnce = 256;  // then whoever else waits for the loop has a turn

/// The change; empty for events that do not concern ports.
std::string text_of(std::uint32_t type) {
  switch (type) {
    case IBV_EVENT_DEVICE_FATAL:
      return "fatal error";
    case IBV_EVENT_PORT_ACTIVE:
      return "active";
    case IBV_EVENT_PORT_ERR:
      return "no longer active";
    case IBV_EVENT_LID_CHANGE:
      return "LID";
    case IBV_EVENT_PKEY_CHANGE:
      return "P_Key table";
    case IBV_EVENT_SM_CHANGE:
      return "subnet manager";
    case IBV_EVENT_CLIENT_REREGISTER:
      return "subnet manager asks to register again";
    case IBV_EVENT_GID_CHANGE:
      return "GID table";
    default:
      return "";
  }
}

class VerbsEvents final : public EndingSource {
 public:
  explicit VerbsEvents(OpenVerbs open) : open_(std::move(open)) {
    (void)::fcntl(open_.events.get(), F_SETFL, ::fcntl(open_.events.get(), F_GETFL) | O_NONBLOCK);
  }

  [[nodiscard]] int fd() const override { return open_.events.get(); }
  [[nodiscard]] bool ended() const override { return ended_; }

  std::vector<Event> read() override {
    std::vector<Event> events;
    for (int i = 0; i < kEventsAtOnce && !ended_; ++i) {
      ib_uverbs_async_event_desc event{};
      const auto count = ::read(open_.events.get(), &event, sizeof event);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) break;
      if (count != static_cast<ssize_t>(sizeof event)) {
        ended_ = true;
        break;
      }
      auto what = text_of(event.event_type);
      if (what.empty()) continue;
      if (event.event_type == IBV_EVENT_DEVICE_FATAL) {
        ended_ = true;
      } else {
        what = fmt::format("port {}: {}", event.element, what);
      }
      events.push_back({Event::Sort::kPort, fmt::format("{} {}", open_.device, what)});
    }
    return events;
  }

 private:
  OpenVerbs open_;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<EndingSource> watch_verbs(OpenVerbs open) {
  return std::make_unique<VerbsEvents>(std::move(open));
}

}  // namespace rdmacfg::system
