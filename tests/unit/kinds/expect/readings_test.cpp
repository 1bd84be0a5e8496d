// SPDX-License-Identifier: Apache-2.0
// Readings of the rows of expectations on unusual hosts: a value, or the reason why there is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fakes/fake_kernel.hpp"
#include "kinds/expect/rows.hpp"

namespace rdmacfg::kinds {
namespace {

using fakes::FakeKernel;
using model::Value;

constexpr const char* kReadHost = R"json({
  "devices": [{ "name": "mlx5_0", "driver": "mlx5_core", "pci": "0000:10:00.0", "ports": [
    { "guid": "00:02:c9:03:00:31:78:f2", "rate": "400 Gb/sec (4X NDR)" }] }],
  "modules": { "amdgpu": {}, "nv_peer_mem": {} },
  "sysctl": { "kernel/osrelease": "6.1.0-18-amd64" }
})json";

struct ReadingCase {
  const char* about;
  const char* row;
  std::function<void(FakeKernel&)> arrange;
  Value now;          ///< monostate: not known
  std::string why{};  ///< then: part of the reason
};

void check_readings(const std::vector<ReadingCase>& cases) {
  for (const auto& each : cases) {
    SCOPED_TRACE(each.about);
    const auto kernel = FakeKernel::parse(kReadHost);
    each.arrange(*kernel);
    auto host = kernel->host();
    auto world = World::observe(host);
    ASSERT_TRUE(world);
    Subject subject{*world, {}};
    for (const auto& device : world->snapshot().devices) {
      for (const auto& port : device.ports) subject.ports.push_back({&device, &port});
    }
    const auto* row = expect_row(each.row);
    if (row == nullptr) row = expect_row(each.row, ExpectRow::About::kSetting);
    ASSERT_NE(row, nullptr);
    const auto reading = row->read(*row, subject);
    EXPECT_EQ(reading.now, each.now) << reading.why;
    EXPECT_THAT(reading.why, testing::HasSubstr(each.why));
    EXPECT_EQ(reading.why.empty(), each.now.index() != 0);
  }
}

std::function<void(FakeKernel&)> with_files(std::vector<std::pair<std::string, std::string>> files) {
  return [files = std::move(files)](FakeKernel& kernel) {
    for (const auto& [path, text] : files) kernel.files.content[path] = text;
  };
}

Value words_read(std::vector<std::string> words) { return Value(std::move(words)); }

TEST(ExpectReadings, MemoryOfGpus) {
  constexpr const char* kConfig = "/boot/config-6.1.0-18-amd64";
  constexpr const char* kNvidia = "/proc/driver/nvidia/version";
  const std::string open = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54\n";
  const auto amdgpu = [](const std::string& options) {
    return [options](FakeKernel& kernel) {
      kernel.modules.modules["amdgpu"].loaded = true;
      kernel.files.content[kConfig] = options;
    };
  };
  check_readings({
      {"no GPU", "gpu_memory", [](FakeKernel& /*kernel*/) {}, words_read({})},
      {"the older module of NVIDIA's peer memory", "gpu_memory",
       [](FakeKernel& kernel) { kernel.modules.modules["nv_peer_mem"].loaded = true; },
       words_read({"peermem"})},
      {"AMD's peer memory of MLNX_OFED", "gpu_memory",
       with_files({{"/sys/kernel/mm/memory_peers/amdkfd/version", "1.0\n"}}), words_read({"peermem"})},
      {"peers of others", "gpu_memory", with_files({{"/sys/kernel/mm/memory_peers/other/version", "1.0\n"}}),
       words_read({})},
      {"NVIDIA's open modules", "gpu_memory", with_files({{kNvidia, open}}), words_read({"dmabuf"})},
      {"NVIDIA's closed modules", "gpu_memory",
       with_files({{kNvidia, "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54\n"}}), words_read({})},
      {"an unknown kernel", "gpu_memory",
       [&](FakeKernel& kernel) {
         kernel.files.content[kNvidia] = open;
         kernel.sysctl.unset("kernel/osrelease");
       },
       Value{}, "cannot be read"},
      {"both options", "gpu_memory", amdgpu("#\nCONFIG_DMABUF_MOVE_NOTIFY=y\nCONFIG_PCI_P2PDMA=y\n"),
       words_read({"dmabuf"})},
      {"one option", "gpu_memory", amdgpu("#\nCONFIG_DMABUF_MOVE_NOTIFY=y\n# CONFIG_PCI_P2PDMA is not set\n"),
       words_read({})},
      {"the other one", "gpu_memory", amdgpu("#\nCONFIG_DMABUF_MOVE_NOTIFY=m\nCONFIG_PCI_P2PDMA=y\n"),
       words_read({})},
  });
}

