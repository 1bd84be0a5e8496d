// SPDX-License-Identifier: Apache-2.0
#include "kinds/host/initramfs_stamp.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"

namespace rdmacfg::kinds {
namespace {

bool rdma_in_image_of(const std::string& tool, const std::string& file,
                      const std::string& text = "#!/bin/sh\\n") {
  const auto kernel = fakes::FakeKernel::parse(fmt::format(
      R"({{ "initramfs": {{ "tool": "{}" }}, "files": {{ "{}": "", "/usr/sbin/update-initramfs": "{}" }} }})",
      tool, file, text));
  auto host = kernel->host();
  return has_rdma_in_image(host);
}

// sdbootutil, transactional-update and rpm-ostree run dracut; so does the update-initramfs of Debian's
// package dracut, whose text says so, and that of initramfs-tools does not.
TEST(InitramfsStamp, DracutMakesTheImagesAlsoUnderOtherCommands) {
  const std::string module = "/usr/lib/dracut/modules.d/50rdma/module-setup.sh";
  for (const auto* tool : {"dracut -f", "dracut -f --regenerate-all && zipl", "sdbootutil mkinitrd",
                           "transactional-update initrd", "rpm-ostree initramfs-etc"}) {
    EXPECT_TRUE(rdma_in_image_of(tool, module)) << tool;
    EXPECT_FALSE(rdma_in_image_of(tool, "/usr/lib/dracut/modules.d/95nvmf/module-setup.sh")) << tool;
  }
  EXPECT_TRUE(rdma_in_image_of("update-initramfs -u", module, "#!/bin/sh\\ndracut --force\\n"));
  EXPECT_FALSE(rdma_in_image_of("update-initramfs -u", module, "#!/bin/sh\\nmkinitramfs\\n"));
  EXPECT_FALSE(rdma_in_image_of("mkinitcpio -P", module)) << "Arch's rdma-core has the module, too";
}

/// Else nothing at all could be applied until somebody removes what is there.
TEST(InitramfsStamp, OneThatIsLostIsNotKnown) {
  const auto kernel = fakes::FakeKernel::parse("{}");
  const std::string path(kInitramfsStamp);
  kernel->files.content[path] = "0123456789abcdef\n";
  EXPECT_EQ(read_stamp(kernel->files).value_or("?"), "0123456789abcdef");
  kernel->files.links.insert(path);
  EXPECT_EQ(read_stamp(kernel->files).value_or("?"), "");
}

/// dracut.conf(5); dracut.sh takes a file of /etc in place of the distribution's.
TEST(InitramfsStamp, DracutMayOmitItsModuleForRdma) {
  struct Row {
    const char* path;
    const char* text;
    bool held;
  };
  for (const auto& row :
       {Row{"/etc/dracut.conf", "omit_dracutmodules+=\" rdma \"\n", false},
        Row{"/etc/dracut.conf.d/site.conf", "omit_dracutmodules+=' nfs rdma '\n", false},
        Row{"/usr/lib/dracut/dracut.conf.d/01-dist.conf", "omit_dracutmodules=rdma\n", false},
        Row{"/etc/dracut.conf.d/site.conf", "#omit_dracutmodules+=\" rdma \"\n", true},
        Row{"/etc/dracut.conf.d/site.conf", "omit_dracutmodules=rdma\nomit_dracutmodules=\"nfs\"\n", true},
        Row{"/etc/dracut.conf.d/site.txt", "omit_dracutmodules=rdma\n", true}}) {
    const auto kernel = fakes::FakeKernel::parse(
        R"({"initramfs": {"tool": "dracut -f"}, "files": {"/usr/lib/dracut/modules.d/50rdma/module-setup.sh": ""}})");
    kernel->files.content.insert_or_assign(row.path, row.text);
    auto host = kernel->host();
    EXPECT_EQ(has_rdma_in_image(host), row.held) << row.path << ' ' << row.text;
  }
}

/// module-setup.sh of dracut's base and udev-rules: /etc/modprobe.d and /etc/udev/rules.d with hostonly
/// alone.
TEST(InitramfsStamp, AGenericImageOfDracutLacksOurOptions) {
  const auto said = [](const std::string& tool, const std::string& conf, const std::string& module = {}) {
    auto kernel = fakes::FakeKernel::parse(fmt::format(
        R"({{"initramfs": {{"tool": "{}"}}, "modules": {{"mlx4_en": {{"parameters": {{"pfctx": "0"}}}}}}}})",
        tool));
    kernel->files.content["/etc/dracut.conf.d/site.conf"] = conf;
    if (!module.empty())
      kernel->files.content["/usr/lib/dracut/modules.d/" + module + "/module-setup.sh"] = "#!/bin/bash\n";
    auto host = kernel->host();
    const auto report = core::diff(
        config::parse_texts(
            {{"config.toml", "version = 1\n[[module]]\nname = \"mlx4_en\"\noptions = [\"pfctx=8\"]\n"}},
            "node1", grammar()),
        host);
    std::string out;
    for (const auto& diagnostic : report.diagnostics) out += diagnostic.message + "\n";
    return out;
  };
  EXPECT_EQ(said("dracut -f", "hostonly=\"no\"\n"),
            "[[initramfs]]: /etc/dracut.conf.d/site.conf:1 makes dracut leave our files out of images "
            "(hostonly=no): drivers that an image loads get neither our options nor our names\n");
  EXPECT_EQ(said("dracut -f", "hostonly=yes\n"), "");
  EXPECT_EQ(said("dracut -f", "hostonly=no\ninstall_items+=\" /etc/modprobe.d/rdma-configd.conf \"\n"), "");
  EXPECT_EQ(said("update-initramfs -u", "hostonly=no\n"), "") << "initramfs-tools";
  EXPECT_EQ(said("dracut -f", "hostonly=no\n", "90rdma-configd"), "")
      << "our module puts them into all images";
  EXPECT_NE(said("dracut -f", "hostonly=no\nomit_dracutmodules+=\" rdma-configd \"\n", "90rdma-configd"), "");
  EXPECT_NE(said("dracut -f", "hostonly=no\n", "50rdma"), "") << "the one of rdma-core";
}

/// The clock is behind the image, so that the image has the later time whatever is written.
struct ClockSetBack {
  std::unique_ptr<fakes::FakeKernel> kernel = fakes::FakeKernel::parse(
      R"({"initramfs": {"tool": "update-initramfs -u"}, "modules": {"mlx4_en": {"parameters": {"pfctx": "0"}}}})");

