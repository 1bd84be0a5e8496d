// SPDX-License-Identifier: Apache-2.0
#include "system/storage/nfsd.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "system/linux/linux_host.hpp"
#include "temp_tree.hpp"

namespace rdmacfg::system {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Nfsd, WithoutListenersItDoesNotRun) {
  const TempTree tree;
  const auto nfsd = make_linux_nfsd(tree.at("/proc"));
  EXPECT_FALSE(nfsd->observe_rdma_ports().value().has_value());
  tree.put("/proc/fs/nfsd/portlist", "");
  EXPECT_FALSE(nfsd->observe_rdma_ports().value().has_value());
  const TempTree empty;
  const auto done = make_linux_nfsd(empty.at("/proc"))->listen_rdma(20049);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("serve RDMA on port 20049"));
}

TEST(Nfsd, TellsThePortsOfRdmaOnce) {
  const TempTree tree;
  const auto nfsd = make_linux_nfsd(tree.at("/proc"));
  tree.put("/proc/fs/nfsd/portlist", "tcp 2049\nudp 2049\n");
  EXPECT_THAT(nfsd->observe_rdma_ports().value().value(), IsEmpty());
  tree.put("/proc/fs/nfsd/portlist", "rdma 20050\nrdma 20049\nrdma 20049\ntcp 2049\nrdma x\nrdma 99999\n");
  EXPECT_THAT(nfsd->observe_rdma_ports().value().value(), ElementsAre(20049, 20050));
}

TEST(Nfsd, AListenerIsOneLine) {
  const TempTree tree;
  tree.put("/proc/fs/nfsd/portlist", "");
  ASSERT_TRUE(make_linux_nfsd(tree.at("/proc"))->listen_rdma(20049));
  EXPECT_THAT(make_linux_nfsd(tree.at("/proc"))->observe_rdma_ports().value().value(), ElementsAre(20049));
}

}  // namespace
}  // namespace rdmacfg::system
