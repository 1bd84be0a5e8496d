// SPDX-License-Identifier: Apache-2.0
#include "formats/udev/udev_backend.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "formats/managed_block.hpp"
#include "formats/nm_unmanaged.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Backend;

namespace {

constexpr std::string_view kGuid = "ATTR{address}==\"?*";
// The match of systemd-networkd's .network files. P_Key interfaces have no device, and the P_Key in their
// broadcast address (ipoib_ndo_init()).
constexpr std::string_view kMatched =
    R"(, ENV{RDMA_CONFIGD_BROADCAST}="$attr{broadcast}", ENV{RDMA_CONFIGD_PORT}=")";
constexpr std::string_view kOfPort = R"(, DRIVERS=="?*", ENV{RDMA_CONFIGD_OF_PORT}="1")";
constexpr std::string_view kOwner = "ENV{RDMA_CONFIGD_BACKEND}=\"";

constexpr std::string_view kKeepOffText =
    "# Written by rdma-configd; do not edit.\n[Match]\nProperty=RDMA_CONFIGD_UNMANAGED=1\n\n[Link]\n"
    "Unmanaged=yes\n";

bool needs_keep_off(const BackendRules& rules) {
  return std::any_of(rules.begin(), rules.end(),
                     [](const auto& rule) { return rule.second != Backend::kNetworkd; });
}

std::string_view owner_after(std::string_view line, std::string_view key) {
  const auto at = line.find(key);
  if (at == std::string_view::npos) return {};
  const auto start = at + key.size();
  return line.substr(start, line.find('"', start) - start);
}

/// Signals to the other managers: properties of the interface.
std::string_view properties_of(Backend backend) {
  switch (backend) {
    case Backend::kNetworkManager:
      return R"(, ENV{RDMA_CONFIGD_UNMANAGED}="1", ENV{ID_NET_MANAGED_BY}="org.freedesktop.NetworkManager")";
    case Backend::kNetworkd:
      return R"(, ENV{NM_UNMANAGED}="1", ENV{ID_NET_MANAGED_BY}="io.systemd.Network")";
    case Backend::kDirect:
    case Backend::kAuto:
      break;
  }
  return R"(, ENV{NM_UNMANAGED}="1", ENV{RDMA_CONFIGD_UNMANAGED}="1", ENV{ID_NET_MANAGED_BY}="org.rdmaconfigd1")";
}

std::string guid_match(model::Guid guid) {
  return fmt::format("ACTION!=\"remove\", SUBSYSTEM==\"net\", ATTR{{type}}==\"32\", {}{}\"", kGuid,
                     guid.text());
}

/// The lines of one port.
std::string owner_lines(model::Guid guid, Backend backend) {
  auto out =
      fmt::format("{}, {}{}\"{}", guid_match(guid), kOwner, model::text_of(backend), properties_of(backend));
  if (backend == Backend::kNetworkd)
    out += fmt::format("{}{}\"\n{}{}", kMatched, guid.text(), guid_match(guid), kOfPort);
  return out + "\n";
}

}  // namespace

BackendRules parse_backend_lines(std::string_view text) {
  BackendRules out;
  for (const auto line : base::split(text, '\n')) {
    if (!line.starts_with("ACTION")) continue;
    const auto guid = model::Guid::parse(owner_after(line, kGuid));
    const auto backend = model::Codec<Backend>::parse(std::string(owner_after(line, kOwner)));
    if (guid && backend && *backend != Backend::kAuto) out.insert_or_assign(*guid, *backend);
  }
  return out;
}

BackendRules parse_backend_rules(std::string_view text) {
  auto out = parse_backend_lines(text);
  // One whose properties are not whole is as if nothing were decided.
  std::erase_if(out, [&](const auto& rule) {
    return rule.second == Backend::kNetworkd &&
           text.find(owner_lines(rule.first, rule.second)) == std::string::npos;
  });
  return out;
}

std::string render_backend_rules(const BackendRules& rules) {
  std::string out =
      "# Written by rdma-configd; do not edit.\n"
      "# The program that configures each port's IPoIB interfaces (and the P_Key interfaces over them).\n";
  for (const auto& [guid, backend] : rules) {
    out += owner_lines(guid, backend);
  }
  return out;
}

Result<BackendRules> read_backend_rules(system::Files& files) {
  auto text = files.read(std::string(kBackendRules));
  if (!text) return base::fail(text.error());
  return *text ? parse_backend_rules(**text) : BackendRules{};
}

Result<bool> has_older_keep_off(system::Files& files) {
  const auto text = files.read(std::string(kOlderKeepOffNetworkd));
  if (!text && system::is_unusable(text.error())) return false;  // a link or a folder is not ours
  if (!text) return base::fail(text.error());
  return *text && begins_as_ours(**text);
}

Result<bool> keeps_networkd_off(system::Files& files, const BackendRules& rules) {
  const auto older = has_older_keep_off(files);
  if (!older) return base::fail(older.error());
  if (*older) return false;
  const auto text = files.read(std::string(kKeepOffNetworkd));
  if (!text) return base::fail(text.error());
  return needs_keep_off(rules) ? *text == std::string(kKeepOffText) : !*text;
}

// The rules go last and come first: while they are there, what is missing of the other files can be seen.
Result<void> write_backend_rules(system::Files& files, const BackendRules& rules) {
  if (!rules.empty()) {
    if (auto done = files.write(std::string(kBackendRules), render_backend_rules(rules)); !done) return done;
  }
  auto done = needs_keep_off(rules) ? files.write(std::string(kKeepOffNetworkd), kKeepOffText)
                                    : files.remove(std::string(kKeepOffNetworkd));
  if (done) {
    const auto older = has_older_keep_off(files);
    if (!older) return base::fail(older.error());
    if (*older) done = files.remove(std::string(kOlderKeepOffNetworkd));
  }
  if (done) done = write_nm_unmanaged(files, rules);
  if (!done || !rules.empty()) return done;
  return files.remove(std::string(kBackendRules));
}

}  // namespace rdmacfg::kinds
