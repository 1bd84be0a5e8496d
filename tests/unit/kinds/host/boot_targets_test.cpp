// SPDX-License-Identifier: Apache-2.0
// Units that are enabled only for targets that the next boot does not reach.
#include "kinds/host/boot_targets.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"
#include "fakes/memory_files.hpp"
#include "formats/boot_command_line.hpp"
#include "kinds/host/unit_boot.hpp"

namespace rdmacfg::kinds {
namespace {

using UnitFiles = std::map<std::string, std::string>;

constexpr const char* kGraphicalLink = "/etc/systemd/system/graphical.target.wants/x.service";
constexpr const char* kMultiUserLink = "/etc/systemd/system/multi-user.target.wants/x.service";
constexpr const char* kUnreached =
    "enabled for graphical.target alone, and the host starts multi-user.target";

/// The targets as systemd has them, and the default one.
void add_targets(fakes::MemoryFiles& files, const std::string& by_default) {
  const std::string folder = "/usr/lib/systemd/system/";
  files.content[folder + "graphical.target"] = "[Unit]\nRequires=multi-user.target\n";
  files.content[folder + "multi-user.target"] = "[Unit]\nRequires=basic.target\n";
  files.content[folder + "rescue.target"] = "[Unit]\nRequires=sysinit.target rescue.service\n";
  files.link_targets[folder + "default.target"] = "graphical.target";
  if (!by_default.empty()) files.link_targets["/etc/systemd/system/default.target"] = folder + by_default;
}

system::Unit enabled_unit(const std::string& state = "enabled", const std::string& name = "x.service") {
  system::Unit unit;
  unit.name = unit.id = name;
  unit.load = "loaded";
  unit.file = state;
  return unit;
}

/// The text about an enabled unit; empty where the next boot may start it.
std::string said_of_boot(const std::string& by_default, const UnitFiles& contents) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  add_targets(files, by_default);
  for (const auto& [path, text] : contents) files.content[path] = text;
  const auto unit = enabled_unit();
  const auto found = BootTargets(files).unreached(unit);
  EXPECT_EQ(is_left_out_at_boot(unit, files), found.has_value());
  return found ? found->text() : std::string();
}

TEST(BootTargets, AUnitOfATargetThatTheBootDoesNotReachIsLeftOut) {
  EXPECT_EQ(said_of_boot("multi-user.target", {{kGraphicalLink, ""}}), kUnreached);
  EXPECT_EQ(said_of_boot("runlevel3.target", {{kGraphicalLink, ""}}), kUnreached);
  EXPECT_EQ(said_of_boot("multi-user.target",
                         {{"/usr/lib/systemd/system/runlevel5.target.requires/x.service", ""}}),
            kUnreached);
  EXPECT_EQ(said_of_boot("rescue.target", {{kGraphicalLink, ""}, {kMultiUserLink, ""}}),
            "enabled for graphical.target and multi-user.target alone, and the host starts rescue.target");
  EXPECT_EQ(said_of_boot("", {{kGraphicalLink, ""}}), "") << "the distribution's default is graphical";
  EXPECT_EQ(said_of_boot("", {{kMultiUserLink, ""}}), "") << "graphical.target requires multi-user.target";
  EXPECT_EQ(said_of_boot("multi-user.target", {{kGraphicalLink, ""}, {kMultiUserLink, ""}}), "");
}

TEST(BootTargets, AUnitThatOthersMayStartIsNot) {
  const std::string folder = "/etc/systemd/system/";
  const auto said = [&](const std::string& path, const std::string& text = "") {
    return said_of_boot("multi-user.target", {{kGraphicalLink, ""}, {folder + path, text}});
  };
  EXPECT_EQ(said("sockets.target.wants/x.service"), "") << "not judged";
  EXPECT_EQ(said("multi-user.target.wants/graphical.target"), "");
  EXPECT_EQ(said("multi-user.target.d/more.conf", "[Unit]\nWants=x.service\n"), "");
  EXPECT_EQ(said("basic.target", "[Unit]\nUpholds=y.service x.service\n"), "");
  EXPECT_EQ(said("multi-user.target.wants/x.socket"), "") << "a connection starts it";
  EXPECT_EQ(said("rescue.target.wants/x.socket"), kUnreached);
  EXPECT_EQ(said("multi-user.target.wants/y.service"), kUnreached);
  EXPECT_EQ(said_of_boot("multi-user.target", {}), "") << "no link";
}

TEST(BootTargets, UnitsThatDevicesAndCallersStartAreNot) {
  const auto said = [](const UnitFiles& contents) {
    UnitFiles all{{kGraphicalLink, ""}};
    all.insert(contents.begin(), contents.end());
    return said_of_boot("multi-user.target", all);
  };
  const std::string folder = "/etc/systemd/system/";
  const std::string wants = "[Unit]\nWants=x.service\n";
  EXPECT_EQ(said({{folder + "dev-x.device.wants/y.service", ""}, {folder + "y.service", wants}}), "");
  EXPECT_EQ(said({{folder + "rdma-hw.target.wants/y.service", ""}, {folder + "y.service", wants}}), "");
  EXPECT_EQ(said({{folder + "graphical.target.wants/y.service", ""}, {folder + "y.service", wants}}),
            kUnreached);
  EXPECT_EQ(said({{folder + "graphical.target.wants/y.target", ""},
                  {folder + "y.target.wants/y.service", ""},
                  {folder + "y.service", wants}}),
            kUnreached);
  EXPECT_EQ(said({{folder + "default.target.wants/y.service", ""}, {folder + "y.service", wants}}), "");
  EXPECT_EQ(said({{"/usr/lib/udev/rules.d/90-x.rules",
                   "SUBSYSTEM==\"infiniband\", ENV{SYSTEMD_WANTS}+=\"x.service\"\n"}}),
            "");
  EXPECT_EQ(said({{"/usr/share/dbus-1/system-services/org.x.service",
                   "[D-BUS Service]\nName=org.x\nSystemdService=x.service\n"}}),
            "");
}

TEST(BootTargets, InstancesAreFoundByTheirTemplatesAndAliases) {
  const std::string folder = "/etc/systemd/system/";
  const auto said = [&](const UnitFiles& contents, const UnitFiles& links = {}) {
    fakes::Faults faults;
    fakes::MemoryFiles files(faults);
    add_targets(files, "multi-user.target");
    files.content[folder + "graphical.target.wants/b@1.service"] = "";
    files.content[folder + "multi-user.target.wants/a@1.service"] = "";
    for (const auto& [name, text] : contents) files.content[folder + name] = text;
    for (const auto& [name, target] : links) files.link_targets[folder + name] = target;
    const auto found = BootTargets(files).unreached(enabled_unit("enabled", "b@1.service"));
    return found ? found->text() : std::string();
  };
  EXPECT_EQ(said({{"a@.service", "[Unit]\nWants=c@%i.service\n"}}), kUnreached);
  EXPECT_EQ(said({{"a@.service", "[Unit]\nWants=b@%i.service\n"}}), "");
  EXPECT_EQ(said({{"a@.service", "[Unit]\nWants=b@%H.service\n"}}), "") << "the host's name may be 1";
  EXPECT_EQ(said({{"a@.service", ""}, {"a@1.service", "[Unit]\nWants=b@1.service\n"}}), "");
  EXPECT_EQ(said({{"a@.service.d/more.conf", "[Unit]\nWants=b@1.service\n"}}), "");
  EXPECT_EQ(said({}, {{"a@.service", "/usr/lib/systemd/system/b@.service"}}), "");
}

TEST(BootTargets, ALinkToTheDefaultTargetOfAnotherFolderIsFollowed) {
  EXPECT_EQ(said_of_boot("default.target", {{kGraphicalLink, ""}}), "");
  EXPECT_EQ(said_of_boot("default.target", {{"/etc/systemd/system/rescue.target.wants/x.service", ""}}),
            "enabled for rescue.target alone, and the host starts graphical.target");
}

TEST(BootTargets, KernelCommandLinesReplaceTheDefaultTarget) {
  const auto said = [](const std::string& by_default, const UnitFiles& contents) {
    UnitFiles all{{kGraphicalLink, ""}};
    all.insert(contents.begin(), contents.end());
    return said_of_boot(by_default, all);
  };
  EXPECT_EQ(said("", {{"/etc/kernel/cmdline", "ro 3\n"}}), kUnreached);
  EXPECT_EQ(said("multi-user.target", {{"/etc/kernel/cmdline", "systemd.unit=graphical.target\n"}}), "");
  EXPECT_EQ(said("multi-user.target", {{"/etc/kernel/cmdline", "ro systemd.wants=x.service\n"}}), "");
  EXPECT_EQ(
      said("", {{"/etc/default/grub", "GRUB_CMDLINE_LINUX=\"3\"\nGRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\n"}}),
      kUnreached)
      << "GRUB's entries have both";
  EXPECT_EQ(said("", {{"/etc/kernel/cmdline", "ro 3\n"}, {"/etc/default/grub", "GRUB_CMDLINE_LINUX=ro\n"}}),
            "")
      << "one of two entries reaches it";
  EXPECT_EQ(said("multi-user.target", {{"/etc/kernel/cmdline", "ro\n"}, {"/proc/cmdline", "ro 5\n"}}), "")
      << "another boot loader gave this kernel its words";
  EXPECT_EQ(said("multi-user.target", {{"/proc/cmdline", "ro 5\n"}}), "") << "no entry is known";
}

TEST(BootTargets, TheLastWordOfACommandLineCounts) {
  EXPECT_EQ(target_booted_by("ro quiet"), "");
  EXPECT_EQ(target_booted_by("ro 5 single"), "rescue.target");
  EXPECT_EQ(target_booted_by("1 systemd.unit=graphical.target"), "graphical.target");
  EXPECT_EQ(target_booted_by("systemd.unit=graphical.target 3"), "multi-user.target");
  EXPECT_EQ(target_booted_by("systemd.unit=graphical"), "") << "not a name of a unit";
  EXPECT_EQ(target_booted_by("rd.systemd.unit=rescue.target"), "") << "of the initramfs";
}

TEST(BootTargets, WhatCannotBeReadOrFoundIsNotJudged) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content[kGraphicalLink] = "";
  EXPECT_FALSE(BootTargets(files).unreached(enabled_unit())) << "no default target";
  add_targets(files, "multi-user.target");
  EXPECT_TRUE(BootTargets(files).unreached(enabled_unit()));
  files.unreadable.insert("/usr/lib/systemd/system/multi-user.target");
  EXPECT_FALSE(BootTargets(files).unreached(enabled_unit()));
  files.unreadable.clear();
  for (int i = 0; i < 500; ++i)
    files.content["/etc/systemd/system/multi-user.target.wants/" + std::to_string(i) + ".service"] = "";
  EXPECT_FALSE(BootTargets(files).unreached(enabled_unit())) << "too many units";
}

