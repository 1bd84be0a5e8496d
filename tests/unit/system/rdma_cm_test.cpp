// SPDX-License-Identifier: Apache-2.0
// Defaults of RoCE in configfs (Documentation/ABI/testing/configfs-rdma_cm), on a folder like it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "starting_units.hpp"
#include "system/linux/linux_host.hpp"
#include "temp_tree.hpp"

namespace rdmacfg::system {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ConfigfsOfRdmaCm : public ::testing::Test {
 protected:
  static constexpr const char* kFolder = "/sys/kernel/config/rdma_cm";
  static constexpr const char* kPort = "/sys/kernel/config/rdma_cm/mlx5_0/ports/1/";

  TempTree tree;
  StartingUnits units;
  std::unique_ptr<RdmaCm> rdma_cm = make_linux_rdma_cm(units, tree.at("/sys"));
};

TEST_F(ConfigfsOfRdmaCm, IsReadAsTheKernelShowsIt) {
  tree.put(std::string(kPort) + "default_roce_mode", "RoCE v2\n");
  tree.put(std::string(kPort) + "default_roce_tos", "106\n");
  std::filesystem::create_directories(tree.at(std::string(kFolder) + "/bnxt_re0"));
  EXPECT_THAT(rdma_cm->observe_folders().value(), ElementsAre("bnxt_re0", "mlx5_0"));
  const auto defaults = rdma_cm->observe_defaults("mlx5_0", 1).value();
  ASSERT_TRUE(defaults);
  EXPECT_EQ(defaults->gid_type, "RoCE v2");
  EXPECT_EQ(defaults->tos, 106);
  EXPECT_FALSE(rdma_cm->observe_defaults("mlx5_0", 2).value());
  EXPECT_FALSE(rdma_cm->observe_defaults("bnxt_re0", 1).value());
  tree.put(std::string(kPort) + "default_roce_tos", "none\n");
  EXPECT_FALSE(rdma_cm->observe_defaults("mlx5_0", 1).value()) << "no number";
  std::filesystem::remove(tree.at(std::string(kPort) + "default_roce_tos"));
  EXPECT_FALSE(rdma_cm->observe_defaults("mlx5_0", 1).value()) << "older kernels have no ToS";
}

TEST_F(ConfigfsOfRdmaCm, FoldersAreMadeOnceAndCounted) {
  const auto too_early = rdma_cm->make_folder("mlx5_0");
  ASSERT_FALSE(too_early);
  EXPECT_EQ(too_early.error().sys_errno, ENOENT);
  EXPECT_THAT(too_early.error().message, HasSubstr("mlx5_0: create its folder"));
  std::filesystem::create_directories(tree.at(kFolder));
  EXPECT_EQ(rdma_cm->make_folder("mlx5_0").value(), true);
  EXPECT_EQ(rdma_cm->make_folder("mlx5_0").value(), false) << "somebody has made it";
  EXPECT_EQ(rdma_cm->folders_made(), 1U);
  EXPECT_TRUE(rdma_cm->remove_folder("mlx5_0"));
  EXPECT_TRUE(rdma_cm->remove_folder("mlx5_0")) << "it is gone";
  EXPECT_FALSE(std::filesystem::exists(tree.at(std::string(kFolder) + "/mlx5_0")));
}

TEST_F(ConfigfsOfRdmaCm, AFolderInUseStays) {
  tree.put(std::string(kFolder) + "/mlx5_0/file", "");
  const auto removed = rdma_cm->remove_folder("mlx5_0");
  ASSERT_FALSE(removed);
  EXPECT_THAT(removed.error().message, HasSubstr("mlx5_0: remove its folder"));
}

TEST_F(ConfigfsOfRdmaCm, AttributesAreWrittenAsALine) {
  tree.put(std::string(kPort) + "default_roce_mode", "");
  tree.put(std::string(kPort) + "default_roce_tos", "");
  ASSERT_TRUE(rdma_cm->write_gid_type("mlx5_0", 1, "IB/RoCE v1"));
  ASSERT_TRUE(rdma_cm->write_tos("mlx5_0", 1, 104));
  EXPECT_EQ(tree.get(std::string(kPort) + "default_roce_mode"), "IB/RoCE v1\n");
  EXPECT_EQ(tree.get(std::string(kPort) + "default_roce_tos"), "104\n");
  const auto absent = rdma_cm->write_tos("mlx5_0", 2, 104);
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().sys_errno, ENOENT);
  EXPECT_THAT(absent.error().message, HasSubstr("mlx5_0 port 2: write 104 to default_roce_tos"));
}

TEST_F(ConfigfsOfRdmaCm, NothingIsWrittenThroughALink) {
  tree.put("/victim", "before\n");
  tree.link(std::string(kPort) + "default_roce_tos", tree.at("/victim"));
  const auto written = rdma_cm->write_tos("mlx5_0", 1, 104);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().sys_errno, ELOOP);
  EXPECT_EQ(tree.get("/victim"), "before\n");
}

TEST_F(ConfigfsOfRdmaCm, NamesThatLeadElsewhereAreRefused) {
  tree.put("/sys/kernel/config/other/ports/1/default_roce_mode", "RoCE v2\n");
  tree.put("/sys/kernel/config/other/ports/1/default_roce_tos", "0\n");
  std::filesystem::create_directories(tree.at("/sys/kernel/config/empty"));
  std::filesystem::create_directories(tree.at(kFolder));
  for (const auto* name : {"", ".", "..", "../other", "../empty", "a/b", ".hidden"}) {
    EXPECT_FALSE(rdma_cm->observe_defaults(name, 1).value()) << name;
    for (const auto& error :
         {rdma_cm->make_folder(name).error(), rdma_cm->write_gid_type(name, 1, "RoCE v2").error(),
          rdma_cm->write_tos(name, 1, 4).error()})
      EXPECT_EQ(error.code, base::Code::kInvalid) << name;
    EXPECT_TRUE(rdma_cm->remove_folder(name)) << name;
  }
  EXPECT_EQ(rdma_cm->folders_made(), 0U);
  EXPECT_TRUE(std::filesystem::exists(tree.at("/sys/kernel/config/empty")));
  EXPECT_EQ(tree.get("/sys/kernel/config/other/ports/1/default_roce_tos"), "0\n");
}

TEST_F(ConfigfsOfRdmaCm, SystemdMountsConfigfsOfALoadedModule) {
  std::filesystem::create_directories(tree.at("/sys/module/rdma_cm"));
  units.effect = [&] { std::filesystem::create_directories(tree.at(kFolder)); };
  EXPECT_TRUE(rdma_cm->start());
  EXPECT_THAT(units.started, ElementsAre("sys-kernel-config.mount"));
  EXPECT_TRUE(rdma_cm->start());
  EXPECT_EQ(units.started.size(), 1U) << "it is there";
}

TEST_F(ConfigfsOfRdmaCm, AModuleThatCannotBeSeenIsNotLoaded) {
  tree.link("/sys/module/rdma_cm", "rdma_cm");
  const auto started = rdma_cm->start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().sys_errno, ELOOP);
  EXPECT_TRUE(units.started.empty());
}

}  // namespace
}  // namespace rdmacfg::system
