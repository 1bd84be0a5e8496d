// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/boot/script_kept.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

#include "base/text.hpp"

namespace rdmacfg::foreign {

namespace {

bool names_ipoib(std::string_view name, const Claims& claims) {
  return !name.empty() && !is_pattern(name) && name.find_first_of("$`{") == std::string_view::npos &&
         claims.knows(name);
}

/// The section in place of a tool that sets something only with certain options.
std::string_view section_of_options(const std::vector<std::string>& words) {
  const auto has = [&](auto&& fits) { return std::any_of(words.begin() + 1, words.end(), fits); };
  const auto& tool = words.front();
  // "ulimit -l unlimited", "ulimit -SHl unlimited"; without a value it shows.
  if (tool == "ulimit") {
    const bool locked = has([](std::string_view word) {
      return word.size() > 1 && word[0] == '-' && word.find('l') != std::string_view::npos;
    });
    const bool valued = has([](std::string_view word) { return !word.starts_with('-'); });
    return locked && valued ? "[[memlock]]" : std::string_view();
  }
  if (tool == "prlimit" && has([](std::string_view word) {
        return word.starts_with("--memlock=") || (word.starts_with("-l") && word.size() > 2);
      }))
    return "[[memlock]]";
  // "tc_wrap.py -i eth2 -u 0,1,2,3" of MLNX_OFED; without -u it shows.
  if ((tool == "tc_wrap.py" || tool == "tc_wrap") &&
      has([](std::string_view word) { return word.starts_with("-u") || word.starts_with("--skprio_up"); }))
    return "[[lossless]] or [[pfc]]";
  return tool == "run_srp_daemon" ? "[srp_initiator] and [[srp_rule]]" : std::string_view();
}

/// "rdma statistic qp set link mlx5_0/1 auto type on" (rdma-statistic(8)).
bool sets_counters(const std::vector<std::string>& words) {
  if (words.front() != "rdma" || words.size() < 4 || !words[1].starts_with("stat")) return false;
  return std::any_of(words.begin() + 2, words.end(), [](const std::string& word) {
    return word == "set" || word == "unset" || word == "bind" || word == "unbind";
  });
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

/// Whether the path of a script has a word of RDMA: "setup-ib.sh", "/etc/rdma/functions".
bool has_name_of_rdma(std::string_view path) {
  // "ib" by itself or before a number: not in "/lib/", "/bin/ibus".
  bool begins = true;
  const auto name = base::lower(path);
  for (std::size_t at = 0; at < name.size(); ++at) {
    const auto rest = std::string_view(name).substr(at);
    for (const std::string_view part : {"rdma", "infiniband", "ipoib", "roce", "openib", "mlnx", "mlx"}) {
      if (begins && rest.starts_with(part)) return true;
    }
    const char behind = rest.size() > 2 ? rest[2] : '.';
    if (begins && rest.starts_with("ib") && std::isalpha(static_cast<unsigned char>(behind)) == 0)
      return true;
    begins = std::isalpha(static_cast<unsigned char>(rest.front())) == 0;
  }
  return false;
}

/// The path by which a command is called: "/usr/local/sbin/setup-ib.sh"; empty where it is without one.
std::string_view path_of_command(const std::vector<std::string>& words, std::string_view text) {
  for (auto word : words_of(text)) {
    while (!word.empty() && (word.front() == '"' || word.front() == '\'')) word.remove_prefix(1);
    while (!word.empty() && (word.back() == '"' || word.back() == '\'')) word.remove_suffix(1);
    if (word.starts_with('/') && word.substr(word.rfind('/') + 1) == words.front()) return word;
  }
  return {};
}

/// The script of "/usr/local/sbin/setup-ib.sh eth2"; empty for other commands.
std::string_view called_script_of_rdma(const std::vector<std::string>& words, std::string_view text) {
  const auto path = path_of_command(words, text);
  return !is_of_package(path) && is_named_for_rdma(path) ? path : std::string_view();
}

/// The script of ". FILE", "source FILE" and "sh FILE", if its name has to do with RDMA: other files hold
/// functions and settings of the distribution.
std::string_view script_of_rdma(const std::vector<std::string>& words) {
  constexpr auto kReadersOfScripts =
      std::to_array<std::string_view>({".", "source", "sh", "bash", "dash", "ksh"});
  if (std::find(kReadersOfScripts.begin(), kReadersOfScripts.end(), words.front()) == kReadersOfScripts.end())
    return {};
  const auto file = std::find_if(words.begin() + 1, words.end(),
                                 [](const std::string& word) { return !word.starts_with('-'); });
  const bool is_text = std::find(words.begin(), words.end(), "-c") != words.end();
  if (is_text || file == words.end() || file->find('/') == std::string::npos) return {};
  // Of variables alone; other formats read those for RDMA.
  const bool settings = file->ends_with(".conf") || file->find("/ifcfg-") != std::string::npos ||
                        file->starts_with("/etc/default/") || file->starts_with("/etc/sysconfig/");
  return !settings && has_name_of_rdma(*file) ? std::string_view(*file) : std::string_view();
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

bool is_named_for_rdma(std::string_view path) {
  const auto name = path.substr(path.rfind('/') + 1);
  if (name == "rdma" || name == "openibd") return false;  // ip(8)'s sister, and a service
  if (path.starts_with("/etc/") || name.ends_with(".sh")) return has_name_of_rdma(path);
  // Tools of perftest and MLNX_OFED in a folder such as /usr/local/bin.
  const bool program =
      name.ends_with("_bw") || name.ends_with("_lat") || name.starts_with("mlx") || name.starts_with("mlnx");
  return !program && has_name_of_rdma(name);
}

bool is_of_package(std::string_view path) {
  constexpr auto kFoldersOfPackages = std::to_array<std::string_view>(
      {"/bin/", "/sbin/", "/lib", "/usr/bin/", "/usr/sbin/", "/usr/lib", "/usr/share/"});
  return std::any_of(kFoldersOfPackages.begin(), kFoldersOfPackages.end(),
                     [&](std::string_view folder) { return path.starts_with(folder); });
}

std::string kept_command_advice(const std::vector<std::string>& words, std::string_view text,
                                const Claims& claims) {
  if (words.empty()) return {};
  if (const auto section = section_of_options(words); !section.empty())
    return fmt::format("write {}", section);
  if (sets_counters(words))
    return "the document does not support counters of RDMA devices; keep this command";
  if (binds_to_zone(words, claims)) return "the document does not support firewall zones; keep this command";
  if (const auto key = key_of_resolver(words, claims); !key.empty())
    return fmt::format("write {} into the entry of the interface", key);
  if (const auto file = file_of_sysctl(words); !file.empty())
    return fmt::format(
        "the settings are in another file; to take them over, run `rdma-configctl import sysctl {}`", file);
  auto file_of_commands = script_of_rdma(words);
  if (file_of_commands.empty()) file_of_commands = called_script_of_rdma(words, text);
  if (!file_of_commands.empty())
    return fmt::format(
        "the commands are in another file; to take them over, run `rdma-configctl import scripts {}`",
        file_of_commands);
  if (sets_found_interfaces(words, text)) return "the interfaces are known only when the script runs";
  if (const auto subject = subject_of_write(words, text, claims); !subject.empty())
    return fmt::format("the document does not support {}; keep this command", subject);
  return {};
}

}  // namespace rdmacfg::foreign
