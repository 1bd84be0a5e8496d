// SPDX-License-Identifier: Apache-2.0
// Units that restore saved targets, and remove those of the document with it.
#include "kinds/storage/target_restorers.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"

namespace rdmacfg::kinds {
namespace {

TEST(TargetRestorers, TargetsThatASavedFileDoesNotNameAreFound) {
  using Names = std::vector<std::string>;
  const std::string saved = R"({"wwn": "iqn.2026-01.org.example:ab", "note": "a \"quote\"",
                               "nqn": "nqn.x:a", "ib": "ib.fe800000000000000002c903003178f2"})";
  EXPECT_EQ(unsaved_targets({"nqn.x:a", "iqn.2026-01.org.example:ab", "0002:c903:0031:78f2"}, saved),
            Names{});
  EXPECT_EQ(unsaved_targets({"nqn.x:b", "iqn.2026-01.org.example:a", "0002:c903:0031:78f3"}, saved),
            (Names{"nqn.x:b", "iqn.2026-01.org.example:a", "0002:c903:0031:78f3"}));
}

TEST(TargetRestorers, OneThatTheNextBootStartsIsNamed) {
  const auto said = [](const std::function<void(fakes::FakeKernel&)>& change, const std::string& more = "") {
    auto kernel = fakes::FakeKernel::parse("{}");
    kernel->units.add("nvmet.service", {.enabled = true});
    kernel->files.content["/etc/nvmet/config.json"] = R"({"nqn": "nqn.2026-01.org.example:ab"})";
    change(*kernel);
    auto host = kernel->host();
    std::string out;
    const auto document =
        "version = 1\n[[nvme_target]]\nnqn = \"nqn.2026-01.org.example:a\"\nany_host = true\nport = 4421\n"
        "addresses = [\"192.0.2.1\"]\n[[nvme_target.namespace]]\nnsid = 1\n"
        "device = \"/dev/disk/by-id/nvme-x\"\n" +
        more;
    const auto report =
        core::diff(config::parse_texts({{"config.toml", document}}, "node1", grammar()), host);
    for (const auto& diagnostic : report.diagnostics) {
      if (diagnostic.message.starts_with("[[nvme_target]]: at boot, ")) out = diagnostic.message;
    }
    return out;
  };
  EXPECT_EQ(said([](auto&) {}),
            "[[nvme_target]]: at boot, nvmet.service removes the targets that /etc/nvmet/config.json lacks "
            "(nqn.2026-01.org.example:a), until the daemon's next check");
  EXPECT_EQ(said([](auto& kernel) { kernel.units.units["nvmet.service"].enabled = false; }), "");
  EXPECT_EQ(said([](auto& kernel) {
              kernel.files.content["/etc/systemd/system/graphical.target.wants/nvmet.service"] = "";
              kernel.files.link_targets["/etc/systemd/system/default.target"] =
                  "/usr/lib/systemd/system/multi-user.target";
            }),
            "")
      << "only of a target that the host does not start";
  EXPECT_EQ(said([](auto& kernel) { kernel.files.content.erase("/etc/nvmet/config.json"); }), "");
  EXPECT_EQ(said([](auto& kernel) {
              kernel.files.content["/etc/nvmet/config.json"] = R"({"nqn": "nqn.2026-01.org.example:a"})";
            }),
            "");
  EXPECT_EQ(said([](auto&) {}, "[[service]]\nname = \"nvmet.service\"\nenabled = false\n"), "");
}

}  // namespace
}  // namespace rdmacfg::kinds
