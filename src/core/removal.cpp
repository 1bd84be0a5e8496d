// SPDX-License-Identifier: Apache-2.0
#include "core/removal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "kinds/daemon_policy.hpp"

namespace rdmacfg::core {

namespace {

using model::Change;
using model::Operation;
using model::Report;
using model::Status;

constexpr std::size_t kHandful = 5;
constexpr std::size_t kNamed = 5;  ///< labels in the message
constexpr std::int64_t kAnything = 100;

/// Kinds whose deletion takes an interface, its addresses or its routes away.
constexpr std::array<std::string_view, 6> kNetwork{"pkey",       "address",  "route",
                                                   "nm_profile", "networkd", "soft_rdma"};

/// Local addresses of established ssh connections, as /proc/net/tcp has them: hexadecimal words in host
/// order.
std::set<std::string> session_addresses(system::Files& files, const char* table) {
  constexpr std::string_view kSsh = "0016", kEstablished = "01";
  std::set<std::string> out;
  const auto text = files.read(table);
  if (!text || !*text) return out;
  for (const auto line : base::split(**text, '\n')) {
    std::vector<std::string_view> words;
    for (const auto word : base::split(line, ' ')) {
      if (!word.empty()) words.push_back(word);
    }
    // sl local_address rem_address st …
    if (words.size() < 4 || words[3] != kEstablished) continue;
    const auto colon = words[1].find(':');
    if (colon == std::string_view::npos || words[1].substr(colon + 1) != kSsh) continue;
    out.emplace(words[1].substr(0, colon));
  }
  return out;
}

/// An address as /proc/net/tcp writes it: each 32 bits of it as a number of this machine.
std::string kernel_text(const model::IpAddress& address) {
  std::string out;
  for (std::size_t word = 0; word < address.size(); word += 4) {
    std::uint32_t number = 0;
    std::copy_n(address.bytes.begin() + static_cast<std::ptrdiff_t>(word), 4,
                reinterpret_cast<std::uint8_t*>(&number));
    out += fmt::format("{:08X}", number);
  }
  return out;
}

/// What must not go: the interfaces, and the addresses by themselves.
struct Lifeline {
  std::map<std::string, std::string> interfaces;  ///< by name, with what they carry
  std::set<std::string> session_prefixes;         ///< "192.0.2.1/24"
};

Lifeline lifeline_of(system::Host& host) {
  Lifeline out;
  std::map<int, std::string> names;
  if (const auto links = host.links.observe_links()) {
    for (const auto& link : *links) names.emplace(link.index, link.name);
  }
  if (const auto routes = host.inet.observe_routes()) {
    for (const auto& route : *routes) {
      const bool everything = route.to.any || route.to.network.length == 0;
      if (everything && names.contains(route.index))
        out.interfaces.emplace(names[route.index], "the default route");
    }
  }
  const auto four = session_addresses(host.files, "/proc/net/tcp");
  const auto six = session_addresses(host.files, "/proc/net/tcp6");
  const auto addresses = host.inet.observe_addresses();
  if (!addresses || (four.empty() && six.empty())) return out;
  for (const auto& one : *addresses) {
    const auto text = kernel_text(one.prefix.address);
    // An IPv4 client of a socket for both families: ::ffff:192.0.2.1.
    const auto mapped = "0000000000000000" + kernel_text({model::Family::kIpv4, {0, 0, 0xff, 0xff}}) + text;
    if (!four.contains(text) && !six.contains(text) && !six.contains(mapped)) continue;
    out.session_prefixes.insert(one.prefix.text());
    if (names.contains(one.index)) out.interfaces.insert_or_assign(names[one.index], "a login session");
  }
  return out;
}

/// What is lost with a change, in words; empty when no lifeline is.
std::string lost_with(const Change& change, const Lifeline& lifeline) {
  if (change.operation != Operation::kDelete) return {};
  if (std::find(kNetwork.begin(), kNetwork.end(), change.key.kind) == kNetwork.end()) return {};
  const auto words = base::split(change.label, ' ');
  const auto has = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (change.key.kind == "address") {
    for (const auto& prefix : lifeline.session_prefixes) {
      if (has(prefix)) return fmt::format("{}, which carries a login session", change.label);
    }
    return {};
  }
  if (change.key.kind == "route")
    return has("default") ? fmt::format("the default route {}", change.label) : "";
  for (const auto& [name, what] : lifeline.interfaces) {
    if (has(name)) return fmt::format("{}, which carries {}", name, what);
  }
  return {};
}

}  // namespace

model::Diagnostic risky_removal(const config::Document& document, const Report& planned, system::Host& host,
                                RemovalGuard guard) {
  const auto share =
      kinds::daemon_policy(document.sections).max_removal.value_or(model::RemovalShare{}).percent;
  std::vector<std::string> gone;
  std::set<model::Key> deleted;
  for (const auto& change : planned.plan.changes) {
    if (change.operation != Operation::kDelete) continue;
    deleted.insert(change.key);
    gone.push_back(change.label);
  }
  if (gone.empty() || share >= kAnything) return {};
  const auto refused = [](std::string message) {
    return model::Diagnostic{model::Severity::kError,
                             {},
                             std::move(message),
                             "if that is meant: `rdma-configctl apply --allow-removal` does it; `max_removal "
                             "= 100` in [daemon] always "
                             "allows it",
                             {}};
  };
  if (!host.offline) {
    const auto lifeline = lifeline_of(host);
    for (const auto& change : planned.plan.changes) {
      if (const auto lost = lost_with(change, lifeline); !lost.empty())
        return refused(fmt::format("nothing was changed: this would take away {}", lost));
    }
  }
  if (guard != RemovalGuard::kMost) return {};
  std::size_t stays = 0;
  for (const auto& resource : planned.resources) {
    const bool ours = resource.status == Status::kInSync || resource.status == Status::kDiffers ||
                      resource.status == Status::kLimited || resource.status == Status::kPending;
    const bool there =
        std::any_of(resource.attributes.begin(), resource.attributes.end(),
                    [](const auto& one) { return !std::holds_alternative<std::monostate>(one.now); });
    if (ours && there && !deleted.contains(resource.key)) ++stays;
  }
  const auto managed = gone.size() + stays;
  if (gone.size() <= kHandful || gone.size() * kAnything <= managed * static_cast<std::size_t>(share))
    return {};
  auto named = base::join(std::span(gone).first(std::min(gone.size(), kNamed)), ", ");
  if (gone.size() > kNamed) named += fmt::format(" and {} more", gone.size() - kNamed);
  return refused(fmt::format("nothing was changed: this would take away {} of {} managed resources ({})",
                             gone.size(), managed, named));
}

}  // namespace rdmacfg::core
