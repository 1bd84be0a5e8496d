// SPDX-License-Identifier: Apache-2.0
// Commands that are refused before they look at anything: which word is wrong, and what to write instead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "config/document.hpp"
#include "ctl/service.hpp"
#include "unit/ctl/console.hpp"

namespace rdmacfg::ctl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class RefusedCommand : public testing::Test {
 protected:
  /// Not the document of the host that the test runs on.
  RefusedCommand() {
    console.environment.document.emplace();
    console.variables["NO_COLOR"] = "1";
    before_ = console.kernel.dump();
  }
  ~RefusedCommand() override { EXPECT_EQ(console.kernel.dump(), before_) << "the host was changed"; }

  void refuses(const std::vector<std::string>& words, const std::string& message) {
    EXPECT_EQ(console.run(words), 1) << message;
    EXPECT_THAT(console.err.str(), HasSubstr("rdma-configctl: error: " + message));
    EXPECT_THAT(console.out.str(), IsEmpty()) << message;
  }

  Console console;

 private:
  std::string before_;
};

TEST_F(RefusedCommand, OfAnImageWhatOnlyARunningSystemHas) {
  const auto root = console.folder().string();
  refuses({"doctor", "--root", root},
          "doctor cannot be combined with --root: it examines the running system");
  refuses({"status", "--root", root},
          "status cannot be combined with --root: it describes the running system; for an image use `diff "
          "--root`");
  refuses({"metrics", "--root", root},
          "metrics cannot be combined with --root: it describes the running system");
  refuses({"monitor", "--root", root}, "monitor cannot be combined with --root: no daemon runs in an image");
  refuses({"reload", "--root", root}, "reload cannot be combined with --root: no daemon runs in an image");
  refuses({"wait-online", "--root", root},
          "wait-online cannot be combined with --root: an image has no interfaces");
  refuses({"fabric", "--root", root},
          "fabric cannot be combined with --root: it uses a port of the running system");
  refuses({"confirm", "--root", root}, "confirm cannot be combined with --root: an image has no generations");
  refuses({"rollback", "--yes", "--root", root},
          "rollback cannot be combined with --root: an image has no generations");
  refuses({"import", "live", "--root", root},
          "import live cannot be combined with --root: it reads the running system");
}

TEST_F(RefusedCommand, WordsThatACommandDoesNotTake) {
  refuses({"export", "nm", "netplan"}, "export takes one format; unexpected argument netplan");
  refuses({"export", "frobnicate"}, "frobnicate is not a format that can be exported; the formats are ");
  refuses({"export", "script"}, "script is not a format that can be exported; did you mean commands?");
  refuses({"export", "lio"}, "lio is not a format that can be exported; did you mean targetcli?");
  refuses({"history", "5"},
          "history takes no argument, or `show N` with the number of a generation; did you mean `history "
          "show 5`?");
  refuses({"history", "yesterday"}, "history takes no argument, or `show N` with the number of a generation");
  refuses({"history", "show", "x"}, "history takes no argument, or `show N` with the number of a generation");
  refuses({"history", "show", "7"}, "there is no generation 7; see `rdma-configctl history`");
  refuses({"import", "live", "/etc/fstab"}, "live takes no paths; name the format of /etc/fstab");
  refuses({"import", "nm", "-"},
          "import does not read standard input; save the text in a file whose name nm");
  refuses({"import", "nm", "--adopt"}, "--adopt is valid only with import live");
  refuses({"import", "live", "--name-template", "{nothing}"}, "--name-template: ");
  refuses({"reload", "-f", "x.toml"}, "reload reads /etc/rdma-configd and no other file: ");
  refuses({"fabric", "--cables", "a.toml", "--config", "b.toml"}, "--cables and --config cannot be combined");
  refuses({"fleet", "validate", "--hosts", "a1", "--by", "{group}n*"},
          "--by is valid only with fleet report");
}

