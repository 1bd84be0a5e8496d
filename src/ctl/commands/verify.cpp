// SPDX-License-Identifier: Apache-2.0
// Whether packets come back: function, not settings.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/text.hpp"
#include "ctl/command.hpp"
#include "ctl/json.hpp"
#include "kinds/ports/device_names.hpp"

namespace rdmacfg::ctl {

namespace {

using base::Code;
using base::fail;
using base::Result;
using system::PingTimes;

constexpr std::chrono::milliseconds kAnswerTimeout{1000};  // of one answer

struct Outcome {
  std::string test;  ///< "rc", "mad", "ipoib"
  std::string target;
  PingTimes times;
};

double microseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

struct Statistics {
  double least = 0, mean = 0, most = 0;
};

Statistics of(const PingTimes& times) {
  if (times.answers.empty()) return {};
  const auto [least, most] = std::minmax_element(times.answers.begin(), times.answers.end());
  const auto sum = std::accumulate(times.answers.begin(), times.answers.end(), std::chrono::nanoseconds{0});
  return {microseconds(*least), microseconds(sum) / static_cast<double>(times.answers.size()),
          microseconds(*most)};
}

/// The local port to send management datagrams from: "mlx4_0/1", or the first active InfiniBand port.
Result<kinds::PortRef> port_of(const kinds::World& world, const std::string& name) {
  std::vector<std::string> known;
  for (const auto& device : world.snapshot().devices) {
    for (const auto& port : device.ports) {
      if (port.link_layer != "InfiniBand") continue;
      const auto called = fmt::format("{}/{}", device.name, port.number);
      if (name.empty() ? port.state == "ACTIVE" : name == called) return kinds::PortRef{&device, &port};
      known.push_back(called);
    }
  }
  if (known.empty()) return fail(Code::kNotFound, "there is no InfiniBand port on this host");
  if (name.empty())
    return fail(Code::kNotFound, "no InfiniBand port is active; `rdma-configctl doctor` looks for the cause");
  return fail(Code::kNotFound,
              fmt::format("no InfiniBand port is named {}; the ports are {}", name, base::join(known, ", ")));
}

Result<Outcome> mad(const Context& context, system::FunctionTest& test) {
  const auto& target = context.arguments.verify.mad;
  const auto host = context.environment.host(context.root());
  const auto world = kinds::World::observe(*host);
  if (!world) return fail(world.error());
  const auto port = port_of(*world, context.arguments.verify.from);
  if (!port) return fail(port.error());
  const auto& device = port->device->name;
  const int number = port->port->number;
  auto lid = base::parse_number(target);
  constexpr std::uint64_t kMostUnicast = 0xbfff;
  if (!lid || *lid > kMostUnicast) {
    const auto guid = model::Guid::parse(target);
    if (!guid) return fail(Code::kInvalid, fmt::format("--mad {}: is neither a LID nor a port GUID", target));
    const auto resolved = test.resolve_guid(device, number, *guid, kAnswerTimeout);
    if (!resolved) return fail(resolved.error());
    lid = static_cast<std::uint64_t>(*resolved);
  }
  auto times =
      test.ping_lid(device, number, static_cast<int>(*lid), context.arguments.verify.count, kAnswerTimeout);
  if (!times) return fail(times.error());
  return Outcome{"mad", fmt::format("LID {} from {}/{}", *lid, device, number), std::move(*times)};
}

Result<Outcome> run(const Context& context, system::FunctionTest& test) {
  const auto& arguments = context.arguments;
  if (!arguments.verify.client.empty()) {
    auto times = test.rc_client(arguments.verify.client, arguments.verify.service, arguments.verify.count,
                                kAnswerTimeout);
    if (!times) return fail(times.error());
    return Outcome{"rc", fmt::format("{} port {}", arguments.verify.client, arguments.verify.service),
                   std::move(*times)};
  }
  if (!arguments.verify.mad.empty()) return mad(context, test);
  auto times =
      test.ping_ip(arguments.verify.interface, arguments.verify.to, arguments.verify.count, kAnswerTimeout);
  if (!times) return fail(times.error());
  return Outcome{"ipoib", fmt::format("{} by {}", arguments.verify.to, arguments.verify.interface),
                 std::move(*times)};
}

int serve(const Context& context, system::FunctionTest& test) {
  const auto& arguments = context.arguments;
  const auto done =
      test.rc_server(arguments.verify.to, arguments.verify.service, arguments.verify.once ? 1 : 0, [&] {
        context.say(fmt::format(
            "listening on {} port {}; try `rdma-configctl verify --client ADDRESS` elsewhere",
            arguments.verify.to.empty() ? "all addresses" : arguments.verify.to, arguments.verify.service));
      });
  return done ? 0 : refuse(context, done.error());
}

}  // namespace

int verify(const Context& context) {
  const auto& arguments = context.arguments;
  const int tests = (arguments.verify.server ? 1 : 0) + (arguments.verify.client.empty() ? 0 : 1) +
                    (arguments.verify.mad.empty() ? 0 : 1) + (arguments.verify.interface.empty() ? 0 : 1);
  if (tests != 1) {
    return refuse(context,
                  {Code::kInvalid,
                   "verify does one test at a time: --server, --client HOST, --mad LID or GUID, or --ipoib "
                   "INTERFACE --to ADDRESS",
                   0});
  }
  if (context.offline())
    return refuse(context,
                  {Code::kInvalid, "verify cannot be combined with --root: it tests the running system", 0});
  if (!arguments.verify.interface.empty() && arguments.verify.to.empty())
    return refuse(context, {Code::kInvalid, "--ipoib needs an address to ping: --to ADDRESS", 0});
  const auto test = context.environment.function_test();
  if (arguments.verify.server) return serve(context, *test);
  const auto outcome = run(context, *test);
  if (!outcome) return refuse(context, outcome.error());
  const auto& times = outcome->times;
  const int lost = times.sent - static_cast<int>(times.answers.size());
  const auto statistics = of(times);
  const int status = static_cast<int>(times.answers.empty() ? model::Exit::kError
                                      : lost > 0            ? model::Exit::kPartly
                                                            : model::Exit::kOk);
  if (arguments.json) {
    model::Report report;
    report.exit = static_cast<model::Exit>(status);
    auto json = head(kVerifySchema, "verify", report, status);
    json["summary"] = {{"sent", times.sent}, {"answered", times.answers.size()}, {"lost", lost}};
    json["test"] = outcome->test;
    json["target"] = outcome->target;
    json["answered_by"] = times.who;
    json["sent"] = times.sent;
    json["answered"] = times.answers.size();
    json["latency_us"] = {{"min", statistics.least}, {"mean", statistics.mean}, {"max", statistics.most}};
    emit(context, std::move(json));
    return status;
  }
  auto& out = context.environment.out;
  out << fmt::format("{}: {} of {} answered", outcome->target, times.answers.size(), times.sent);
  if (!times.who.empty()) out << fmt::format(" by {}", times.who);
  if (!times.answers.empty()) {
    out << fmt::format(", {:.1f} us (least {:.1f}, most {:.1f})", statistics.mean, statistics.least,
                       statistics.most);
  }
  out << '\n';
  return status;
}

}  // namespace rdmacfg::ctl
