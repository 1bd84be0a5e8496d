// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "config/document.hpp"
#include "unit/temp_folder.hpp"

namespace rdmacfg::config {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kMain = "etc/rdma-configd/config.toml";

class Files : public ::testing::Test {
 protected:
  void write(std::string_view below, std::string_view text) {
    fs::create_directories((root_ / below).parent_path());
    std::ofstream(root_ / below) << text;
  }
  void link(std::string_view below, std::string_view target) {
    fs::create_directories((root_ / below).parent_path());
    fs::create_symlink(target, root_ / below);
  }
  /// "name: text" of every file, without the root; or the error.
  std::vector<std::string> read(const Limits& limits = {}) {
    Source source;
    source.root = root_;
    const auto texts = read_files(source, limits);
    if (!texts) return {"! " + relative(texts.error().message)};
    std::vector<std::string> out;
    for (const auto& text : *texts) out.push_back(relative(text.name) + ": " + text.text);
    return out;
  }
  std::string relative(std::string text) const {
    for (auto at = text.find(root_.native()); at != std::string::npos; at = text.find(root_.native())) {
      text.erase(at, root_.native().size());
    }
    return text;
  }

  unit::TempFolder folder_;
  fs::path root_ = folder_.path();
};

TEST_F(Files, NoneSaysWhatToWriteWhere) {
  EXPECT_THAT(
      read(),
      ElementsAre(
          "! /etc/rdma-configd/config.toml: there is no configuration; write \"version = 1\" and sections "
          "like [[ipoib]] into this file, or into /etc/rdma-configd/conf.d/NAME.toml"));
}

TEST_F(Files, NoneNamesThoseThatAreCalledOtherwise) {
  write("etc/rdma-configd/config.tml", "m");
  write("etc/rdma-configd/config.toml.bak", "m");
  write("etc/rdma-configd/conf.d/10-ib.conf", "m");
  EXPECT_THAT(read(), ElementsAre(testing::EndsWith(
                          "/NAME.toml; not read because of the name: /etc/rdma-configd/config.tml, "
                          "/etc/rdma-configd/config.toml.bak, /etc/rdma-configd/conf.d/10-ib.conf")));
}

TEST_F(Files, MainFileThenDropInsByNameOverAllFolders) {
  write(kMain, "m");
  write("usr/lib/rdma-configd/conf.d/50-b.toml", "lib");
  write("run/rdma-configd/conf.d/40-c.toml", "run");
  write("etc/rdma-configd/conf.d/60-a.toml", "etc");
  EXPECT_THAT(
      read(),
      ElementsAre("/etc/rdma-configd/config.toml: m", "/run/rdma-configd/conf.d/40-c.toml: run",
                  "/usr/lib/rdma-configd/conf.d/50-b.toml: lib", "/etc/rdma-configd/conf.d/60-a.toml: etc"));
}

TEST_F(Files, DropInsAlone) {
  write("etc/rdma-configd/conf.d/a.toml", "x");
  EXPECT_THAT(read(), ElementsAre("/etc/rdma-configd/conf.d/a.toml: x"));
}

TEST_F(Files, SameNameMasks) {
  write("usr/lib/rdma-configd/conf.d/a.toml", "lib");
  write("run/rdma-configd/conf.d/a.toml", "run");
  write("usr/lib/rdma-configd/conf.d/b.toml", "lib");
  write("etc/rdma-configd/conf.d/b.toml", "etc");
  write("run/rdma-configd/conf.d/b.toml", "run");
  EXPECT_THAT(read(),
              ElementsAre("/run/rdma-configd/conf.d/a.toml: run", "/etc/rdma-configd/conf.d/b.toml: etc"));
}

TEST_F(Files, DropInsWithAnotherEndingAreNamed) {
  const auto misnamed = [&] {
    std::vector<std::string> out;
    for (const auto& file : misnamed_drop_ins(root_)) out.push_back(relative(file));
    return out;
  };
  EXPECT_THAT(misnamed(), IsEmpty()) << "no folder";
  write(kMain, "m");
  for (const auto* name : {"a.toml", "a.toml.bak", "a.toml~", "a.conf.rpmsave", "README", ".b.conf", "b.conf",
                           "c.TOML", "d.yaml", "conf"})
    write(std::string("etc/rdma-configd/conf.d/") + name, "x");
  write("usr/lib/rdma-configd/conf.d/b.conf", "x");
  EXPECT_THAT(read(), ElementsAre("/etc/rdma-configd/config.toml: m", "/etc/rdma-configd/conf.d/a.toml: x"));
  EXPECT_THAT(misnamed(),
              ElementsAre("/usr/lib/rdma-configd/conf.d/b.conf", "/etc/rdma-configd/conf.d/b.conf",
                          "/etc/rdma-configd/conf.d/c.TOML", "/etc/rdma-configd/conf.d/d.yaml"));
}

TEST_F(Files, EmptyFilesAndTheNullDeviceMaskWithoutReplacing) {
  write(kMain, "m");
  for (const auto* name : {"a", "b", "c"})
    write(std::string("usr/lib/rdma-configd/conf.d/") + name + ".toml", "lib");
  write("etc/rdma-configd/conf.d/a.toml", "");
  link("run/rdma-configd/conf.d/b.toml", "/dev/null");
  EXPECT_THAT(read(),
              ElementsAre("/etc/rdma-configd/config.toml: m", "/usr/lib/rdma-configd/conf.d/c.toml: lib"));
}

TEST_F(Files, MaskingTheOnlyDropInLeavesAnEmptyConfiguration) {
  write("usr/lib/rdma-configd/conf.d/a.toml", "lib");
  link("etc/rdma-configd/conf.d/a.toml", "/dev/null");
  EXPECT_THAT(read(), ElementsAre("/etc/rdma-configd/conf.d/a.toml: "));
  fs::remove(root_ / "etc/rdma-configd/conf.d/a.toml");
  write("run/rdma-configd/conf.d/a.toml", "");
  EXPECT_THAT(read(), ElementsAre("/run/rdma-configd/conf.d/a.toml: "));
  write("run/rdma-configd/conf.d/b.toml", "b");
  EXPECT_THAT(read(), ElementsAre("/run/rdma-configd/conf.d/b.toml: b"));
}

TEST_F(Files, AMainFileThatIsMaskedWantsNothingAndAnEmptyOneSaysNothing) {
  write(kMain, "");
  EXPECT_THAT(read(), ElementsAre("/etc/rdma-configd/config.toml: "));
  fs::remove(root_ / kMain);
  link(kMain, "/dev/null");
  EXPECT_THAT(read(), ElementsAre("/etc/rdma-configd/config.toml: version = 1\n"));
}

TEST_F(Files, PassesOverBackupsAndHiddenFiles) {
  write(kMain, "m");
  for (const auto* name : {".a.toml", "a.toml~", "a.toml.bak", "a.conf", "#a.toml#", ".#a.toml", ".toml"}) {
    write(std::string("etc/rdma-configd/conf.d/") + name, "x");
  }
  EXPECT_THAT(read(), ElementsAre("/etc/rdma-configd/config.toml: m"));
}

TEST_F(Files, AbsoluteLinksStayBelowTheRoot) {
  write("srv/shared.toml", "shared");
  link(kMain, "/srv/shared.toml");
  link("etc/rdma-configd/conf.d/a.toml", "../../../../../../../../srv/shared.toml");
  write("opt/conf.d/b.toml", "opt");
  link("run/rdma-configd/conf.d", "/opt/conf.d");
  EXPECT_THAT(read(),
              ElementsAre("/etc/rdma-configd/config.toml: shared", "/etc/rdma-configd/conf.d/a.toml: shared",
                          "/run/rdma-configd/conf.d/b.toml: opt"));
}

TEST_F(Files, LinksToNothing) {
  link("etc/rdma-configd/conf.d/a.toml", "/srv/gone.toml");
  EXPECT_THAT(
      read(),
      ElementsAre("! /etc/rdma-configd/conf.d/a.toml: links to /srv/gone.toml, which does not exist"));
  link(kMain, "nowhere");
  EXPECT_THAT(read(), ElementsAre("! /etc/rdma-configd/config.toml: links to nowhere, which does not exist"));
}

TEST_F(Files, WhatIsNoFile) {
  fs::create_directories(root_ / "etc/rdma-configd/conf.d/a.toml");
  EXPECT_THAT(read(), ElementsAre("! /etc/rdma-configd/conf.d/a.toml: must be a file, not a directory"));
  fs::remove(root_ / "etc/rdma-configd/conf.d/a.toml");
  ASSERT_EQ(::mkfifo((root_ / "etc/rdma-configd/conf.d/a.toml").c_str(), 0600), 0);
  EXPECT_THAT(read(), ElementsAre("! /etc/rdma-configd/conf.d/a.toml: must be a file, not a FIFO"));
  fs::remove_all(root_ / "etc/rdma-configd/conf.d");
  write("etc/rdma-configd/conf.d", "x");
  EXPECT_THAT(read(), ElementsAre("! /etc/rdma-configd/conf.d: Not a directory"));
  fs::remove_all(root_ / "etc");
  fs::create_directories(root_ / kMain);
  EXPECT_THAT(read(), ElementsAre("! /etc/rdma-configd/config.toml: must be a file, not a directory"));
}

TEST_F(Files, Unreadable) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  write(kMain, "x");
  fs::permissions(root_ / kMain, fs::perms::none);
  EXPECT_THAT(read(), ElementsAre("! /etc/rdma-configd/config.toml: Permission denied"));
}

