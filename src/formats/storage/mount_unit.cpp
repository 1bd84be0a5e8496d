// SPDX-License-Identifier: Apache-2.0
#include "formats/storage/mount_unit.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "formats/managed_block.hpp"
#include "model/types/storage_types.hpp"

namespace rdmacfg::kinds {

namespace {

constexpr std::string_view kSuffix = ".mount";
constexpr std::string_view kWants = "Wants=";
/// Started at boot together with the mounts, which are ordered after it.
constexpr std::string_view kOnline = "rdma-configd-online.target";

/// '%' begins a specifier in units (systemd.unit(5)).
std::string doubled(std::string_view text) {
  std::string out;
  for (const char c : text) out.append(c == '%' ? 2 : 1, c);
  return out;
}

std::string undoubled(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] == '%' && i + 1 < text.size() && text[i + 1] == '%') ++i;
  }
  return out;
}

bool take_source(std::string_view source, NfsMountUnit& unit) {
  const bool bracketed = source.starts_with('[');
  const auto end = source.find(bracketed ? "]:/" : ":/");
  if (end == std::string_view::npos) return false;
  const auto server = model::ServerName::parse(source.substr(bracketed ? 1 : 0, end - (bracketed ? 1 : 0)));
  const auto exported = model::PlainPath::parse(source.substr(source.find('/', end)));
  if (!server || !exported) return false;
  unit.server = server->text;
  unit.exported = exported->text;
  return true;
}

void take_options(std::string_view options, NfsMountUnit& unit) {
  constexpr std::string_view kPort = "port=";
  for (const auto option : base::split(options, ',')) {
    if (option == "_netdev" || option == "proto=rdma" || option == "proto=rdma6" || option.empty()) continue;
    if (option.starts_with(kPort)) {
      const auto port = base::parse_number(option.substr(kPort.size()));
      const auto number = port && *port <= 65535 ? static_cast<std::int64_t>(*port) : 0;
      unit.port = model::Codec<model::ServicePort>::parse(model::Value{number}) ? number : 0;
    } else {
      unit.options.emplace_back(option);
    }
  }
}

}  // namespace

std::string mount_unit_name(std::string_view path) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:_.";
  std::string out;
  for (const auto part : base::split(path, '/')) {
    if (part.empty()) continue;
    if (!out.empty()) out += '-';
    for (const char c : part) {
      const bool plain = kPlain.find(c) != std::string_view::npos && !(out.empty() && c == '.');
      out += plain ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return (out.empty() ? "-" : out) + std::string(kSuffix);
}

std::string mount_unit_file(std::string_view path) {
  return fmt::format("{}/{}", kUnitFolder, mount_unit_name(path));
}

std::string nfs_source(std::string_view server, std::string_view exported) {
  const bool ipv6 = server.find(':') != std::string_view::npos;
  return ipv6 ? fmt::format("[{}]:{}", server, exported) : fmt::format("{}:{}", server, exported);
}

std::string render_mount_unit(const NfsMountUnit& unit) {
  const auto source = doubled(nfs_source(unit.server, unit.exported));
  // mount.nfs(8) looks servers up in the family of the protocol: rdma is IPv4 alone.
  const bool ipv6 = unit.server.find(':') != std::string::npos;
  auto options = fmt::format("_netdev,proto={},port={}", ipv6 ? "rdma6" : "rdma", unit.port);
  for (const auto& option : unit.options) options += "," + option;
  return fmt::format(
      "{}\n[Unit]\nDescription={} over RDMA\nDocumentation=man:rdma-configd.toml(5) man:nfs(5)\n"
      "Wants=network-online.target\nAfter=network-online.target {}\n\n"
      "[Mount]\nWhat={}\nWhere={}\nType=nfs\nOptions={}\n",
      kOurFirstLine, source, kOnline, source, doubled(unit.path), doubled(options));
}

bool is_our_mount_unit(std::string_view text) {
  const auto first = text.substr(0, text.find('\n'));
  return first == kOurFirstLine;
}

std::optional<NfsMountUnit> parse_mount_unit(std::string_view text) {
  if (!is_our_mount_unit(text)) return std::nullopt;
  NfsMountUnit unit;
  bool sourced = false;
  for (const auto raw : base::split(text, '\n')) {
    const auto line = base::trim(raw);
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const auto key = line.substr(0, equals);
    const auto value = undoubled(line.substr(equals + 1));
    if (key == "What") sourced = take_source(value, unit);
    if (key == "Where") unit.path = value;
    if (key == "Options") take_options(value, unit);
  }
  const auto path = model::PlainPath::parse(unit.path);
  if (!sourced || !path || unit.port == 0) return std::nullopt;
  unit.path = path->text;
  return unit;
}

std::set<std::string> parse_boot_mounts(std::string_view text) {
  std::set<std::string> out;
  for (const auto line : base::split(text, '\n')) {
    if (line.starts_with(kWants) && line.ends_with(kSuffix)) out.emplace(line.substr(kWants.size()));
  }
  return out;
}

std::string render_boot_mounts(const std::set<std::string>& units) {
  if (units.empty()) return {};
  auto text = fmt::format("{}\n[Unit]\n{}{}\n", kOurFirstLine, kWants, kOnline);
  for (const auto& unit : units) text += fmt::format("{}{}\n", kWants, unit);
  return text;
}

}  // namespace rdmacfg::kinds
