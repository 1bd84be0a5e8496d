// SPDX-License-Identifier: Apache-2.0
// Values that the kernel gives objects of its SCSI target (LIO) when they are made. Sources: Linux's
// target_core_base.h, target_core_alua.h, iscsi_target_core.h, iscsi_target_parameters.h, ib_srpt.h.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "foreign/claims.hpp"
#include "foreign/syntax/yaml.hpp"

namespace rdmacfg::foreign {

/// An attribute or parameter that rtslib saves.
struct LioDefault {
  std::string_view key;
  std::string_view values;  ///< defaults of several kernels, separated by '|'
};

/// Of what the device, the driver or another key decides.
inline constexpr std::string_view kAnyLioValue = "*";

inline constexpr auto kLioBackstoreDefaults = std::to_array<LioDefault>({
    {"alua_support", "1"},
    {"block_size", kAnyLioValue},
    {"emulate_3pc", "1"},
    {"emulate_caw", "1"},
    {"emulate_dpo", "1"},
    {"emulate_fua_read", "1"},
    {"emulate_fua_write", "1"},
    {"emulate_model_alias", "0"},
    {"emulate_pr", "1"},
    {"emulate_rest_reord", "0"},
    {"emulate_rsoc", "1"},
    {"emulate_tas", "1"},
    {"emulate_tpu", "0"},
    {"emulate_tpws", "0"},
    {"emulate_ua_intlck_ctrl", "0"},
    {"emulate_write_cache", "0"},
    {"enforce_pr_isids", "1"},
    {"force_pr_aptpl", "0"},
    {"is_nonrot", kAnyLioValue},
    {"max_unmap_block_desc_count", kAnyLioValue},
    {"max_unmap_lba_count", kAnyLioValue},
    {"max_write_same_len", kAnyLioValue},
    {"optimal_sectors", kAnyLioValue},
    {"pgr_support", "1"},
    {"pi_prot_format", "0"},
    {"pi_prot_type", "0"},
    {"pi_prot_verify", "0"},
    {"queue_depth", kAnyLioValue},
    {"submit_type", "0"},
    {"unmap_granularity", kAnyLioValue},
    {"unmap_granularity_alignment", kAnyLioValue},
    {"unmap_zeroes_data", kAnyLioValue},
});

inline constexpr auto kLioAluaDefaults = std::to_array<LioDefault>({
    {"alua_access_state", "0"},
    {"alua_access_status", "0"},
    {"alua_access_type", "3"},
    {"alua_support_active_nonoptimized", "1"},
    {"alua_support_active_optimized", "1"},
    {"alua_support_offline", "1"},
    {"alua_support_standby", "1"},
    {"alua_support_transitioning", "1"},
    {"alua_support_unavailable", "1"},
    {"alua_write_metadata", "0"},
    {"implicit_trans_secs", "0"},
    {"nonop_delay_msecs", "100"},
    {"preferred", "0"},
    {"tg_pt_gp_id", "0"},
    {"trans_delay_msecs", "0"},
});

/// Keys that decide who may log in are read beside these.
inline constexpr auto kLioIscsiGroupDefaults = std::to_array<LioDefault>({
    {"authentication", kAnyLioValue},
    {"cache_dynamic_acls", kAnyLioValue},
    {"default_cmdsn_depth", "64"},
    {"default_erl", "0"},
    {"demo_mode_discovery", "1"},
    {"demo_mode_write_protect", kAnyLioValue},
    {"fabric_prot_type", "0"},
    {"generate_node_acls", kAnyLioValue},
    {"login_keys_workaround", "1"},
    {"login_timeout", "15"},
    {"netif_timeout", "2"},
    {"prod_mode_write_protect", kAnyLioValue},
    {"t10_pi", "0"},
    {"tpg_enabled_sendtargets", "1"},
});

inline constexpr auto kLioIscsiParameterDefaults = std::to_array<LioDefault>({
    {"AuthMethod", "CHAP|CHAP,None|None"},  // follows from `authentication`
    {"DataDigest", "CRC32C,None"},
    {"DataPDUInOrder", "Yes"},
    {"DataSequenceInOrder", "Yes"},
    {"DefaultTime2Retain", "20"},
    {"DefaultTime2Wait", "2"},
    {"ErrorRecoveryLevel", "0"},
    {"FirstBurstLength", "65536"},
    {"HeaderDigest", "CRC32C,None"},
    {"IFMarkInt", "Reject|2048~65535"},
    {"IFMarker", "No"},
    {"ImmediateData", "Yes"},
    {"InitialR2T", "Yes"},
    {"MaxBurstLength", "262144"},
    {"MaxConnections", "1"},
    {"MaxOutstandingR2T", "1"},
    {"MaxRecvDataSegmentLength", "8192"},
    {"MaxXmitDataSegmentLength", "262144"},
    {"OFMarkInt", "Reject|2048~65535"},
    {"OFMarker", "No"},
    {"TargetAlias", "LIO Target"},
});

inline constexpr auto kLioSrpGroupDefaults = std::to_array<LioDefault>({
    {"srp_max_rdma_size", "65536"},
    {"srp_max_rsp_size", "256"},
    {"srp_sq_size", "4096"},
    {"use_srq", "0"},
});

inline constexpr auto kLioInitiatorDefaults = std::to_array<LioDefault>({
    {"authentication", kAnyLioValue},
    {"dataout_timeout", "3"},
    {"dataout_timeout_retries", "5"},
    {"default_erl", "0"},
    {"nopin_response_timeout", "30"},
    {"nopin_timeout", "15"},
    {"random_datain_pdu_offsets", "0"},
    {"random_datain_seq_offsets", "0"},
    {"random_r2t_offsets", "0"},
});

inline constexpr auto kLioTargetParameterDefaults = std::to_array<LioDefault>({
    {"cmd_completion_affinity", "-1"},
});

/// Reports each value among `keys` that is not the kernel's own: the document cannot express it.
/// @param owner  whose values they are: "block/disk0"
/// @param implied  a key that is reported in another way
void tell_lio_values(YamlKeys& keys, std::span<const LioDefault> defaults, const std::string& owner,
                     std::string_view implied = {});

/// The same of a mapping that has nothing else; nullptr is none.
void tell_lio_values(const YamlNode* node, std::span<const LioDefault> defaults, const std::string& owner,
                     Claims& claims, std::string_view implied = {});

}  // namespace rdmacfg::foreign
