// SPDX-License-Identifier: Apache-2.0
#include "formats/storage/nfs_conf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace rdmacfg::kinds {

using base::Result;

namespace {

constexpr std::string_view kFolder = "/etc/nfs.conf.d";
constexpr std::int64_t kStandardPort = 20049;  // "nfsrdma" of services(5)

/// conf_get_bool() of nfs-utils.
std::optional<bool> truth_of(std::string_view word) {
  const auto lower = base::lower(word);
  constexpr std::array<std::string_view, 5> kYes{"1", "t", "true", "y", "yes"};
  constexpr std::array<std::string_view, 5> kNo{"0", "f", "false", "n", "no"};
  if (lower == "on" || std::find(kYes.begin(), kYes.end(), lower) != kYes.end()) return true;
  if (lower == "off" || std::find(kNo.begin(), kNo.end(), lower) != kNo.end()) return false;
  return std::nullopt;
}

std::optional<std::int64_t> port_of(std::string_view value) {
  const auto port = base::parse_number(value);
  if (port && *port <= 65535) return static_cast<std::int64_t>(*port);
  return value == "nfsrdma" ? std::optional(kStandardPort) : std::nullopt;
}

std::string_view unquoted(std::string_view value) {
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front())
    return value.substr(1, value.size() - 2);
  return value;
}

}  // namespace

NfsdRdma parse_nfs_conf(std::string_view text) {
  NfsdRdma out;
  bool inside = false;
  int number = 0;
  for (const auto raw : base::split(text, '\n')) {
    ++number;
    const auto line = base::trim(raw);
    if (line.empty() || line.starts_with('#') || line.starts_with(';')) continue;
    if (line.starts_with('[')) {
      const auto end = line.find(']');
      inside = end != std::string_view::npos && base::lower(base::trim(line.substr(1, end - 1))) == "nfsd";
      continue;
    }
    const auto equals = line.find('=');
    if (!inside || equals == std::string_view::npos) continue;
    const auto key = base::lower(base::trim(line.substr(0, equals)));
    const auto value = unquoted(base::trim(line.substr(equals + 1)));
    if (key == "rdma") {
      out.rdma = truth_of(value);
      // rpc.nfsd(8) still takes the port here.
      if (const auto port = out.rdma ? std::nullopt : port_of(value)) {
        out.rdma = true;
        out.port = port;
      }
      out.line = number;
    } else if (key == "rdma-port") {
      out.port = port_of(value);
      out.line = number;
    }
  }
  return out;
}

std::optional<std::int64_t> parse_nfs_server(std::string_view text) {
  const auto says = parse_nfs_conf(text);
  return says.rdma == true ? says.port : std::nullopt;
}

std::string render_nfs_server(std::int64_t port) {
  return fmt::format(
      "# Written by rdma-configd; changes here are overwritten.\n[nfsd]\nrdma=y\nrdma-port={}\n", port);
}

Result<std::vector<ForeignNfsConf>> read_foreign_nfs_conf(system::Files& files) {
  std::vector<std::string> paths;
  for (const auto* etc : {"/usr/etc", "/etc"}) {
    paths.push_back(fmt::format("{}/nfs.conf", etc));
    const auto folder = fmt::format("{}/nfs.conf.d", etc);
    const auto names = files.list(folder);
    if (!names) return base::fail(names.error());
    for (const auto& name : *names) {
      if (name.ends_with(".conf") && !name.starts_with('.'))
        paths.push_back(fmt::format("{}/{}", folder, name));
    }
  }
  std::vector<ForeignNfsConf> out;
  bool wins = false;
  for (const auto& path : paths) {
    if (path == kNfsServerFile) {
      wins = true;
      continue;
    }
    const auto text = files.read_linked(path);
    if (!text || !*text) continue;  // nfs-utils passes over what it cannot read, too
    const auto says = parse_nfs_conf(**text);
    // Where ours is not there yet, the name says who will be read last.
    const bool last = wins || (path.starts_with(kFolder) && path > kNfsServerFile);
    if (says.line != 0) out.push_back({path, says, last});
  }
  return out;
}

std::optional<std::int64_t> foreign_rdma_port(const std::vector<ForeignNfsConf>& others) {
  bool rdma = false;
  auto port = kStandardPort;
  for (const auto& file : others) {
    rdma = file.says.rdma.value_or(rdma);
    port = file.says.port.value_or(port);
  }
  return rdma ? std::optional(port) : std::nullopt;
}

}  // namespace rdmacfg::kinds
