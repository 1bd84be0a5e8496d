// SPDX-License-Identifier: Apache-2.0
// [srp_initiator], [[srp_rule]]: the SRP targets that this host logs in to, by srp_daemon.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "kinds/kind.hpp"
#include "model/section.hpp"
#include "model/spelled.hpp"
#include "model/types/storage_types.hpp"

namespace rdmacfg::kinds {

/// All rules together are one resource: the first that matches a target decides, so each of them changes what
/// those after it mean.
struct SrpInitiator {
  std::optional<bool> others;
  std::optional<std::vector<std::string>> rules;
  std::optional<bool> in_force;
  std::optional<std::vector<std::string>> logged_in;

  static constexpr auto kFields = std::tuple{
      model::field("others", &SrpInitiator::others, model::Role::kPolicy,
                   "Whether targets that no [[srp_rule]] matches are logged in to.", "true (srp_daemon's)"),
      model::field("rules", &SrpInitiator::rules, model::Role::kDerived,
                   "The rules as srp_daemon reads them, in their order."),
      model::field(
          "in_force", &SrpInitiator::in_force, model::Role::kDerived,
          "Whether srp_daemon reads them in place of /etc/srp_daemon.conf, through a drop-in of its units."),
      model::field("logged_in", &SrpInitiator::logged_in, model::Role::kFact,
                   "Targets that the host is logged in to, as `ibsrpdm -c` spells them, with the port that "
                   "leads there.")};
};

/// A rule. The keys that are given all have to match; without any it matches every target.
struct SrpRuleEntry {
  std::optional<std::string> name;
  std::optional<bool> allow;
  std::optional<model::SrpId> id_ext, ioc_guid, service_id;
  std::optional<model::PortGid> dgid;
  std::optional<model::Pkey> pkey;
  std::optional<std::int64_t> queue_size, max_cmd_per_lun, max_sect, cmd_sg_entries, sg_tablesize,
      comp_vector, ch_count, tl_retry_count;
  std::optional<bool> allow_ext_sg;

  static constexpr std::string_view kPositive = R"({"type":"integer","minimum":1,"maximum":2147483647})";
  static constexpr auto kFields = std::tuple{
      model::field("name", &SrpRuleEntry::name, model::Role::kIdentity,
                   "A name for the rule, for messages and drop-ins: \"array1\".", "-"),
      model::field("allow", &SrpRuleEntry::allow, model::Role::kPolicy,
                   "Whether targets that it matches are logged in to.", "true"),
      model::field("id_ext", &SrpRuleEntry::id_ext, model::Role::kPolicy,
                   "Identifier extension of the target's port, as `ibsrpdm -c` shows it.", "any"),
      model::field("ioc_guid", &SrpRuleEntry::ioc_guid, model::Role::kPolicy,
                   "GUID of the target's I/O controller.", "any"),
      model::field("dgid", &SrpRuleEntry::dgid, model::Role::kPolicy,
                   "GID of the target's InfiniBand port: \"fe80::2:c903:31:78f2\".", "any"),
      model::field("service_id", &SrpRuleEntry::service_id, model::Role::kPolicy, "Service of the target.",
                   "any"),
      model::field("pkey", &SrpRuleEntry::pkey, model::Role::kPolicy,
                   "Partition over which the target is seen, by full or limited membership.", "any"),
      model::spelled(model::field("queue_size", &SrpRuleEntry::queue_size, model::Role::kPolicy,
                                  "Maximum number of outstanding commands per login.", "64 (ib_srp's)"),
                     kPositive),
      model::spelled(model::field("max_cmd_per_lun", &SrpRuleEntry::max_cmd_per_lun, model::Role::kPolicy,
                                  "The same for one logical unit.", "as queue_size"),
                     kPositive),
      model::spelled(model::field("max_sect", &SrpRuleEntry::max_sect, model::Role::kPolicy,
                                  "Maximum size of a transfer, in sectors of 512 bytes.", "ib_srp's"),
                     kPositive),
      model::spelled(
          model::field("cmd_sg_entries", &SrpRuleEntry::cmd_sg_entries, model::Role::kPolicy,
                       "Number of buffers that the command itself describes, 1 to 255.", "12 (ib_srp's)"),
          R"({"type":"integer","minimum":1,"maximum":255})"),
      model::field("allow_ext_sg", &SrpRuleEntry::allow_ext_sg, model::Role::kPolicy,
                   "Whether a command may describe more buffers in a separate table.", "false (ib_srp's)"),
      model::spelled(model::field("sg_tablesize", &SrpRuleEntry::sg_tablesize, model::Role::kPolicy,
                                  "Maximum number of buffers per command, 1 to 2048.", "12 (ib_srp's)"),
                     R"({"type":"integer","minimum":1,"maximum":2048})"),
      model::spelled(model::field("comp_vector", &SrpRuleEntry::comp_vector, model::Role::kPolicy,
                                  "Completion vector of the adapter, from 0 on.", "spread by ib_srp"),
                     R"({"type":"integer","minimum":0,"maximum":2147483647})"),
      model::spelled(model::field("ch_count", &SrpRuleEntry::ch_count, model::Role::kPolicy,
                                  "Channels of a login.", "ib_srp's"),
                     kPositive),
      model::spelled(model::field("tl_retry_count", &SrpRuleEntry::tl_retry_count, model::Role::kPolicy,
                                  "Number of retransmissions by the adapter, 2 to 7.", "2 (srp_daemon's)"),
                     R"({"type":"integer","minimum":2,"maximum":7})")};
};

model::SectionSpec srp_initiator_section();
model::SectionSpec srp_rule_section();

const Kind& srp_initiator();

}  // namespace rdmacfg::kinds
