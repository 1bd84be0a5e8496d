// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/rdma/opensm_flags.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "foreign/keys.hpp"

namespace rdmacfg::foreign {

namespace {

constexpr auto kOpensmFlags = std::to_array<OpensmFlag>({
    {"g", "guid", "", ""},
    {"F", "config", "", ""},
    {"f", "log_file", "", ""},
    {"J", "pidfile", "", ""},
    {"B", "daemon", "", "TRUE"},
    {"p", "priority", "", ""},
    {"R", "routing_engine", "routing_engine", ""},
    {"a", "root_guid_file", "root_guid_file", ""},
    {"u", "cn_guid_file", "cn_guid_file", ""},
    {"G", "io_guid_file", "io_guid_file", ""},
    {"m", "ids_guid_file", "ids_guid_file", ""},
    {"X", "guid_routing_order_file", "guid_routing_order_file", ""},
    {"w", "hop_weights_file", "hop_weights_file", ""},
    {"O", "port_search_ordering_file", "port_search_ordering_file", ""},
    {"O", "dimn_ports_file", "port_search_ordering_file", ""},
    {"i", "ignore_guids", "port_prof_ignore_file", ""},
    {"Y", "qos_policy_file", "qos_policy_file", ""},
    {"P", "Pconfig", "partition_config_file", ""},
    {"M", "lid_matrix_file", "lid_matrix_dump_file", ""},
    {"U", "lfts_file", "lfts_file", ""},
    {"S", "sadb_file", "sa_db_file", ""},
    {"l", "lmc", "lmc", ""},
    {"s", "sweep", "sweep_interval", ""},
    {"t", "timeout", "transaction_timeout", ""},
    {"n", "maxsmps", "max_wire_smps", ""},
    {"L", "log_limit", "log_max_size", ""},
    {"D", "D", "log_flags", ""},
    {"Z", "part_enforce", "part_enforce", ""},
    {"H", "max_reverse_hops", "max_reverse_hops", ""},
    {"", "subnet_prefix", "subnet_prefix", ""},
    {"", "torus_config", "torus_config", ""},
    {"", "prefix_routes_file", "prefix_routes_file", ""},
    {"", "lash_start_vl", "lash_start_vl", ""},
    {"", "sm_sl", "sm_sl", ""},
    {"", "retries", "transaction_retries", ""},
    {"", "log_prefix", "log_prefix", ""},
    {"", "scatter-ports", "scatter_ports", ""},
    {"", "nue_max_num_vls", "nue_max_num_vls", ""},
    {"", "dump_files_dir", "dump_files_dir", ""},
    {"q", "console", "console", ""},
    {"C", "console-port", "console_port", ""},
    {"k", "smkey", "sm_key", ""},
    {"", "cc_key", "cc_key", ""},
    {"", "perfmgr_sweep_time_s", "perfmgr_sweep_time_s", ""},
    {"", "perfmgr", "perfmgr", "TRUE"},
    {"e", "erase_log_file", "accum_log_file", "FALSE"},
    {"Q", "qos", "qos", "TRUE"},
    {"x", "honor_guid2lid", "honor_guid2lid_file", "TRUE"},
    {"z", "connect_roots", "connect_roots", "TRUE"},
    {"A", "ucast_cache", "use_ucast_cache", "TRUE"},
    {"W", "allow_both_pkeys", "allow_both_pkeys", "TRUE"},
    {"r", "reassign_lids", "reassign_lids", "TRUE"},
    {"N", "no_part_enforce", "no_partition_enforcement", "TRUE"},
    {"y", "stay_on_fatal", "exit_on_fatal", "FALSE"},
    {"I", "inactive", "sm_inactive", "TRUE"},
    {"", "congestion_control", "congestion_control", "TRUE"},
    {"", "guid_routing_order_no_scatter", "guid_routing_order_no_scatter", "TRUE"},
    {"", "consolidate_ipv6_snm_req", "consolidate_ipv6_snm_req", "TRUE"},
    {"", "do_mesh_analysis", "do_mesh_analysis", "TRUE"},
    {"", "port-shifting", "port_shifting", "TRUE"},
});

}  // namespace

const OpensmFlag* find_flag(std::string_view flag) {
  const auto at = std::find_if(kOpensmFlags.begin(), kOpensmFlags.end(), [&](const OpensmFlag& entry) {
    return flag == entry.name || (!entry.letter.empty() && flag == entry.letter);
  });
  return at == kOpensmFlags.end() ? nullptr : &*at;
}

std::vector<std::pair<std::string_view, std::string_view>> flags_of(std::string_view command) {
  std::vector<std::pair<std::string_view, std::string_view>> out;
  const auto words = words_of(command);
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto flag = words[i];
    if (!flag.starts_with('-')) continue;
    const bool is_short = !flag.starts_with("--");
    flag.remove_prefix(std::min(flag.find_first_not_of('-'), flag.size()));
    std::string_view value;
    if (const auto* known = find_flag(flag.substr(0, 1));  // "-p5" (getopt(3))
        is_short && flag.size() > 1 && known != nullptr && known->value.empty()) {
      value = flag.substr(1);
      flag = flag.substr(0, 1);
    } else if (const auto equals = flag.find('='); equals != std::string_view::npos) {
      value = flag.substr(equals + 1);
      flag = flag.substr(0, equals);
    } else if (const auto* whole = find_flag(flag);
               whole != nullptr && whole->value.empty() && i + 1 < words.size()) {
      value = words[++i];
    }
    out.emplace_back(flag, value);
  }
  return out;
}

}  // namespace rdmacfg::foreign
