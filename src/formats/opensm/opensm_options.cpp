// SPDX-License-Identifier: Apache-2.0
#include "formats/opensm/opensm_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/text.hpp"
#include "formats/opensm/opensm_replaced.hpp"

namespace rdmacfg::kinds {

namespace {

constexpr std::array<std::string_view, 48> kOpensmBooleans{"accum_log_file",
                                                           "allow_both_pkeys",
                                                           "avoid_throttled_links",
                                                           "babbling_port_policy",
                                                           "congestion_control",
                                                           "connect_roots",
                                                           "consolidate_ipv6_snm_req",
                                                           "daemon",
                                                           "disable_multicast",
                                                           "do_mesh_analysis",
                                                           "drop_event_subscriptions",
                                                           "enable_quirks",
                                                           "exit_on_fatal",
                                                           "force_heavy_sweep",
                                                           "force_log_flush",
                                                           "fsync_high_avail_files",
                                                           "guid_routing_order_no_scatter",
                                                           "honor_guid2lid_file",
                                                           "ignore_other_sm",
                                                           "ipoib_mcgroup_creation_validation",
                                                           "keep_pkey_indexes",
                                                           "lmc_esp0",
                                                           "m_key_lookup",
                                                           "mcgroup_join_validation",
                                                           "no_clients_rereg",
                                                           "no_partition_enforcement",
                                                           "nue_include_switches",
                                                           "perfmgr",
                                                           "perfmgr_ignore_cas",
                                                           "perfmgr_log_errors",
                                                           "perfmgr_query_cpi",
                                                           "perfmgr_redir",
                                                           "perfmgr_rm_nodes",
                                                           "perfmgr_xmit_wait_log",
                                                           "port_profile_switch_nodes",
                                                           "port_shifting",
                                                           "qos",
                                                           "quasi_ftree_indexing",
                                                           "reassign_lids",
                                                           "sa_db_dump",
                                                           "single_thread",
                                                           "sm_inactive",
                                                           "suppress_sl2vl_mad_status_errors",
                                                           "sweep_on_trap",
                                                           "use_mfttop",
                                                           "use_optimized_slvl",
                                                           "use_original_extended_sa_rates_only",
                                                           "use_ucast_cache"};
constexpr std::array<std::string_view, 25> kOpensmBytes{"cc_sw_cong_setting_credit_starvation_threshold",
                                                        "cc_sw_cong_setting_packet_size",
                                                        "cc_sw_cong_setting_threshold",
                                                        "fdr10",
                                                        "force_link_speed",
                                                        "force_link_speed_ext",
                                                        "force_link_width",
                                                        "head_of_queue_lifetime",
                                                        "lash_start_vl",
                                                        "leaf_head_of_queue_lifetime",
                                                        "leaf_vl_stall_count",
                                                        "lmc",
                                                        "local_phy_errors_threshold",
                                                        "log_flags",
                                                        "m_key_protection_level",
                                                        "max_op_vls",
                                                        "max_rate_enum",
                                                        "nue_max_num_vls",
                                                        "overrun_errors_threshold",
                                                        "packet_life_time",
                                                        "sm_assigned_guid",
                                                        "sm_priority",
                                                        "sm_sl",
                                                        "subnet_timeout",
                                                        "vl_stall_count"};
constexpr std::array<std::string_view, 7> kOpensmShorts{"cc_ca_cong_setting_control_map",
                                                        "cc_ca_cong_setting_port_control",
                                                        "cc_sw_cong_setting_marking_rate",
                                                        "console_port",
                                                        "m_key_lease_period",
                                                        "max_reverse_hops",
                                                        "perfmgr_sweep_time_s"};
constexpr std::array<std::string_view, 21> kOpensmWords{"cc_max_outstanding_mads",
                                                        "cc_sw_cong_setting_control_map",
                                                        "log_max_size",
                                                        "long_transaction_timeout",
                                                        "max_msg_fifo_timeout",
                                                        "max_smps_timeout",
                                                        "max_wire_smps",
                                                        "max_wire_smps2",
                                                        "perfmgr_max_outstanding_queries",
                                                        "perfmgr_xmit_wait_threshold",
                                                        "polling_retry_number",
                                                        "qos_ca_max_vls",
                                                        "qos_max_vls",
                                                        "qos_rtr_max_vls",
                                                        "qos_sw0_max_vls",
                                                        "qos_swe_max_vls",
                                                        "scatter_ports",
                                                        "sminfo_polling_timeout",
                                                        "sweep_interval",
                                                        "transaction_retries",
                                                        "transaction_timeout"};
constexpr std::array<std::string_view, 6> kOpensmLongs{"cc_key", "guid",   "m_key",
                                                       "sa_key", "sm_key", "subnet_prefix"};
constexpr std::array<std::string_view, 55> kOpensmTexts{"cc_ca_cong_setting_ccti_increase",
                                                        "cc_ca_cong_setting_ccti_min",
                                                        "cc_ca_cong_setting_ccti_timer",
                                                        "cc_ca_cong_setting_trigger_threshold",
                                                        "cc_cct",
                                                        "cc_sw_cong_setting_credit_mask",
                                                        "cc_sw_cong_setting_credit_starvation_return_delay",
                                                        "cc_sw_cong_setting_victim_mask",
                                                        "cn_guid_file",
                                                        "console",
                                                        "dimn_ports_file",
                                                        "dump_files_dir",
                                                        "event_db_dump_file",
                                                        "event_plugin_name",
                                                        "event_plugin_options",
                                                        "guid_routing_order_file",
                                                        "hop_weights_file",
                                                        "ids_guid_file",
                                                        "io_guid_file",
                                                        "lfts_file",
                                                        "lid_matrix_dump_file",
                                                        "log_file",
                                                        "log_prefix",
                                                        "node_name_map_name",
                                                        "part_enforce",
                                                        "partition_config_file",
                                                        "per_module_logging_file",
                                                        "port_prof_ignore_file",
                                                        "port_search_ordering_file",
                                                        "prefix_routes_file",
                                                        "qos_ca_high_limit",
                                                        "qos_ca_sl2vl",
                                                        "qos_ca_vlarb_high",
                                                        "qos_ca_vlarb_low",
                                                        "qos_high_limit",
                                                        "qos_policy_file",
                                                        "qos_rtr_high_limit",
                                                        "qos_rtr_sl2vl",
                                                        "qos_rtr_vlarb_high",
                                                        "qos_rtr_vlarb_low",
                                                        "qos_sl2vl",
                                                        "qos_sw0_high_limit",
                                                        "qos_sw0_sl2vl",
                                                        "qos_sw0_vlarb_high",
                                                        "qos_sw0_vlarb_low",
                                                        "qos_swe_high_limit",
                                                        "qos_swe_sl2vl",
                                                        "qos_swe_vlarb_high",
                                                        "qos_swe_vlarb_low",
                                                        "qos_vlarb_high",
                                                        "qos_vlarb_low",
                                                        "root_guid_file",
                                                        "routing_engine",
                                                        "sa_db_file",
                                                        "torus_config"};

template <std::size_t N>
bool is_among(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The largest number of an option, below that of its type: by osm_subn_verify_config(), or by the field of
/// PortInfo or SwitchInfo that it is sent in (14.2.5.4, 14.2.5.6), for which OpenSM cuts it.
struct NumberLimit {
  std::string_view name;
  std::uint64_t most;
  bool cut = false;
};
constexpr std::array kOpensmLimits{NumberLimit{"fdr10", 2},
                                   NumberLimit{"force_link_speed", 15},
                                   NumberLimit{"force_link_speed_ext", 31},
                                   NumberLimit{"head_of_queue_lifetime", 31, true},
                                   NumberLimit{"leaf_head_of_queue_lifetime", 31, true},
                                   NumberLimit{"leaf_vl_stall_count", 7, true},
                                   NumberLimit{"lmc", 7},
                                   NumberLimit{"local_phy_errors_threshold", 15, true},
                                   NumberLimit{"m_key_protection_level", 3},
                                   NumberLimit{"max_wire_smps", 0x7fffffff},
                                   NumberLimit{"max_wire_smps2", 0x7fffffff},
                                   NumberLimit{"overrun_errors_threshold", 15, true},
                                   NumberLimit{"packet_life_time", 31, true},
                                   NumberLimit{"qos_ca_max_vls", 15},
                                   NumberLimit{"qos_max_vls", 15},
                                   NumberLimit{"qos_rtr_max_vls", 15},
                                   NumberLimit{"qos_sw0_max_vls", 15},
                                   NumberLimit{"qos_swe_max_vls", 15},
                                   NumberLimit{"sm_sl", 15, true},
                                   NumberLimit{"subnet_timeout", 31, true},
                                   NumberLimit{"vl_stall_count", 7, true}};

/// Options whose values are sets of bits, up to `last`, and from `next` on numbers with a meaning of their
/// own.
struct GappedOption {
  std::string_view name;
  std::uint64_t last, next;
};
constexpr std::array kOpensmGaps{GappedOption{"force_link_speed", 7, 15},
                                 GappedOption{"force_link_speed_ext", 15, 30},
                                 GappedOption{"force_link_width", 31, 255}};

/// The largest number that the type of an option holds; nothing for those that are not numbers.
std::optional<std::uint64_t> most_of_type(std::string_view name) {
  if (is_among(kOpensmBytes, name)) return std::numeric_limits<std::uint8_t>::max();
  if (is_among(kOpensmShorts, name)) return std::numeric_limits<std::uint16_t>::max();
  if (is_among(kOpensmWords, name)) return std::numeric_limits<std::uint32_t>::max();
  if (is_among(kOpensmLongs, name)) return std::numeric_limits<std::uint64_t>::max();
  return std::nullopt;
}

/// Options that are one of a few words.
struct WordOption {
  std::string_view name;
  std::array<std::string_view, 4> words;
};
constexpr std::array kOpensmWordOptions{WordOption{"part_enforce", {"both", "in", "out", "off"}},
                                        WordOption{"console", {"off", "local", "loopback", "socket"}}};

/// The items of a list; strtok_r() passes over empty ones.
std::vector<std::string_view> opensm_list(std::string_view value) {
  std::vector<std::string_view> out;
  for (const auto part : base::split(value, ',')) {
    if (const auto item = base::trim(part); !item.empty()) out.push_back(item);
  }
  return out;
}

bool is_number_to(std::string_view text, std::uint64_t most) {
  const auto number = base::c_number(text);
  return number && *number <= most;
}

/// Weights of VLs, as "0:64,1:128": subn_verify_vlarb().
std::optional<WrongValue> wrong_vlarb(std::string_view value) {
  constexpr std::size_t kPairsMost = 64;
  constexpr std::uint64_t kVlMost = 14, kWeightMost = 255;
  const auto pairs = opensm_list(value);
  if (pairs.empty() || pairs.size() > kPairsMost)
    return WrongValue{fmt::format("it has {} pairs of VL and weight", pairs.size()),
                      fmt::format("from 1 to {}", kPairsMost)};
  for (const auto pair : pairs) {
    const auto colon = pair.find(':');
    if (colon == std::string_view::npos || !is_number_to(pair.substr(0, colon), kVlMost) ||
        !is_number_to(pair.substr(colon + 1), kWeightMost))
      return WrongValue{fmt::format("\"{}\" is not a VL and its weight", pair),
                        fmt::format("VL:WEIGHT, from 0 to {} and from 0 to {}", kVlMost, kWeightMost)};
  }
  return std::nullopt;
}

/// The VL of each SL: subn_verify_sl2vl().
std::optional<WrongValue> wrong_sl2vl(std::string_view value) {
  constexpr std::size_t kSls = 16;
  constexpr std::uint64_t kVlMost = 15;
  const auto vls = opensm_list(value);
  for (const auto vl : vls) {
    if (!is_number_to(vl, kVlMost))
      return WrongValue{fmt::format("\"{}\" is not a VL from 0 to {}", vl, kVlMost), ""};
  }
  if (vls.size() == kSls) return std::nullopt;
  return WrongValue{fmt::format("it has {} VL{}; must have {}", vls.size(), vls.size() == 1 ? "" : "s", kSls),
                    "one for each SL"};
}

/// Files that OpenSM reads or writes.
constexpr std::array<std::string_view, 20> kOpensmPathOptions{"cn_guid_file",
                                                              "dimn_ports_file",
                                                              "event_db_dump_file",
                                                              "guid_routing_order_file",
                                                              "hop_weights_file",
                                                              "ids_guid_file",
                                                              "io_guid_file",
                                                              "lfts_file",
                                                              "lid_matrix_dump_file",
                                                              "log_file",
                                                              "node_name_map_name",
                                                              "partition_config_file",
                                                              "per_module_logging_file",
                                                              "port_prof_ignore_file",
                                                              "port_search_ordering_file",
                                                              "prefix_routes_file",
                                                              "qos_policy_file",
                                                              "root_guid_file",
                                                              "sa_db_file",
                                                              "torus_config"};

std::string_view path_hint_of(std::string_view option) {
  if (option == "log_file") return "a path such as /var/log/opensm.log";
  if (option == "dump_files_dir") return "a folder such as /var/log";
  return option == "event_db_dump_file" ? "a path such as /var/log/opensm_port_counters.log"
                                        : "a whole path such as /etc/opensm/FILE";
}

/// Of options with a path; systemd starts OpenSM in /, where a relative one would lead. "(null)" is OpenSM's
/// word for no value.
std::optional<WrongValue> wrong_opensm_path(std::string_view name, std::string_view value) {
  const bool file = is_among(kOpensmPathOptions, name);
  if ((!file && name != "dump_files_dir") || value == "(null)") return std::nullopt;
  if (name == "log_file" && (value == "-" || value == "stdout" || value == "stderr")) return std::nullopt;
  if (!value.starts_with('/'))
    return WrongValue{fmt::format("\"{}\" is not a path that begins with /", value),
                      fmt::format("{}; OpenSM reads this as /{}", path_hint_of(name), value)};
  if (file && value.ends_with('/'))
    return WrongValue{fmt::format("{} is a folder", value), std::string(path_hint_of(name))};
  return std::nullopt;
}

/// Of texts with a form of their own.
std::optional<WrongValue> wrong_text(std::string_view name, std::string_view value) {
  for (const auto& [option, words] : kOpensmWordOptions) {
    if (option != name || std::find(words.begin(), words.end(), value) != words.end()) continue;
    return WrongValue{
        fmt::format("OpenSM does not know {}", value),
        fmt::format("one of {}", base::join(std::vector<std::string>(words.begin(), words.end()), ", "))};
  }
  if (auto path = wrong_opensm_path(name, value)) return path;
  if (auto congestion = wrong_congestion_text(name, value)) return congestion;
  if (!name.starts_with("qos_") || value == "(null)") return std::nullopt;
  if (name.ends_with("_vlarb_high") || name.ends_with("_vlarb_low")) return wrong_vlarb(value);
  if (name.ends_with("_sl2vl")) return wrong_sl2vl(value);
  constexpr std::uint64_t kHighLimitMost = 255;
  if (name.ends_with("_high_limit") && value != "-1" && !is_number_to(value, kHighLimitMost))
    return WrongValue{fmt::format("{} is not a number from 0 to {}, or -1", value, kHighLimitMost),
                      "OpenSM would use another value"};
  return std::nullopt;
}

template <std::size_t N>
void append_names(std::vector<std::string>& out, const std::array<std::string_view, N>& names) {
  out.insert(out.end(), names.begin(), names.end());
}

const std::vector<std::string>& all_opensm_options() {
  static const auto kNames = [] {
    std::vector<std::string> out;
    append_names(out, kOpensmBooleans);
    append_names(out, kOpensmBytes);
    append_names(out, kOpensmShorts);
    append_names(out, kOpensmWords);
    append_names(out, kOpensmLongs);
    append_names(out, kOpensmTexts);
    return out;
  }();
  return kNames;
}

}  // namespace

std::string_view opensm_value(std::string_view written) {
  auto value = base::trim(written);
  const bool quoted =
      value.size() > 1 && value.front() == value.back() && (value.front() == '"' || value.front() == '\'');
  return quoted ? value.substr(1, value.size() - 2) : value;
}

std::optional<OpensmOptionLine> parse_opensm_option_line(std::string_view line) {
  const auto content = base::trim(line.substr(0, line.find('#')));
  const auto blank = content.find_first_of(" \t");
  if (blank == std::string_view::npos) return std::nullopt;
  return OpensmOptionLine{content.substr(0, blank), content.substr(blank)};
}

std::optional<WrittenOpensmOption> last_opensm_option(std::span<const MarkedText::Line> lines,
                                                      std::string_view option, OpensmLines which) {
  std::optional<WrittenOpensmOption> out;
  for (const auto& line : lines) {
    if (line.ours && which == OpensmLines::kOfOthers) continue;
    const auto parsed = parse_opensm_option_line(line.text);
    if (parsed && parsed->option == option)
      out = WrittenOpensmOption{std::string(opensm_value(parsed->value)), line.number};
  }
  return out;
}

std::optional<std::string> near_opensm_option(std::string_view name) {
  const auto& all = all_opensm_options();
  if (std::find(all.begin(), all.end(), name) != all.end()) return std::nullopt;
  return base::nearest(name, all);
}

std::optional<WrongValue> wrong_opensm_value(std::string_view name, std::string_view value) {
  const auto read = opensm_value(value);
  if (is_among(kOpensmBooleans, name)) {
    if (read == "TRUE" || read == "FALSE") return std::nullopt;
    return WrongValue{fmt::format("OpenSM reads {} as FALSE", read), "\"TRUE\" or \"FALSE\", in capitals"};
  }
  const auto type = most_of_type(name);
  if (!type) return wrong_text(name, read);
  const auto* limit = std::find_if(kOpensmLimits.begin(), kOpensmLimits.end(),
                                   [&](const NumberLimit& entry) { return entry.name == name; });
  const auto most = limit == kOpensmLimits.end() ? *type : limit->most;
  const auto number = base::c_number(read);
  const bool cut = limit != kOpensmLimits.end() && limit->cut && number && *number <= *type;
  const std::string hint = cut ? "OpenSM would send only its lowest bits" : "OpenSM would use another value";
  if (!number || *number > most)
    return WrongValue{fmt::format("{} is not a number from 0 to {}", read, most), hint};
  if (auto replaced = replaced_opensm_number(name, *number)) return replaced;
  for (const auto& [option, last, next] : kOpensmGaps) {
    if (option == name && *number > last && *number < next)
      return WrongValue{
          fmt::format("{} is neither a number from 0 to {} nor {}", read, last,
                      next == most ? fmt::to_string(next) : fmt::format("{} or {}", next, most)),
          hint};
  }
  return std::nullopt;
}

}  // namespace rdmacfg::kinds
