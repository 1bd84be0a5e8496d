// SPDX-License-Identifier: Apache-2.0
#include "kinds/expect/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "base/text.hpp"
#include "kinds/expect/readings.hpp"
#include "kinds/expect/versions.hpp"
#include "kinds/host/sysctl_entry.hpp"

namespace rdmacfg::kinds {

using model::Value;

using About = ExpectRow::About;
using Relation = ExpectRow::Relation;

namespace {

constexpr std::string_view kSysfsIb = "Documentation/ABI/stable/sysfs-class-infiniband";
constexpr std::string_view kSysfsPci = "Documentation/ABI/testing/sysfs-bus-pci";
constexpr std::string_view kPciSpec = "PCI Express Base Specification";
constexpr std::string_view kSysctlNet = "Documentation/admin-guide/sysctl/net.rst";
constexpr std::string_view kSysctlVm = "Documentation/admin-guide/sysctl/vm.rst";
constexpr std::string_view kIpSysctl = "Documentation/networking/ip-sysctl.rst";
constexpr std::string_view kInfinibandArchitecture = "InfiniBand Architecture, PortCounters";
constexpr std::string_view kMlx5 = "drivers/infiniband/hw/mlx5/counters.c";
constexpr std::string_view kRxe = "drivers/infiniband/sw/rxe/rxe_hw_counters.c";
constexpr std::string_view kCounters = "/sys/class/infiniband/{device}/ports/{port}/counters";
constexpr std::string_view kHwCounters = "/sys/class/infiniband/{device}/ports/{port}/hw_counters";

/// `bits`: of a counter that stops at its largest value, as the architecture has those of errors
/// (PORT_PMA_ATTR() in drivers/infiniband/core/sysfs.c); 0: of one that does not.
constexpr ExpectRow counter_row(std::string_view name, std::string_view folder, std::string_view source,
                                unsigned bits = 0) {
  const auto largest = bits == 0 ? std::int64_t{0} : (std::int64_t{1} << bits) - 1;
  return {name, About::kCounter, Relation::kAtMost, "", folder, source, &readings::counter, {}, largest};
}

constexpr ExpectRow setting_row(std::string_view name, std::string_view path, std::string_view source) {
  return {name, About::kSetting, Relation::kSame, "", path, source, &readings::setting};
}

constexpr ExpectRow up_to(std::int64_t most, ExpectRow row) {
  row.most = most;
  return row;
}

// More than these is a number in another unit, or a slip: no hardware has as much.
constexpr std::int64_t kMostPorts = 8192;        // RDMA_MAX_PORTS, drivers/infiniband/core/core_priv.h
constexpr std::int64_t kMostGigabits = 10'000;   // XDR with 12 lanes has 2,400
constexpr std::int64_t kMostLanes = 12;          // InfiniBand architecture, LinkWidthActive
constexpr std::int64_t kMostTransfers = 256;     // PCIe 7 has 128
constexpr std::int64_t kMostPcieLanes = 32;      // PCI Express Base Specification, link width
constexpr std::int64_t kMostReadRequest = 4096;  // the same, Max_Read_Request_Size

constexpr auto kRows = std::to_array<ExpectRow>({
    // Of the host.
    up_to(kMostPorts, {"devices", About::kHost, Relation::kAtLeast, "", "/sys/class/infiniband", kSysfsIb,
                       &readings::devices}),
    up_to(kMostPorts,
          {"active_ports", About::kHost, Relation::kAtLeast, "",
           "/sys/class/infiniband/{device}/ports/{port}/state", kSysfsIb, &readings::active_ports}),
    {"acs_redirect", About::kHost, Relation::kSame, "", "configuration space of all PCI bridges (ACSCtl)",
     kPciSpec, &readings::acs_redirect},
    {"gpu_memory", About::kHost, Relation::kOneOf, "",
     "/proc/modules, /sys/kernel/mm/memory_peers, /proc/driver/nvidia/version, /boot/config-RELEASE",
     "nvidia-peermem, dma-buf (drivers/infiniband/core/umem_dmabuf.c)", &readings::gpu_memory,
     "peermem dmabuf"},
    // Of a device.
    {"firmware", About::kDevice, Relation::kOneOf, "", "/sys/class/infiniband/{device}/fw_ver", kSysfsIb,
     &readings::firmware},
    {"firmware_min", About::kDevice, Relation::kNotBefore, "", "/sys/class/infiniband/{device}/fw_ver",
     kSysfsIb, &readings::firmware},
    up_to(kMostTransfers,
          {"pcie_speed", About::kDevice, Relation::kAtLeast, "GT/s",
           "/sys/bus/pci/devices/{pci}/current_link_speed", kSysfsPci, &readings::pcie_number}),
    up_to(kMostPcieLanes,
          {"pcie_width", About::kDevice, Relation::kAtLeast, "lanes",
           "/sys/bus/pci/devices/{pci}/current_link_width", kSysfsPci, &readings::pcie_number}),
    up_to(kMostReadRequest, {"max_read_request", About::kDevice, Relation::kAtLeast, "bytes",
                             "configuration space of the PCI device (DevCtl, MaxReadReq)", kPciSpec,
                             &readings::max_read_request}),
    {"iommu", About::kDevice, Relation::kSame, "", "/sys/bus/pci/devices/{pci}/iommu_group/type",
     "Documentation/ABI/testing/sysfs-kernel-iommu_groups", &readings::iommu, "off passthrough translated"},
    // Of a port.
    up_to(kMostGigabits, {"rate", About::kPort, Relation::kAtLeast, "Gb/s",
                          "/sys/class/infiniband/{device}/ports/{port}/rate", kSysfsIb, &readings::rate}),
    up_to(kMostLanes, {"width", About::kPort, Relation::kAtLeast, "lanes",
                       "/sys/class/infiniband/{device}/ports/{port}/rate", kSysfsIb, &readings::width}),
    {"link_layer", About::kPort, Relation::kSame, "",
     "/sys/class/infiniband/{device}/ports/{port}/link_layer", kSysfsIb, &readings::link_layer,
     "InfiniBand Ethernet"},
    {"subnet_manager", About::kPort, Relation::kSame, "",
     "/sys/class/infiniband/{device}/ports/{port}/sm_lid", kSysfsIb, &readings::subnet_manager},
    // Counters of a port.
    counter_row("symbol_error", kCounters, kInfinibandArchitecture, 16),
    counter_row("link_error_recovery", kCounters, kInfinibandArchitecture, 8),
    counter_row("link_downed", kCounters, kInfinibandArchitecture, 8),
    counter_row("port_rcv_errors", kCounters, kInfinibandArchitecture, 16),
    counter_row("port_rcv_remote_physical_errors", kCounters, kInfinibandArchitecture, 16),
    counter_row("port_rcv_switch_relay_errors", kCounters, kInfinibandArchitecture, 16),
    counter_row("port_rcv_constraint_errors", kCounters, kInfinibandArchitecture, 8),
    counter_row("port_xmit_discards", kCounters, kInfinibandArchitecture, 16),
    counter_row("port_xmit_constraint_errors", kCounters, kInfinibandArchitecture, 8),
    counter_row("port_xmit_wait", kCounters, kInfinibandArchitecture, 32),
    counter_row("local_link_integrity_errors", kCounters, kInfinibandArchitecture, 4),
    counter_row("excessive_buffer_overrun_errors", kCounters, kInfinibandArchitecture, 4),
    counter_row("VL15_dropped", kCounters, kInfinibandArchitecture, 16),
    counter_row("out_of_buffer", kHwCounters, kMlx5),
    counter_row("out_of_sequence", kHwCounters, kMlx5),
    counter_row("packet_seq_err", kHwCounters, kMlx5),
    counter_row("implied_nak_seq_err", kHwCounters, kMlx5),
    counter_row("local_ack_timeout_err", kHwCounters, kMlx5),
    counter_row("rnr_nak_retry_err", kHwCounters, kMlx5),
    counter_row("req_cqe_error", kHwCounters, kMlx5),
    counter_row("resp_cqe_error", kHwCounters, kMlx5),
    counter_row("req_remote_access_errors", kHwCounters, kMlx5),
    counter_row("req_remote_invalid_request", kHwCounters, kMlx5),
    counter_row("resp_local_length_error", kHwCounters, kMlx5),
    counter_row("resp_remote_access_errors", kHwCounters, kMlx5),
    counter_row("rx_icrc_encapsulated", kHwCounters, kMlx5),
    counter_row("np_ecn_marked_roce_packets", kHwCounters, kMlx5),
    counter_row("np_cnp_sent", kHwCounters, kMlx5),
    counter_row("rp_cnp_handled", kHwCounters, kMlx5),
    counter_row("duplicate_request", kHwCounters, kRxe),
    counter_row("out_of_seq_request", kHwCounters, kRxe),
    counter_row("rcvd_seq_err", kHwCounters, kRxe),
    counter_row("retry_exceeded_err", kHwCounters, kRxe),
    counter_row("send_err", kHwCounters, kRxe),
    // Settings of the host. Everybody may read each of them.
    setting_row("kernel.osrelease", "/proc/sys/kernel/osrelease",
                "Documentation/admin-guide/sysctl/kernel.rst"),
    setting_row("kernel.numa_balancing", "/proc/sys/kernel/numa_balancing",
                "Documentation/admin-guide/sysctl/kernel.rst"),
    setting_row("vm.zone_reclaim_mode", "/proc/sys/vm/zone_reclaim_mode", kSysctlVm),
    setting_row("vm.swappiness", "/proc/sys/vm/swappiness", kSysctlVm),
    setting_row("vm.overcommit_memory", "/proc/sys/vm/overcommit_memory", kSysctlVm),
    setting_row("vm.max_map_count", "/proc/sys/vm/max_map_count", kSysctlVm),
    setting_row("vm.nr_hugepages", "/proc/sys/vm/nr_hugepages", kSysctlVm),
    setting_row("vm.min_free_kbytes", "/proc/sys/vm/min_free_kbytes", kSysctlVm),
    setting_row("net.core.rmem_max", "/proc/sys/net/core/rmem_max", kSysctlNet),
    setting_row("net.core.wmem_max", "/proc/sys/net/core/wmem_max", kSysctlNet),
    setting_row("net.core.netdev_max_backlog", "/proc/sys/net/core/netdev_max_backlog", kSysctlNet),
    setting_row("net.ipv4.conf.all.arp_ignore", "/proc/sys/net/ipv4/conf/all/arp_ignore", kIpSysctl),
    setting_row("net.ipv4.conf.all.arp_announce", "/proc/sys/net/ipv4/conf/all/arp_announce", kIpSysctl),
    setting_row("net.ipv4.conf.all.rp_filter", "/proc/sys/net/ipv4/conf/all/rp_filter", kIpSysctl),
    setting_row("net.ipv4.neigh.default.gc_thresh1", "/proc/sys/net/ipv4/neigh/default/gc_thresh1",
                kIpSysctl),
    setting_row("net.ipv4.neigh.default.gc_thresh2", "/proc/sys/net/ipv4/neigh/default/gc_thresh2",
                kIpSysctl),
    setting_row("net.ipv4.neigh.default.gc_thresh3", "/proc/sys/net/ipv4/neigh/default/gc_thresh3",
                kIpSysctl),
    {"transparent_hugepage", About::kSetting, Relation::kSame, "",
     "/sys/kernel/mm/transparent_hugepage/enabled", "Documentation/admin-guide/mm/transhuge.rst",
     &readings::bracketed},
    setting_row("ksm", "/sys/kernel/mm/ksm/run", "Documentation/admin-guide/mm/ksm.rst"),
    setting_row("smt", "/sys/devices/system/cpu/smt/control",
                "Documentation/ABI/testing/sysfs-devices-system-cpu"),
    {"cpu_governor", About::kSetting, Relation::kSame, "",
     "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor", "Documentation/admin-guide/pm/cpufreq.rst",
     &readings::governors},
    setting_row("clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource",
                "Documentation/ABI/testing/sysfs-devices-system-clocksource"),
    {"pcie_aspm", About::kSetting, Relation::kSame, "", "/sys/module/pcie_aspm/parameters/policy",
     "drivers/pci/pcie/aspm.c", &readings::bracketed},
    setting_row("ib_core.netns_mode", "/sys/module/ib_core/parameters/netns_mode", "rdma-system(8)"),
});

std::optional<std::int64_t> number_in(const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  const auto* text = std::get_if<std::string>(&value);
  const auto number = text == nullptr ? std::nullopt : base::parse_number(*text);
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return number && *number <= kMost ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

std::vector<std::string> texts_in(const Value& value) {
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) return *list;
  return value.index() == 0 ? std::vector<std::string>{} : std::vector<std::string>{model::text_of(value)};
}

bool is_same(const Value& now, const Value& wanted) {
  const auto* text = std::get_if<std::string>(&now);
  const auto* wanted_text = std::get_if<std::string>(&wanted);
  return now == wanted ||
         (text != nullptr && wanted_text != nullptr && same_sysctl_value(*text, *wanted_text));
}

}  // namespace

std::string_view text_of(About about) {
  switch (about) {
    case About::kHost:
      return "host";
    case About::kDevice:
      return "device";
    case About::kPort:
      return "port";
    case About::kCounter:
      return "counter";
    case About::kSetting:
      return "setting";
  }
  return "host";
}

std::string_view text_of(Relation relation) {
  switch (relation) {
    case Relation::kAtLeast:
      return "at least";
    case Relation::kAtMost:
      return "at most";
    case Relation::kSame:
      return "the same";
    case Relation::kOneOf:
      return "one of";
    case Relation::kNotBefore:
      return "this version or later";
  }
  return "the same";
}

std::span<const ExpectRow> expect_rows() { return kRows; }

const ExpectRow* expect_row(std::string_view name, About about) {
  const auto at = std::find_if(kRows.begin(), kRows.end(),
                               [&](const ExpectRow& row) { return row.about == about && row.name == name; });
  return at == kRows.end() ? nullptr : &*at;
}

const ExpectRow* expect_row(std::string_view key) {
  for (const auto about : {About::kHost, About::kDevice, About::kPort}) {
    if (const auto* row = expect_row(key, about)) return row;
  }
  return nullptr;
}

std::vector<std::string> expect_names(About about) {
  std::vector<std::string> out;
  for (const auto& row : kRows) {
    if (row.about == about) out.emplace_back(row.name);
  }
  return out;
}

bool meets(Relation relation, const Value& now, const Value& wanted) {
  const auto number = number_in(now), limit = number_in(wanted);
  switch (relation) {
    case Relation::kAtLeast:
      return number && limit && *number >= *limit;
    case Relation::kAtMost:
      return number && limit && *number <= *limit;
    case Relation::kSame:
      return is_same(now, wanted);
    case Relation::kOneOf: {
      const auto found = texts_in(now), any = texts_in(wanted);
      return std::any_of(found.begin(), found.end(), [&](const std::string& text) {
        return std::find(any.begin(), any.end(), text) != any.end();
      });
    }
    case Relation::kNotBefore:
      return !version_before(model::text_of(now), model::text_of(wanted));
  }
  return false;
}

std::string expect_rows_as_markdown() {
  std::string out = "| name | of | the host has | unit | reads | source |\n|---|---|---|---|---|---|\n";
  for (const auto& row : kRows) {
    out += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", row.name, text_of(row.about),
                       text_of(row.relation), row.unit, row.reads, row.source);
  }
  return out;
}

std::string with_unit(const ExpectRow& row, const Value& value) {
  const auto* list = std::get_if<std::vector<std::string>>(&value);
  if (list != nullptr) return list->empty() ? "none" : base::join(*list, " or ");
  const auto text = model::text_of(value);
  return row.unit.empty() ? text : fmt::format("{} {}", text, row.unit);
}

std::string expected_text(const ExpectRow& row, Relation relation, const Value& wanted) {
  const auto text = with_unit(row, wanted);
  switch (relation) {
    case Relation::kAtLeast:
      return "at least " + text;
    case Relation::kAtMost:
      return "at most " + text;
    case Relation::kNotBefore:
      return text + " or later";
    case Relation::kSame:
    case Relation::kOneOf:
      break;
  }
  return text;
}

}  // namespace rdmacfg::kinds
