// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/boot/script_kept.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace rdmacfg::foreign {

namespace {

bool names_ipoib(std::string_view name, const Claims& claims) {
  return !name.empty() && !is_pattern(name) && name.find_first_of("$`{") == std::string_view::npos &&
         claims.knows(name);
}

/// "firewall-cmd --zone=trusted --add-interface=ib0".
bool binds_to_zone(const std::vector<std::string>& words, const Claims& claims) {
  if (words.front() != "firewall-cmd") return false;
  for (std::size_t at = 1; at < words.size(); ++at) {
    const std::string_view word = words[at];
    const auto equals = word.find('=');
    const auto option = word.substr(0, equals);
    if (option != "--add-interface" && option != "--change-interface") continue;
    const std::string_view next =
        at + 1 < words.size() ? std::string_view(words[at + 1]) : std::string_view();
    if (names_ipoib(equals == std::string_view::npos ? next : word.substr(equals + 1), claims)) return true;
  }
  return false;
}

/// "resolvectl dns ib0 192.0.2.53": the key of the document; empty for others.
std::string_view key_of_resolver(const std::vector<std::string>& words, const Claims& claims) {
  const bool of_interface = (words.front() == "resolvectl" || words.front() == "systemd-resolve") &&
                            words.size() > 3 && names_ipoib(words[2], claims);
  if (!of_interface) return {};
  if (words[1] == "dns") return "dns";
  return words[1] == "domain" ? "search" : std::string_view();
}

/// The file of "sysctl -p /etc/site.conf", other than those that `import sysctl` reads anyway.
std::string_view file_of_sysctl(const std::vector<std::string>& words) {
  if (words.front() != "sysctl") return {};
  const auto loads = std::find_if(words.begin() + 1, words.end(), [](const std::string& word) {
    return word == "-p" || word == "-f" || word == "--load" || word.starts_with("--load=") ||
           word.starts_with("-p/");
  });
  if (loads == words.end()) return {};
  std::string_view file = *loads;
  if (const auto slash = file.find('/'); slash != std::string_view::npos)
    file.remove_prefix(slash);
  else
    file = loads + 1 == words.end() ? std::string_view() : std::string_view(*(loads + 1));
  const bool read = file == "/etc/sysctl.conf" || file.starts_with("/etc/sysctl.d/");
  return file.starts_with('/') && !read ? file : std::string_view();
}

/// "xargs -I{} ip link set {} up", "find /sys/class/net -exec ip link set {} up": for interfaces that only
/// the running script knows.
bool sets_found_interfaces(const std::vector<std::string>& words, std::string_view text) {
  if (std::find(words.begin(), words.end(), "{}") == words.end()) return false;
  if (words.front() == "find" && text.find("/sys/class/") == std::string_view::npos) return false;
  const auto ip = std::find_if(words.begin(), words.end(),
                               [](const std::string& word) { return word == "ip" || word.ends_with("/ip"); });
  if (words.end() - ip < 3) return false;
  const auto& object = *(ip + 1);
  const auto& action = *(ip + 2);
  return (object == "link" || object == "addr" || object == "address" || object == "route") &&
         (action == "set" || action == "add" || action == "replace" || action == "change");
}

/// The subject of a write that the document cannot express; empty for other writes.
std::string_view subject_of_write(const std::vector<std::string>& words, std::string_view text,
                                  const Claims& claims) {
  constexpr std::string_view kNet = "/sys/class/net/";
  const auto at = text.find(kNet);
  if (at == std::string_view::npos) return {};
  const auto path = text.substr(at + kNet.size());
  const auto name = path.substr(0, path.find('/'));
  if (path.find("/device/sriov") != std::string_view::npos && names_ipoib(name, claims))
    return "virtual functions of RDMA devices";
  const bool of_bond =
      path.find("/bonding/slaves") != std::string_view::npos &&
      std::any_of(words.begin(), words.end(), [&](const std::string& word) {
        return word.starts_with('+') && names_ipoib(std::string_view(word).substr(1), claims);
      });
  return of_bond ? "bonds" : std::string_view();
}

}  // namespace

std::string kept_command_advice(const std::vector<std::string>& words, std::string_view text,
                                const Claims& claims) {
  if (words.empty()) return {};
  if (binds_to_zone(words, claims)) return "the document does not support firewall zones; keep this command";
  if (const auto key = key_of_resolver(words, claims); !key.empty())
    return fmt::format("write {} into the entry of the interface", key);
  if (const auto file = file_of_sysctl(words); !file.empty())
    return fmt::format(
        "the settings are in another file; to take them over, run `rdma-configctl import sysctl {}`", file);
  if (sets_found_interfaces(words, text)) return "the interfaces are known only when the script runs";
  if (const auto subject = subject_of_write(words, text, claims); !subject.empty())
    return fmt::format("the document does not support {}; keep this command", subject);
  return {};
}

}  // namespace rdmacfg::foreign
