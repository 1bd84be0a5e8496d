// SPDX-License-Identifier: Apache-2.0
#include "fakes/fake_dcb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

namespace rdmacfg::fakes {

using base::fail_errno;
using base::Result;
using system::DcbApp;
using system::DcbState;
using system::Ets;
using system::Tsa;

namespace {

/// mlx5e_build_tc_tx_bw() and mlx5e_dcbnl_ieee_getets().
void read_as_mlx5(Ets& ets) {
  constexpr std::uint8_t kWhole = 100;
  std::vector<std::size_t> without;
  bool parted = false;
  for (std::size_t i = 0; i < ets.tsa.size(); ++i) {
    if (ets.tsa[i] != Tsa::kEts) {
      ets.bandwidth[i] = kWhole;
    } else if (ets.bandwidth[i] == 0) {
      without.push_back(i);
    } else if (ets.bandwidth[i] < kWhole) {
      parted = true;
    }
  }
  if (parted || without.empty()) return;
  for (const auto i : without) ets.bandwidth[i] = static_cast<std::uint8_t>(kWhole / without.size());
  ets.bandwidth[without.back()] += static_cast<std::uint8_t>(kWhole % without.size());
}

}  // namespace

void FakeDcb::reboot() {
  for (auto& [name, state] : interfaces) {
    if (state.pfc) state.pfc = std::uint8_t{0};
    if (state.ets) state.ets = Ets{};
    state.apps.clear();
  }
}

std::string FakeDcb::dump() const {
  std::string out;
  for (const auto& [name, state] : interfaces) {
    out += "dcb " + name;
    if (state.pfc) out += fmt::format(" pfc {:#04x}", *state.pfc);
    if (state.dcbx) out += fmt::format(" dcbx {:#04x}", *state.dcbx);
    if (state.ets) {
      out += state.ets->willing ? " willing tc" : " tc";
      for (const auto tc : state.ets->traffic_class) out += fmt::format(" {}", tc);
      out += " tsa";
      for (const auto tsa : state.ets->tsa)
        out += tsa == Tsa::kStrict ? " strict" : tsa == Tsa::kEts ? " ets" : " other";
      out += " bw";
      for (const auto bw : state.ets->bandwidth) out += fmt::format(" {}", bw);
    }
    out += "\n";
    for (const auto& app : state.apps)
      out += fmt::format("  app {} {} -> {}\n", app.selector, app.protocol, app.priority);
  }
  return out;
}

Result<std::optional<DcbState>> FakeDcb::observe_dcb(const std::string& interface) {
  const auto at = interfaces.find(interface);
  if (at == interfaces.end()) return std::optional<DcbState>();
  auto state = at->second;
  if (state.ets && mlx5.contains(interface)) read_as_mlx5(*state.ets);
  return std::optional(std::move(state));
}

template <class Effect>
Result<void> FakeDcb::change(const std::string& interface, const std::string& what, Effect effect) {
  const auto text = fmt::format("{}: {}", interface, what);
  const int err = faults_.call(text, [&] {
    const auto at = interfaces.find(interface);
    return at == interfaces.end() ? ENODEV : effect(at->second);
  });
  if (err != 0) return fail_errno(err, text);
  return {};
}

Result<void> FakeDcb::set_pfc(const std::string& interface, std::uint8_t priorities) {
  return change(interface, fmt::format("set PFC {:#04x}", priorities), [&](DcbState& state) {
    if (!state.pfc) return EOPNOTSUPP;
    state.pfc = priorities;
    return 0;
  });
}

Result<void> FakeDcb::set_ets(const std::string& interface, const Ets& ets) {
  return change(interface, "set ETS", [&](DcbState& state) {
    if (!state.ets) return EOPNOTSUPP;
    // As mlx5e_dbcnl_validate_ets(): what ETS shares out has to be the whole.
    int sum = 0;
    bool any = false;
    for (std::size_t i = 0; i < ets.tsa.size(); ++i) {
      if (ets.tsa[i] != Tsa::kEts) continue;
      any = true;
      sum += ets.bandwidth[i];
    }
    if (any && sum != 100) return EINVAL;
    state.ets = ets;
    return 0;
  });
}

Result<void> FakeDcb::add_app(const std::string& interface, const DcbApp& app) {
  return change(interface, fmt::format("add APP {} {}:{}", app.selector, app.protocol, app.priority),
                [&](DcbState& state) {
                  if (std::find(state.apps.begin(), state.apps.end(), app) != state.apps.end()) return EEXIST;
                  state.apps.push_back(app);
                  std::sort(state.apps.begin(), state.apps.end());
                  return 0;
                });
}

Result<void> FakeDcb::delete_app(const std::string& interface, const DcbApp& app) {
  return change(interface, fmt::format("delete APP {} {}:{}", app.selector, app.protocol, app.priority),
                [&](DcbState& state) {
                  const auto at = std::find(state.apps.begin(), state.apps.end(), app);
                  if (at == state.apps.end()) return ENOENT;
                  state.apps.erase(at);
                  return 0;
                });
}

Result<void> FakeDcb::set_dcbx(const std::string& interface, std::uint8_t mode) {
  return change(interface, fmt::format("set DCBX {:#04x}", mode), [&](DcbState& state) {
    if (!state.dcbx) return EOPNOTSUPP;
    state.dcbx = mode == 0 ? system::kDcbxFirmware : mode;
    return 0;
  });
}

}  // namespace rdmacfg::fakes
