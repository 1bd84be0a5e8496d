// SPDX-License-Identifier: Apache-2.0
#include "kinds/address/dns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "kinds/abilities.hpp"
#include "kinds/address/backend.hpp"
#include "kinds/address/direct_backend.hpp"
#include "kinds/ports/held_by_port.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Observed;

namespace {

constexpr std::string_view kDnsKind = "dns";
constexpr auto kDnsCompetitors = std::to_array<std::string_view>(
    {"NetworkManager", "systemd-network", "wickedd-nanny", "connmand", "dhclient", "dhcpcd"});

constexpr std::string_view kNsswitch = "/etc/nsswitch.conf";

struct Nsswitch {
  std::string path, text;
};

/// The second is the vendor's, which glibc of SUSE reads where /etc has none.
Nsswitch read_nsswitch(system::Files& files) {
  for (const auto path : {kNsswitch, std::string_view("/usr/etc/nsswitch.conf")}) {
    const auto text = files.read_linked(std::string(path));
    if (text && *text) return {std::string(path), **text};
  }
  return {};
}

/// The services of the line "hosts:", without the reactions between them ("[NOTFOUND=return]"); nothing
/// without such a line.
std::optional<std::vector<std::string_view>> host_services(std::string_view nsswitch) {
  constexpr std::string_view kHosts = "hosts:";
  for (const auto line : base::split(nsswitch, '\n')) {
    auto rest = base::trim(line.substr(0, line.find('#')));
    if (!rest.starts_with(kHosts)) continue;
    rest.remove_prefix(kHosts.size());
    std::vector<std::string_view> out;
    bool reaction = false;
    for (const auto word : base::words_of(rest)) {
      reaction = reaction || word.starts_with('[');
      if (!reaction) out.push_back(word);
      reaction = reaction && !word.ends_with(']');
    }
    return out;
  }
  return std::nullopt;
}

template <class Texts>
void put(model::Attributes& settings, const char* field, const Texts& texts) {
  if (!texts.empty()) settings[field] = std::vector<std::string>(texts.begin(), texts.end());
}

/// Domains as systemd-resolved stores them: each once, regardless of case, without a final dot; a search
/// domain is also a routing domain, so the search domain alone remains. "." is routing-only. Source:
/// bus_link_method_set_domains() in resolved-link-bus.c, dns_search_domain_new().
std::vector<std::string> as_kept(const std::vector<std::string>& domains) {
  std::vector<std::string> out;
  std::map<std::string, std::size_t> places;
  for (const auto& written : domains) {
    auto name = base::lower(written);
    const bool routes = name.starts_with('~') || name == ".";
    if (name.starts_with('~')) name.erase(0, 1);
    if (name != "." && name.ends_with('.')) name.pop_back();
    auto domain = routes ? "~" + name : name;
    const auto [place, fresh] = places.try_emplace(name, out.size());
    if (fresh) {
      out.push_back(std::move(domain));
    } else if (!routes) {
      out[place->second] = std::move(domain);
    }
  }
  return out;
}

class DnsKind final : public Kind, public NeedsWatching, public HeldByPort {
 public:
  DnsKind()
      : Kind({.name = kDnsKind,
              .fields = model::specs<InterfaceDns>(),
              .traits = {.listed_when_foreign = false, .rests_on_files = true},
              .lost_after_withdraw = "name servers of interfaces (resolvectl dns)",
              .competitors = kDnsCompetitors}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& /*diagnostics*/) const override {
    const auto& all = addressing_of(bound, nullptr);
    for (const auto* addressing : direct_only(all, bound, nullptr)) {
      std::vector<std::string> servers, search;
      auto desired = start(*addressing, kDnsKind, "");
      for (const auto* family : {&addressing->ipv4, &addressing->ipv6}) {
        for (const auto& server : family->dns) servers.push_back(server.text());
        search.insert(search.end(), family->search.begin(), family->search.end());
        if (!family->dns.empty()) desired.where = desired.origins["servers"] = family->place("dns");
        if (!family->search.empty()) desired.origins["search"] = family->place("search");
      }
      if (servers.empty() && search.empty()) continue;
      desired.label = "name servers of " + addressing->label;
      if (!desired.pending && !desired.ignore) {
        put(desired.settings, "servers", servers);
        put(desired.settings, "search", as_kept(search));
      }
      out.push_back(std::move(desired));
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    std::vector<Observed> out;
    for (const auto& [index, interface] : tracked_interfaces(kDnsKind, world)) {
      const auto dns = world.host().resolver.observe_dns(index);
      if (!dns) return base::fail(dns.error());
      if (!*dns) continue;
      Observed observed;
      observed.key = {std::string(kDnsKind), interface.id};
      observed.label = "name servers of " + interface.name;
      std::vector<std::string> servers;
      for (const auto& server : (*dns)->servers) servers.push_back(server.text());
      put(observed.settings, "servers", servers);
      put(observed.settings, "search", as_kept((*dns)->search));
      observed.instance = world.instance(*world.link(index));
      out.push_back(std::move(observed));
    }
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& /*observed*/, World& world,
             Diagnostics& diagnostics) const override {
    std::optional<bool> answers;
    for (auto& resource : desired) {
      if (resource.key.kind != kDnsKind || resource.ignore || resource.settings.empty()) continue;
      if (!answers) {
        const auto dns = world.host().resolver.observe_dns(1);  // lo is always there
        answers = dns && *dns;
        if (*answers) warn_of_bypass(resource, world.host().files, diagnostics);
      }
      if (*answers) continue;
      // It may be that it only starts later: at boot it does.
      resource.settings.clear();
      resource.pending =
          "systemd-resolved does not answer; backend direct has no other way to set name servers";
    }
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    auto world = World::observe_links(host);
    if (!world) return base::fail(world.error());
    for (const auto& change : changes) {
      const auto* link = interface_of(change.key.id, *world);
      if (link == nullptr && change.operation == model::Operation::kDelete) continue;
      if (link == nullptr)
        return base::fail(base::Code::kNotFound,
                          fmt::format("{}: the interface does not exist", change.label));
      const auto wanted = model::from_attributes<InterfaceDns>(change.after);
      const auto now = host.resolver.observe_dns(link->index);
      if (!now) return base::fail(now.error());
      auto next = now->value_or(system::LinkDns{});
      if (change.operation == model::Operation::kDelete) next = {};
      // A field that differs and is not wanted to be anything goes.
      const auto asked = [&](std::string_view field) {
        return change.after.contains(field) || change.differs_in(field);
      };
      if (asked("servers")) next.servers.clear();
      for (const auto& server : wanted.servers.value_or(std::vector<std::string>{})) {
        if (const auto address = model::IpAddress::parse(server)) next.servers.push_back(*address);
      }
      if (asked("search")) next.search = wanted.search.value_or(std::vector<std::string>{});
      if (*now && next == **now) continue;
      if (auto done = host.resolver.set_dns(link->index, next); !done) return done;
    }
    return {};
  }

  /// systemd-resolved keeps an interface's name servers in a file there.
  void watched(const model::ResourceReport& /*resource*/, system::Settings& out) const override {
    out.folders.insert("/run/systemd/resolve/netif");
  }

  [[nodiscard]] std::string parent_object(const Change& change, const World& world) const override {
    return port_object(change.key.id, world);
  }

  [[nodiscard]] bool reachable(const model::Key& key, const World& world) const override {
    return interface_of(key.id, world) != nullptr;
  }

 private:
  static void warn_of_bypass(const Desired& resource, system::Files& files, Diagnostics& diagnostics) {
    const auto nss = read_nsswitch(files);
    if (asks_no_name_server(nss.text)) {
      diagnostics.push_back({model::Severity::kWarning,
                             resource.where,
                             fmt::format("{} makes programs query no name server for host names, so nothing "
                                         "uses the name servers of this entry",
                                         nss.path),
                             fmt::format("add dns to the line hosts: of /etc/nsswitch.conf{}",
                                         nss.path == kNsswitch ? "" : ", a copy of that file"),
                             {}});
      return;
    }
    const auto conf = files.read_linked("/etc/resolv.conf");
    if (!conf || !*conf) return;
    const auto server = server_beside_resolved(**conf, nss.text);
    if (server.empty()) return;
    diagnostics.push_back({model::Severity::kWarning,
                           resource.where,
                           fmt::format("/etc/resolv.conf makes programs query {} instead of "
                                       "systemd-resolved, which has the name servers of this entry",
                                       server),
                           "ln -sf ../run/systemd/resolve/stub-resolv.conf /etc/resolv.conf",
                           {}});
  }
};

}  // namespace

bool asks_no_name_server(std::string_view nsswitch) {
  constexpr std::array<std::string_view, 7> kLocal{"files",    "compat",     "db",        "usrfiles",
                                                   "altfiles", "myhostname", "mymachines"};
  const auto services = host_services(nsswitch);
  return services && std::all_of(services->begin(), services->end(), [&](std::string_view name) {
           // The modules of nss-mdns ask other hosts, but only for names below .local.
           return name.starts_with("mdns") || std::find(kLocal.begin(), kLocal.end(), name) != kLocal.end();
         });
}

std::string server_beside_resolved(std::string_view resolv_conf, std::string_view nsswitch) {
  constexpr std::array<std::string_view, 2> kStubs{"127.0.0.53", "127.0.0.54"};
  if (const auto services = host_services(nsswitch)) {
    const auto resolve = std::find(services->begin(), services->end(), "resolve");
    if (resolve < std::find(services->begin(), services->end(), "dns")) return {};
  }
  std::string first;
  for (const auto line : base::split(resolv_conf, '\n')) {
    if (line.starts_with('#') && line.find("systemd-resolved(8)") != std::string_view::npos) return {};
    const auto words = base::words_of(line);
    if (words.size() < 2 || words.front() != "nameserver") continue;
    if (std::find(kStubs.begin(), kStubs.end(), words[1]) != kStubs.end()) return {};
    if (first.empty()) first = words[1];
  }
  return first;
}

const Kind& dns() {
  static const DnsKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