TEST_F(RefusedCommand, PathsThatLeadNowhere) {
  const auto form = "; write SECTION.KEY or SECTION[SELECTOR].KEY, such as ipoib[mlx4_ib0].mtu";
  refuses({"get", "ipoib..mtu"}, std::string("ipoib..mtu: a name is missing") + form);
  refuses({"get", "ipoib[a.mtu"}, std::string("ipoib[a.mtu: the bracket is not closed") + form);
  refuses({"get", "ipoib[ ].mtu"}, std::string("ipoib[ ].mtu: the brackets are empty") + form);
  refuses({"get", "ipoib[a]mtu"}, std::string("ipoib[a]mtu: unexpected 'm'") + form);
  refuses({"get"}, "get takes one path, such as ipoib[mlx4_ib0].mtu");
  refuses({"get", "version", "defaults"}, "get: unexpected argument defaults");
  refuses({"set", "version"}, "set takes a path and a value, such as ipoib[mlx4_ib0].mtu 4092");
  refuses({"set", "--unset"}, "set --unset takes one path, such as ipoib[mlx4_ib0].umcast");
  refuses({"set", "--unset", "version", "1"}, "set --unset takes one path, such as ipoib[mlx4_ib0].umcast");
  refuses({"get", "version"}, "the host has no document");
}

TEST_F(RefusedCommand, OptionsThatExcludeEachOther) {
  console.document(kRename);
  refuses({"apply", "--only", "ipoib", "--boot"}, "--only and --boot cannot be combined");
  refuses({"apply", "--yes", "--install", "--dry-run"}, "--install and --dry-run cannot be combined");
  refuses({"apply", "--yes", "--confirm", "60", "--root", console.folder().string()},
          "--confirm cannot be combined with --root: changes to an image need no confirmation");
}

/// A daemon that takes any apply.
struct WillingService : Service {
  base::Result<model::Report> apply(const Apply& /*wanted*/, const Call& /*call*/) override {
    return model::Report();
  }
  base::Result<model::Report> confirm(const Call& /*call*/) override { return model::Report(); }
  base::Result<model::Report> roll_back(std::uint64_t /*generation*/, std::uint64_t /*from*/,
                                        const Call& /*call*/) override {
    return model::Report();
  }
};

TEST_F(RefusedCommand, WhatTakesRootEvenWithTheDaemon) {
  console.environment.service = [] { return std::make_unique<WillingService>(); };
  console.environment.privileged = false;
  refuses({"monitor"},
          "only root may follow the daemon, as only root may read its journal: run it with sudo");
  console.document(kRename);
  refuses({"apply", "--yes", "--install"}, "--install writes /etc/rdma-configd: run it with sudo");
}

TEST_F(RefusedCommand, WithoutADaemon) {
  refuses({"monitor"}, "rdma-configd is not running: `systemctl start rdma-configd` starts it");
  console.variables["MAINPID"] = "4711";
  refuses({"reload"}, "rdma-configd (process 4711) is not running");
  console.variables["MAINPID"] = "1";
  refuses({"reload"}, "rdma-configd is not running: `systemctl start rdma-configd` starts it, ");
}

TEST_F(RefusedCommand, ADocumentWithErrorsGivesNoValuesAndNoFiles) {
  console.document("version = 1\n[[ipoib]]\nguid = \"nonsense\"\n");
  const auto says = [&](const std::vector<std::string>& words, const std::string& message) {
    EXPECT_EQ(console.run(words), 1);
    EXPECT_THAT(console.err.str(), AllOf(HasSubstr("config.toml:3"), HasSubstr(message)));
    EXPECT_THAT(console.out.str(), IsEmpty());
  };
  says({"get", "ipoib[0].guid"}, "error: the document has errors; see `rdma-configctl validate`\n");
  says({"export", "nm"}, "error: the document has errors; nothing is exported\n");
}

