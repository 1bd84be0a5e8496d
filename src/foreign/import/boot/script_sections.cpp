// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/boot/script_sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <span>

#include "base/text.hpp"
#include "foreign/import/boot/script_interfaces.hpp"
#include "foreign/import/boot/script_kept.hpp"
#include "foreign/import/boot/sysctl.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/import/rdma/interface_users.hpp"
#include "foreign/import/rdma/lustre.hpp"
#include "foreign/syntax/shell_line.hpp"

namespace rdmacfg::foreign {

namespace {

/// Commands for RDMA that the document has other words for: named, since what they set is lost otherwise.
struct Tool {
  std::string_view command;
  std::string_view second;  ///< its second word, where it has many uses
  std::string_view section;
};
constexpr auto kTools = std::to_array<Tool>({
    {"mlnx_qos", "", "[[lossless]] or [[pfc]]"},
    {"dcb", "apptrust", "[[pfc]], with trust"},
    {"dcb", "", "[[lossless]] or [[pfc]]"},
    {"dcbtool", "", "[[lossless]] or [[pfc]]"},
    {"lldptool", "", "[[lossless]] or [[pfc]]"},
    {"bnxtqos", "", "[[lossless]] or [[pfc]]"},
    {"niccli", "", "[[lossless]] or [[pfc]]"},
    {"bnxt_setupcc.sh", "", "[[lossless]] or [[pfc]]"},
    {"connectx_port_config", "", "[[mlx4_port]]"},
    {"rpc.nfsd", "", "[nfs_server]"},
    {"nfsdctl", "", "[nfs_server]"},
    {"targetcli", "", "[[lio_target]]"},
    {"ibacm", "", "[[service]]"},
    {"iwpmd", "", "[[service]]"},
    {"rdma-ndd", "", "[[service]]"},
    {"cma_roce_mode", "", "[[roce]]"},
    {"cma_roce_tos", "", "[[roce]]"},
    {"rxe_cfg", "", "[[soft_rdma]]"},
    {"rdma", "link", "[[soft_rdma]]"},
    {"rdma", "dev", "[[rdma_device]]"},
    {"rdma", "system", "[rdma_system]"},
    {"opensm", "", "[[opensm]]"},
    {"nvme", "connect", "[[nvme_connection]]"},
    {"nvme", "connect-all", "[[nvme_connection]]"},
    {"nvmetcli", "restore", "[[nvme_target]]"},
    {"iscsiadm", "", "[[iser_session]]"},
    {"mount", "", "[[nfs_mount]]"},
    {"mount.nfs", "", "[[nfs_mount]]"},
    {"mount.nfs4", "", "[[nfs_mount]]"},
    {"srp_daemon", "", "[srp_initiator] and [[srp_rule]]"},
});

/// Files of the kernel into which scripts write for RDMA.
struct Attribute {
  std::string_view part;
  std::string_view section;
};
constexpr auto kAttributes = std::to_array<Attribute>({{"/config/rdma_cm/", "[[roce]]"},
                                                       {"/mlx4_port", "[[mlx4_port]]"},
                                                       {"/add_target", "[[srp_rule]]"},
                                                       {"/config/target/srpt/", "[[lio_target]]"},
                                                       {"/neigh/default/gc_", "[[sysctl]]"},
                                                       {"neigh.default.gc_", "[[sysctl]]"}});

/// Files of the kernel for RDMA that the document has no words for.
struct Unsupported {
  std::string_view folder, part;
  std::string_view subject;
};
constexpr auto kUnsupported = std::to_array<Unsupported>({
    {"/sys/class/net/", "/ecn/roce_", "congestion control of RoCE"},
    {"/sys/class/infiniband/", "/traffic_class", "traffic classes of RDMA devices"},
    {"/sys/class/infiniband/", "/device/sriov", "virtual functions of RDMA devices"},
    {"/sys/class/infiniband/", "/node_desc", "node descriptions, which rdma-ndd sets"},
});

/// Tools for RDMA whose settings the document has no words for.
struct KeptTool {
  std::string_view command;
  std::string_view word;  ///< without which it sets nothing; empty: it always does
  std::string_view subject;
};
constexpr auto kKeptTools = std::to_array<KeptTool>({
    {"mlxconfig", "set", "settings of a device's firmware"},
    {"mstconfig", "set", "settings of a device's firmware"},
    {"mlxreg", "--set", "registers of a device"},
    {"mstreg", "--set", "registers of a device"},
    {"mlnx_tune", "-p", "tuning profiles"},
    {"mlnx_tune", "--profile", "tuning profiles"},
    {"devlink", "set", "settings of devlink(8)"},
    {"devlink", "add", "functions that devlink(8) adds"},
    {"devlink", "reload", "reloads by devlink(8)"},
    {"ethtool", "-A", "pause frames of links"},
    {"ethtool", "--pause", "pause frames of links"},
    {"ethtool", "fw-lldp-agent", "LLDP agents of firmware"},
    {"mlnx_affinity", "start", "interrupt affinities"},
    {"set_irq_affinity.sh", "", "interrupt affinities"},
    {"set_irq_affinity_bynode.sh", "", "interrupt affinities"},
    {"set_irq_affinity_cpulist.sh", "", "interrupt affinities"},
    {"smc_pnet", "-a", "PNET tables of SMC"},
    {"smc_pnet", "--add", "PNET tables of SMC"},
    {"smcr", "add", "user-defined identifiers of SMC"},
});

/// Services of RDMA, without what stands behind '@' or '.' in the unit's name.
struct Service {
  std::string_view name;
  std::string_view section;
};
constexpr auto kServices = std::to_array<Service>({{"opensm", "[[opensm]]"},
                                                   {"opensmd", "[[opensm]]"},
                                                   {"srp_daemon", "[srp_initiator] and [[srp_rule]]"},
                                                   {"srp_daemon_port", "[srp_initiator] and [[srp_rule]]"},
                                                   {"srpd", "[srp_initiator] and [[srp_rule]]"},
                                                   {"nvmf-autoconnect", "[[nvme_connection]]"},
                                                   {"openibd", "[[module]]"},
                                                   {"rdma", "[[module]]"},
                                                   {"rdma-load-modules", "[[module]]"},
                                                   {"rdma-ndd", "[[service]]"},
                                                   {"iwpmd", "[[service]]"},
                                                   {"ibacm", "[[service]]"}});

/// The section in place of "systemctl enable --now opensm", "service opensmd start", "/etc/init.d/srpd
/// start", "chkconfig opensmd on".
std::string_view section_of_service(const std::vector<std::string>& words) {
  std::vector<std::string_view> plain;
  for (const auto& word : words) {
    if (word.starts_with('>')) break;
    if (!word.starts_with('-')) plain.emplace_back(word);
  }
  if (plain.size() < 2) return {};
  if (plain[0] == "service" && plain.size() > 2) {
    plain = {"systemctl", plain[2], plain[1]};
  } else if (plain[0] == "update-rc.d" && plain.size() > 2) {
    // "update-rc.d opensm defaults 20 80"
    plain = {"systemctl", plain[2] == "defaults" ? "enable" : plain[2], plain[1]};
  } else if (plain[0] == "chkconfig" && plain.size() > 2) {
    // "chkconfig --level 2345 opensmd on"
    plain = {"systemctl", plain.back() == "on" ? "enable" : plain.back(), plain[plain.size() - 2]};
  } else if (plain[0] != "systemctl") {
    plain = {"systemctl", plain[1], plain[0]};
  }
  constexpr auto kVerbs = std::to_array<std::string_view>(
      {"start", "restart", "force-restart", "reload-or-restart", "enable", "reenable"});
  if (std::find(kVerbs.begin(), kVerbs.end(), plain[1]) == kVerbs.end()) return {};
  for (const auto unit : std::span(plain).subspan(2)) {
    const auto name = unit.substr(0, unit.find_first_of("@."));
    const auto at = std::find_if(kServices.begin(), kServices.end(),
                                 [&](const Service& service) { return service.name == name; });
    if (at != kServices.end()) return at->section;
  }
  return {};
}

/// Whether it is a setting of the kernel for an interface of ours: "net.ipv4.conf.ib0.arp_ignore".
bool sets_kernel(std::string_view text, const Claims& claims) {
  for (const std::string_view parent :
       {"/net/ipv4/conf/", "/net/ipv4/neigh/", "net.ipv4.conf.", "net.ipv4.neigh.", "/net/ipv6/conf/",
        "/net/ipv6/neigh/", "net.ipv6.conf.", "net.ipv6.neigh."}) {
    const auto at = text.find(parent);
    if (at == std::string_view::npos) continue;
    const auto rest = text.substr(at + parent.size());
    const auto name = rest.substr(0, rest.find(parent.back()));
    if (claims.knows(name) && !is_pattern(name)) return true;
    // Of all interfaces, the settings that `import sysctl` reads.
    if (name != "all" && name != "default") continue;
    const auto key = rest.substr(std::min(name.size() + 1, rest.size()));
    constexpr auto kOfRails = std::to_array<std::string_view>(
        {"arp_ignore", "arp_announce", "arp_filter", "rp_filter", "accept_local"});
    if (parent.find("conf") != std::string_view::npos &&
        std::find(kOfRails.begin(), kOfRails.end(), key.substr(0, key.find_first_of("= \t"))) !=
            kOfRails.end())
      return true;
  }
  return false;
}

/// Whether a tool with many uses is called for something else than RDMA, such as NVMe over TCP, or only
/// shows.
bool is_for_others(std::string_view tool, std::string_view text) {
  const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  if (tool == "nvme" || tool.starts_with("mount") || tool == "rpc.nfsd" || tool == "nfsdctl")
    return !has("rdma");
  if (tool == "iscsiadm") return !has("iser");
  if (tool == "bnxtqos") return has(" get_");
  if (tool == "niccli") return !has(" qos ");
  return tool == "targetcli" && !has("iser") && !has("srpt");
}

/// The subject of a setting that the words of a command tell; empty: it sets nothing.
std::string_view set_by_words(const std::vector<std::string>& words) {
  const auto is = [&](auto&& sets) { return std::any_of(words.begin() + 1, words.end(), sets); };
  // "setpci -s 10:00.0 68.w=5936"
  if (words.front() == "setpci" &&
      is([](const std::string& word) { return word.find('=') != std::string::npos; }))
    return "registers of PCI devices";
  // "ibportstate 3 1 disable"; without one of these it shows the state (port_args of ibportstate.c).
  constexpr auto kPortWords = std::to_array<std::string_view>(
      {"enable", "reset", "disable", "speed", "espeed", "fdr10", "width",     "down",     "arm", "active",
       "vls",    "mtu",   "lid",     "smlid", "lmc",    "mkey",  "mkeylease", "mkeyprot", "on",  "off"});
  if (words.front() == "ibportstate" && is([&](const std::string& word) {
        return std::find(kPortWords.begin(), kPortWords.end(), word) != kPortWords.end();
      }))
    return "states and speeds of ports of the fabric";
  return {};
}

/// Whether a command writes into a file, or sets a value of sysctl(8).
bool writes(const std::vector<std::string>& words) {
  const bool sets = std::any_of(words.begin() + 1, words.end(),
                                [](const std::string& word) { return word.find('=') != std::string::npos; });
  return words.front() == "tee" || (words.front() == "sysctl" && sets) ||
         std::any_of(words.begin(), words.end(),
                     [](const std::string& word) { return word.starts_with('>'); });
}

/// "sysctl -w net.rds.ib.max_send_wr=8", "echo 8 > /proc/sys/net/rds/ib/max_send_wr".
bool sets_rdma_module(const std::vector<std::string>& words) {
  constexpr std::string_view kProc = "/proc/sys/";
  return std::any_of(words.begin() + 1, words.end(), [&](std::string_view word) {
    word.remove_prefix(std::min(word.find_first_not_of('>'), word.size()));
    const bool file = word.starts_with(kProc);
    return (file || words.front() == "sysctl") && is_rdma_setting(file ? word.substr(kProc.size()) : word);
  });
}

/// The section in place of a write into a file of the kernel.
std::string_view section_of_write(std::string_view text, const Claims& claims) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  for (const auto& attribute : kAttributes) {
    if (has(attribute.part)) return attribute.section;
  }
  if (has("/nfsd/portlist") && has("rdma")) return "[nfs_server]";
  if (has("/config/nvmet/") && has("/addr_trtype") && has("rdma")) return "[[nvme_target]]";
  if (has("/config/target/iscsi/") && text.ends_with("/iser")) return "[[lio_target]]";
  constexpr std::string_view kModules = "/sys/module/";
  if (const auto at = text.find(kModules); at != std::string_view::npos && has("/parameters/")) {
    const auto name = text.substr(at + kModules.size());
    if (is_rdma_module(name.substr(0, name.find('/')))) return "[[module]], with its options";
  }
  return sets_kernel(text, claims) ? "[[sysctl]]" : std::string_view();
}

std::string_view section_of_command(const std::vector<std::string>& words, std::string_view text,
                                    const Claims& claims) {
  const auto has = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  // `mlnx_qos -i INTERFACE` alone shows what is set.
  if (has("show") || (words.front() == "mlnx_qos" && words.size() <= 3)) return {};
  // "$rdma_rename mlx5_0 NAME_FIXED rail0"
  if (words.front().ends_with("rdma_rename") && words.size() > 2) return "[[rdma_device]]";
  for (const auto& tool : kTools) {
    const bool second = tool.second.empty() || (words.size() > 1 && words[1] == tool.second);
    if (words.front() == tool.command && second && !is_for_others(tool.command, text))
      return tool.command == "rdma" && words.size() < 4 ? std::string_view() : tool.section;  // it lists
  }
  if (const auto section = section_of_service(words); !section.empty()) return section;
  if (!writes(words)) return {};
  return sets_rdma_module(words) ? "[[sysctl]]" : section_of_write(text, claims);
}

/// Whether it makes or changes a profile of NetworkManager for IPoIB (nmcli(1), which takes words cut short).
bool writes_profile(const std::vector<std::string>& words, std::string_view text, const Claims& claims) {
  if (words.front() != "nmcli") return false;
  const auto is = [&](auto&& fits) { return std::any_of(words.begin() + 1, words.end(), fits); };
  const bool writes = is([](const std::string& word) {
    return word == "add" || word == "edit" ||
           (word.size() > 1 && std::string_view("modify").starts_with(word));
  });
  const bool ours = text.find("infiniband") != std::string_view::npos ||
                    is([&](const std::string& word) { return claims.knows(word) && !is_pattern(word); });
  return writes && ours;
}

/// Whether a text has a name of IPoIB interfaces or a pattern of such: "ib0", "ib*", "ibp12s0", `grep ib`.
bool has_ipoib_name(std::string_view text, const Claims& claims) {
  if (has_known_name(text, claims)) return true;
  // These list interfaces of RDMA devices.
  for (const std::string_view lists : {"ibdev2netdev", "type ipoib"}) {
    if (text.find(lists) != std::string_view::npos) return true;
  }
  for (auto at = text.find("ib"); at != std::string_view::npos; at = text.find("ib", at + 1)) {
    const char before = at == 0 ? ' ' : text[at - 1], behind = at + 2 < text.size() ? text[at + 2] : ' ';
    const bool begins =
        std::isalnum(static_cast<unsigned char>(before)) == 0 && before != '_' && before != '-';
    const bool digit = behind >= '0' && behind <= '9';
    if (begins && (digit || std::string_view("*[?)ps\"'${` ").find(behind) != std::string_view::npos))
      return true;
  }
  return false;
}

bool is_of_name(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Whether a value is made of that of such a variable: "$IFACE", "${dev##*/}", "$(basename $dev)".
bool has_variable(std::string_view value, const InterfaceVariables& variables) {
  if (value.starts_with('"')) value.remove_prefix(1);
  if (!value.starts_with('$') && !value.starts_with('`')) return false;
  for (auto at = value.find('$'); at != std::string_view::npos; at = value.find('$', at + 1)) {
    auto name = value.substr(at + 1);
    if (name.starts_with('{')) name.remove_prefix(1);
    std::size_t end = 0;
    while (end < name.size() && is_of_name(name[end])) ++end;
    if (variables.contains(name.substr(0, end))) return true;
  }
  return false;
}

/// Adds NAME of "for NAME in $LIST", and of "for NAME" behind "set -- ib0 ib1".
void note_loops(std::string_view line, const Claims& claims, InterfaceVariables& variables) {
  for (const auto& part : parts_of(line)) {
    const auto words = words_of(part.text);
    if (words.size() < 2) continue;
    if (words[0] == "set" && has_ipoib_name(part.text, claims)) variables.emplace("@");
    if (words[0] != "for") continue;
    const bool arguments = words.size() == 2 || part.text.find("$@") != std::string_view::npos;
    const bool listed =
        words.size() > 3 &&
        has_variable(part.text.substr(static_cast<std::size_t>(words[3].data() - part.text.data())),
                     variables);
    if (listed || (arguments && variables.contains("@"))) variables.emplace(words[1]);
  }
}

/// Adds NAME of "NAME=ib0", of "NAME=$IFACE" where that is such a variable, and of "NAME=$(ls | grep ib)".
void note_assignments(std::string_view line, const Claims& claims, InterfaceVariables& variables) {
  constexpr std::size_t kMostOfCommand = 256;
  for (const auto& part : parts_of(line)) {
    const auto equals = part.text.find('=');
    if (equals == std::string_view::npos) continue;
    auto name = part.text.substr(0, equals);
    name = name.substr(name.find_last_of(" \t") + 1);
    if (name.empty() || !std::all_of(name.begin(), name.end(), is_of_name)) continue;
    auto value = part.text.substr(equals + 1);
    // The parts behind this one have the end of a command in a value.
    if (value.starts_with("$(") || value.starts_with('`'))
      value = line.substr(static_cast<std::size_t>(value.data() - line.data()), kMostOfCommand);
    if (has_ipoib_name(value, claims) || has_variable(value, variables)) variables.emplace(name);
  }
}

}  // namespace

std::string script_advice(const std::vector<std::string>& words, std::string_view text,
                          const Claims& claims) {
  if (words.empty()) return {};
  if (const auto section = section_of_command(words, text, claims); !section.empty())
    return fmt::format("write {}", section);
  if (writes_profile(words, text, claims))
    return "NetworkManager keeps the profile in a separate file, which `import nm` reads";
  if (const auto subject = set_by_words(words); !subject.empty())
    return fmt::format("the document does not support {}; keep this command", subject);
  if (const auto name = interface_of_lnetctl(words, claims); !name.empty())
    return fmt::format(
        "LNet refers to {} by name: if the document renames the interface, change this command too", name);
  if (auto advice = advice_for_device_users(words); !advice.empty()) return advice;
  if (auto advice = kept_command_advice(words, text, claims); !advice.empty()) return advice;
  const bool of_vf = words.front() == "ip" && text.find(" vf ") != std::string_view::npos &&
                     text.find("_guid ") != std::string_view::npos;
  if (of_vf) return "the document does not support virtual functions of RDMA devices; keep this command";
  for (const auto& [command, word, subject] : kKeptTools) {
    if (words.front() == command &&
        (word.empty() || std::find(words.begin(), words.end(), word) != words.end()))
      return fmt::format("the document does not support {}; keep this command", subject);
  }
  if (!writes(words)) return {};
  for (const auto& [folder, part, subject] : kUnsupported) {
    if (text.find(folder) != std::string_view::npos && text.find(part) != std::string_view::npos)
      return fmt::format("the document does not support {}; keep this command", subject);
  }
  return {};
}

std::string_view without_block_word(std::string_view command) {
  for (const std::string_view word : {"then ", "else ", "do "}) {
    if (command.starts_with(word)) command = base::trim(command.substr(word.size()));
  }
  return command;
}

std::string script_advice(std::string_view command, const Claims& claims) {
  const auto script = script_of_shell(command);
  if (script.empty()) return script_advice(shell_words(command, ""), command, claims);
  for (const auto& part : parts_of(script)) {
    const auto text = without_block_word(part.text);
    if (auto advice = script_advice(shell_words(text, ""), text, claims); !advice.empty()) return advice;
  }
  return {};
}

bool touches_ipoib(std::string_view text) {
  if (only_reads(text)) return false;
  const bool attribute =
      text.find("/sys/class/net/") != std::string_view::npos &&
      (text.find("/mode") != std::string_view::npos || text.find("_child") != std::string_view::npos ||
       text.find("/umcast") != std::string_view::npos);
  const bool shows = text.find(" show ") != std::string_view::npos ||
                     text.find(" list ") != std::string_view::npos ||
                     text.find(" ls ") != std::string_view::npos;
  return attribute || (!shows && text.find("type ipoib") != std::string_view::npos);
}

bool writes_mode(const std::vector<std::string>& words) {
  const bool writes = words.size() > 3 && words[0] == "echo" &&
                      (words[1] == "connected" || words[1] == "datagram") && words[2] == ">";
  return writes && (words[3].find_first_of("$`") != std::string::npos || words[3] == "mode" ||
                    words[3].ends_with("/mode"));
}

std::string_view variable_of(std::string_view word) {
  if (!word.starts_with('$')) return {};
  word.remove_prefix(1);
  if (word.starts_with('{') && word.ends_with('}')) word = word.substr(1, word.size() - 2);
  return word;
}

bool may_be_ipoib(std::string_view word, const InterfaceVariables& variables) {
  const bool composed = word.starts_with("ib") && word.find_first_of("$`{") != std::string_view::npos;
  const auto name = variable_of(word);
  return composed || variables.contains(name.substr(0, name.find('[')));  // an element of an array
}

void note_variables(std::string_view line, const Claims& claims, InterfaceVariables& variables) {
  note_assignments(line, claims, variables);
  note_loops(line, claims, variables);
  if (!has_ipoib_name(line, claims)) return;
  const auto words = words_of(line);
  if (words.size() > 2 && words[0] == "for") variables.emplace(words[1]);
  for (const auto& part : parts_of(line)) {
    const auto read = words_of(part.text);
    for (std::size_t at = 2; at < read.size() && read[0] == "while" && read[1] == "read"; ++at)
      variables.emplace(read[at]);
  }
  for (const auto* name : {"1", "IFACE", "INTERFACE", "DEVICE_IFACE", "DEVICE_IP_IFACE"})
    variables.emplace(name);
}

}  // namespace rdmacfg::foreign
