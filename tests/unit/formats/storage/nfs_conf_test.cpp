// SPDX-License-Identifier: Apache-2.0
#include "formats/storage/nfs_conf.hpp"

#include <gtest/gtest.h>

#include "fakes/memory_files.hpp"

namespace rdmacfg::kinds {
namespace {

TEST(NfsConf, OursIsReadAsItWasWritten) {
  EXPECT_EQ(parse_nfs_server(render_nfs_server(20049)), 20049);
  EXPECT_EQ(parse_nfs_server("[nfsd]\nrdma=n\nrdma-port=20049\n"), std::nullopt);
  EXPECT_EQ(parse_nfs_server("[mountd]\nrdma=y\nrdma-port=20049\n"), std::nullopt);
  EXPECT_EQ(parse_nfs_server(""), std::nullopt);
}

TEST(NfsConf, SectionsAndKeysHaveNoCaseAndTheLastLineCounts) {
  const auto says = parse_nfs_conf(
      "[NFSD]\n# rdma=n\n RDMA = On\nrdma-port=1\n[exports]\nrdma=n\n[nfsd]\nrdma-port=\"nfsrdma\"\n");
  EXPECT_EQ(says.rdma, true);
  EXPECT_EQ(says.port, 20049);
  EXPECT_EQ(says.line, 8);
  // As older releases had it (rpc.nfsd(8)).
  for (const auto* value : {"20050", "nfsrdma"}) {
    const auto older = parse_nfs_conf(std::string("[nfsd]\nrdma=") + value + "\n");
    EXPECT_EQ(older.rdma, true) << value;
    EXPECT_EQ(older.port, std::string_view(value) == "nfsrdma" ? 20049 : 20050);
  }
}

// conf_get_bool() of nfs-utils, and rpc.nfsd(8), which still takes the port for rdma.
TEST(NfsConf, EachSpellingOfAValue) {
  struct Row {
    const char* text;
    std::optional<bool> rdma;
    std::optional<std::int64_t> port = std::nullopt;
  };
  const Row rows[] = {{"", std::nullopt},
                      {"rdma=y\n", std::nullopt},
                      {"[mountd]\nrdma=y\n", std::nullopt},
                      {"[nfsd\nrdma=y\n", std::nullopt},
                      {"[nfsd]\nrdma\n", std::nullopt},
                      {"[nfsd]\n#rdma=y\n;rdma=y\n", std::nullopt},
                      {"[nfsd]\nrdma=\n", std::nullopt},
                      {"[nfsd]\nrdma=maybe\n", std::nullopt},
                      {"[nfsd]\nrdma='y\n", std::nullopt},
                      {"[nfsd]\nrdma=65536\n", std::nullopt},
                      {"[nfsd]\nrdma=y\n[exportd]\nrdma=n\n", true},
                      {"[nfsd]\nrdma=1\n", true},
                      {"[nfsd]\nrdma=T\n", true},
                      {"[nfsd]\nrdma=Yes\n", true},
                      {"[ NFSD ]\n RDMA = ON \n", true},
                      {"[nfsd]\nrdma=\"y\"\n", true},
                      {"[nfsd]\nrdma='true'\n", true},
                      {"[nfsd]\nrdma=0\n", false},
                      {"[nfsd]\nrdma=f\n", false},
                      {"[nfsd]\nrdma=off\n", false},
                      {"[nfsd]\nrdma=No\n", false},
                      {"[nfsd]\nrdma=20050\n", true, 20050},
                      {"[nfsd]\nrdma=nfsrdma\n", true, 20049},
                      {"[nfsd]\nrdma-port=20050\n", std::nullopt, 20050},
                      {"[nfsd]\nrdma-port=nfsrdma\n", std::nullopt, 20049},
                      {"[nfsd]\nrdma-port=65536\n", std::nullopt},
                      {"[nfsd]\nrdma-port=-1\n", std::nullopt},
                      {"[nfsd]\nrdma-port=nfs\n", std::nullopt}};
  for (const auto& row : rows) {
    const auto says = parse_nfs_conf(row.text);
    EXPECT_EQ(says.rdma, row.rdma) << row.text;
    EXPECT_EQ(says.port, row.port) << row.text;
  }
}

// conf_parse() and conf_parse_line() of support/nfs/conffile.c.
TEST(NfsConf, CommentsJoinedLinesAndALineWithoutAnEnd) {
  struct Row {
    const char* text;
    std::optional<bool> rdma;
    std::optional<std::int64_t> port = std::nullopt;
  };
  const Row rows[] = {{"[nfsd]\nrdma=y # as the site has it\n", true},
                      {"[nfsd]\nrdma=n;rdma=y\n", false},
                      {"[nfsd]\nrdma-port=\"20050\" # not 20049\n", std::nullopt, 20050},
                      {"[nfsd]\nrdma=\\\ny\n", true},
                      {"[nfsd]\n# rdma=n \\\nrdma=y\n", std::nullopt},
                      {"[nfsd]\nrdma=y\nrdma=n", true},
                      {"[nfsd]\nrdma=y\nrdma=\n", true},
                      {"[nfsd \"x\"]\nrdma=y\n", std::nullopt}};
  for (const auto& row : rows) {
    const auto says = parse_nfs_conf(row.text);
    EXPECT_EQ(says.rdma, row.rdma) << row.text;
    EXPECT_EQ(says.port, row.port) << row.text;
  }
}

TEST(NfsConf, IncludedFilesCountWhereTheyAreIncluded) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content = {{"/etc/nfs.conf", "[nfsd]\nrdma=y\ninclude=site.inc\nrdma-port=20052\n"},
                   {"/etc/site.inc", "rdma-port=20050\ninclude = -/srv/gone.conf\n[mountd]\nrdma=n\n"},
                   {"/etc/nfs.conf.d/zz-rdma-configd.conf", render_nfs_server(20049)},
                   {"/etc/nfs.conf.d/zzz.conf", "[general]\ninclude=../late\ninclude=zzz.conf\n"},
                   {"/etc/late", "rdma=n\n[nfsd]\nrdma=off\n"}};
  const auto others = read_foreign_nfs_conf(files).value();
  ASSERT_GE(others.size(), 4U);
  EXPECT_EQ(others[0].path, "/etc/nfs.conf");
  EXPECT_EQ(others[0].says.rdma, true);
  EXPECT_EQ(others[1].path, "/etc/site.inc");
  EXPECT_EQ(others[1].says.rdma, std::nullopt) << "[mountd] is the included file's own section";
  EXPECT_EQ(others[1].says.port, 20050);
  EXPECT_EQ(others[2].path, "/etc/nfs.conf");
  EXPECT_EQ(others[2].says.port, 20052) << "the included file's sections end with it";
  EXPECT_FALSE(others[2].wins);
  EXPECT_EQ(others[3].path, "/etc/late");
  EXPECT_EQ(others[3].says.rdma, false);
  EXPECT_EQ(others[3].says.line, 3) << "its first line is in [general]";
  EXPECT_TRUE(others[3].wins);
  EXPECT_EQ(foreign_rdma_port(others), std::nullopt);
}

TEST(NfsConf, NumbersInNamesOfFilesAreCompared) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content = {{"/etc/nfs.conf.d/10-site.conf", "[nfsd]\nrdma=y\nrdma-port=20050\n"},
                   {"/etc/nfs.conf.d/9-site.conf", "[nfsd]\nrdma-port=20051\n"}};
  EXPECT_EQ(foreign_rdma_port(read_foreign_nfs_conf(files).value()), 20050);
}

