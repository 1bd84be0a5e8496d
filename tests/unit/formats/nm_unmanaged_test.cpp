// SPDX-License-Identifier: Apache-2.0
#include "formats/nm_unmanaged.hpp"

#include <gtest/gtest.h>

#include "fakes/fake_kernel.hpp"

namespace rdmacfg::kinds {
namespace {

using model::Backend;

const model::Guid kKeptOffOne{0x0002c903003178f2}, kKeptOffTwo{0x0002c903003178f3};
const std::string kKeptOffFile(kKeepOffNetworkManager);
constexpr const char* kSnippetOfOthers = "/etc/NetworkManager/conf.d/calico.conf";

TEST(NmUnmanaged, NamesPortsByGuid) {
  EXPECT_EQ(render_nm_unmanaged({{kKeptOffOne, Backend::kDirect}, {kKeptOffTwo, Backend::kNetworkd}}),
            "# Written by rdma-configd; do not edit.\n[keyfile]\n"
            "unmanaged-devices+=00:00:00:00:00:00:00:00:00:00:00:00:00:02:c9:03:00:31:78:f2;"
            "00:00:00:00:00:00:00:00:00:00:00:00:00:02:c9:03:00:31:78:f3\n");
  EXPECT_EQ(render_nm_unmanaged({{kKeptOffOne, Backend::kNetworkManager}}), "");
  EXPECT_EQ(render_nm_unmanaged({}), "");
}

TEST(NmUnmanaged, IsReadAfterFilesThatSetTheListAnew) {
  for (const auto* name : {"calico.conf", "99-unmanaged.conf", "unmanaged.conf", "xen.conf"})
    EXPECT_LT("/etc/NetworkManager/conf.d/" + std::string(name), kKeptOffFile);
}

TEST(NmUnmanaged, IsOnlyWhereNetworkManagerReadsIt) {
  fakes::FakeKernel kernel;
  const BackendRules rules{{kKeptOffOne, Backend::kDirect}};
  ASSERT_TRUE(write_nm_unmanaged(kernel.files, rules));
  EXPECT_FALSE(kernel.files.content.contains(kKeptOffFile));
  EXPECT_TRUE(*keeps_nm_off(kernel.files, rules));
  kernel.files.content[kSnippetOfOthers] = "[keyfile]\n";
  EXPECT_FALSE(*keeps_nm_off(kernel.files, rules)) << "NetworkManager was installed meanwhile";
  ASSERT_TRUE(write_nm_unmanaged(kernel.files, rules));
  EXPECT_EQ(kernel.files.content[kKeptOffFile], render_nm_unmanaged(rules));
  EXPECT_TRUE(*keeps_nm_off(kernel.files, rules));
}

TEST(NmUnmanaged, GoesWithTheLastPort) {
  fakes::FakeKernel kernel;
  kernel.files.content[kSnippetOfOthers] = "[keyfile]\n";
  ASSERT_TRUE(write_backend_rules(kernel.files, {{kKeptOffOne, Backend::kDirect}}));
  ASSERT_TRUE(kernel.files.content.contains(kKeptOffFile));
  const BackendRules theirs{{kKeptOffOne, Backend::kNetworkManager}};
  EXPECT_FALSE(*keeps_nm_off(kernel.files, theirs)) << "it is one too many";
  ASSERT_TRUE(write_backend_rules(kernel.files, theirs));
  EXPECT_FALSE(kernel.files.content.contains(kKeptOffFile));
  ASSERT_TRUE(write_backend_rules(kernel.files, {}));
  EXPECT_EQ(kernel.files.content.size(), 1U) << "that of others stays";
}

TEST(NmUnmanaged, TheOrderOfPortsDoesNotMatter) {
  fakes::FakeKernel kernel;
  const BackendRules rules{{kKeptOffOne, Backend::kDirect}, {kKeptOffTwo, Backend::kDirect}};
  const std::string any = "00:00:00:00:00:00:00:00:00:00:00:00:";
  kernel.files.content[kKeptOffFile] =
      "# Written by rdma-configd; do not edit.\n[keyfile]\nunmanaged-devices+=" + any + kKeptOffTwo.text() +
      ";" + any + kKeptOffOne.text() + "\n";
  EXPECT_TRUE(*keeps_nm_off(kernel.files, rules));
  EXPECT_FALSE(*keeps_nm_off(kernel.files, {{kKeptOffOne, Backend::kDirect}}));
}

TEST(NmUnmanaged, AnEditedOneIsNotWhole) {
  fakes::FakeKernel kernel;
  const BackendRules rules{{kKeptOffOne, Backend::kDirect}};
  kernel.files.content[kKeptOffFile] = render_nm_unmanaged(rules) + "unmanaged-devices=interface-name:eth0\n";
  EXPECT_FALSE(*keeps_nm_off(kernel.files, rules));
}

}  // namespace
}  // namespace rdmacfg::kinds
