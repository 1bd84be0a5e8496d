// SPDX-License-Identifier: Apache-2.0
// monitor: the daemon's events, as they happen.
#include <fmt/format.h>

#include "base/characters.hpp"
#include "core/applied_state.hpp"
#include "core/commit/commit.hpp"
#include "ctl/command.hpp"
#include "ctl/json.hpp"
#include "ctl/service.hpp"

namespace rdmacfg::ctl {

using base::Code;

namespace {

Style style_for(int priority) {
  constexpr int kError = 3, kWarning = 4, kNotice = 5;  // syslog(3)
  if (priority <= kError) return Style::kBad;
  return priority <= kWarning ? Style::kNotice : priority <= kNotice ? Style::kGood : Style::kPlain;
}

}  // namespace

int monitor(const Context& context) {
  if (context.offline())
    return refuse(context,
                  {Code::kInvalid, "monitor cannot be combined with --root: no daemon runs in an image", 0});
  if (!context.environment.privileged)
    return refuse(
        context, {Code::kDenied,
                  "only root may follow the daemon, as only root may read its journal: run it with sudo", 0});
  const auto service = context.environment.service();
  if (service == nullptr) {
    return refuse(context, {Code::kNotFound,
                            "rdma-configd is not running: `systemctl start rdma-configd` starts it", 0});
  }
  auto& out = context.environment.out;
  const auto clock = core::system_clock();
  context.say("following rdma-configd; press Ctrl-C to stop");
  const auto done = service->follow([&](const DaemonEvent* event) {
    if (event == nullptr) return !context.environment.reader_is_gone();
    const auto when = clock.utc(std::chrono::milliseconds(0));
    if (context.arguments.json) {
      const nlohmann::ordered_json json{{"schema", kEventSchema},
                                        {"when", when},
                                        {"event", event->event},
                                        {"priority", event->priority},
                                        {"text", event->text}};
      out << base::harmless_json(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace))
          << '\n'
          << std::flush;
    } else {
      out << context.out.paint(core::local_time(when, std::chrono::system_clock::now()), Style::kDim) << "  "
          << context.out.paint(clean(event->text, context.out.utf8), style_for(event->priority)) << '\n'
          << std::flush;
    }
    return out.good();
  });
  if (done) return 0;
  context.say_error(done.error().message);
  return static_cast<int>(model::Exit::kError);
}

}  // namespace rdmacfg::ctl