TEST(NfsConf, FilesOfOthersThatAreReadLaterWin) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content = {{"/etc/nfs.conf", "[nfsd]\nrdma=y\n"},
                   {"/etc/nfs.conf.d/local.conf", "[nfsd]\nthreads=8\n"},
                   {"/etc/nfs.conf.d/site.conf", "[nfsd]\nrdma-port=20050\n"},
                   {"/etc/nfs.conf.d/zz-rdma-configd.conf", render_nfs_server(20049)},
                   {"/etc/nfs.conf.d/zzz.conf", "[nfsd]\nrdma=0\n"},
                   {"/etc/nfs.conf.d/zzz.conf.bak", "[nfsd]\nrdma=1\n"}};
  auto others = read_foreign_nfs_conf(files).value();
  ASSERT_EQ(others.size(), 3U);
  EXPECT_FALSE(others[0].wins);
  EXPECT_FALSE(others[1].wins);
  EXPECT_TRUE(others[2].wins);
  EXPECT_EQ(foreign_rdma_port(others), std::nullopt);
  others.pop_back();
  EXPECT_EQ(foreign_rdma_port(others), 20050);
  EXPECT_EQ(foreign_rdma_port({}), std::nullopt);
}

// nfs.conf(5) of nfs-utils as openSUSE has it: the distribution's files in /usr/etc come before those of
// /etc.
TEST(NfsConf, FilesOfTheDistributionAreReadBeforeThoseOfEtc) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content = {{"/usr/etc/nfs.conf", "[nfsd]\nrdma=y\nrdma-port=20050\n"},
                   {"/usr/etc/nfs.conf.d/zzz.conf", "[nfsd]\nrdma-port=20051\n"},
                   {"/etc/nfs.conf.d/site.conf", "[nfsd]\nrdma=n\n"}};
  auto others = read_foreign_nfs_conf(files).value();
  ASSERT_EQ(others.size(), 3U);
  EXPECT_EQ(others[0].path, "/usr/etc/nfs.conf");
  EXPECT_EQ(others[1].path, "/usr/etc/nfs.conf.d/zzz.conf");
  EXPECT_EQ(others[2].path, "/etc/nfs.conf.d/site.conf");
  for (const auto& file : others) EXPECT_FALSE(file.wins) << file.path;
  EXPECT_EQ(foreign_rdma_port(others), std::nullopt);
  others.pop_back();
  EXPECT_EQ(foreign_rdma_port(others), 20051);
}

}  // namespace
}  // namespace rdmacfg::kinds
