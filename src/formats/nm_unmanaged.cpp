// SPDX-License-Identifier: Apache-2.0
#include "formats/nm_unmanaged.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace rdmacfg::kinds {

using base::Result;

namespace {

constexpr std::string_view kNmConfiguration = "/etc/NetworkManager";
constexpr std::string_view kAddsTo = "unmanaged-devices+=";
// Of an address of 20 bytes NetworkManager compares the last 8, which are the GUID of the port.
constexpr std::string_view kAnyBeforeGuid = "00:00:00:00:00:00:00:00:00:00:00:00:";

/// The text with the ports in one order: GUIDs of a report stand for others, and sort differently.
std::string in_order(std::string_view text) {
  const auto at = text.find(kAddsTo);
  if (at == std::string_view::npos) return std::string(text);
  const auto start = at + kAddsTo.size();
  const auto end = std::min(text.find('\n', start), text.size());
  auto ports = base::split(text.substr(start, end - start), ';');
  std::sort(ports.begin(), ports.end());
  std::string out(text.substr(0, start));
  for (const auto port : ports) out += std::string(port) + ";";
  return out + std::string(text.substr(end));
}

}  // namespace

std::string render_nm_unmanaged(const BackendRules& rules) {
  std::string out;
  for (const auto& [guid, backend] : rules) {
    if (backend == model::Backend::kNetworkManager) continue;
    // One key: of two with the same name the later one counts.
    out += out.empty() ? "# Written by rdma-configd; do not edit.\n[keyfile]\n" + std::string(kAddsTo) : ";";
    out += std::string(kAnyBeforeGuid) + guid.text();
  }
  return out.empty() ? out : out + "\n";
}

bool nm_reads_snippets(system::Files& files) {
  const auto entries = files.list(std::string(kNmConfiguration));
  return entries && std::find(entries->begin(), entries->end(), "conf.d") != entries->end();
}

Result<bool> keeps_nm_off(system::Files& files, const BackendRules& rules) {
  const auto text = files.read(std::string(kKeepOffNetworkManager));
  if (!text) return base::fail(text.error());
  const auto wanted = render_nm_unmanaged(rules);
  if (wanted.empty()) return !text->has_value();
  return *text ? in_order(**text) == in_order(wanted) : !nm_reads_snippets(files);
}

Result<void> write_nm_unmanaged(system::Files& files, const BackendRules& rules) {
  const std::string path(kKeepOffNetworkManager);
  const auto wanted = render_nm_unmanaged(rules);
  if (wanted.empty()) return files.remove(path);
  return nm_reads_snippets(files) ? files.write(path, wanted) : Result<void>{};
}

}  // namespace rdmacfg::kinds
