// SPDX-License-Identifier: Apache-2.0
#include "kinds/opensm/opensm_own.hpp"

#include <gmock/gmock.h>

#include "fakes/memory_files.hpp"
#include "formats/opensm/opensm_conf.hpp"

namespace rdmacfg::kinds {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr model::Guid kOpensmOwnPort{0x0002c903003178f2};
constexpr const char* kOpensmOwnFolder = "/etc/opensm";
const std::string kOpensmOwnConf = "/etc/opensm/opensm-0x0002c903003178f2.conf";
const std::string kOpensmOwnDropIn =
    "/etc/systemd/system/opensm@0x0002c903003178f2.service.d/50-rdma-configd.conf";
using OwnOptions = std::map<std::string, std::string>;

class OwnConfs : public testing::Test {
 protected:
  /// Whether anything was changed.
  bool write(const OwnOptions& options) {
    return write_own_conf(files_, kOpensmOwnFolder, kOpensmOwnPort, options).value();
  }
  std::map<model::Guid, OwnConf> observe() { return observe_own_confs(files_, kOpensmOwnFolder).value(); }

  fakes::Faults faults_;
  fakes::MemoryFiles files_{faults_};
};

TEST(OpensmOwners, AnIdSaysWhoseOptionItIs) {
  EXPECT_EQ(OpensmOwner::of("qos").port, std::nullopt);
  EXPECT_EQ(OpensmOwner::of("qos").option, "qos");
  const auto own = OpensmOwner::of("00:02:c9:03:00:31:78:f2/qos");
  EXPECT_EQ(own.port, kOpensmOwnPort);
  EXPECT_EQ(own.option, "qos");
  EXPECT_EQ(own.id(), "00:02:c9:03:00:31:78:f2/qos");
  EXPECT_EQ(OpensmOwner::of("/etc/opensm/opensm.conf").port, std::nullopt) << "lines of a damaged file";
}

TEST_F(OwnConfs, WhatIsWrittenIsRead) {
  EXPECT_TRUE(write({{"qos", "TRUE"}, {"routing_engine", "updn,ftree"}}));
  EXPECT_EQ(
      files_.content.at(kOpensmOwnConf),
      "# Written by rdma-configd; changes here are overwritten.\nqos TRUE\nrouting_engine updn,ftree\n");
  EXPECT_THAT(files_.content.at(kOpensmOwnDropIn), HasSubstr("--config " + kOpensmOwnConf));
  const auto conf = observe().at(kOpensmOwnPort);
  EXPECT_TRUE(conf.is_read);
  EXPECT_EQ(conf.options, (OwnOptions{{"qos", "TRUE"}, {"routing_engine", "updn,ftree"}}));
  EXPECT_FALSE(write(conf.options)) << "nothing to do";
  EXPECT_EQ(own_conf_of(files_, kOpensmOwnPort).value(), "") << "of a host without OpenSM";
  files_.content["/etc/default/opensm"] = "PORTS=ALL\n";
  EXPECT_EQ(own_conf_of(files_, kOpensmOwnPort).value(), kOpensmOwnConf);
}

TEST_F(OwnConfs, ThePriorityStaysWhereItIs) {
  files_.content[kOpensmOwnDropIn] = render_opensm_drop_in(7);
  EXPECT_TRUE(write({{"qos", "TRUE"}}));
  EXPECT_EQ(parse_opensm_drop_in(files_.content.at(kOpensmOwnDropIn)), 7);
  EXPECT_TRUE(write({}));
  EXPECT_EQ(files_.content.at(kOpensmOwnDropIn), render_opensm_drop_in(7));
  EXPECT_FALSE(files_.content.contains(kOpensmOwnConf));
}

TEST_F(OwnConfs, BothFilesGoWithTheLastOption) {
  EXPECT_TRUE(write({{"qos", "TRUE"}}));
  EXPECT_TRUE(write({}));
  EXPECT_TRUE(files_.content.empty());
  EXPECT_FALSE(write({}));
}

TEST_F(OwnConfs, AFileThatNobodyReadsDoesNotHold) {
  EXPECT_TRUE(write({{"qos", "TRUE"}}));
  files_.content[kOpensmOwnDropIn] = "[Service]\nExecStart=\nExecStart=/usr/sbin/opensm --guid %I\n";
  EXPECT_FALSE(observe().at(kOpensmOwnPort).is_read);
  files_.content.erase(kOpensmOwnDropIn);
  EXPECT_FALSE(observe().at(kOpensmOwnPort).is_read);
  EXPECT_TRUE(write({{"qos", "TRUE"}})) << "the drop-in is written again";
  EXPECT_TRUE(observe().at(kOpensmOwnPort).is_read);
}

TEST_F(OwnConfs, FilesOfOthersAreNotOurs) {
  files_.content[kOpensmOwnConf] = "qos FALSE\n";
  EXPECT_TRUE(observe().empty());
  EXPECT_FALSE(write({}));
  EXPECT_EQ(files_.content.at(kOpensmOwnConf), "qos FALSE\n");
  files_.content["/etc/default/opensm"] = "PORTS=ALL\n";
  EXPECT_EQ(own_conf_of(files_, kOpensmOwnPort).value(), "");
  EXPECT_THAT(files_.content, Not(testing::Contains(testing::Key(kOpensmOwnDropIn))));
}

/// Where opensm-launch starts it.
TEST_F(OwnConfs, OnRhelTheFileNamesItsPortAndNoDropInIsWritten) {
  const std::string path = "/etc/rdma/opensm.conf.0x0002c903003178f2";
  files_.content["/etc/sysconfig/opensm"] = "";
  const auto write_there = [&](const OwnOptions& options) {
    return write_own_conf(files_, "/etc/rdma", kOpensmOwnPort, options).value();
  };
  const auto seen = [&] { return observe_own_confs(files_, "/etc/rdma").value(); };
  EXPECT_TRUE(write_there({{"qos", "TRUE"}, {"subnet_prefix", "0xfe80000000000001"}}));
  EXPECT_EQ(files_.content.at(path),
            "# Written by rdma-configd; changes here are overwritten.\n"
            "guid 0x0002c903003178f2\nqos TRUE\nsubnet_prefix 0xfe80000000000001\n");
  EXPECT_EQ(files_.content.size(), 2U) << "the file, and that with GUIDS, which is as it was";
  const auto conf = seen().at(kOpensmOwnPort);
  EXPECT_TRUE(conf.is_read);
  EXPECT_EQ(conf.options, (OwnOptions{{"qos", "TRUE"}, {"subnet_prefix", "0xfe80000000000001"}}));
  EXPECT_FALSE(write_there(conf.options)) << "nothing to do";

  files_.content[path] = "# Written by rdma-configd; changes here are overwritten.\nqos TRUE\n";
  EXPECT_FALSE(seen().at(kOpensmOwnPort).is_read) << "it would take the first port";
  EXPECT_TRUE(write_there({{"qos", "TRUE"}}));
  EXPECT_TRUE(seen().at(kOpensmOwnPort).is_read);
  EXPECT_TRUE(write_there({}));
  EXPECT_FALSE(files_.content.contains(path));

  files_.content[path] = "guid 0x0002c903003178f2\n";
  EXPECT_TRUE(seen().empty());
  EXPECT_FALSE(write_there({}));
  EXPECT_TRUE(files_.content.contains(path)) << "of others";
  const auto refused = write_own_conf(files_, "/etc/rdma", kOpensmOwnPort, {{"qos", "TRUE"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::kRefused) << "it came since the host was observed";
  EXPECT_EQ(files_.content.at(path), "guid 0x0002c903003178f2\n");
}

}  // namespace
}  // namespace rdmacfg::kinds
