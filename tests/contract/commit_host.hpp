// SPDX-License-Identifier: Apache-2.0
// A host whose applies are generations, for tests of what is confirmed, taken back and held.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "contract/stage.hpp"
#include "core/commit/commit.hpp"

namespace rdmacfg::contract {

inline constexpr std::chrono::seconds kWithin{60};

inline config::Document document_of(const std::string& text, const std::string& name = "node1") {
  return config::parse_texts({{"config.toml", text}}, name, kinds::grammar());
}

/// A host whose applies are generations, with a clock in the hand of the test.
class Host {
 public:
  explicit Host(std::unique_ptr<FakeKernel> kernel) : kernel_(std::move(kernel)) {}
  explicit Host(const Scenario& scenario) : Host(FakeKernel::parse(scenario.host)) {
    for (std::size_t i = 0; i + 1 < scenario.documents.size(); ++i) commit(scenario.documents[i]);
    kernel_->faults.clear();
  }

  Report commit(const std::string& text, std::optional<std::chrono::seconds> confirm = std::nullopt) {
    return commit_as(text, {.who = "root", .what = "apply", .host_name = name, .confirm = confirm});
  }
  /// As the daemon does at boot.
  Report commit_by_itself(const std::string& text) {
    return commit_as(text, {.who = "root", .what = "apply", .host_name = name, .by_itself = true});
  }
  Report confirm() {
    return with([&](core::Context& context) {
      return core::confirm({.who = "root", .what = "confirm", .host_name = name}, context);
    });
  }
  Report roll_back(std::uint64_t number = 0, std::uint64_t from = 0) {
    return with([&](core::Context& context) {
      return core::roll_back(number, {.who = "root", .what = "rollback", .host_name = name, .from = from},
                             context);
    });
  }
  Report expire() {
    return with([&](core::Context& context) {
      return core::expire({.who = "the timer", .what = "rollback", .host_name = name}, context);
    });
  }
  Report hold() {
    return with([&](core::Context& context) {
      return core::hold({.who = "rdma-configd", .what = "event", .host_name = name}, context);
    });
  }
  /// As those see it who only look: an apply that was interrupted waits.
  core::Ledger ledger() {
    auto host = kernel_->host();
    return core::read_ledger(host.files, core::GenerationPaths()).value();
  }

  std::string name = "node1";  ///< of the host now; empty: it has none yet

  void pass(std::chrono::seconds time) { now_ms_ += std::chrono::milliseconds(time).count(); }
  FakeKernel& kernel() { return *kernel_; }
  [[nodiscard]] std::string dump() const { return kernel_->dump(kVisible); }

  Report with(const std::function<Report(core::Context&)>& run) {
    auto host = kernel_->host();
    core::Context context{host, {}};
    context.clock = {[this] { return now_ms_; }, [](auto) { return std::string("2026-01-01T00:00:00Z"); }};
    return run(context);
  }

 private:
  Report commit_as(const std::string& text, const core::Request& request) {
    return with(
        [&](core::Context& context) { return core::commit(document_of(text, name), request, context); });
  }

  std::unique_ptr<FakeKernel> kernel_;
  std::int64_t now_ms_ = 1000;
};

inline constexpr const char* kFirst = R"(version = 1
[[ipoib]]
guid = "00:02:c9:03:00:31:78:f2"
mode = "connected"
mtu = 65520
)";
inline constexpr const char* kSecond = R"(version = 1
[[ipoib]]
guid = "00:02:c9:03:00:31:78:f2"
mode = "connected"
mtu = 4092
)";

inline std::unique_ptr<FakeKernel> two_ports() {
  auto kernel = std::make_unique<FakeKernel>();
  kernel->add_device({.name = "mlx4_0", .pci = "0000:10:00.0", .node_guid = 0x0002c903003178f0})
      .ib_port(
          {.guid = "00:02:c9:03:00:31:78:f2", .interface = "ib0", .pkeys = {0xffff, 0x8002, 0x8003, 0x8004}})
      .ib_port({.guid = "00:02:c9:03:00:31:78:f3", .interface = "ib1", .pkeys = {0xffff, 0x8002}});
  return kernel;
}

}  // namespace rdmacfg::contract
