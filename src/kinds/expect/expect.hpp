// SPDX-License-Identifier: Apache-2.0
// [[expect]]: expectations of a host, checked at each look and never made (ADR 0042).
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "kinds/kind.hpp"
#include "model/section.hpp"
#include "model/spelled.hpp"
#include "model/types/expect_types.hpp"
#include "model/types/host_types.hpp"

namespace rdmacfg::kinds {

inline constexpr std::string_view kExpectKind = "expect";

/// An expectation has a key for each row about host, device and port of expect_rows(), all of them policy:
/// compared with nothing, since nothing is to be changed.
struct Expect {
  std::optional<std::string> name;
  std::optional<model::AmountUpTo<8192>> devices;
  std::optional<model::AmountUpTo<8192>> active_ports;
  std::optional<model::AmountUpTo<10000>> rate;
  std::optional<model::AmountUpTo<12>> width;
  std::optional<std::string> link_layer;
  std::optional<bool> subnet_manager;
  std::optional<std::vector<std::string>> firmware;
  std::optional<std::string> firmware_min;
  std::optional<model::AmountUpTo<256>> pcie_speed;
  std::optional<model::AmountUpTo<32>> pcie_width;
  std::optional<model::AmountUpTo<4096>> max_read_request;
  std::optional<std::string> iommu;
  std::optional<bool> acs_redirect;
  std::optional<std::vector<std::string>> gpu_memory;

  static constexpr auto kRole = model::Role::kPolicy;
  static constexpr auto kFields = std::tuple{
      model::field("name", &Expect::name, model::Role::kIdentity, "A name for reports: \"fabric\".", "-"),
      model::spelled(model::field("devices", &Expect::devices, kRole,
                                  "Minimum number of RDMA devices that match.", "not checked"),
                     R"({"type":"integer","minimum":1,"maximum":8192})"),
      model::spelled(model::field("active_ports", &Expect::active_ports, kRole,
                                  "Minimum number of their ports that are ACTIVE.", "not checked"),
                     R"({"type":"integer","minimum":1,"maximum":8192})"),
      model::spelled(
          model::field("rate", &Expect::rate, kRole, "Minimum rate of each port, in Gb/s.", "not checked"),
          R"({"type":"integer","minimum":1,"maximum":10000})"),
      model::spelled(model::field("width", &Expect::width, kRole, "Minimum number of lanes of each port.",
                                  "not checked"),
                     R"({"type":"integer","minimum":1,"maximum":12})"),
      model::spelled(
          model::field("link_layer", &Expect::link_layer, kRole, "Link layer of each port.", "not checked"),
          R"({"enum":["InfiniBand","Ethernet"]})", "\"InfiniBand\" or \"Ethernet\""),
      model::field("subnet_manager", &Expect::subnet_manager, kRole,
                   "Whether each port knows a subnet manager.", "not checked"),
      model::field("firmware", &Expect::firmware, kRole, "Allowed firmware versions of each device.",
                   "not checked"),
      model::field("firmware_min", &Expect::firmware_min, kRole, "Minimum firmware version of each device.",
                   "not checked"),
      model::spelled(model::field("pcie_speed", &Expect::pcie_speed, kRole,
                                  "Minimum PCIe link speed of each device, in GT/s: 16 is Gen4, 32 Gen5.",
                                  "not checked"),
                     R"({"type":"integer","minimum":1,"maximum":256})"),
      model::spelled(model::field("pcie_width", &Expect::pcie_width, kRole,
                                  "Minimum PCIe link width of each device, in lanes.", "not checked"),
                     R"({"type":"integer","minimum":1,"maximum":32})"),
      model::spelled(model::field("max_read_request", &Expect::max_read_request, kRole,
                                  "Minimum PCIe read request size (MaxReadReq) of each device, in bytes.",
                                  "not checked"),
                     R"({"type":"integer","minimum":1,"maximum":4096})"),
      model::spelled(
          model::field("iommu", &Expect::iommu, kRole, "IOMMU mode of each device.", "not checked"),
          R"({"enum":["off","passthrough","translated"]})", "\"off\", \"passthrough\" or \"translated\""),
      model::field(
          "acs_redirect", &Expect::acs_redirect, kRole,
          "Whether a PCI bridge of the host redirects peer-to-peer traffic (ACS); false for GPUDirect.",
          "not checked"),
      model::spelled(
          model::field("gpu_memory", &Expect::gpu_memory, kRole,
                       "Mechanisms to register GPU memory; at least one must be available.", "not checked"),
          R"({"oneOf":[{"enum":["peermem","dmabuf"]},{"type":"array","minItems":1,"items":{"enum":["peermem","dmabuf"]}}]})",
          "\"peermem\", \"dmabuf\", or both")};
};

/// [[expect.counter]]
struct ExpectCounter {
  std::optional<std::string> name;
  std::optional<model::Most> max;
  std::optional<model::Most> growth;
  std::optional<model::Window> window;

  static constexpr auto kFields = std::tuple{
      model::field("name", &ExpectCounter::name, model::Role::kIdentity,
                   "A counter of each port, as docs/EXPECT.md lists them: \"symbol_error\".", "-"),
      model::field("max", &ExpectCounter::max, model::Role::kPolicy, "Maximum value.", "not checked"),
      model::field("growth", &ExpectCounter::growth, model::Role::kPolicy,
                   "Maximum growth within `window`, on average since the daemon's previous reading.",
                   "not checked"),
      model::field("window", &ExpectCounter::window, model::Role::kPolicy, "Period of `growth`.", "1h")};
};

/// [[expect.setting]]
struct ExpectSetting {
  std::optional<std::string> name;
  std::optional<model::SysctlValue> value;
  std::optional<model::Amount> min;

  static constexpr auto kFields = std::tuple{
      model::field("name", &ExpectSetting::name, model::Role::kIdentity,
                   "A setting of the host, as docs/EXPECT.md lists them: \"kernel.numa_balancing\".", "-"),
      model::field("value", &ExpectSetting::value, model::Role::kPolicy, "Its value.", "not checked"),
      model::field("min", &ExpectSetting::min, model::Role::kPolicy, "Minimum value, of a numeric setting.",
                   "not checked")};
};

model::SectionSpec expect_section();

const Kind& expect();

}  // namespace rdmacfg::kinds
