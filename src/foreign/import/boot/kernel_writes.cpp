// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/boot/kernel_writes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "foreign/import/boot/script_sections.hpp"
#include "foreign/import/boot/sysctl.hpp"
#include "foreign/import/managers/ifupdown_hooks.hpp"
#include "foreign/inet.hpp"

namespace rdmacfg::foreign {

namespace {

/// Whether a shell leaves the word unchanged, so that it needs no quotes in a command.
bool is_bare_word(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

}  // namespace

void KernelWrites::write(const Place& where, std::string_view path, std::string_view value) {
  constexpr std::string_view kProc = "/proc/sys/", kNet = "/sys/class/net/";
  if (path.starts_with(kProc)) return set(where, path.substr(kProc.size()), value);
  if (path.starts_with(kNet) && of_interface(where, path.substr(kNet.size()), value)) return;
  const bool of_port_type = path.find("/mlx4_port") != std::string_view::npos;
  const bool unsupported = (path.starts_with("/sys/class/infiniband/") && !of_port_type) ||
                           path.find("/ecn/roce_") != std::string_view::npos;
  if (unsupported)
    return claims_.pass(where, "the document does not support such settings of RDMA devices; keep this line");
  const std::vector<std::string> words{"echo", std::string(value), ">", std::string(path)};
  if (auto advice = script_advice(words, fmt::format("echo {} > {}", value, path), claims_); !advice.empty())
    claims_.miss(where, std::move(advice));
}

void KernelWrites::refuse(const Place& where, std::string_view path, std::string_view why) {
  constexpr std::string_view kNet = "/sys/class/net/";
  const auto name = path.starts_with(kNet) ? path.substr(kNet.size()) : std::string_view();
  const std::vector<std::string> words{"echo", "1", ">", std::string(path)};
  if (claims_.knows(name.substr(0, name.find('/'))) || touches_ipoib(path) ||
      path.starts_with("/sys/class/infiniband/") ||
      !script_advice(words, fmt::format("echo 1 > {}", path), claims_).empty())
    claims_.miss(where, fmt::format("{}: {}", path, why));
}

void KernelWrites::set(const Place& where, std::string_view key, std::string_view value) {
  sysctls_.emplace_back(where, fmt::format("{} = {}", key, value));
}

void KernelWrites::finish() {
  for (auto& [name, interface] : found_) {
    settle(interface);
    claims_.interfaces.push_back(std::move(interface));
  }
  SysctlSettings settings(claims_);
  for (const auto& [where, text] : sysctls_) settings.line(where, text);
  settings.finish();
}

bool KernelWrites::of_interface(const Place& where, std::string_view path, std::string_view value) {
  const auto slash = path.find('/');
  if (slash == std::string_view::npos) return false;
  const auto name = path.substr(0, slash), attribute = path.substr(slash + 1);
  // Files that only IPoIB interfaces have.
  const bool ipoib = attribute == "mode" || attribute == "umcast" || attribute == "create_child";
  if (!ipoib && !claims_.knows(name)) return false;
  if (!ipoib && attribute != "mtu") {
    claims_.pass(where, fmt::format("the document does not support {}; keep this line", attribute));
  } else if (is_pattern(name) || name.find('{') != std::string_view::npos) {
    claims_.miss(where, fmt::format("{}: write the setting into the entry of each interface", path));
  } else if (!is_bare_word(name) || !is_bare_word(value)) {
    claims_.miss(where, fmt::format("{}: is not understood", path));
  } else {
    take(where, std::string(name), fmt::format("echo {} > /sys/class/net/{}", value, path));
  }
  return true;
}

void KernelWrites::take(const Place& where, const std::string& name, const std::string& command) {
  const auto [at, fresh] = found_.try_emplace(name);
  if (fresh) {
    at->second.name = name;
    at->second.where = where;
    at->second.passive = true;
  }
  const auto why = take_hook({where, "up", command, name, model::Family::kIpv4}, found_);
  if (why.empty()) return claims_.took(where);
  if (fresh) found_.erase(name);
  claims_.miss(where, why);
}

std::string_view without_quotes(std::string_view text) {
  const bool quoted =
      text.size() > 1 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

}  // namespace rdmacfg::foreign