TEST(ExpectReadings, Iommu) {
  const std::string device = "/sys/bus/pci/devices/0000:10:00.0/", type = device + "iommu_group/type";
  check_readings({
      {"identity", "iommu", with_files({{type, "identity\n"}}), Value(std::string("passthrough"))},
      {"strict", "iommu", with_files({{type, "DMA\n"}}), Value(std::string("translated"))},
      {"lazy", "iommu", with_files({{type, "DMA-FQ\n"}}), Value(std::string("translated"))},
      {"blocked", "iommu", with_files({{type, "blocked\n"}}), Value(std::string("blocked"))},
      {"no group", "iommu", with_files({{device + "vendor", "0x15b3\n"}}), Value(std::string("off"))},
      {"a group without a type", "iommu", with_files({{device + "iommu_group/reserved_regions", ""}}),
       Value{}, "iommu_group/type does not exist"},
      {"no device", "iommu", [](FakeKernel& /*kernel*/) {}, Value{}, "cannot be read"},
      {"a software device", "iommu", [](FakeKernel& kernel) { kernel.machine.devices.front().pci.clear(); },
       Value{}, "mlx5_0 is not a PCI device"},
  });
}

TEST(ExpectReadings, BridgesThatRedirect) {
  const auto bridge = [](std::optional<bool> redirects) {
    return system::PciCapabilities{.bridge = true, .max_read_request = {}, .redirects = redirects};
  };
  check_readings({
      {"no PCI", "acs_redirect", [](FakeKernel& kernel) { kernel.pci.devices.clear(); }, Value{},
       "there are no PCI devices"},
      {"an endpoint redirects nothing", "acs_redirect",
       [](FakeKernel& kernel) {
         kernel.pci.devices["0000:10:00.0"] =
             system::PciCapabilities{.bridge = false, .max_read_request = {}, .redirects = true};
       },
       Value(false)},
      {"one is enough", "acs_redirect",
       [&](FakeKernel& kernel) {
         kernel.pci.devices["0000:00:01.0"] = bridge(std::nullopt);
         kernel.pci.devices["0000:00:02.0"] = bridge(true);
       },
       Value(true)},
      {"one that cannot be read leaves it open", "acs_redirect",
       [&](FakeKernel& kernel) {
         kernel.pci.devices["0000:00:01.0"] = bridge(std::nullopt);
         kernel.pci.devices["0000:00:02.0"] = bridge(false);
       },
       Value{}, "0000:00:01.0 cannot be read"},
  });
}

TEST(ExpectReadings, NumbersAndWords) {
  const std::string speed = "/sys/bus/pci/devices/0000:10:00.0/current_link_speed";
  const std::string pages = "/sys/kernel/mm/transparent_hugepage/enabled";
  check_readings({
      {"PCIe 4", "pcie_speed", with_files({{speed, "16.0 GT/s PCIe\n"}}), Value(std::int64_t{16})},
      {"PCIe 1, rounded down", "pcie_speed", with_files({{speed, "2.5 GT/s PCIe\n"}}),
       Value(std::int64_t{2})},
      {"a link that is down", "pcie_speed", with_files({{speed, "Unknown\n"}}), Value{}, "says \"Unknown\""},
      {"more than a number", "pcie_speed", with_files({{speed, "99999999999999999999\n"}}), Value{}, "says"},
      {"a software device", "pcie_width",
       [](FakeKernel& kernel) { kernel.machine.devices.front().pci.clear(); }, Value{},
       "is not a PCI device"},
      {"a rate without a width", "width",
       [](FakeKernel& kernel) { kernel.machine.devices.front().ports.front().rate = "400 Gb/sec"; }, Value{},
       "does not report its width"},
      {"in brackets", "transparent_hugepage", with_files({{pages, "always [madvise] never\n"}}),
       Value(std::string("madvise"))},
      {"nothing in brackets", "transparent_hugepage", with_files({{pages, "always madvise never\n"}}),
       Value{}, "says \"always madvise never\""},
      {"one bracket", "transparent_hugepage", with_files({{pages, "always [madvise never\n"}}), Value{},
       "says"},
      {"brackets the wrong way", "transparent_hugepage", with_files({{pages, "]always[\n"}}), Value{},
       "says"},
      {"no processor has a governor", "cpu_governor",
       with_files({{"/sys/devices/system/cpu/cpu0/online", "1\n"},
                   {"/sys/devices/system/cpu/cpufreq/scaling_governor", "performance\n"},
                   {"/sys/devices/system/cpu/cpu/cpufreq/scaling_governor", "performance\n"}}),
       Value{}, "does not exist"},
      {"a governor that may not be read", "cpu_governor",
       [](FakeKernel& kernel) {
         const std::string path = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
         kernel.files.content[path] = "performance\n";
         kernel.files.unreadable.insert(path);
       },
       Value{}, "Permission denied"},
  });
}

}  // namespace
}  // namespace rdmacfg::kinds
