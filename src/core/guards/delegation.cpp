// SPDX-License-Identifier: Apache-2.0
#include "core/guards/delegation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "catalog/all.hpp"
#include "config/check.hpp"

namespace rdmacfg::core {

namespace {

using model::Section;

/// Why root alone may set something; nothing where everybody with org.rdmaconfigd1.apply may.
using Rule = std::optional<std::string>;

template <std::size_t N>
bool among(const std::array<std::string_view, N>& patterns, const std::string& text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](auto pattern) { return base::matches_glob(pattern, text); });
}

/// Sections about interfaces, ports and the fabric alone: a network administrator's work. A [[cable]] changes
/// nothing.
constexpr std::array<std::string_view, 12> kFree{"ipoib",     "ipoib.*", "pfc",         "lossless",
                                                 "initramfs", "opensm",  "mlx4_port",   "partition",
                                                 "soft_rdma", "roce",    "rdma_device", "cable"};

/// Drivers of RDMA adapters, the RDMA stack, and protocols over it.
constexpr std::array<std::string_view, 41> kModules{
    "mlx4_*",      "mlx5_*",   "ib_*",      "rdma_*",   "iw_*",    "rdmavt",        "hfi1",
    "qib",         "opa_vnic", "cxgb4",     "bnxt_en",  "bnxt_re", "irdma",         "i40iw",
    "ice",         "i40e",     "qed",       "qede",     "qedr",    "be2net",        "ocrdma",
    "efa",         "erdma",    "hns_roce*", "hns3",     "mana",    "mana_ib",       "vmw_pvrdma",
    "usnic_verbs", "siw",      "rpcrdma",   "xprtrdma", "svcrdma", "nvme_rdma",     "nvmet_rdma",
    "smc",         "smc_diag", "rds",       "rds_rdma", "ionic",   "nvidia_peermem"};

/// Services of rdma-core, OpenSM, and their like. Not srp_daemon, which logs in to every target that its
/// rules do not refuse, and so adds disks that others write.
constexpr std::array<std::string_view, 10> kUnits{
    "rdma-ndd.service",    "iwpmd.service",  "ibacm.service",  "ibacm.socket", "rdma.service",
    "rdma-load-modules@*", "rdma-hw.target", "opensm.service", "opensm@*",     "openibd.service"};

/// Those that start jobs which lock memory.
constexpr std::array<std::string_view, 6> kJobUnits{"slurmd.service",  "pbs.service",
                                                    "pbs_mom.service", "condor.service",
                                                    "lsfd.service",    "gridengine-exec.service"};

/// Outside of net/.
constexpr std::array<std::string_view, 8> kSysctls{"vm/zone_reclaim_mode", "vm/swappiness",
                                                   "vm/dirty_ratio",       "vm/dirty_background_ratio",
                                                   "vm/dirty_bytes",       "vm/dirty_background_bytes",
                                                   "vm/max_map_count",     "kernel/numa_balancing"};

/// Inside of net/: they guard the host against its own users, the kernel against code, or the log against
/// floods: messages of the network have a limit (message_cost), and those of packets that connection tracking
/// takes for invalid have none.
constexpr std::array<std::string_view, 6> kGuards{"net/core/bpf_jit_*",
                                                  "net/core/message_*",
                                                  "net/ipv4/ip_unprivileged_port_start",
                                                  "net/ipv4/conf/*/route_localnet",
                                                  "net/ipv4/ping_group_range",
                                                  "net/netfilter/nf_conntrack_log_invalid"};

/// Options of OpenSM (osm_subnet.c) that are numbers or words: routing, timing, limits, quality of service.
/// None that names a file, a folder, a plugin, a console or a key, that opens partitions, or that makes
/// OpenSM fill the disk with messages (log_flags).
constexpr std::array<std::string_view, 41> kOpensmOptions{"max_wire_smps*",
                                                          "max_smps_timeout",
                                                          "transaction_timeout",
                                                          "transaction_retries",
                                                          "sweep_interval",
                                                          "sweep_on_trap",
                                                          "reassign_lids",
                                                          "lmc",
                                                          "lmc_esp0",
                                                          "force_link_speed*",
                                                          "force_link_width",
                                                          "routing_engine",
                                                          "avoid_throttled_links",
                                                          "max_msg_fifo_timeout",
                                                          "subnet_timeout",
                                                          "packet_life_time",
                                                          "vl_stall_count",
                                                          "leaf_vl_stall_count",
                                                          "head_of_queue_lifetime",
                                                          "leaf_head_of_queue_lifetime",
                                                          "local_phy_errors_threshold",
                                                          "overrun_errors_threshold",
                                                          "use_mfttop",
                                                          "sminfo_polling_timeout",
                                                          "polling_retry_number",
                                                          "babbling_port_policy",
                                                          "drop_event_subscriptions",
                                                          "ipoib_mcgroup_creation_validation",
                                                          "mcgroup_join_validation",
                                                          "use_original_extended_sa_rates_only",
                                                          "single_thread",
                                                          "force_heavy_sweep*",
                                                          "heavy_sweep_interval",
                                                          "disable_multicast",
                                                          "port_profile_switch_nodes",
                                                          "connect_roots",
                                                          "use_ucast_cache",
                                                          "scatter_ports",
                                                          "max_reverse_hops",
                                                          "max_op_vls",
                                                          "qos*"};

