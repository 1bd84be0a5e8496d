// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <tuple>

#include "model/field.hpp"
#include "model/section.hpp"
#include "model/types/policy_types.hpp"

namespace rdmacfg::kinds {

/// How the daemon holds the host to the document. No resource: nothing of the host is like this or otherwise.
struct DaemonPolicy {
  std::optional<model::Drift> drift;
  std::optional<model::Audit> audit;
  std::optional<model::RemovalShare> max_removal;
  std::optional<model::MetricsFolder> metrics;

  static constexpr auto kFields = std::tuple{
      model::field("drift", &DaemonPolicy::drift, model::Role::kPolicy,
                   "Reaction to a setting changed by others: repair changes it back; report "
                   "writes it to the journal and leaves it until the next apply.",
                   "repair"),
      model::field("audit", &DaemonPolicy::audit, model::Role::kPolicy,
                   "Interval in seconds, 10 to 86400, of checks without an event. Some DCB settings, changes "
                   "by drivers, and kernel settings ([[sysctl]]) that services write through their own /proc "
                   "cause no event. 0: never.",
                   "0"),
      model::field("max_removal", &DaemonPolicy::max_removal, model::Role::kPolicy,
                   "Percentage of the managed resources that a boot, a reload or an event may remove "
                   "(always: up to 5 resources). Above it, or if the default route or a login session would "
                   "be lost, nothing is changed until `rdma-configctl apply "
                   "--allow-removal`. 100: no limit.",
                   "50"),
      model::field("metrics", &DaemonPolicy::metrics, model::Role::kPolicy,
                   "Folder in which the daemon keeps rdma-configd.prom, metrics for node_exporter's "
                   "textfile collector. Written when something has changed.")};
};

model::SectionSpec daemon_section();

/// The document's policy; the defaults without a [daemon] section.
DaemonPolicy daemon_policy(std::span<const model::Section> sections);

}  // namespace rdmacfg::kinds
