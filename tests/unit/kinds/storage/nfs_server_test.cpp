// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/nfs/nfs_server.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"
#include "formats/storage/nfs_conf.hpp"

namespace rdmacfg::kinds {
namespace {

using testing::HasSubstr;

model::Report serve_at(fakes::FakeKernel& kernel, int port) {
  auto host = kernel.host();
  const auto text = fmt::format("version = 1\n[nfs_server]\nrdma_port = {}\n", port);
  return core::apply(config::parse_texts({{"config.toml", text}}, "node1", grammar()), host);
}

TEST(NfsServer, AServerThatDoesNotStartWithAnotherPortServesTheFormerOne) {
  auto kernel = fakes::FakeKernel::parse(
      R"({ "units": { "nfs-server.service": { "enabled": true, "running": true } } })");
  ASSERT_EQ(serve_at(*kernel, 20049).exit, model::Exit::kOk);
  const auto before = kernel->dump({.without_files_below = "/var"});
  kernel->units.units.at("nfs-server.service").ends = [&kernel] {
    return kernel->files.content.at(std::string(kNfsServerFile)).find("20050") != std::string::npos;
  };
  const auto report = serve_at(*kernel, 20050);
  EXPECT_EQ(report.exit, model::Exit::kUndone);
  ASSERT_TRUE(report.error);
  EXPECT_THAT(report.error->message, HasSubstr("is not running after its restart"));
  EXPECT_EQ(kernel->dump({.without_files_below = "/var"}), before);
}

}  // namespace
}  // namespace rdmacfg::kinds
