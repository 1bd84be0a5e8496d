// SPDX-License-Identifier: Apache-2.0
// The MTU of .link files, and lines of tmpfiles.d that write to interfaces.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"
#include "fakes/memory_files.hpp"
#include "kinds/address/network_match.hpp"

namespace rdmacfg::kinds {
namespace {

constexpr model::Guid kLinkFileGuid{0x0002c903003178f2};

/// "/etc/systemd/network/10-a.link:4 9000"; empty: none.
std::string link_mtu(const std::map<std::string, std::string>& texts,
                     const std::string& interface = "mlx4_ib0") {
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  files.content = texts;
  const auto found = link_file_mtu(files, kLinkFileGuid, interface);
  return found ? found->file + ":" + std::to_string(found->line) + " " + std::to_string(found->bytes)
               : std::string();
}

/// net_match_config() and config_parse_mtu().
TEST(LinkFile, ItsMatchDecides) {
  struct Row {
    const char* match;
    bool fits;
  };
  for (const auto& row :
       {Row{"OriginalName=mlx4_ib0", true}, Row{"OriginalName=ib*", true}, Row{"OriginalName=*", true},
        Row{"OriginalName=eth* mlx4_*", true}, Row{"OriginalName=!mlx4_ib0", false},
        Row{"OriginalName=en*", false}, Row{"Type=infiniband", true}, Row{"Type=ether", false},
        Row{"Type=!infiniband", false},
        Row{"MACAddress=80:00:02:08:fe:80:00:00:00:00:00:00:00:02:C9:03:00:31:78:F2", true},
        Row{"MACAddress=00:25:90:00:00:01", false}, Row{"Path=pci-0000:10:00.0", false}, Row{"", false}}) {
    EXPECT_EQ(link_mtu({{"/etc/systemd/network/10-a.link",
                         "[Match]\n" + std::string(row.match) + "\n[Link]\nMTUBytes=9000\n"}}),
              row.fits ? "/etc/systemd/network/10-a.link:4 9000" : "")
        << row.match;
  }
}

TEST(LinkFile, TheFirstThatFitsIsTheOnlyOne) {
  const std::string all = "[Match]\nOriginalName=*\n[Link]\n";
  EXPECT_EQ(link_mtu({{"/etc/systemd/network/20-b.link", all + "MTUBytes=4K\n"},
                      {"/usr/lib/systemd/network/99-default.link", all + "NamePolicy=keep\n"}}),
            "/etc/systemd/network/20-b.link:4 4096");
  EXPECT_EQ(link_mtu({{"/etc/systemd/network/20-b.link", all + "MTUBytes=4096\n"},
                      {"/usr/lib/systemd/network/10-a.link", all + "NamePolicy=keep\n"}}),
            "");
  EXPECT_EQ(link_mtu({{"/etc/systemd/network/10-a.link", ""},
                      {"/usr/lib/systemd/network/10-a.link", all + "MTUBytes=4096\n"}}),
            "")
      << "a file of /etc masks those of its name";
  EXPECT_EQ(link_mtu({{"/etc/systemd/network/10-a.link", all + "#MTUBytes=4096\n[Other]\nMTUBytes=1\n"}}),
            "");
}

/// The messages about a connected interface with the largest MTU on a host with these files.
std::string said_of_interface(const std::map<std::string, std::string>& files) {
  auto kernel = fakes::FakeKernel::parse(
      R"({"devices": [{"name": "mlx4_0", "pci": "0000:10:00.0",
                       "ports": [{"guid": "00:02:c9:03:00:31:78:f2", "interface": {"name": "ib0", "up": true}}]}]})");
  for (const auto& [path, text] : files) kernel->files.content.insert_or_assign(path, text);
  auto host = kernel->host();
  const auto report =
      core::diff(config::parse_texts({{"config.toml",
                                       "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nmode = "
                                       "\"connected\"\nmtu = 65520\n"}},
                                     "node1", grammar()),
                 host);
  std::string out;
  for (const auto& diagnostic : report.diagnostics) out += diagnostic.message + "\n";
  return out;
}

TEST(LinkFile, AnotherMtuIsNamed) {
  const std::string path = "/etc/systemd/network/10-ib.link", match = "[Match]\nOriginalName=ib*\n[Link]\n";
  const auto said = said_of_interface({{path, match + "MTUBytes=2044\n"}});
  EXPECT_NE(said.find("[[ipoib]] mtu: " + path + ":4 makes udev set 2044 whenever "), std::string::npos)
      << said;
  EXPECT_EQ(said_of_interface({{path, match + "MTUBytes=65520\n"}}), "");
}

/// tmpfiles.d(5)
TEST(LinkFile, LinesOfTmpfilesThatWriteModeOrMtuAreNamed) {
  const std::string path = "/etc/tmpfiles.d/ib.conf";
  EXPECT_EQ(said_of_interface({{path, "w /sys/class/net/ib0/mode - - - - datagram\n"}}),
            "[[ipoib]] mode: /etc/tmpfiles.d/ib.conf:1 writes datagram to /sys/class/net/ib0/mode at boot\n");
  EXPECT_EQ(said_of_interface({{path, "w /sys/class/net/*/mtu - - - - 9000\n"}}),
            "[[ipoib]] mtu: /etc/tmpfiles.d/ib.conf:1 writes 9000 to /sys/class/net/ib0/mtu at boot\n");
  EXPECT_EQ(said_of_interface({{path, "w /sys/class/net/ib0/mode - - - - connected\n"}}), "");
  EXPECT_EQ(said_of_interface({{path, "w /sys/class/net/ib1/mode - - - - datagram\n"}}), "");
}

}  // namespace
}  // namespace rdmacfg::kinds