TEST_F(Files, TooLargeAndTooMany) {
  Limits limits;
  limits.file_bytes = 4;
  limits.files = 2;
  write(kMain, "12345");
  EXPECT_THAT(read(limits),
              ElementsAre("! /etc/rdma-configd/config.toml: is larger than the 4 bytes allowed"));
  write(kMain, "1234");
  write("etc/rdma-configd/conf.d/a.toml", "x");
  EXPECT_EQ(read(limits).size(), 2U);
  write("run/rdma-configd/conf.d/b.toml", "x");
  EXPECT_THAT(read(limits),
              ElementsAre("! /etc/rdma-configd/conf.d: there are more than the 2 files allowed"));
}

TEST_F(Files, ExactlyOneFile) {
  write("one.toml", "x");
  write(kMain, "m");
  Source source;
  source.root = root_;
  source.file = root_ / "one.toml";
  const auto texts = read_files(source);
  ASSERT_TRUE(texts) << texts.error().message;
  ASSERT_EQ(texts->size(), 1U);
  EXPECT_EQ(texts->front().name, source.file);
  EXPECT_EQ(texts->front().text, "x");

  source.file = root_ / "gone.toml";
  const auto gone = read_files(source);
  ASSERT_FALSE(gone);
  EXPECT_EQ(relative(gone.error().message), "/gone.toml: No such file or directory");
  EXPECT_EQ(gone.error().code, base::Code::kNotFound);
}

