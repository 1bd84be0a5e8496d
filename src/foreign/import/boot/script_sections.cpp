// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/boot/script_sections.hpp"

#include <algorithm>
#include <array>
#include <span>

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
    {"lldptool", "", "[[lossless]] or [[pfc]]"},
    {"cma_roce_mode", "", "[[roce]]"},
    {"cma_roce_tos", "", "[[roce]]"},
    {"rxe_cfg", "", "[[soft_rdma]]"},
    {"rdma", "link", "[[soft_rdma]]"},
    {"rdma", "dev", "[[rdma_device]]"},
    {"rdma", "system", "[rdma_system]"},
    {"opensm", "", "[[opensm]]"},
    {"ulimit", "-l", "[[memlock]]"},
    {"nvme", "connect", "[[nvme_connection]]"},
    {"nvme", "connect-all", "[[nvme_connection]]"},
    {"iscsiadm", "", "[[iser_session]]"},
    {"mount", "", "[[nfs_mount]]"},
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
                                                       {"/neigh/default/gc_thresh", "[[sysctl]]"},
                                                       {"neigh.default.gc_thresh", "[[sysctl]]"}});

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
/// start".
std::string_view section_of_service(const std::vector<std::string>& words) {
  std::vector<std::string_view> plain;
  for (const auto& word : words) {
    if (!word.starts_with('-')) plain.emplace_back(word);
  }
  if (plain.size() < 2) return {};
  if (plain[0] == "service" && plain.size() > 2) {
    plain = {"systemctl", plain[2], plain[1]};
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
       {"/net/ipv4/conf/", "/net/ipv4/neigh/", "net.ipv4.conf.", "net.ipv4.neigh."}) {
    const auto at = text.find(parent);
    if (at == std::string_view::npos) continue;
    const auto rest = text.substr(at + parent.size());
    const auto name = rest.substr(0, rest.find(parent.back()));
    if (claims.knows(name) && !is_pattern(name)) return true;
  }
  return false;
}

}  // namespace

std::string_view script_section(const std::vector<std::string>& words, std::string_view text,
                                const Claims& claims) {
  if (words.empty() || std::find(words.begin(), words.end(), "show") != words.end()) return {};
  for (const auto& tool : kTools) {
    const bool second = tool.second.empty() || (words.size() > 1 && words[1] == tool.second);
    const bool by_option = tool.command == "nvme" || tool.command == "mount";
    const bool other = (by_option && text.find("rdma") == std::string_view::npos) ||  // over TCP
                       (tool.command == "iscsiadm" && text.find("iser") == std::string_view::npos);
    if (words.front() == tool.command && second && !other)
      return tool.command == "rdma" && words.size() < 4 ? std::string_view() : tool.section;  // it lists
  }
  if (const auto section = section_of_service(words); !section.empty()) return section;
  const bool sets = std::any_of(words.begin() + 1, words.end(),
                                [](const std::string& word) { return word.find('=') != std::string::npos; });
  const bool writes = std::any_of(words.begin(), words.end(),
                                  [](const std::string& word) { return word.starts_with('>'); }) ||
                      (words.front() == "sysctl" && sets);
  for (const auto& attribute : kAttributes) {
    if (writes && text.find(attribute.part) != std::string_view::npos) return attribute.section;
  }
  const bool nfs =
      text.find("/nfsd/portlist") != std::string_view::npos && text.find("rdma") != std::string_view::npos;
  if (writes && nfs) return "[nfs_server]";
  return writes && sets_kernel(text, claims) ? "[[sysctl]]" : std::string_view();
}

}  // namespace rdmacfg::foreign
