// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/nfs/nfs_mount.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"
#include "model/limits.hpp"

namespace rdmacfg::kinds {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kMount =
    "version = 1\n[[nfs_mount]]\npath = \"/scratch\"\nserver = \"192.0.2.1\"\nexport = \"/export\"\n";
constexpr const char* kNfsHost =
    R"({ "files": { "/usr/sbin/mount.nfs": "" }, "units": { "remote-fs.target": {"enabled": true} } })";

config::Document mount_document(const std::string& text) {
  return config::parse_texts({{"config.toml", text}}, "node1", grammar());
}

model::Report mount_apply(fakes::FakeKernel& kernel, const std::string& text) {
  auto host = kernel.host();
  return core::apply(mount_document(text), host);
}

/// The errors of a document with one mount and these options.
std::string errors_of(std::size_t options, std::size_t bytes) {
  std::string text = std::string(kMount) + "options = [";
  for (std::size_t i = 0; i < options; ++i) text += fmt::format("\"{}\",", std::string(bytes, 'o'));
  auto kernel = fakes::FakeKernel::parse(kNfsHost);
  auto host = kernel->host();
  const auto report = core::diff(mount_document(text + "]\n"), host);
  return report.diagnostics.empty() ? "" : report.diagnostics.front().message;
}

TEST(NfsMount, OptionsAreBounded) {
  using model::limits::kMountOptions, model::limits::kMountOptionBytes;
  EXPECT_EQ(errors_of(kMountOptions, kMountOptionBytes), "");
  EXPECT_THAT(errors_of(kMountOptions + 1, 1), HasSubstr("33 options; 32 are allowed"));
  EXPECT_THAT(errors_of(1, kMountOptionBytes + 1), HasSubstr("an option of 129 bytes; 128 are allowed"));
}

TEST(NfsMount, ABusyMountIsNotTakenAway) {
  auto kernel = fakes::FakeKernel::parse(kNfsHost);
  ASSERT_EQ(mount_apply(*kernel, kMount).exit, model::Exit::kOk);
  kernel->units.units.at("scratch.mount").busy = true;
  const auto before = kernel->dump();
  const auto report = mount_apply(*kernel, "version = 1\n");
  EXPECT_EQ(report.exit, model::Exit::kUndone);
  EXPECT_THAT(report.error->message, HasSubstr("scratch.mount: stop"));
  EXPECT_EQ(kernel->dump({.without_files_below = "/var"}).find("needs-reload"), std::string::npos);
  EXPECT_THAT(kernel->dump(), HasSubstr("file /etc/systemd/system/scratch.mount"));
}

TEST(NfsMount, IsMountedAgainAfterAReboot) {
  auto kernel = fakes::FakeKernel::parse(kNfsHost);
  ASSERT_EQ(mount_apply(*kernel, kMount).exit, model::Exit::kOk);
  kernel->reboot();
  EXPECT_THAT(kernel->files.content["/proc/1/mountinfo"], HasSubstr(" /scratch "));
  kernel->faults.clear();
  EXPECT_EQ(mount_apply(*kernel, kMount).exit, model::Exit::kOk);
  EXPECT_THAT(kernel->faults.log(), IsEmpty());
}

TEST(NfsMount, ADisabledRemoteFsTargetIsNamed) {
  const auto said = [](const std::string& target, const std::string& more = "") {
    auto kernel = fakes::FakeKernel::parse(
        R"({ "files": { "/usr/sbin/mount.nfs": "" }, "units": { "remote-fs.target": )" + target + "} }");
    auto host = kernel->host();
    const auto report = core::diff(mount_document(kMount + more), host);
    return report.diagnostics.empty() ? std::string() : report.diagnostics.front().message;
  };
  EXPECT_EQ(said(R"({"running": true})"),
            "[[nfs_mount]]: remote-fs.target is not enabled, so its units do not start at the next boot");
  EXPECT_EQ(said(R"({"masked": true})"),
            "[[nfs_mount]]: remote-fs.target is masked, so its units do not start at the next boot");
  EXPECT_EQ(said(R"({"enabled": true})"), "");
  EXPECT_EQ(said("{}", "mount = false\n"), "") << "not mounted at boot in any case";
}

TEST(NfsMount, ARemoteFsTargetThatTheBootDoesNotReachIsNamed) {
  auto kernel = fakes::FakeKernel::parse(kNfsHost);
  kernel->files.content["/etc/systemd/system/graphical.target.wants/remote-fs.target"] = "";
  kernel->files.link_targets["/etc/systemd/system/default.target"] =
      "/usr/lib/systemd/system/multi-user.target";
  auto host = kernel->host();
  const auto report = core::diff(mount_document(kMount), host);
  ASSERT_EQ(report.diagnostics.size(), 1U);
  EXPECT_EQ(report.diagnostics.front().message,
            "[[nfs_mount]]: remote-fs.target is enabled for graphical.target alone, and the host starts "
            "multi-user.target, so its units do not start at the next boot");
  EXPECT_EQ(report.diagnostics.front().hint, "`systemctl add-wants multi-user.target remote-fs.target`");
}

TEST(NfsMount, ATargetThatTheNextCommandLineMasksIsNamed) {
  auto kernel = fakes::FakeKernel::parse(kNfsHost);
  kernel->files.content["/etc/kernel/cmdline"] = "systemd.mask=remote-fs.target\n";
  auto host = kernel->host();
  const auto report = core::diff(mount_document(kMount), host);
  ASSERT_EQ(report.diagnostics.size(), 1U);
  EXPECT_EQ(report.diagnostics.front().message,
            "[[nfs_mount]]: /etc/kernel/cmdline:1 masks remote-fs.target from the next boot on "
            "(systemd.mask=), so that boot does not start what it wants");
}

TEST(NfsMount, AFailedMountLeavesNothing) {
  auto kernel = fakes::FakeKernel::parse(kNfsHost);
  const auto before = kernel->dump({.without_files_below = "/var"});
  kernel->faults.refuse("scratch.mount: start", EIO);
  const auto report = mount_apply(*kernel, kMount);
  EXPECT_EQ(report.exit, model::Exit::kUndone);
  EXPECT_EQ(kernel->dump({.without_files_below = "/var"}), before);
}

}  // namespace
}  // namespace rdmacfg::kinds