TEST_F(Files, OneThatEveryoneWritesIsWarnedOf) {
  write(kMain, "version = 1\n");
  Source source;
  source.root = root_;
  EXPECT_TRUE(read_files(source)->front().written_by_others.empty());
  std::filesystem::permissions(root_ / kMain, std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  auto texts = read_files(source);
  ASSERT_TRUE(texts && !texts->front().written_by_others.empty());
  const auto document = parse_texts(std::move(*texts), "node1", {});
  ASSERT_EQ(document.diagnostics.size(), 1U);
  EXPECT_EQ(document.diagnostics.front().severity, model::Severity::kWarning);
  EXPECT_THAT(document.diagnostics.front().message, HasSubstr("every user can write to it"));
  EXPECT_THAT(document.diagnostics.front().hint, HasSubstr("chmod go-w"));
}

TEST_F(Files, OneThatOthersThanRootCanWriteIsNotTrusted) {
  write(kMain, "version = 1\n");
  Source source;
  source.root = root_;
  const auto reason = [&] {
    auto texts = read_files(source);
    return texts ? texts->front().written_by_others : texts.error().message;
  };
  const auto main = root_ / kMain, folder = main.parent_path();
  const auto set = [](const fs::path& path, unsigned mode) {
    fs::permissions(path, static_cast<fs::perms>(mode));
  };
  set(root_, 0755);
  set(root_ / "etc", 0755);
  set(folder, 0755);
  set(main, 0644);
  EXPECT_EQ(reason(), "");
  set(main, 0664);
  EXPECT_THAT(reason(), HasSubstr("can write to it"));
  set(main, 0600);
  EXPECT_EQ(reason(), "");
  for (const unsigned mode : {0775U, 0757U, 01777U}) {
    set(folder, mode);
    EXPECT_THAT(reason(), HasSubstr("can write to the folder /etc/rdma-configd")) << mode;
    set(folder, 0755);
    set(root_ / "etc", mode);
    EXPECT_THAT(reason(), HasSubstr("can write to the folder /etc")) << mode;
    set(root_ / "etc", 0755);
  }
  // A link is as good as every folder that it leads through.
  fs::create_directories(root_ / "srv/open");
  set(root_ / "srv", 0755);
  set(root_ / "srv/open", 0777);
  fs::rename(main, root_ / "srv/open/config.toml");
  fs::create_symlink("/srv/open/config.toml", main);
  EXPECT_THAT(reason(), HasSubstr("can write to the folder /srv/open"));
  set(root_ / "srv/open", 0755);
  EXPECT_EQ(reason(), "");
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown((root_ / "srv/open/config.toml").c_str(), 1000, 0), 0);
  EXPECT_EQ(reason(), "it belongs to user 1000");
  auto texts = read_files(source);
  auto document = parse_texts(std::move(*texts), "node1", {});
  EXPECT_FALSE(model::has_errors(document.diagnostics));
  require_trusted_files(document);
  EXPECT_TRUE(model::has_errors(document.diagnostics));
}

