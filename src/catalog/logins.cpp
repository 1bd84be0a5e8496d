// SPDX-License-Identifier: Apache-2.0
#include "catalog/logins.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"

namespace rdmacfg::kinds {

namespace {

using model::Family;
using model::IpAddress;
using system::TcpConnection;

struct End {
  IpAddress address;
  std::uint16_t port = 0;
};

/// IPv4 of a socket for both families: ::ffff:192.0.2.1 (RFC 4291, 2.5.5.2).
IpAddress unmapped(const IpAddress& address) {
  constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (address.family == Family::kIpv4 || !std::equal(kMapped.begin(), kMapped.end(), address.bytes.begin()))
    return address;
  IpAddress out;
  std::copy_n(address.bytes.begin() + kMapped.size(), out.size(), out.bytes.begin());
  return out;
}

/// "070200C0:0016": each 32 bits of the address as a number of this machine, and the port.
std::optional<End> end_of(std::string_view word, Family family) {
  constexpr std::size_t kDigits = 8;  // of 32 bits
  End out{{family, {}}, 0};
  const auto colon = word.find(':');
  if (colon != out.address.size() * 2) return std::nullopt;
  for (std::size_t at = 0; at < colon; at += kDigits) {
    const auto number = base::parse_number("0x" + std::string(word.substr(at, kDigits)));
    if (!number) return std::nullopt;
    const auto bits = static_cast<std::uint32_t>(*number);
    std::copy_n(reinterpret_cast<const std::uint8_t*>(&bits), sizeof bits,
                out.address.bytes.begin() + static_cast<std::ptrdiff_t>(at / 2));
  }
  const auto port = base::parse_number("0x" + std::string(word.substr(colon + 1)));
  if (!port || *port > 0xffff) return std::nullopt;
  out.port = static_cast<std::uint16_t>(*port);
  return out;
}

/// The kernel's table as text, for one that has no sock_diag(7): a megabyte for 6,000 sockets, and whatever
/// is above the largest file that is read cannot be.
/// @return false when the table cannot be read; one that does not exist has nothing in it.
bool add_established(system::Files& files, const char* table, Family family,
                     std::vector<TcpConnection>& out) {
  constexpr std::string_view kEstablished = "01";
  const auto text = files.read(table);
  if (!text) return false;
  if (!*text) return true;
  for (const auto line : base::split(**text, '\n')) {
    std::vector<std::string_view> words;
    for (const auto word : base::split(line, ' ')) {
      if (!word.empty()) words.push_back(word);
    }
    // sl local_address rem_address st …
    if (words.size() < 4 || words[3] != kEstablished) continue;
    const auto local = end_of(words[1], family), remote = end_of(words[2], family);
    if (local && remote) out.push_back({local->address, remote->address, local->port});
  }
  return true;
}

/// Of a remote host as logind has it: "192.0.2.9", "fe80::1%ib0"; nothing for a name.
std::optional<IpAddress> address_of(std::string_view host) {
  const auto address = IpAddress::parse(host.substr(0, host.find('%')));
  return address ? std::optional(unmapped(*address)) : std::nullopt;
}

}  // namespace

Logins observe_logins(system::Host& host) {
  Logins out;
  std::vector<TcpConnection> connections;
  if (auto asked = host.inet.observe_connections()) {
    connections = std::move(*asked);
  } else {
    const bool four = add_established(host.files, "/proc/net/tcp", Family::kIpv4, connections);
    const bool six = add_established(host.files, "/proc/net/tcp6", Family::kIpv6, connections);
    out.hidden = !four || !six;
  }
  std::set<IpAddress> peers;  // of logind
  for (const auto& name : host.accounts.login_hosts()) {
    const auto peer = address_of(name);
    if (peer && !peer->loopback()) peers.insert(*peer);
  }
  const auto ports = login_ports(host.files);
  std::set<IpAddress> connected;
  std::set<std::pair<IpAddress, IpAddress>> known;
  for (const auto& connection : connections) {
    const auto remote = unmapped(connection.remote), local = unmapped(connection.local);
    if (!ports.contains(connection.local_port) && !peers.contains(remote)) continue;
    connected.insert(remote);
    if (known.emplace(remote, local).second) out.sessions.push_back({remote, local});
  }
  for (const auto& peer : peers) {
    if (!connected.contains(peer)) out.sessions.push_back({peer, std::nullopt});
  }
  return out;
}

std::set<std::uint16_t> login_ports(system::Files& files) {
  constexpr std::uint16_t kSsh = 22;
  std::set<std::uint16_t> out{kSsh};
  std::vector<std::string> paths{"/etc/ssh/sshd_config", "/usr/etc/ssh/sshd_config"};
  for (const std::string folder : {"/etc/ssh/sshd_config.d", "/usr/etc/ssh/sshd_config.d"}) {
    const auto names = files.list(folder);
    if (!names) continue;
    for (const auto& name : *names) {
      if (name.ends_with(".conf")) paths.push_back(folder + "/" + name);
    }
  }
  for (const auto& path : paths) {
    const auto text = files.read_linked(path);
    if (!text || !*text) continue;
    for (const auto line : base::split(**text, '\n')) {
      // "Port 2222", "Port=2222", "ListenAddress 192.0.2.1:2222"; keywords in any case.
      std::string words = base::lower(base::trim(line));
      std::replace_if(
          words.begin(), words.end(), [](char c) { return c == '=' || c == '\t' || c == '"'; }, ' ');
      const auto blank = words.find(' ');
      if (blank == std::string::npos) continue;
      const auto keyword = words.substr(0, blank);
      auto value = std::string(base::trim(std::string_view(words).substr(blank)));
      value = value.substr(0, value.find(' '));
      if (keyword == "listenaddress") {
        const auto colon = value.rfind(':');
        // Several colons without brackets are an IPv6 address.
        if (colon == std::string::npos || (value.find(':') != colon && !value.starts_with('['))) continue;
        value = value.substr(colon + 1);
      } else if (keyword != "port") {
        continue;
      }
      const auto port = base::parse_number(value);
      if (port && *port > 0 && *port <= 0xffff) out.insert(static_cast<std::uint16_t>(*port));
    }
  }
  return out;
}

}  // namespace rdmacfg::kinds
