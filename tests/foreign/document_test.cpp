// SPDX-License-Identifier: Apache-2.0
// Imports of names that they did not choose: of files, and of very many entries.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "stage.hpp"

namespace rdmacfg::foreign {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kEvil = "a\n[[module]]\nname = \"evil\"\n#";

/// Lines of the document that count.
std::vector<std::string> lines_of(const std::string& document) {
  std::vector<std::string> out;
  for (const auto line : base::split(document, '\n')) {
    const auto text = base::trim(line);
    if (!text.empty() && !text.starts_with('#')) out.emplace_back(text);
  }
  return out;
}

Imported import_file(const std::string& format, const std::string& path, const std::string& text,
                     std::map<std::string, model::Guid, std::less<>> known = {}) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content[path] = text;
  return import_all(files, format, std::move(known), {path});
}

TEST(NamesOfFiles, AddNothingToTheDocument) {
  const std::map<std::string, model::Guid, std::less<>> known{{"ib0", model::Guid{0x0002c903003178f2}}};
  for (const auto& name : {kEvil, std::string("\x1b[31m"), std::string("\xff")}) {
    const auto homed =
        import_file("ifcfg", "/in/ifcfg-" + name, "DEVICE=ib0\nTYPE=InfiniBand\nMTU=2044\n", known);
    EXPECT_EQ(lines_of(homed.document),
              (std::vector<std::string>{"version = 1", "[[ipoib]]", "guid = \"00:02:c9:03:00:31:78:f2\"",
                                        "mtu = 2044"}))
        << homed.document;
    const auto portless = import_file("ifcfg", "/in/ifcfg-" + name, "DEVICE=ib7\nTYPE=InfiniBand\n");
    EXPECT_EQ(lines_of(portless.document), (std::vector<std::string>{"version = 1"})) << portless.document;
    const auto named = import_file("wicked", "/in/ifcfg-ib0" + name, "IPOIB_MODE=connected\n", known);
    EXPECT_EQ(lines_of(named.document), (std::vector<std::string>{"version = 1"})) << named.document;
    ASSERT_EQ(named.claims.missed.size(), 1U) << "a name that none is, is said";
    const auto openib = import_file("openib", "/in/" + name + "/openib.conf", "SET_IPOIB_CM=yes\n");
    EXPECT_EQ(lines_of(openib.document),
              (std::vector<std::string>{"version = 1", "[defaults.ipoib]", "mode = \"connected\""}))
        << openib.document;
    const auto module =
        import_file("modprobe", "/in/" + name + "/a.conf", "options mlx4_core debug_level=1\n");
    EXPECT_THAT(module.document, Not(HasSubstr("\nname = \"evil\""))) << module.document;
    EXPECT_THAT(module.document, HasSubstr("\nname = \"mlx4_core\"")) << module.document;
  }
}

TEST(Entries, AreFoundAgainAndBounded) {
  Claims claims;
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t at = 0; at < kMostEntries + 100; ++at)
      claims.entry("partition", {{"pkey", fmt::format("0x{:04x}", at)}}, {"p", 1}).values["name"] =
          std::to_string(at);
  }
  EXPECT_EQ(claims.entries.size(), kMostEntries);
  EXPECT_EQ(claims.missed.size(), 1U) << "what is left out is said once";
  EXPECT_EQ(model::text_at(claims.entry("partition", {{"pkey", std::string("0x0007")}}, {}).values, "name"),
            "7");
  EXPECT_EQ(model::text_at(claims.entries.back().values, "name"), std::to_string(kMostEntries - 1));
}

TEST(Entries, OfTwentyThousandPartitionsTheFirstAreTaken) {
  std::string text;
  for (int at = 1; at < 19'500; ++at) text += fmt::format("p{0}=0x{0:04x}: ALL=full;\n", at);
  const auto made = import_file("opensm", "/etc/opensm/partitions.conf", text);
  EXPECT_THAT(made.document, HasSubstr(fmt::format("name = \"p{}\"", kMostEntries)));
  EXPECT_THAT(report_of(made.claims),
              HasSubstr(fmt::format("/etc/opensm/partitions.conf:{}: not understood: from here on: more than",
                                    kMostEntries + 1)));
}

TEST(Entries, OfManyMulticastGroupsTheFirstAreTaken) {
  std::string text = "p=0x0001:\n";
  for (std::size_t at = 0; at < kMostEntries + 9; ++at) text += fmt::format("mgid=ff12::1:{:x}\n", at);
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content["/etc/opensm/partitions.conf"] = text + "ALL=full;\n";
  Claims claims;
  gather({.formats = {find_format("opensm")}, .paths = {}}, files, claims);
  ASSERT_EQ(claims.entries.size(), 1U);
  EXPECT_EQ(claims.entries[0].children.size(), kMostEntries);
  EXPECT_EQ(claims.missed.size(), 1U) << "what is left out is said once";
}

TEST(Keyfiles, ThatNetworkManagerIgnoresForTheirModeAreNamed) {
  const std::string profile =
      "[connection]\nid=ib0\ntype=infiniband\ninterface-name=ib0\n\n[infiniband]\n"
      "mac-address=80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:31:78:f2\ntransport-mode=datagram\n";
  const std::string path = "/etc/NetworkManager/system-connections/ib0.nmconnection";
  const auto import = [&](const std::string& where, bool exposed) {
    fakes::Faults faults;
    fakes::MemoryFiles files(faults);
    files.content[where] = profile;
    if (exposed) files.exposed.insert(where);
    return import_all(files, "nm", {}, {where});
  };
  EXPECT_TRUE(import(path, false).claims.missed.empty());
  EXPECT_TRUE(import("/backup/ib0.nmconnection", true).claims.missed.empty()) << "a copy has any mode";
  const auto exposed = import(path, true);
  ASSERT_EQ(exposed.claims.missed.size(), 1U);
  EXPECT_THAT(exposed.claims.missed[0].text, HasSubstr("chmod 600"));
  EXPECT_THAT(exposed.document, HasSubstr("00:02:c9:03:00:31:78:f2"));
}

TEST(Keyfiles, OfOtherInterfacesMayHaveAnyMode) {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  const std::string path = "/etc/NetworkManager/system-connections/wired.nmconnection";
  files.content[path] = "[connection]\nid=wired\ntype=ethernet\ninterface-name=eth0\n";
  files.exposed.insert(path);
  EXPECT_TRUE(import_all(files, "nm", {}, {path}).claims.missed.empty());
}

}  // namespace
}  // namespace rdmacfg::foreign