TEST_F(Files, OneThatNotEverybodyReadsIsPrivate) {
  write(kMain, "version = 1\n");
  Source source;
  source.root = root_;
  for (const auto* folder : {"etc", "etc/rdma-configd"})
    fs::permissions(root_ / folder, static_cast<fs::perms>(0755));
  fs::permissions(root_ / kMain, static_cast<fs::perms>(0644));
  EXPECT_FALSE(read_files(source)->front().is_private);
  fs::permissions(root_ / kMain, static_cast<fs::perms>(0640));
  EXPECT_TRUE(read_files(source)->front().is_private);
}

/// A mode that lets everybody read a file means nothing below a folder that lets nobody in.
TEST_F(Files, OneInAClosedFolderIsPrivate) {
  const auto set = [](const fs::path& path, unsigned mode) {
    fs::permissions(path, static_cast<fs::perms>(mode));
  };
  const auto main = root_ / kMain, folder = main.parent_path();
  write(kMain, "version = 1\n[host]\ntable = \"hosts.csv\"\n");
  write("etc/rdma-configd/hosts.csv", "name\nnode1\n");
  write("srv/secret/drop-in.toml", "version = 1\n");
  link("etc/rdma-configd/conf.d/a.toml", "/srv/secret/drop-in.toml");
  for (const auto& entry : fs::recursive_directory_iterator(root_)) {
    if (!entry.is_symlink()) set(entry.path(), entry.is_directory() ? 0755 : 0644);
  }
  set(root_, 0700);  // of an image
  Source source;
  source.root = root_;
  source.host = "node1";
  const auto are_private = [&] {
    std::vector<std::string> out;
    const auto texts = read_files(source);
    EXPECT_TRUE(texts) << texts.error().message;
    for (const auto& text : *texts) {
      if (text.is_private) out.push_back(fs::path(text.name).filename());
    }
    return out;
  };
  EXPECT_THAT(are_private(), IsEmpty());
  for (const unsigned mode : {0700U, 0750U, 0754U}) {
    set(root_ / "srv/secret", mode);
    EXPECT_THAT(are_private(), ElementsAre("a.toml")) << "a link hides nothing, and opens nothing";
    set(root_ / "srv/secret", 0755);
    set(folder / "conf.d", mode);
    EXPECT_THAT(are_private(), ElementsAre("a.toml"));
    set(folder / "conf.d", 0755);
    set(folder, mode);
    EXPECT_THAT(are_private(), ElementsAre("config.toml", "a.toml", "hosts.csv"));
    set(folder, 0755);
  }
  set(folder, 0711);  // whoever knows the name reads it
  EXPECT_THAT(are_private(), IsEmpty());
  set(folder, 0755);
  source.file = main;
  EXPECT_THAT(are_private(), ElementsAre("config.toml", "hosts.csv")) << "below the root, which is closed";
}

TEST_F(Files, NoSuchRoot) {
  Source source;
  source.root = root_ / "gone";
  const auto texts = read_files(source);
  ASSERT_FALSE(texts);
  EXPECT_THAT(texts.error().message, HasSubstr("gone: No such file or directory"));
}

}  // namespace
}  // namespace rdmacfg::config