/// Neither a path nor anything that a shell or a parser takes apart.
bool is_plain(std::string_view value) {
  constexpr std::size_t kMost = 512;
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_,.:+-";
  return value.size() <= kMost && value.find_first_not_of(kPlain) == std::string_view::npos &&
         value.find("..") == std::string_view::npos;
}

std::string text_of(const Section& section, std::string_view key) {
  const auto* entry = section.find(key);
  return entry == nullptr ? std::string() : model::text_of(entry->value);
}

std::vector<std::string> list_of(const model::Value& value) {
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) return *list;
  return {model::text_of(value)};
}

std::string with_suffix(const std::string& unit) {
  return unit.find('.') == std::string::npos ? unit + ".service" : unit;
}

/// A unit of kUnits. The instance of a template is a plain word, since rdma-load-modules@.service makes a
/// path of it (%I): its instance "..-..-..-tmp-x" reads /tmp/x.conf, and loads the modules listed there.
bool is_unit_of_rdma(const std::string& unit) {
  if (!among(kUnits, unit)) return false;
  const auto at = unit.find('@');
  if (at == std::string::npos) return true;
  auto instance = std::string_view(unit).substr(at + 1);
  if (constexpr std::string_view kSuffix = ".service"; instance.ends_with(kSuffix))
    instance.remove_suffix(kSuffix.size());
  constexpr std::string_view kWord = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  return !instance.empty() && instance.find_first_not_of(kWord) == std::string_view::npos;
}

/// "[[sysctl]]" or "[daemon]", as the section is written.
std::string header_of(std::string_view path) {
  bool repeated = true;
  const auto* specs = &kinds::grammar();
  for (const auto name : base::split(path, '.')) {
    const auto at =
        std::find_if(specs->begin(), specs->end(), [&](const auto& spec) { return spec.name == name; });
    if (at == specs->end()) break;
    repeated = at->repeated;
    specs = &at->children;
  }
  return config::label_of(path, repeated);
}

/// With fewer maps than the kernel's default (DEFAULT_MAX_MAP_COUNT) programs do not start, root's included.
bool are_enough_maps(std::string_view value) {
  constexpr std::uint64_t kDefault = 65'530;
  if (value.starts_with('0')) return false;  // octal for the kernel
  const auto number = base::parse_number(value);
  return number && *number >= kDefault;
}

Rule sysctl_rule(const Section& section, system::Host& host) {
  const auto key = text_of(section, "key");
  if (key.empty()) return std::nullopt;  // of an interface: ARP and source addresses
  if (among(kGuards, key) || !(key.starts_with("net/") || among(kSysctls, key)))
    return fmt::format("{} is not a delegated network or memory setting", key);
  if (host.sysctl.hidden(key)) return fmt::format("only root may read {}", key);
  if (key == "vm/max_map_count" && !are_enough_maps(text_of(section, "value")))
    return fmt::format("{} is less than the kernel's default, 65530", key);
  return std::nullopt;
}

Rule module_rule(const Section& section, std::string_view key, const model::Value& value,
                 system::Host& host) {
  const auto name = text_of(section, "name");
  if (!among(kModules, name)) return fmt::format("{} is not a module of the RDMA stack", name);
  if (key != "options") return std::nullopt;
  for (const auto& option : list_of(value)) {
    const auto equals = std::min(option.find('='), option.size());
    auto parameter = option.substr(0, equals);
    std::replace(parameter.begin(), parameter.end(), '-', '_');  // one name for the kernel
    if (name == "ib_core" && parameter == "netns_mode") return "this is netns of [rdma_system]";
    // The kernel takes "MODULE.dyndbg" from any module (ddebug_dyndbg_param_cb() in lib/dynamic_debug.c).
    if (parameter == "dyndbg" || parameter.ends_with(".dyndbg"))
      return "dyndbg makes the kernel log debug messages";
    if (!is_plain(std::string_view(option).substr(std::min(equals + 1, option.size()))))
      return fmt::format("the value of {} is not a number or a plain word", parameter);
    if (host.modules.hidden(name, parameter)) return fmt::format("only root may read {}", parameter);
  }
  return std::nullopt;
}