TEST(BootTargets, TheRemedyIsALinkOfTheTargetThatTheHostStarts) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  add_targets(files, "multi-user.target");
  files.content[kGraphicalLink] = "";
  const auto reason = why_left_out(enabled_unit(), files);
  EXPECT_EQ(reason.why, kUnreached);
  EXPECT_EQ(reason.remedy, "`systemctl add-wants multi-user.target x.service`");
  EXPECT_EQ(why_left_out(enabled_unit("disabled"), files).why, kUnreached) << "its link is the image's";
  add_targets(files, "rescue.target");
  EXPECT_EQ(why_left_out(enabled_unit(), files).remedy, "have the host start graphical.target");
  files.content.erase(kGraphicalLink);
  EXPECT_EQ(why_left_out(enabled_unit("disabled"), files).why, "not enabled");
}

TEST(BootTargets, AUnitThatIsEnabledBesideMayStartIt) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  add_targets(files, "multi-user.target");
  const std::string folder = "/usr/lib/systemd/system/";
  files.content[folder + "x.service"] = "[Install]\nWantedBy=graphical.target\n";
  files.content[folder + "y.service"] = "[Unit]\nWants=x.service\n[Install]\nWantedBy=multi-user.target\n";
  BootTargets alone(files), both(files);
  alone.enable(enabled_unit("disabled"));
  EXPECT_TRUE(alone.unreached(enabled_unit("disabled")));
  both.enable(enabled_unit("disabled"));
  both.enable(enabled_unit("disabled", "y.service"));
  EXPECT_FALSE(both.unreached(enabled_unit("disabled")));
}

