// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <tuple>

#include "kinds/kind.hpp"
#include "model/spelled.hpp"

namespace rdmacfg::kinds {

/// The IPoIB interface of a port itself.
struct Ipoib {
  std::optional<model::IpoibMode> mode;
  std::optional<model::Mtu> mtu;
  std::optional<bool> umcast;
  std::optional<model::State> state;
  std::optional<model::OnUnsupported> on_unsupported;
  std::optional<bool> prune;
  std::optional<std::string> managed_by;
  std::optional<bool> carrier;
  std::optional<bool> connected_capable;
  std::optional<model::Pkey> pkey;

  static constexpr auto kFields = std::tuple{
      model::field("mode", &Ipoib::mode, model::Role::kSetting,
                   "Transport mode: datagram (MTU up to 4092), or connected (up to 65520), which not every "
                   "adapter supports."),
      model::field("mtu", &Ipoib::mtu, model::Role::kSetting,
                   "MTU in bytes: at most the IB link MTU minus 4 in datagram mode (2044, 4092), 65520 in "
                   "connected mode."),
      model::field("umcast", &Ipoib::umcast, model::Role::kSetting,
                   "Whether user space handles multicast group membership (IFLA_IPOIB_UMCAST)."),
      // "absent" is a state of P_Key interfaces alone; of a port's own interface a rule says so.
      model::read_by(
          model::spelled(
              model::field("state", &Ipoib::state, model::Role::kSetting,
                           "up or down (administratively); ignore leaves it and its P_Key interfaces alone.",
                           "up"),
              R"({"enum":["up","down","ignore"]})", "\"up\", \"down\" or \"ignore\""),
          &model::canonical_port_state),
      model::field(
          "on_unsupported", &Ipoib::on_unsupported, model::Role::kPolicy,
          "Action if the adapter does not support connected mode: fail, or use datagram mode instead.",
          "fail"),
      model::field(
          "prune", &Ipoib::prune, model::Role::kPolicy,
          "Whether P_Key interfaces that the document does not list are removed, also those made by others.",
          "false"),
      model::field("managed_by", &Ipoib::managed_by, model::Role::kDerived,
                   "Program that configured the interface, if not rdma-configd: networkmanager.", "-"),
      model::field("carrier", &Ipoib::carrier, model::Role::kFact,
                   "Whether the interface has joined its fabric.", "-"),
      model::field("connected_capable", &Ipoib::connected_capable, model::Role::kFact,
                   "Whether the adapter supports connected mode.", "-"),
      model::field("pkey", &Ipoib::pkey, model::Role::kFact, "P_Key of the interface.", "-")};
};

const Kind& ipoib();

}  // namespace rdmacfg::kinds
