// SPDX-License-Identifier: Apache-2.0
#include "formats/udev/udev_rdma_names.hpp"

#include <fnmatch.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "fakes/memory_files.hpp"

namespace rdmacfg::kinds {
namespace {

constexpr const char* kPci = "0000:11:00.0";

/// The pattern of DEVPATH in the rule, which udev matches by fnmatch().
std::string pattern_of(const std::string& text) {
  const std::string key = "DEVPATH==\"";
  const auto at = text.find(key);
  if (at == std::string::npos) return {};
  return text.substr(at + key.size(), text.find('"', at + key.size()) - at - key.size());
}

TEST(RdmaRules, ASubFunctionDoesNotTakeTheNameOfItsFunction) {
  const auto pattern = pattern_of(render_device_rules({{kPci, "mlx5_storage"}}));
  const auto matches = [&](const char* path) { return ::fnmatch(pattern.c_str(), path, 0) == 0; };
  EXPECT_TRUE(matches("/devices/pci0000:10/0000:10:01.0/0000:11:00.0/infiniband/mlx5_0"));
  EXPECT_FALSE(matches("/devices/pci0000:10/0000:10:01.0/0000:11:00.0/mlx5_core.sf.4/infiniband/mlx5_2"));
  EXPECT_FALSE(matches("/devices/pci0000:10/0000:10:01.0/0000:11:00.1/infiniband/mlx5_1"));
}

TEST(RdmaRules, AreReadBackAlsoAsEarlierVersionsWroteThem) {
  const DeviceRules rules{{kPci, "mlx5_storage"}, {"0002:c903:0031:78f1", "mlx4_a"}};
  const auto text = render_device_rules(rules);
  EXPECT_EQ(parse_device_rules(text).at(kPci), "mlx5_storage");
  EXPECT_EQ(render_device_rules(parse_device_rules(text)), text);
  const auto old = parse_device_rules(
      "ACTION==\"add\", SUBSYSTEM==\"infiniband\", SUBSYSTEMS==\"pci\", KERNELS==\"0000:11:00.0\", "
      "PROGRAM=\"rdma_rename %k NAME_FIXED mlx5_storage\"\n");
  EXPECT_EQ(old.at(kPci), "mlx5_storage");
}

// rdma_rename(8) renames once: the file that is read first decides.
TEST(RdmaRules, OfOthersAreFoundWhateverTheyKnowTheDeviceBy) {
  struct Row {
    const char* file;
    const char* rule;
    bool names;
  };
  const model::Guid guid{0x0002c903003178f1};
  for (const auto& row :
       {Row{"50-site", "KERNELS==\"0000:11:00.0\", PROGRAM=\"rdma_rename %k NAME_FIXED a\"\n", true},
        Row{"50-site", "KERNELS==\"0000:11:00.1\", PROGRAM=\"rdma_rename %k NAME_FIXED a\"\n", false},
        Row{"50-site", "DEVPATH==\"*/0000:11:00.0/infiniband/*\", PROGRAM=\"rdma_rename %k NAME_FIXED a\"\n",
            true},
        Row{"50-site",
            "ATTR{node_guid}==\"0002:c903:0031:78f1\", \\\n PROGRAM=\"rdma_rename %k NAME_GUID\"\n", true},
        Row{"50-site", "ATTR{node_guid}==\"0002:c903:0031:78f2\", PROGRAM=\"rdma_rename %k NAME_GUID\"\n",
            false},
        Row{"50-site",
            "ACTION==\"add\", SUBSYSTEM==\"infiniband\", PROGRAM=\"rdma_rename %k NAME_FALLBACK\"\n", true},
        Row{"50-site", "ACTION==\"add\", SUBSYSTEM==\"infiniband\", PROGRAM=\"rdma_rename %k NAME_KERNEL\"\n",
            false},
        Row{"60-rdma-persistent-naming",
            "SUBSYSTEM==\"infiniband\", PROGRAM=\"rdma_rename %k NAME_FALLBACK\"\n", false}}) {
    SCOPED_TRACE(std::string(row.file) + " " + row.rule);
    fakes::Faults faults;
    fakes::MemoryFiles files{faults};
    ASSERT_TRUE(files.write("/etc/udev/rules.d/" + std::string(row.file) + ".rules", row.rule));
    const auto rules = foreign_device_rules(files);
    const bool found = std::any_of(rules.begin(), rules.end(),
                                   [&](const auto& rule) { return names_device(rule, kPci, guid); });
    EXPECT_EQ(found, row.names);
  }
}

}  // namespace
}  // namespace rdmacfg::kinds
