// SPDX-License-Identifier: Apache-2.0
#include "kinds/address.hpp"

#include "kinds/addressing.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Observed;

namespace {

constexpr std::string_view kKind = "address";

class AddressKind final : public Kind {
 public:
  [[nodiscard]] std::string_view name() const override { return kKind; }
  [[nodiscard]] std::span<const model::FieldSpec> fields() const override {
    return model::specs<InterfaceAddress>();
  }

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    for (const auto& one : addressing_of(bound, &diagnostics)) {
      if (!one.addressed()) continue;
      Desired desired;
      desired.key = {std::string(kKind), one.id()};
      desired.label = one.label;
      desired.where = one.section->where;
      out.push_back(std::move(desired));
    }
  }

  Result<std::vector<Observed>> observe(World& /*world*/) const override { return std::vector<Observed>{}; }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& /*observed*/, World& /*world*/,
             Diagnostics& diagnostics) const override {
    for (const auto& one : desired) {
      if (one.key.kind != kKind) continue;
      diagnostics.push_back({model::Severity::kError,
                             one.where,
                             one.label + ": this version does not set addresses yet",
                             "leave ipv4 and ipv6 out",
                             {}});
    }
  }

  Result<void> apply(std::span<const Change> /*changes*/, system::Host& /*host*/) const override {
    return {};
  }

  [[nodiscard]] bool reachable(const model::Key& /*key*/, const World& /*world*/) const override {
    return true;
  }
};

}  // namespace

const Kind& address() {
  static const AddressKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