/// By its links, or by the [Install] section that `systemctl enable` reads.
TEST(BootTargets, AnEntryThatEnablesAUnitInVainIsNamed) {
  const auto said = [](const char* state, const UnitFiles& contents, const char* enabled = "true") {
    const auto kernel = fakes::FakeKernel::parse(std::string(R"({"units": {"x.service": )") + state + "}}");
    add_targets(kernel->files, "multi-user.target");
    for (const auto& [path, text] : contents) kernel->files.content[path] = text;
    auto host = kernel->host();
    const auto text = std::string("version = 1\n[[service]]\nname = \"x\"\nenabled = ") + enabled + "\n";
    std::string out;
    const auto report = core::diff(config::parse_texts({{"config.toml", text}}, "node1", grammar()), host);
    for (const auto& diagnostic : report.diagnostics) out += diagnostic.message + "; " + diagnostic.hint;
    return out;
  };
  const auto warning = std::string("[[service]] enabled: x.service does not start at the next boot: it is ") +
                       kUnreached + "; `systemctl add-wants multi-user.target x.service`";
  const std::string file = "/usr/lib/systemd/system/x.service";
  EXPECT_EQ(said(R"({"enabled": true})", {{kGraphicalLink, ""}}), warning);
  EXPECT_EQ(said("{}", {{file, "[Install]\nWantedBy=graphical.target\n"}}), warning);
  EXPECT_EQ(said("{}", {{file, "[Install]\nWantedBy=graphical.target\nAlias=y.service\n"}}), "");
  EXPECT_EQ(said("{}", {{file, "[Install]\nWantedBy=graphical.target\nAlso=x.socket\n"}}), "");
  EXPECT_EQ(said("{}", {{file, "[Install]\nWantedBy=graphical.target\n"},
                        {file + ".d/site.conf", "[Install]\nWantedBy=multi-user.target\n"}}),
            "")
      << "systemctl heeds the drop-in, too";
  EXPECT_EQ(said("{}", {{file, "[Install]\nWantedBy=multi-user.target\n"}}), "");
  EXPECT_EQ(said(R"({"enabled": true})", {{kMultiUserLink, ""}}), "");
  EXPECT_EQ(said("{}", {{file, "[Install]\nWantedBy=graphical.target\n"}}, "false"), "");
}

}  // namespace
}  // namespace rdmacfg::kinds
