// SPDX-License-Identifier: Apache-2.0
#include "formats/opensm/opensm_conf.hpp"

#include <gtest/gtest.h>

#include "fakes/memory_files.hpp"
#include "formats/shell_value.hpp"

namespace rdmacfg::kinds {
namespace {

constexpr model::Guid kOpensmFileOne{0x0002c903003178f2};
constexpr model::Guid kOpensmFileTwo{0x0002c903003178f4};

TEST(OpensmFile, APortIsNamedByItsNumber) {
  EXPECT_TRUE(names_port("PORTS=\"0x0002c903003178f2\"\n", OpensmLayout::kDebian, kOpensmFileOne));
  EXPECT_TRUE(names_port("PORTS=\"ALL\"\n", OpensmLayout::kDebian, kOpensmFileOne));
  EXPECT_FALSE(names_port("GUIDS=ALL\n", OpensmLayout::kRhel, kOpensmFileOne));
  EXPECT_FALSE(names_port("PORTS=0x0002c903003178f2\n", OpensmLayout::kRhel, kOpensmFileOne));
  EXPECT_TRUE(names_port("GUIDS=0x0002c903003178f2\n", OpensmLayout::kRhel, kOpensmFileOne));
}

// systemd hands the file's value to opensm-launch, which takes each word for a port; opensm reads hexadecimal
// digits (strtoull with base 16).
TEST(OpensmFile, SpellingsOfPortsThatOpensmTakes) {
  for (const auto* text :
       {"GUIDS=0x0002c903003178f4 0x0002c903003178f2\n", "GUIDS=\"0x0002c903003178f4\t0x0002c903003178f2\"\n",
        "GUIDS=\"0x0002c903003178f4\n  0x0002c903003178f2\"\n",
        "GUIDS='0002c903003178f4 0002c903003178f2' # two\n",
        "GUIDS=\"0X2C903003178F4 \\\n0X2C903003178F2\"\n"}) {
    EXPECT_TRUE(names_port(text, OpensmLayout::kRhel, kOpensmFileOne)) << text;
    EXPECT_TRUE(names_port(text, OpensmLayout::kRhel, kOpensmFileTwo)) << text;
    EXPECT_EQ(opensm_prefixes(text).at(kOpensmFileOne), "0xfe80000000000001") << text;
    auto defaults = parse_opensm_defaults(text);
    defaults.ports[model::Guid{7}];
    const auto after = opensm_prefixes(render_opensm_defaults(defaults, OpensmLayout::kRhel));
    EXPECT_EQ(after.at(kOpensmFileOne), "0xfe80000000000001") << "the others keep their places: " << text;
    EXPECT_EQ(after.at(model::Guid{7}), "0xfe80000000000002") << text;
  }
  // Digits are hexadecimal ones, with 0x or without.
  EXPECT_TRUE(names_port("GUIDS=10\n", OpensmLayout::kRhel, model::Guid{0x10}));
  EXPECT_FALSE(names_port("GUIDS=10\n", OpensmLayout::kRhel, model::Guid{10}));
}

// Debian's units are called after the words: opensm@0002c903003178f2 is another one than ours, and systemd
// tells large letters from small ones.
TEST(OpensmFile, DebiansWordsOfOurPortsHaveTheNamesOfTheirUnits) {
  for (const std::string word :
       {"0002c903003178f2", "0x2c903003178f2", "0x0002C903003178F2", "0X0002c903003178f2"}) {
    const auto before = "PORTS=\"" + word + " 0002c903003178f4\"\n";
    EXPECT_FALSE(names_port(before, OpensmLayout::kDebian, kOpensmFileOne)) << word;
    EXPECT_EQ(units_of_other_spellings(before, kOpensmFileOne),
              std::vector<std::string>{"opensm@" + word + ".service"});
    auto defaults = parse_opensm_defaults(before);
    defaults.ports[kOpensmFileOne];
    EXPECT_EQ(shell_value(render_opensm_defaults(defaults, OpensmLayout::kDebian), "PORTS"),
              "0002c903003178f4 0x0002c903003178f2")
        << word;
  }
  EXPECT_TRUE(units_of_other_spellings("PORTS=0x0002c903003178f2\n", kOpensmFileOne).empty());
  EXPECT_TRUE(units_of_other_spellings("PORTS=ALL\n", kOpensmFileOne).empty());
}

// main.c: strtoull(optarg, NULL, 16).
TEST(OpensmFile, DigitsOfAPortAreHexadecimal) {
  EXPECT_EQ(port_of_word("12"), model::Guid{0x12});
  EXPECT_EQ(port_of_word("012"), model::Guid{0x12});
  EXPECT_EQ(port_of_word("0X2C903003178F2"), kOpensmFileOne);
  for (const auto* word : {"", "0x", "ALL", "0002:c903:0031:78f2", "0x12345678123456789"})
    EXPECT_EQ(port_of_word(word), std::nullopt) << word;
}

TEST(OpensmFile, WhatOthersWroteIsBackWhenTheLastPortGoes) {
  for (const std::string before : {"", "PORTS=ALL\n", "# a\n\nPORTS=\"0x1 0x2\"\n\n# b\n"}) {
    auto defaults = parse_opensm_defaults(before);
    EXPECT_TRUE(defaults.ports.empty());
    defaults.ports[kOpensmFileOne];
    defaults.ports[kOpensmFileTwo];
    const auto text = render_opensm_defaults(defaults, OpensmLayout::kDebian);
    EXPECT_TRUE(text.starts_with(before));
    auto again = parse_opensm_defaults(text);
    EXPECT_EQ(again, defaults);
    again.ports.clear();
    EXPECT_EQ(render_opensm_defaults(again, OpensmLayout::kDebian), before);
  }
}

TEST(OpensmFile, PortsOfOthersStayInTheList) {
  auto defaults = parse_opensm_defaults("PORTS=\"0x1 0x0002c903003178f2\"\n");
  defaults.ports[kOpensmFileOne];
  defaults.ports[kOpensmFileTwo];
  const auto text = render_opensm_defaults(defaults, OpensmLayout::kDebian);
  EXPECT_EQ(shell_value(text, "PORTS"), "0x1 0x0002c903003178f2 0x0002c903003178f4");
}

TEST(OpensmFile, AllStaysWhereItStartsOpensmAtBoot) {
  auto defaults = parse_opensm_defaults("PORTS=ALL\n");
  defaults.ports[kOpensmFileOne];
  EXPECT_EQ(shell_value(render_opensm_defaults(defaults, OpensmLayout::kDebian), "PORTS"), "ALL");
  defaults.was_disabled = true;
  EXPECT_EQ(shell_value(render_opensm_defaults(defaults, OpensmLayout::kDebian), "PORTS"),
            "0x0002c903003178f2");
}

TEST(OpensmFile, TheFolderIsTheOneThatTheProgramWasBuiltFor) {
  using Paths = std::map<std::string, std::string>;
  const auto folder = [](const Paths& paths) {
    fakes::Faults faults;
    fakes::MemoryFiles files(faults);
    for (const auto& [path, content] : paths) files.content[path] = content;
    return observe_opensm_folder(files).value().value_or("none");
  };
  const std::string elf(
      "\x7f"
      "ELF\0/etc/%s\0",
      14);
  const auto built_for = [&](const std::string& path) {
    return elf + std::string(1, '\0') + path + std::string(1, '\0') + "          " + path +
           " will be used (if exists).\n";
  };
  const std::string suse = "NAME=\"openSUSE Leap\"\nID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n";
  // SUSE: RHEL's way to start it, Debian's folder.
  EXPECT_EQ(
      folder({{"/etc/sysconfig/opensm", ""}, {"/usr/sbin/opensm", built_for("/etc/opensm/opensm.conf")}}),
      "/etc/opensm");
  EXPECT_EQ(folder({{"/etc/sysconfig/opensm", ""}, {"/usr/sbin/opensm", built_for("/etc/rdma/opensm.conf")}}),
            "/etc/rdma");
  // Leftovers of another build mislead nobody.
  EXPECT_EQ(folder({{"/etc/sysconfig/opensm", ""},
                    {"/etc/opensm/partitions.conf", ""},
                    {"/usr/bin/opensm", built_for("/etc/rdma/opensm.conf")}}),
            "/etc/rdma");
  EXPECT_EQ(folder({{"/usr/sbin/opensm", built_for("/opt/ofed/etc/opensm/opensm.conf")}}),
            "/opt/ofed/etc/opensm");
  // A program that names no folder, or two, is a question to the distribution.
  EXPECT_EQ(folder({{"/etc/sysconfig/opensm", ""}, {"/etc/os-release", suse}}), "/etc/opensm");
  EXPECT_EQ(folder({{"/etc/sysconfig/opensm", ""},
                    {"/etc/os-release", "ID=\"rhel\"\nID_LIKE=\"fedora\"\n"},
                    {"/usr/sbin/opensm", "#!/bin/sh\n"}}),
            "/etc/rdma");
  EXPECT_EQ(
      folder({{"/etc/sysconfig/opensm", ""},
              {"/usr/sbin/opensm", "/etc/rdma/opensm.conf /etc/opensm/opensm.conf /etc/x/opensm.conf.bak"}}),
      "/etc/rdma");
}

TEST(OpensmFile, PortsKeepTheirPlacesInGuids) {
  auto defaults = parse_opensm_defaults("");
  defaults.ports[kOpensmFileTwo];
  const auto prefixes = [](const std::string& text) { return opensm_prefixes(text); };
  auto text = render_opensm_defaults(defaults, OpensmLayout::kRhel);
  EXPECT_EQ(prefixes(text).at(kOpensmFileTwo), "0xfe80000000000000");
  defaults = parse_opensm_defaults(text);
  defaults.ports[kOpensmFileOne];  // the lower number
  text = render_opensm_defaults(defaults, OpensmLayout::kRhel);
  EXPECT_EQ(shell_value(text, "GUIDS"), "0x0002c903003178f4 0x0002c903003178f2");
  EXPECT_EQ(render_opensm_defaults(parse_opensm_defaults(text), OpensmLayout::kRhel), text) << "stays so";
  EXPECT_EQ(prefixes(text).at(kOpensmFileTwo), "0xfe80000000000000");
  EXPECT_EQ(prefixes(text).at(kOpensmFileOne), "0xfe80000000000001");
  // Others' ports come first, and an entry that is not a GUID takes a place, too; the number is a decimal
  // one.
  std::string many = "GUIDS=\"x";
  for (int i = 1; i <= 10; ++i) many += " 0x" + std::to_string(i);
  EXPECT_EQ(prefixes(many + "\"\n").at(model::Guid{9}), "0xfe80000000000009");
  EXPECT_EQ(prefixes(many + "\"\n").at(model::Guid{0x10}), "0xfe80000000000010");
}

TEST(OpensmFile, TheFolderIsThatOfTheFilesThatAreThere) {
  const auto folder = [](const std::vector<std::string>& paths) {
    fakes::Faults faults;
    fakes::MemoryFiles files(faults);
    for (const auto& path : paths) files.content[path] = "";
    return observe_opensm_folder(files).value().value_or("none");
  };
  EXPECT_EQ(folder({}), "none");
  EXPECT_EQ(folder({"/etc/default/opensm", "/etc/rdma/partitions.conf"}), "/etc/opensm");
  EXPECT_EQ(folder({"/etc/sysconfig/opensm"}), "/etc/rdma");
  EXPECT_EQ(folder({"/etc/sysconfig/opensm", "/etc/opensm/partitions.conf"}), "/etc/opensm");
  EXPECT_EQ(folder({"/etc/sysconfig/opensm", "/etc/opensm/opensm.conf", "/etc/rdma/opensm.conf"}),
            "/etc/rdma");
  EXPECT_EQ(folder({"/etc/opensm/opensm.conf"}), "/etc/opensm");
  EXPECT_EQ(folder({"/etc/opensm/opensm.conf", "/etc/rdma/partitions.conf"}), "/etc/opensm");
  EXPECT_EQ(folder({"/etc/rdma/partitions.conf"}), "/etc/rdma");
}

TEST(OpensmFile, WhatOthersAppendBehindOursIsKeptAndCounts) {
  OpensmDefaults defaults;
  defaults.ports[kOpensmFileOne];
  const auto text = render_opensm_defaults(defaults, OpensmLayout::kDebian) + "PORTS=NONE\n";
  EXPECT_FALSE(names_port(text, OpensmLayout::kDebian, kOpensmFileOne));
  const auto again = parse_opensm_defaults(text);
  EXPECT_EQ(again.others, "PORTS=NONE\n");
  EXPECT_TRUE(names_port(render_opensm_defaults(again, OpensmLayout::kDebian), OpensmLayout::kDebian,
                         kOpensmFileOne));
}

TEST(OpensmFile, RhelHasOnePriorityAndWeRememberWhoseItIs) {
  auto defaults = parse_opensm_defaults("GUIDS=\"\"\nPRIORITY=15\n");
  defaults.ports[kOpensmFileOne] = 7;
  defaults.ports[kOpensmFileTwo];
  defaults.was_disabled = defaults.was_stopped = true;
  const auto text = render_opensm_defaults(defaults, OpensmLayout::kRhel);
  EXPECT_EQ(shell_value(text, "PRIORITY"), "7");
  EXPECT_EQ(shell_value(text, "GUIDS"), "0x0002c903003178f2 0x0002c903003178f4");
  EXPECT_EQ(parse_opensm_defaults(text), defaults);
  defaults.ports.erase(kOpensmFileOne);
  EXPECT_EQ(shell_value(render_opensm_defaults(defaults, OpensmLayout::kRhel), "PRIORITY"), "15");
}

TEST(OpensmFile, TheDropInHoldsThePriority) {
  EXPECT_EQ(parse_opensm_drop_in(render_opensm_drop_in(0)), 0);
  EXPECT_EQ(parse_opensm_drop_in(render_opensm_drop_in(15)), 15);
  EXPECT_EQ(parse_opensm_drop_in("ExecStart=/usr/sbin/opensm --priority 16\n"), std::nullopt);
  EXPECT_EQ(parse_opensm_drop_in("[Service]\nNice=1\n"), std::nullopt);
}

TEST(OpensmFile, TheDropInNamesAnOwnFileWithACacheOfItsOwn) {
  EXPECT_EQ(render_opensm_drop_in(std::nullopt), "");
  const auto conf = opensm_own_conf("/etc/opensm", kOpensmFileOne);
  EXPECT_EQ(conf, "/etc/opensm/opensm-0x0002c903003178f2.conf");
  EXPECT_EQ(render_opensm_drop_in(7, conf),
            "# Written by rdma-configd; changes here are overwritten.\n[Service]\n"
            "Environment=OSM_CACHE_DIR=/var/cache/opensm.%I\nExecStart=\n"
            "ExecStart=/usr/sbin/opensm --guid %I --log_file /var/log/opensm.%I.log --config " +
                conf + " --priority 7\n");
  EXPECT_EQ(parse_opensm_drop_in(render_opensm_drop_in(7, conf)), 7);
  EXPECT_EQ(parse_opensm_drop_in(render_opensm_drop_in(std::nullopt, conf)), std::nullopt);
  EXPECT_TRUE(names_own_conf(render_opensm_drop_in(std::nullopt, conf)));
  EXPECT_FALSE(names_own_conf(render_opensm_drop_in(7)));
}

TEST(OpensmFile, AnOwnFileIsKnownByItsName) {
  EXPECT_EQ(port_of_own_conf("opensm-0x0002c903003178f2.conf"), kOpensmFileOne);
  for (const auto* name : {"opensm.conf", "opensm-.conf", "opensm-.con", "opensm-0x2c903003178f2.conf",
                           "opensm-0x0002C903003178F2.conf", "opensm-0x0002c903003178f2.conf.old",
                           "opensm-second.conf", "rdma-opensm-0x0002c903003178f2.conf", ""})
    EXPECT_EQ(port_of_own_conf(name), std::nullopt) << name;
}

TEST(OpensmFile, WithoutGuidsRhelTakesTheFirstPort) {
  EXPECT_TRUE(takes_first_port("", OpensmLayout::kRhel));
  EXPECT_TRUE(takes_first_port("#GUIDS=\"0x1\"\nGUIDS=\"\"\n", OpensmLayout::kRhel));
  EXPECT_FALSE(takes_first_port("GUIDS=0x1\n", OpensmLayout::kRhel));
  EXPECT_FALSE(takes_first_port("", OpensmLayout::kDebian));
}

/// opensm-launch starts opensm.conf.[0-9]* while GUIDS is empty.
TEST(OpensmFile, RhelStartsFilesOfOursWhileGuidsIsEmpty) {
  const std::string others = "GUIDS=\"0x0002c903003178f2\"\nPRIORITY=3\n";
  auto defaults = parse_opensm_defaults(others);
  defaults.ports[kOpensmFileOne] = 7;
  defaults.ports[kOpensmFileTwo];
  defaults.in_files = true;
  const auto text = render_opensm_defaults(defaults, OpensmLayout::kRhel);
  EXPECT_EQ(shell_value(text, "GUIDS"), "");
  EXPECT_EQ(shell_value(text, "PRIORITY"), "7");
  EXPECT_TRUE(names_port(text, OpensmLayout::kRhel, kOpensmFileOne));
  EXPECT_TRUE(names_port(text, OpensmLayout::kRhel, kOpensmFileTwo));
  EXPECT_FALSE(names_port(text, OpensmLayout::kRhel, model::Guid{7}));
  EXPECT_TRUE(takes_files(text, OpensmLayout::kRhel));
  EXPECT_FALSE(takes_first_port(text, OpensmLayout::kRhel)) << "it starts the files";
  auto again = parse_opensm_defaults(text);
  EXPECT_EQ(again, defaults);
  EXPECT_EQ(render_opensm_defaults(again, OpensmLayout::kRhel), text) << "stays so";
  again.in_files = false;
  EXPECT_EQ(shell_value(render_opensm_defaults(again, OpensmLayout::kRhel), "GUIDS"),
            "0x0002c903003178f2 0x0002c903003178f4");
  again.in_files = true;
  again.ports.clear();
  EXPECT_EQ(render_opensm_defaults(again, OpensmLayout::kRhel), others);
  const auto overruled = text + "GUIDS=0x7\n";
  EXPECT_FALSE(names_port(overruled, OpensmLayout::kRhel, kOpensmFileOne))
      << "opensm-launch ignores the files";
  EXPECT_TRUE(names_port(overruled, OpensmLayout::kRhel, model::Guid{7}));
}

TEST(OpensmFile, AFileOfOpensmLaunchIsKnownByItsName) {
  const auto path = opensm_instance_conf("/etc/rdma", kOpensmFileOne);
  EXPECT_EQ(path, "/etc/rdma/opensm.conf.0x0002c903003178f2");
  EXPECT_EQ(port_of_instance_conf("opensm.conf.0x0002c903003178f2"), kOpensmFileOne);
  for (const auto* name : {"opensm.conf", "opensm.conf.", "opensm.conf.1", "opensm.conf.0x2c903003178f2",
                           "opensm.conf.0x0002C903003178F2", "opensm.conf.0x0002c903003178f2.rpmsave",
                           "opensm.conf.rpmnew", "opensm-0x0002c903003178f2.conf", ""})
    EXPECT_EQ(port_of_instance_conf(name), std::nullopt) << name;
}

TEST(OpensmFile, FilesOfOthersForOpensmLaunchAreListed) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  const std::string ours =
      "# Written by rdma-configd; changes here are overwritten.\nguid 0x0002c903003178f2\n";
  files.content = {{"/etc/rdma/opensm.conf", ""},
                   {"/etc/rdma/opensm.conf.1", ""},
                   {"/etc/rdma/opensm.conf.2nd", ""},
                   {"/etc/rdma/opensm.conf.rpmnew", ""},
                   {"/etc/rdma/opensm.conf.0x0002c903003178f2", ours},
                   {"/etc/rdma/opensm.conf.0x0002c903003178f4", "guid 0x0002c903003178f4\n"},
                   {"/etc/opensm/opensm.conf.3", ours}};
  const std::vector<std::string> theirs{"/etc/opensm/opensm.conf.3",
                                        "/etc/rdma/opensm.conf.0x0002c903003178f4", "/etc/rdma/opensm.conf.1",
                                        "/etc/rdma/opensm.conf.2nd"};
  EXPECT_EQ(observe_opensm_instances(files).value(), theirs);
}

}  // namespace
}  // namespace rdmacfg::kinds
