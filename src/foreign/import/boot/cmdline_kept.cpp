// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/boot/cmdline_kept.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "foreign/import/boot/script_sections.hpp"

namespace rdmacfg::foreign {

namespace {

/// "root=nfs:192.0.2.1:/srv:rw,rdma", "nfsroot=192.0.2.1:/srv,proto=rdma".
bool mounts_nfs_over_rdma(std::string_view key, std::string_view value) {
  const bool root = key == "root" || key == "netroot";
  if (key != "nfsroot" && !(root && (value.starts_with("nfs:") || value.starts_with("nfs4:")))) return false;
  const auto words = base::words_of(value, ",:");
  return std::any_of(words.begin(), words.end(), [](std::string_view word) {
    return word == "rdma" || word == "proto=rdma" || word == "proto=rdma6";
  });
}

/// "netroot=iscsi:user:password@192.0.2.1::3260:iser:ib0::iqn.2026-01.org.example:root".
bool connects_over_iser(std::string_view key, std::string_view value) {
  if ((key != "root" && key != "netroot") || !value.starts_with("iscsi:")) return false;
  auto before = value.substr(0, value.find(":iqn."));
  if (const auto login = before.rfind('@'); login != std::string_view::npos) before.remove_prefix(login + 1);
  const auto words = base::words_of(before, ":");
  return std::any_of(words.begin(), words.end(),
                     [](std::string_view word) { return word == "iser" || word.starts_with("iser."); });
}

/// "systemd.wants=opensm.service", "rd.systemd.mask=srp_daemon.service".
bool tell_unit_word(const Place& where, std::string_view key, std::string_view value, Claims& claims) {
  constexpr std::string_view kEarly = "rd.";
  const bool early = key.starts_with(kEarly);
  const auto plain = early ? key.substr(kEarly.size()) : key;
  if (plain != "systemd.wants" && plain != "systemd.mask") return false;
  const auto advice = script_advice(std::vector<std::string>{"systemctl", "enable", std::string(value)},
                                    fmt::format("systemctl enable {}", value), claims);
  if (advice.empty()) return false;
  if (early) {
    claims.pass(where, fmt::format("{}={}: is for the initramfs; keep this word", key, value));
  } else if (plain == "systemd.mask") {
    claims.miss(where, fmt::format("{}={}: cannot be expressed in the document; keep this word", key, value));
  } else {
    claims.miss(where, fmt::format("{}={}: {}", key, value, advice));
  }
  return true;
}

}  // namespace

bool tell_kept_word(const Place& where, std::string_view key, std::string_view value, Claims& claims) {
  // A hardware address of type 32, InfiniBand.
  const bool address = key == "BOOTIF" && (value.starts_with("20-") || value.starts_with("20:"));
  const bool interface = key == "bootdev" && !is_pattern(value) && claims.knows(value);
  if (address || interface || mounts_nfs_over_rdma(key, value)) {
    claims.pass(where, fmt::format("{}={}: is for the initramfs; keep this word", key, value));
    return true;
  }
  // Without its value, which may have a password.
  if (connects_over_iser(key, value)) {
    claims.pass(where, fmt::format("{}: the disk over iSER is for the initramfs; keep this word", key));
    return true;
  }
  return tell_unit_word(where, key, value, claims);
}

}  // namespace rdmacfg::foreign
