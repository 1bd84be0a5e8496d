// SPDX-License-Identifier: Apache-2.0
// [[expect]]: expectations of a host, checked at each look and never made (ADR 0042).
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "kinds/kind.hpp"
#include "model/expect_types.hpp"
#include "model/host_types.hpp"
#include "model/section.hpp"
#include "model/spelled.hpp"

namespace rdmacfg::kinds {

inline constexpr std::string_view kExpectKind = "expect";

/// An expectation has a key for each row about host, device and port of expect_rows(), all of them policy:
/// compared with nothing, since nothing is to be changed.
struct Expect {
  std::optional<std::string> name;
  std::optional<model::Amount> devices;
  std::optional<model::Amount> active_ports;
  std::optional<model::Amount> rate;
  std::optional<model::Amount> width;
  std::optional<std::string> link_layer;
  std::optional<bool> subnet_manager;
  std::optional<std::vector<std::string>> firmware;
  std::optional<std::string> firmware_min;
  std::optional<model::Amount> pcie_speed;
  std::optional<model::Amount> pcie_width;
  std::optional<model::Amount> max_read_request;
  std::optional<std::string> iommu;
  std::optional<bool> acs_redirect;
  std::optional<std::vector<std::string>> gpu_memory;

  static constexpr auto kRole = model::Role::kPolicy;
  static constexpr auto kFields = std::tuple{
      model::field("name", &Expect::name, model::Role::kIdentity, "A name for reports: \"fabric\".", "-"),
      model::field("devices", &Expect::devices, kRole, "At least so many RDMA devices match.", "not checked"),
      model::field("active_ports", &Expect::active_ports, kRole,
                   "At least so many of their ports are ACTIVE.", "not checked"),
      model::field("rate", &Expect::rate, kRole, "Each port has at least this rate, in Gb/s.", "not checked"),
      model::field("width", &Expect::width, kRole, "Each port has at least so many lanes.", "not checked"),
      model::spelled(
          model::field("link_layer", &Expect::link_layer, kRole, "Link layer of each port.", "not checked"),
          R"({"enum":["InfiniBand","Ethernet"]})", "\"InfiniBand\" or \"Ethernet\""),
      model::field("subnet_manager", &Expect::subnet_manager, kRole,
                   "Whether each port knows a subnet manager.", "not checked"),
      model::field("firmware", &Expect::firmware, kRole, "Each device has one of these firmware versions.",
                   "not checked"),
      model::field("firmware_min", &Expect::firmware_min, kRole,
                   "Each device has this firmware version or a later one.", "not checked"),
      model::field("pcie_speed", &Expect::pcie_speed, kRole,
                   "The PCIe link of each device has at least this speed, in GT/s: 16 is Gen4, 32 Gen5.",
                   "not checked"),
      model::field("pcie_width", &Expect::pcie_width, kRole,
                   "The PCIe link of each device has at least so many lanes.", "not checked"),
      model::field("max_read_request", &Expect::max_read_request, kRole,
                   "Each device may read at least so many bytes with one PCIe request (MaxReadReq).",
                   "not checked"),
      model::spelled(model::field("iommu", &Expect::iommu, kRole,
                                  "How the IOMMU treats each device: not at all, identity, or translation.",
                                  "not checked"),
                     R"({"enum":["off","passthrough","translated"]})",
                     "\"off\", \"passthrough\" or \"translated\""),
      model::field(
          "acs_redirect", &Expect::acs_redirect, kRole,
          "Whether a PCI bridge of the host redirects peer-to-peer traffic (ACS); false for GPUDirect.",
          "not checked"),
      model::spelled(
          model::field("gpu_memory", &Expect::gpu_memory, kRole,
                       "How memory of GPUs can be registered: one of these is there.", "not checked"),
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
      model::field("max", &ExpectCounter::max, model::Role::kPolicy, "It is at most this.", "not checked"),
      model::field("growth", &ExpectCounter::growth, model::Role::kPolicy,
                   "It grows by at most so much in `window`, on average since the daemon read it before.",
                   "not checked"),
      model::field("window", &ExpectCounter::window, model::Role::kPolicy, "The time that `growth` is for.",
                   "1h")};
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
      model::field("min", &ExpectSetting::min, model::Role::kPolicy, "It is a number, and at least this.",
                   "not checked")};
};

model::SectionSpec expect_section();

const Kind& expect();

}  // namespace rdmacfg::kinds
