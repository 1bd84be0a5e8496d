// SPDX-License-Identifier: Apache-2.0
// fabric where there is nothing to look at, or not what a word names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "fabric/fabric.hpp"
#include "fakes/fabrics.hpp"
#include "unit/ctl/console.hpp"

namespace rdmacfg::ctl {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// A fabric whose ports keep their counters.
class StubbornFabricReader : public fakes::FakeFabricReader {
 public:
  using FakeFabricReader::FakeFabricReader;
  base::Result<std::vector<fabric::End>> clear_counters(
      const system::FabricRequest& /*request*/,
      const std::vector<system::CounterPlace>& /*places*/) override {
    return base::fail(base::Code::kIo, "the port went down");
  }
};

class RefusedFabric : public testing::Test {
 protected:
  /// Not the document of the host that the test runs on.
  RefusedFabric() { console.environment.document.emplace(); }

  void answer_with(const base::Result<fabric::Fabric>& answer) {
    console.environment.fabric_reader = [answer] { return std::make_unique<StubbornFabricReader>(answer); };
  }

  void refuses(const std::vector<std::string>& words, const std::string& message) {
    EXPECT_EQ(console.run(words), 1) << message;
    EXPECT_THAT(console.err.str(), HasSubstr("rdma-configctl: error: " + message));
    EXPECT_THAT(console.out.str(), IsEmpty()) << message;
  }

  Console console;
};

TEST_F(RefusedFabric, WithoutALookAtIt) {
  refuses({"fabric"}, "this build has no fabric support");
  answer_with(base::fail(base::Code::kNotFound, "no InfiniBand port has a link (mlx5_0/1: down)"));
  refuses({"fabric"}, "no InfiniBand port has a link (mlx5_0/1: down)");
  refuses({"fabric", "--clear-counters", "all"}, "no InfiniBand port has a link (mlx5_0/1: down)");
  console.terminal();
  EXPECT_EQ(console.run({"fabric"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("no InfiniBand port has a link")) << "progress hides no error";
}

TEST_F(RefusedFabric, WordsAndFilesAreLookedAtFirst) {
  refuses({"fabric", "host"}, "fabric has no topic host; did you mean hosts?");
  refuses({"fabric", "quark"}, "fabric has no topic quark; there are ");
  refuses({"fabric", "--route", "node001"}, "--route: ");
  refuses({"fabric", "--compare", console.folder().string()},
          "--compare: " + console.folder().string() + ": is a directory");
  refuses({"fabric", "--compare", "/nonexistent.json"},
          "--compare: /nonexistent.json: No such file or directory");
  const auto path = (console.folder() / "no.json").string();
  std::ofstream(path) << "{";
  refuses({"fabric", "--compare", path}, "--compare " + path + ": ");
  const auto fifo = (console.folder() / "fifo").string();
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  refuses({"fabric", "--compare", fifo}, "--compare: " + fifo + ": is not a regular file");
}

TEST_F(RefusedFabric, CountersThatWereNotReadAreNotCleared) {
  auto fabric = fakes::fat_tree(4);
  answer_with(fabric);
  refuses({"fabric", "--clear-counters", "leaf1"}, "--clear-counters leaf1: no counters could be read there");
  refuses({"fabric", "--clear-counters", "all"}, "--clear-counters all: no counters could be read there");
  refuses({"fabric", "--clear-counters", "node9"}, "--clear-counters node9: is not in the fabric");
  fakes::node_called(fabric, "node002")->description = "node001";
  answer_with(fabric);
  refuses({"fabric", "--clear-counters", "node001"},
          "--clear-counters node001: is the name of several nodes; use the GUID");
  fakes::port_of(fabric, "node003", 1)->counters.emplace();
  answer_with(fabric);
  refuses({"fabric", "--clear-counters", "node003"}, "clearing counters: the port went down");
}

}  // namespace
}  // namespace rdmacfg::ctl
