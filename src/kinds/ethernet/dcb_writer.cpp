// SPDX-License-Identifier: Apache-2.0
#include "kinds/ethernet/dcb_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <set>
#include <vector>

#include "kinds/ethernet/dcb_classes.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Dcbx;
using model::DscpMap;
using system::DcbApp;

namespace {

constexpr std::chrono::seconds kRetraining{30};  // 100 Gb/s and faster with autonegotiation take up to 10

bool has(const DscpMap& map, std::uint8_t dscp, std::uint8_t priority) {
  return std::find(map.list.begin(), map.list.end(), std::pair(dscp, priority)) != map.list.end();
}

/// The kernel may hold a DSCP with several priorities, and a rollback puts them back.
std::set<std::uint8_t> priorities_of(const DscpMap& map, std::uint8_t dscp) {
  std::set<std::uint8_t> out;
  for (const auto& [number, priority] : map.list) {
    if (number == dscp) out.insert(priority);
  }
  return out;
}

}  // namespace

Result<void> BondMembers::disturb(const system::Link& link) {
  if (link.master == 0) return {};
  std::vector<int> others;
  std::string names;
  for (const auto& member : disturbed_) {
    if (member.master != link.master || member.index == link.index) continue;
    others.push_back(member.index);
    names += (names.empty() ? "" : ", ") + member.name;
  }
  if (!others.empty()) {
    auto without = links_.wait_for_carrier(others, kRetraining);
    if (!without) return base::fail(without.error());
    if (!without->empty())
      return base::fail(
          base::Code::kBusy,
          fmt::format("{} is left unchanged: {} of the same bond has no carrier {} s after its flow "
                      "control was set",
                      link.name, names, kRetraining.count()));
  }
  if (link.carrier) disturbed_.push_back({link.index, link.master, link.name});
  return {};
}

Result<void> DcbWriter::look() {
  auto state = dcb_.observe_dcb(interface_);
  if (!state) return base::fail(state.error());
  if (!*state)
    return base::fail(base::Code::kNotFound, fmt::format("{}: has no data center bridging", interface_));
  state_ = std::move(**state);
  now_ = describe_dcb(state_);
  return {};
}

Result<void> DcbWriter::begin() {
  if (!about_to_) return {};
  auto done = about_to_();
  about_to_ = nullptr;
  return done;
}

Result<void> DcbWriter::reach(const InterfaceDcb& wanted) {
  if (auto done = look(); !done) return done;
  // First who decides, and what stops traffic last. DSCPs come before the classes: whether a board takes them
  // nobody can ask beforehand, and ice rewrites ETS at the first one.
  if (auto done = reach_dcbx(wanted); !done) return done;
  if (wanted.dscp) {
    if (auto done = reach_dscps(*wanted.dscp); !done) return done;
  }
  // Behind the DSCPs, so that none is trusted before it leads to its priority.
  if (auto done = reach_trust(wanted); !done) return done;
  if (auto done = reach_ets(wanted, EtsWrite::kIfDifferent); !done) return done;
  return reach_pfc(wanted);
}

Result<void> DcbWriter::reach_dcbx(const InterfaceDcb& wanted) {
  if (!wanted.dcbx || wanted.dcbx == now_.dcbx) return {};
  if (auto done = begin(); !done) return done;
  const std::uint8_t mode = *wanted.dcbx == Dcbx::kHost ? system::kDcbxHost | system::kDcbxVersionIeee : 0;
  if (auto done = dcb_.set_dcbx(interface_, mode); !done) return done;
  return look();
}

Result<void> DcbWriter::reach_ets(const InterfaceDcb& wanted, EtsWrite when) {
  const bool always = when == EtsWrite::kAlways;
  if (!state_.ets) return {};
  const bool asked = wanted.traffic_classes || wanted.bandwidth || wanted.algorithms || wanted.willing;
  if (!asked && !always) return {};
  auto ets = ets_for(driver(), wanted, state_);
  auto before = *state_.ets;
  const bool willing = wanted.willing.value_or(false);
  const bool same_will = !wanted.willing || willing == before.willing;
  before.bandwidth = shares_of(before).percent;  // as it is written, not as it is read back
  if (ets == before && same_will && !always) return {};
  if (asked && algorithms_of(ets) == algorithms_of(before) && ets.bandwidth == before.bandwidth &&
      ets.traffic_class == before.traffic_class && same_will && !always)
    return {};  // idle classes are nobody's
  ets.willing = willing;
  if (auto done = begin(); !done) return done;
  if (auto done = dcb_.set_ets(interface_, ets); !done) return done;
  if (auto done = look(); !done) return done;
  auto then = state_.ets.value_or(before);
  then.bandwidth = shares_of(then).percent;
  return then == before && ets != before ? without_effect("traffic classes") : Result<void>{};
}