  ClockSetBack() { kernel->initramfs.ahead = kernel->initramfs.newer = true; }

  void apply(const std::string& options, const core::Options& settings = {}) const {
    auto host = kernel->host();
    const auto text =
        fmt::format("version = 1\n[[module]]\nname = \"mlx4_en\"\noptions = [\"{}\"]\n", options);
    const auto report =
        core::apply(config::parse_texts({{"config.toml", text}}, "node1", grammar()), host, settings);
    EXPECT_TRUE(report.exit == model::Exit::kOk || report.exit == model::Exit::kPartly);
  }
  void apply_unconfirmed(const std::string& options) const {
    core::Options settings;
    settings.unconfirmed = true;
    apply(options, settings);
  }
  [[nodiscard]] bool has_options_in_image() const {
    return kernel->initramfs.image.contains(std::string(kModuleOptionsFile));
  }
};

TEST(InitramfsStamp, AnOldImageIsNotTakenForOneMadeSinceByTheClock) {
  const ClockSetBack host;
  host.apply_unconfirmed("pfctx=8");
  EXPECT_FALSE(host.has_options_in_image()) << "the rebuild waits for the confirmation";
  host.kernel->initramfs.ahead = false;  // the time was set
  host.apply("pfctx=8");
  EXPECT_TRUE(host.has_options_in_image());
  EXPECT_EQ(host.kernel->initramfs.made, 1);
  host.apply("pfctx=8");
  EXPECT_EQ(host.kernel->initramfs.made, 1) << "it has them";
}

TEST(InitramfsStamp, AnImageMadeByHandIsKnownWhateverTheClockSays) {
  const ClockSetBack host;
  host.apply_unconfirmed("pfctx=8");
  ASSERT_TRUE(host.kernel->initramfs.rebuild());
  host.apply("pfctx=8");
  EXPECT_EQ(host.kernel->initramfs.made, 1);
  // The time was set, and tells again.
  host.kernel->initramfs.ahead = host.kernel->initramfs.newer = false;
  host.apply_unconfirmed("pfctx=4");
  EXPECT_EQ(host.kernel->initramfs.made, 1);
  host.apply("pfctx=4");
  EXPECT_EQ(host.kernel->initramfs.made, 2);
}

TEST(InitramfsStamp, AWriteThatChangesNothingLeavesTheStamp) {
  const ClockSetBack host;
  host.apply("pfctx=8");
  auto ports = host.kernel->host();
  const auto stamp = read_stamp(ports.files).value_or("?");
  EXPECT_EQ(stamp, digest_now(ports).value_or("none"));
  EXPECT_TRUE(write_for_image(ports, [] { return base::Result<void>(); }));
  EXPECT_EQ(read_stamp(ports.files).value_or("?"), stamp);
  const auto write = [&] {
    return ports.files.write(std::string(kModuleOptionsFile), "options mlx4_en x=1\n");
  };
  EXPECT_TRUE(write_for_image(ports, write));
  EXPECT_EQ(read_stamp(ports.files).value_or("?"), "undated 0 1");
}

}  // namespace
}  // namespace rdmacfg::kinds
