// SPDX-License-Identifier: Apache-2.0
// Files of others that rdma-configd could have lines in, and that are not regular files: they matter to the
// entries that would write there, and to nothing else.
#include <gmock/gmock.h>

#include "contract/commit_host.hpp"

namespace rdmacfg::contract {
namespace {

using ::testing::HasSubstr;

struct FileOfOthers {
  const char* path;
  const char* entry;
};

const std::vector<FileOfOthers> kCases{
    {"/etc/rdma/mlx4.conf", "[[mlx4_port]]\npci = \"0000:10:00.0\"\nports = [\"ib\", \"ib\"]\n"},
    {"/etc/opensm/opensm.conf", "[[opensm_option]]\nkey = \"max_op_vls\"\nvalue = 3\n"},
    {"/etc/opensm/partitions.conf", "[[partition]]\npkey = 0x8002\n"},
    {"/etc/opensm/rdma-root-guids.conf",
     "[[opensm_file]]\noption = \"root_guid_file\"\nguids = [\"0x200000\"]\n"},
    {"/etc/opensm/opensm-0x0002c903003178f2.conf",
     "[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n[[opensm.option]]\nkey = \"max_op_vls\"\nvalue = 3\n"},
};

TEST(OthersFiles, ALinkKeepsNothingElseFromBeingApplied) {
  for (const auto& [path, entry] : kCases) {
    SCOPED_TRACE(path);
    Host host(two_ports());
    host.kernel().files.content["/etc/default/opensm"] = "PORTS=ALL\n";
    host.kernel().files.links.insert(path);
    EXPECT_TRUE(applied(host.commit(kFirst)));
    EXPECT_THAT(host.dump(), HasSubstr("up mtu 65520 connected"));
    EXPECT_TRUE(applied(host.commit("version = 1\n")));
  }
}

TEST(OthersFiles, WhatWouldBeWrittenThereIsRefused) {
  for (const auto& [path, entry] : kCases) {
    SCOPED_TRACE(path);
    Host host(two_ports());
    host.kernel().files.content["/etc/default/opensm"] = "PORTS=ALL\n";
    host.kernel().files.links.insert(path);
    const auto before = host.dump();
    const auto report = host.commit(std::string(kFirst) + entry);
    EXPECT_EQ(report.exit, Exit::kError);
    ASSERT_FALSE(report.diagnostics.empty());
    EXPECT_EQ(report.diagnostics.front().message,
              std::string(path) + " is a symbolic link, not a regular file");
    EXPECT_GT(report.diagnostics.front().where.line, 1);
    EXPECT_EQ(host.dump(), before);
  }
}

constexpr const char* kArrivalHost = R"({
  "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0",
    "ports": [{ "guid": "00:02:c9:03:00:31:78:f2", "state": "INIT", "interface": { "name": "ib0" } }] }],
  "units": { "opensm.service": { "reloads": false }, "opensm@.service": { "installable": false, "reloads": false },
             "srp_daemon.service": {}, "srp_daemon_port@.service": {}, "remote-fs.target": {} },
  "files": { "/etc/default/opensm": "PORTS=NONE\n", "/usr/sbin/mount.nfs": "", "/usr/sbin/iscsiadm": "" } })";

/// RHEL's, where opensm-launch starts subnet managers.
constexpr const char* kArrivalHostOfRhel = R"({
  "devices": [{ "name": "mlx4_0", "pci": "0000:10:00.0",
    "ports": [{ "guid": "00:02:c9:03:00:31:78:f2", "state": "INIT", "interface": { "name": "ib0" } }] }],
  "units": { "opensm.service": { "reloads": false } },
  "files": { "/etc/sysconfig/opensm": "", "/etc/rdma/opensm.conf": "" } })";

struct Arrival {
  const char* path;
  const char* entry;
  const char* host = kArrivalHost;
};

const std::vector<Arrival> kArrivals{
    {"/etc/opensm/rdma-root-guids.conf",
     "[[opensm_file]]\noption = \"root_guid_file\"\nguids = [\"0x200000\"]\n"},
    {"/etc/opensm/opensm-0x0002c903003178f2.conf",
     "[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n[[opensm.option]]\nkey = \"max_op_vls\"\nvalue = 3\n"},
    {"/etc/rdma/opensm.conf.0x0002c903003178f2",
     "[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n[[opensm.option]]\nkey = \"max_op_vls\"\nvalue = 3\n",
     kArrivalHostOfRhel},
    {"/etc/rdma/srp_daemon.conf", "[[srp_rule]]\nname = \"a\"\nioc_guid = \"66\"\n"},
    {"/etc/systemd/system/scratch.mount",
     "[[nfs_mount]]\npath = \"/scratch\"\nserver = \"192.0.2.1\"\nexport = \"/export\"\n"},
    {"/etc/systemd/system/iser-sessions.service",
     "[[iser_session]]\ntarget = \"iqn.2026-01.org.example:a\"\naddress = \"192.0.2.1\"\n"},
};

/// Somebody writes a file of his own between the look at the host and the write.
TEST(OthersFiles, WhatComesMeanwhileIsNotOverwritten) {
  for (const auto& [path, entry, described] : kArrivals) {
    SCOPED_TRACE(path);
    Host host(FakeKernel::parse(described));
    auto& kernel = host.kernel();
    kernel.faults.before(1, [&kernel, path = std::string(path)] { kernel.files.content[path] = "theirs\n"; });
    const auto report = host.commit(std::string("version = 1\n") + entry);
    EXPECT_NE(report.exit, Exit::kOk) << text_of(report);
    EXPECT_EQ(kernel.files.content.at(path), "theirs\n");
  }
}

}  // namespace
}  // namespace rdmacfg::contract
