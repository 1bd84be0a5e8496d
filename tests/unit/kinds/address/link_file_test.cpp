// SPDX-License-Identifier: Apache-2.0
// The MTU of .link files.
#include <gtest/gtest.h>

#include <map>
#include <string>

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

}  // namespace
}  // namespace rdmacfg::kinds