TEST_F(RefusedCommand, TheEditorIsNotOpenedInVain) {
  bool opened = false;
  console.environment.edit = [&](const std::filesystem::path&) -> base::Result<int> {
    opened = true;
    return 0;
  };
  console.terminal();
  refuses({"edit", "--root", console.folder().string()},
          "edit cannot be combined with --root: edit the file there itself");
  refuses({"edit", "-f", "a.toml"}, "edit takes the file without -f: rdma-configctl edit FILE");
  refuses({"edit", "/etc/passwd"},
          "/etc/passwd is not a file of the document: /etc/rdma-configd/config.toml");
  refuses({"edit", "/etc/rdma-configd/conf.d/10-a.txt"},
          "/etc/rdma-configd/conf.d/10-a.txt is not a file of");
  console.environment.privileged = false;
  refuses({"edit"}, "edit writes below /etc, which requires root: run it with sudo");
  EXPECT_FALSE(opened);
}

TEST_F(RefusedCommand, AnEditorThatFailsChangesNothing) {
  console.terminal();
  console.environment.edit = [](const std::filesystem::path& file) -> base::Result<int> {
    std::ofstream(file) << kRename;
    return 7;
  };
  refuses({"edit"}, "the editor exited with status 7; nothing was changed");
  console.environment.edit = [](const std::filesystem::path&) -> base::Result<int> {
    return base::fail(base::Code::kNotFound, "vi: No such file or directory");
  };
  refuses({"edit"}, "vi: No such file or directory");
}

TEST(EditedFile, IsWrittenOnlyWhereItsTextIsAnother) {
  Console console;
  console.terminal();
  const std::string path = "/etc/rdma-configd/config.toml";
  console.environment.document = std::vector<config::Text>{{path, "version = 1\n"}};
  console.environment.edit = [](const std::filesystem::path&) -> base::Result<int> { return 0; };
  // The beginning of a document that is offered for a missing file is a text to write.
  EXPECT_EQ(console.run({"edit", "--yes"}), 0) << console.err.str();
  EXPECT_EQ(console.kernel.files.content.at(path), "version = 1\n");
  EXPECT_EQ(console.run({"edit", "--yes"}), 0);
  EXPECT_EQ(console.err.str(), "rdma-configctl: nothing was changed\n");
}

TEST(EditedFile, MayBeADropInThatIsNotThereYet) {
  Console console;
  console.terminal();
  console.environment.document.emplace();
  console.environment.edit = [](const std::filesystem::path& file) -> base::Result<int> {
    std::ofstream(file) << kRename;
    return 0;
  };
  const std::string path = "/etc/rdma-configd/conf.d/10-rail.toml";
  EXPECT_EQ(console.run({"edit", path, "--yes"}), 0) << console.err.str();
  EXPECT_EQ(console.kernel.files.content.at(path), kRename);
  EXPECT_FALSE(console.kernel.files.content.contains("/etc/rdma-configd/config.toml"));
  EXPECT_EQ(console.kernel.link("mlx4_ib0").mtu, 65520);
}

TEST(EditedFile, OfAPackageIsNotWrittenAndItsTextIsKept) {
  Console console;
  console.terminal();
  const std::string path = "/usr/lib/rdma-configd/conf.d/50-preset.toml";
  console.environment.document =
      std::vector<config::Text>{{"/etc/rdma-configd/config.toml", "version = 1\n"}, {path, "version = 1\n"}};
  std::filesystem::path kept;
  console.environment.edit = [&](const std::filesystem::path& file) -> base::Result<int> {
    std::ofstream(file) << kRename;
    kept = file;
    return 0;
  };
  const auto before = console.kernel.dump();
  EXPECT_EQ(console.run({"edit", path, "--yes"}), 1);
  EXPECT_THAT(console.err.str(), AllOf(HasSubstr("your text is kept in " + kept.string()),
                                       HasSubstr(path + " belongs to a package: a file of the same name in "
                                                        "/etc/rdma-configd/conf.d/ takes its place")));
  EXPECT_EQ(console.kernel.dump(), before);
  EXPECT_TRUE(std::filesystem::exists(kept));
  std::filesystem::remove_all(kept.parent_path());
}

}  // namespace
}  // namespace rdmacfg::ctl