/// Adds first, so that a DSCP is never without its priority; some drivers then remove its old entry by
/// themselves. Others refuse a DSCP that has one, or have no priority for it once any of its entries is
/// deleted.
Result<void> DcbWriter::reach_dscps(const DscpMap& wanted) {
  const auto current = *now_.dscp;
  if (wanted == current) return {};
  if (auto done = begin(); !done) return done;
  std::set<std::uint8_t> cleared;
  for (const auto& [dscp, priority] : wanted.list) {
    const auto before = priorities_of(current, dscp);
    const bool replaced = driver().remap_by_delete && before != priorities_of(wanted, dscp);
    if (!replaced && before.contains(priority)) continue;
    if (replaced && cleared.insert(dscp).second) {
      for (const auto old : before) {
        if (auto done = remove(dscp, old); !done) return done;
      }
    }
    if (auto done = add(dscp, priority); !done) return done;
  }
  if (auto done = clear_unlisted(wanted); !done) return done;
  if (auto done = look(); !done) return done;
  const auto there = *now_.dscp;
  for (const auto& [dscp, priority] : there.list) {
    if (has(wanted, dscp, priority)) continue;
    if (auto done = remove(dscp, priority); !done) return done;
  }
  return look();
}

Result<void> DcbWriter::reach_trust(const InterfaceDcb& wanted) {
  if (!wanted.trust || wanted.trust == now_.trust) return {};
  // Before Linux 6.2 the kernel would ignore the request.
  if (!now_.trust)
    return base::fail(base::Code::kUnsupported,
                      fmt::format("{}: the kernel or its driver has no order of trust", interface_));
  if (auto done = begin(); !done) return done;
  std::vector<std::uint8_t> selectors;
  for (const auto selector : wanted.trust->list) selectors.push_back(static_cast<std::uint8_t>(selector));
  if (auto done = dcb_.set_trust(interface_, selectors); !done) {
    if (done.error().sys_errno != EOPNOTSUPP) return done;
    return base::fail(
        base::Code::kUnsupported,
        fmt::format("{}: its driver does not take trust = [{}]; the kernel's log may list the orders that it "
                    "takes",
                    interface_, model::text_of(model::Codec<model::TrustOrder>::value(*wanted.trust))));
  }
  return look();
}

/// A DSCP that is not listed keeps what the adapter's table had for it, which nobody shows; after a driver
/// reload it is listed, and would be deleted, which gives it priority 0. So it gets that at once.
Result<void> DcbWriter::clear_unlisted(const DscpMap& wanted) {
  if (!driver().keeps_unlisted || wanted.list.empty()) return {};
  for (std::uint8_t dscp = 0; dscp < model::kDscps; ++dscp) {
    const bool listed = wanted.priority_of(dscp) || now_.dscp->priority_of(dscp);
    if (listed) continue;
    if (auto done = add(dscp, 0); !done) return done;
    if (auto done = remove(dscp, 0); !done) return done;
  }
  return {};
}

Result<void> DcbWriter::reach_pfc(const InterfaceDcb& wanted) {
  if (!wanted.priorities || wanted.priorities == now_.priorities) return {};
  if (driver().ets_before_pfc) {
    if (auto done = reach_ets(wanted, EtsWrite::kAlways); !done) return done;
  }
  if (auto done = begin(); !done) return done;
  const auto before = state_.pfc;
  if (auto done = dcb_.set_pfc(interface_, static_cast<std::uint8_t>(wanted.priorities->mask)); !done)
    return done;
  if (auto done = look(); !done) return done;
  return state_.pfc == before ? without_effect("flow control") : Result<void>{};
}

/// dcbnl_ieee_set() passes over what a driver has no operation for (cxgb4: ieee_setpfc, ieee_setets), and
/// says that it is done. Drivers that are known are not asked: theirs has effect, or was refused before.
Result<void> DcbWriter::without_effect(std::string_view setting) const {
  if (!driver().name.empty()) return {};
  return base::fail(
      base::Code::kUnsupported,
      fmt::format("{}: its driver{} accepts {} without effect; set it at the switch port, from which the "
                  "adapter's firmware takes the settings by DCBX, and leave it out here",
                  interface_, state_.driver.empty() ? "" : fmt::format(" ({})", state_.driver), setting));
}

Result<void> DcbWriter::add(std::uint8_t dscp, std::uint8_t priority) {
  auto done = dcb_.add_app(interface_, DcbApp{system::kDcbSelectorDscp, dscp, priority});
  return !done && done.error().sys_errno == EEXIST ? Result<void>{} : done;
}

Result<void> DcbWriter::remove(std::uint8_t dscp, std::uint8_t priority) {
  auto done = dcb_.delete_app(interface_, DcbApp{system::kDcbSelectorDscp, dscp, priority});
  return !done && done.error().sys_errno == ENOENT ? Result<void>{} : done;
}

}  // namespace rdmacfg::kinds