Rule memlock_rule(std::string_view key, const model::Value& value, system::Host& host) {
  if (key == "domain") {
    const auto domain = model::text_of(value);
    if (!domain.starts_with('@') || domain == "@rdma") return std::nullopt;
    const auto exists = host.accounts.has_group(domain.substr(1));
    if (exists && *exists) return std::nullopt;
    return fmt::format("group {} does not exist and would be created", domain.substr(1));
  }
  if (key != "units") return std::nullopt;
  for (const auto& unit : list_of(value)) {
    const auto name = with_suffix(unit);
    if (!is_unit_of_rdma(name) && !among(kJobUnits, name))
      return fmt::format("{} is not a service of RDMA or of jobs", name);
  }
  return std::nullopt;
}

Rule opensm_rule(const Section& section) {
  const auto key = text_of(section, "key");
  if (!among(kOpensmOptions, key) || key.ends_with("_file") || key.ends_with("_dir"))
    return fmt::format("{} is not an option of routing, timing or quality of service", key);
  if (!is_plain(text_of(section, "value")))
    return fmt::format("the value of {} is not a number or a plain word", key);
  return std::nullopt;
}

/// Everything that is not known to be harmless is not.
Rule rule_against(const Section& section, std::string_view key, const model::Value& value,
                  system::Host& host) {
  const auto& path = section.path;
  if (among(kFree, path)) return std::nullopt;
  if (path == "sysctl") return sysctl_rule(section, host);
  if (path == "module") return module_rule(section, key, value, host);
  if (path == "memlock") return memlock_rule(key, value, host);
  if (path == "opensm_option") return opensm_rule(section);
  if (path == "opensm.option" || path == "opensm.file")
    return "a subnet manager with its own options or files no longer reads root's opensm.conf";
  if (path == "service") {
    const auto name = with_suffix(text_of(section, "name"));
    if (is_unit_of_rdma(name)) return std::nullopt;
    return fmt::format("{} is not a service of RDMA", name);
  }
  return header_of(path) + " affects the host as a whole";
}

/// A setting that root alone may change.
struct Restricted {
  const Section* section;
  model::Location where;
  std::string rule;
};

/// By what it says: the entry by all of its keys that say which one it is, key and value.
using Found = std::map<std::string, Restricted>;

void find_identities(const std::vector<model::SectionSpec>& specs, std::set<std::string_view>& keys) {
  for (const auto& spec : specs) {
    for (const auto& identity : spec.identities) keys.insert(identity.begin(), identity.end());
    find_identities(spec.children, keys);
  }
}

/// The keys by which entries of any kind are told apart.
const std::set<std::string_view>& identity_keys() {
  static const auto kKeys = [] {
    std::set<std::string_view> keys;
    find_identities(kinds::grammar(), keys);
    return keys;
  }();
  return kKeys;
}

/// Other values have other texts, also lists of the same words.
std::string exact_text(const model::Value& value) {
  const auto* list = std::get_if<std::vector<std::string>>(&value);
  return list == nullptr ? model::text_of(value) : base::join(*list, "\n");
}

void find_restricted(const std::vector<Section>& sections, system::Host& host, Found& found,
                     const std::string& above = {}) {
  int rules = 0;
  for (const auto& section : sections) {
    std::string which = above + section.path;
    if (section.path == "srp_rule") which += fmt::format(" {}", ++rules);  // the first that matches decides
    for (const auto& [key, entry] : section.entries) {
      if (identity_keys().contains(key)) which += fmt::format("\n{} {}", key, model::text_of(entry.value));
    }
    for (const auto& [key, entry] : section.entries) {
      auto rule = rule_against(section, key, entry.value, host);
      if (!rule) continue;
      found.emplace(fmt::format("{}\n{}\n{}", which, key, exact_text(entry.value)),
                    Restricted{&section, entry.where, std::move(*rule)});
    }
    find_restricted(section.children, host, found, which + "\n");
  }
}

}  // namespace

model::Diagnostics beyond_delegation(const config::Document& wanted, const config::Document* active,
                                     system::Host& host) {
  Found fresh, stands;
  find_restricted(wanted.sections, host, fresh);
  if (active != nullptr) find_restricted(active->sections, host, stands);
  model::Diagnostics out;
  std::map<const Section*, bool> told;  // one for an entry is enough
  const auto tell = [&](const Restricted& restricted, model::Location where, std::string message) {
    if (!told.emplace(restricted.section, true).second) return;
    out.push_back(
        {model::Severity::kError,
         std::move(where),
         std::move(message),
         "ask root to apply it: root may set anything, org.rdmaconfigd1.apply only what SECURITY.md lists",
         {}});
  };
  for (const auto& [what, restricted] : fresh) {
    if (stands.contains(what)) continue;
    tell(restricted, restricted.where,
         fmt::format("{}: only root may set this: {}", header_of(restricted.section->path), restricted.rule));
  }
  for (const auto& [what, restricted] : stands) {
    if (fresh.contains(what)) continue;
    tell(restricted, {},
         fmt::format("{} of {} is in the active document, and only root may remove or change it: {}",
                     header_of(restricted.section->path), restricted.where.text(), restricted.rule));
  }
  return out;
}

}  // namespace rdmacfg::core
