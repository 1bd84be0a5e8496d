// SPDX-License-Identifier: Apache-2.0
// Interfaces, their addresses and managers, and data center bridging over a tape.
#pragma once

#include <algorithm>

#include "ctl/bundle/taped_port.hpp"

namespace rdmacfg::ctl::taped {

class TapedLinks final : public system::Links, Taped {
 public:
  using Taped::Taped;
  Result<std::vector<system::Link>> observe_links() override {
    return ask("links", "", [&] { return real_->links.observe_links(); });
  }
  Result<std::optional<int>> index_of(Name name) override {
    const auto links = observe_links();
    if (!links) return base::fail(links.error());
    const auto at =
        std::find_if(links->begin(), links->end(), [&](const auto& link) { return link.name == name; });
    return at == links->end() ? std::nullopt : std::optional(at->index);
  }
  Result<std::vector<system::Carried>> observe_carried(std::span<const system::Link> links) override {
    std::vector<system::Carried> out;
    for (const auto& link : links) out.push_back({.index = link.index, .name = link.name, .items = {}});
    return out;
  }
  Result<void> execute(std::span<const system::LinkRequest> /*requests*/) override {
    return refuse_to_change();
  }
  Result<void> restore_carried(const system::Carried& /*carried*/, int /*index*/, Name /*name*/) override {
    return refuse_to_change();
  }
  Result<std::vector<int>> wait_for_carrier(std::span<const int> /*indexes*/,
                                            std::chrono::milliseconds /*time*/) override {
    return std::vector<int>();
  }
  std::vector<std::string> lacking(const system::Carried& /*then*/, const system::Carried& /*now*/) override {
    return {};
  }
};

class TapedInet final : public system::Inet, Taped {
 public:
  using Taped::Taped;
  Result<std::vector<system::InetAddress>> observe_addresses() override {
    return ask("addresses", "", [&] { return real_->inet.observe_addresses(); });
  }
  Result<std::vector<system::InetRoute>> observe_routes() override {
    return ask("routes", "", [&] { return real_->inet.observe_routes(); });
  }
  Result<void> execute(std::span<const system::InetRequest> /*requests*/) override {
    return refuse_to_change();
  }
  Result<void> wait_for_addresses(const std::set<int>& /*indexes*/,
                                  std::chrono::milliseconds /*time*/) override {
    return {};
  }
};

class TapedResolver final : public system::Resolver, Taped {
 public:
  using Taped::Taped;
  Result<std::optional<system::LinkDns>> observe_dns(int index) override {
    return ask("dns", std::to_string(index), [&] { return real_->resolver.observe_dns(index); });
  }
  Result<void> set_dns(int /*index*/, const system::LinkDns& /*dns*/) override { return refuse_to_change(); }
};

class TapedNetworkManager final : public system::NetworkManager, Taped {
 public:
  using Taped::Taped;
  Result<std::optional<system::NmState>> observe() override {
    return ask("networkmanager", "", [&] { return real_->network_manager.observe(); });
  }
  bool is_running() override { return false; }  // asked for changes only
  Result<void> reread() override { return refuse_to_change(); }
  Result<void> load(std::span<const std::string> /*files*/) override { return refuse_to_change(); }
  Result<void> remove(Name /*uuid*/) override { return refuse_to_change(); }
  Result<void> activate(Name /*uuid*/, Name /*interface*/, std::chrono::milliseconds /*time*/) override {
    return refuse_to_change();
  }
  Result<void> deactivate(Name /*uuid*/) override { return refuse_to_change(); }
  Result<std::string> active_on(Name /*interface*/) override {
    return refuse_to_change();
  }  // asked by changes only
  Result<void> reapply(Name /*interface*/) override { return refuse_to_change(); }
  void wait_for_release(std::span<const std::string> /*interfaces*/,
                        std::chrono::milliseconds /*time*/) override {}
  void wait_for_ready(std::span<const std::string> /*interfaces*/,
                      std::chrono::milliseconds /*time*/) override {}
  Result<std::string> create_checkpoint(std::span<const std::string> /*names*/,
                                        std::chrono::seconds /*time*/) override {
    return refuse_to_change();
  }
  Result<void> extend_checkpoint(Name /*checkpoint*/, std::chrono::seconds /*time*/) override {
    return refuse_to_change();
  }
  Result<void> destroy_checkpoint(Name /*checkpoint*/) override { return refuse_to_change(); }
  Result<void> rollback(Name /*checkpoint*/) override { return refuse_to_change(); }
};

class TapedNetworkd final : public system::Networkd, Taped {
 public:
  using Taped::Taped;
  /// All interfaces are asked for, so that another document finds the answer too.
  Result<std::optional<std::vector<system::NetworkdLink>>> observe(std::span<const int> indexes) override {
    auto all = ask("networkd", "", [&]() -> Result<std::optional<std::vector<system::NetworkdLink>>> {
      auto links = real_->links.observe_links();
      if (!links) return base::fail(links.error());
      std::vector<int> every;
      for (const auto& link : *links) every.push_back(link.index);
      return real_->networkd.observe(every);
    });
    if (all && *all) {
      std::erase_if(**all, [&](const auto& link) {
        return std::find(indexes.begin(), indexes.end(), link.index) == indexes.end();
      });
    }
    return all;
  }
  Result<void> reload() override { return refuse_to_change(); }
  Result<void> reconfigure(int /*index*/) override { return refuse_to_change(); }
  bool pause(std::chrono::milliseconds /*time*/) override { return false; }
};

class TapedIpoib final : public system::Ipoib, Taped {
 public:
  using Taped::Taped;
  bool has_mode_file(Name name) override {
    return ask("ipoib.mode_file", name, [&] { return real_->ipoib.has_mode_file(name); });
  }
  Result<void> write_mode(Name /*name*/, model::IpoibMode /*mode*/) override { return refuse_to_change(); }
  Result<void> create_child(Name /*parent*/, model::Pkey /*pkey*/) override { return refuse_to_change(); }
};

class TapedDcb final : public system::Dcb, Taped {
 public:
  using Taped::Taped;
  Result<std::optional<system::DcbState>> observe_dcb(Name interface) override {
    return ask("dcb", interface, [&] { return real_->dcb.observe_dcb(interface); });
  }
  Result<void> set_pfc(Name /*interface*/, std::uint8_t /*priorities*/) override {
    return refuse_to_change();
  }
  Result<void> set_ets(Name /*interface*/, const system::Ets& /*ets*/) override { return refuse_to_change(); }
  Result<void> add_app(Name /*interface*/, const system::DcbApp& /*app*/) override {
    return refuse_to_change();
  }
  Result<void> delete_app(Name /*interface*/, const system::DcbApp& /*app*/) override {
    return refuse_to_change();
  }
  Result<void> set_dcbx(Name /*interface*/, std::uint8_t /*mode*/) override { return refuse_to_change(); }
  Result<void> set_trust(Name /*interface*/, const std::vector<std::uint8_t>& /*selectors*/) override {
    return refuse_to_change();
  }
};

}  // namespace rdmacfg::ctl::taped
