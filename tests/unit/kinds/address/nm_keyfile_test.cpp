// SPDX-License-Identifier: Apache-2.0
#include "kinds/address/profiles/nm_keyfile.hpp"

#include <gtest/gtest.h>

#include "base/digest.hpp"
#include "kinds/managers/nm_profile.hpp"

namespace rdmacfg::kinds {
namespace {

constexpr const char* kNmKeyfilePort = "00:02:c9:03:00:31:78:f2";
constexpr const char* kNmKeyfileChild = "00:02:c9:03:00:31:78:f2/0x8002";

NmProfile parent() {
  NmProfile out;
  out.name = "mlx4_ib0";
  out.mode = model::IpoibMode::kConnected;
  out.mtu = model::Mtu{65520};
  out.autoconnect = true;
  out.ipv4 = {"address1=192.0.2.1/24,192.0.2.254", "method=manual"};
  out.ipv6 = {"method=link-local"};
  return out;
}

TEST(NmKeyfile, OfAPortIsFoundByItsGuid) {
  const auto text = render_keyfile(kNmKeyfilePort, parent());
  auto sections = keyfile_sections(text);
  EXPECT_EQ(sections["connection"]["type"], "infiniband");
  EXPECT_EQ(sections["infiniband"]["mac-address"],
            "80:00:00:00:FE:80:00:00:00:00:00:00:00:02:C9:03:00:31:78:F2");
  EXPECT_FALSE(sections["connection"].contains("interface-name"));
  EXPECT_EQ(model::to_attributes(parse_keyfile(text)), model::to_attributes(parent()));
}

TEST(NmKeyfile, OfAChildNamesItsParentAndAWholePkey) {
  auto profile = parent();
  profile.pkey = model::Pkey::make(2).value();
  profile.parent = "mlx4_ib0";
  profile.autoconnect = false;
  const auto text = render_keyfile(kNmKeyfileChild, profile);
  auto sections = keyfile_sections(text);
  EXPECT_EQ(sections["infiniband"]["p-key"], "32770");
  EXPECT_EQ(sections["connection"]["interface-name"], "mlx4_ib0.8002");
  EXPECT_FALSE(sections["infiniband"].contains("mac-address"));
  EXPECT_EQ(model::to_attributes(parse_keyfile(text)), model::to_attributes(profile));
}

/// NetworkManager ignores a keyfile without its type or mode, and takes one without a GUID for any port.
TEST(NmKeyfile, LinesThatMakeItTheProfileOfThePortAreMissed) {
  const auto text = render_keyfile(kNmKeyfilePort, parent());
  EXPECT_TRUE(nm_lines_missing(kNmKeyfilePort, text).empty());
  const auto without = [&](const std::string& line, const std::string& instead = "") {
    auto edited = text;
    const auto at = edited.find(line);
    if (at == std::string::npos) return std::vector<std::string>{"not in it: " + line};
    edited.replace(at, line.size(), instead);
    return nm_lines_missing(kNmKeyfilePort, edited);
  };
  using Missing = std::vector<std::string>;
  EXPECT_EQ(without("type=infiniband\n"), Missing{"- type=infiniband"});
  EXPECT_EQ(without("[infiniband]\n").size(), 2U) << "its address and mode";
  EXPECT_EQ(without("31:78:F2", "31:78:F3"),
            Missing{"- mac-address=80:00:00:00:FE:80:00:00:00:00:00:00:00:02:C9:03:00:31:78:F2"});
  EXPECT_EQ(without("uuid=", "uuid=0"), Missing{"- uuid=" + nm_uuid(kNmKeyfilePort)});
  EXPECT_EQ(without("transport-mode=", "transport-mode=x").size(), 1U);
  EXPECT_TRUE(without("80:00:00:00:FE:80", "80:00:02:08:fe:80").empty()) << "only the GUID counts";
  EXPECT_TRUE(without("[ipv6]\n", "[proxy]\n\n[ipv6]\naddr-gen-mode=default\n").empty())
      << "NetworkManager writes more than we do";
  auto child = parent();
  child.pkey = model::Pkey::make(2).value();
  child.parent = "mlx4_ib0";
  EXPECT_TRUE(nm_lines_missing(kNmKeyfileChild, render_keyfile(kNmKeyfileChild, child)).empty());
}

/// Lines that `nmcli connection modify` adds to a profile that is up; they count at its next activation.
TEST(NmKeyfile, LinesThatPreventItsActivationAreNamed) {
  const auto text = render_keyfile(kNmKeyfilePort, parent());
  EXPECT_TRUE(nm_lines_in_the_way(text).empty());
  const auto with = [&](const std::string& section, const std::string& lines) {
    auto edited = text;
    edited.insert(edited.find(section) + section.size(), lines);
    return nm_lines_in_the_way(edited);
  };
  using Added = std::vector<std::string>;
  EXPECT_EQ(with("[connection]\n", "permissions=user:alice:;\n"), Added{"+ permissions=user:alice:;"});
  EXPECT_EQ(with("[connection]\n", "permissions=\n"), Added{}) << "everybody's";
  EXPECT_EQ(with("[connection]\n", "master=bond0\nslave-type=bond\n"),
            (Added{"+ master=bond0", "+ slave-type=bond"}));
  EXPECT_EQ(with("[connection]\n", "interface-name=ib7\n"), Added{"+ interface-name=ib7"});
  EXPECT_EQ(with("[connection]\n", "interface-name=mlx4_ib0\nautoconnect-priority=3\nzone=trusted\n"),
            Added{});
  EXPECT_EQ(with("[match]\n", "kernel-command-line=rescue;\n"), Added{"+ kernel-command-line=rescue;"});
  auto child = parent();
  child.pkey = model::Pkey::make(2).value();
  child.parent = "mlx4_ib0";
  child.name = "mlx4_ib0.8002";
  const auto of_child = render_keyfile(kNmKeyfileChild, child);
  EXPECT_TRUE(nm_lines_edited(kNmKeyfileChild, of_child).empty());
}

TEST(NmKeyfile, IdsAndFilesAreOneToOne) {
  for (const auto* id : {kNmKeyfilePort, kNmKeyfileChild}) {
    const auto file = nm_file(id);
    EXPECT_EQ(nm_id(file.substr(file.rfind('/') + 1)), id);
  }
  EXPECT_NE(nm_uuid(kNmKeyfilePort), nm_uuid(kNmKeyfileChild));
  EXPECT_FALSE(nm_id("rdma-configd-.nmconnection"));
  EXPECT_FALSE(nm_id("rdma-configd-0002c903003178f2"));
  EXPECT_FALSE(nm_id("foreign.nmconnection"));
}

TEST(NmKeyfile, UuidsAreOfVersionFive) {
  const auto uuid = base::uuid_of("x");
  ASSERT_EQ(uuid.size(), 36U);
  EXPECT_EQ(uuid[14], '5');
  EXPECT_NE(std::string("89ab").find(uuid[19]), std::string::npos);
  EXPECT_EQ(uuid, base::uuid_of("x"));
}

TEST(NmKeyfile, DamagedOnesAreReadAsFarAsTheyGo) {
  for (const auto* text : {"", "[", "[]", "=", "[infiniband]\np-key=banana\nmtu=\n", "id=outside\n"}) {
    const auto profile = parse_keyfile(text);
    EXPECT_FALSE(profile.pkey || profile.mtu || profile.ipv4) << text;
  }
}

TEST(NmKeyfile, InEffectIsWhatTheKernelHas) {
  system::Link link;
  link.index = 3;
  link.up = true;
  link.mtu = 65520;
  link.ipoib.emplace();
  link.ipoib->mode = model::IpoibMode::kConnected;
  std::vector<system::InetAddress> there(1);
  there[0].index = 3;
  there[0].prefix = model::IpPrefix::parse("192.0.2.1/24").value();
  const auto effect = [&] { return detail::effect_of(parent(), link, there); };
  EXPECT_TRUE(detail::in_effect(parent(), effect()));
  link.mtu = 2044;
  EXPECT_FALSE(detail::in_effect(parent(), effect()));
  EXPECT_EQ(effect().live_mtu->bytes, 2044);
  link.mtu = 65520;
  there.clear();
  EXPECT_FALSE(detail::in_effect(parent(), effect()));
  EXPECT_EQ(effect().missing, std::vector<std::string>{"192.0.2.1/24"});
  link.up = false;
  EXPECT_FALSE(detail::in_effect(parent(), effect()));
  EXPECT_FALSE(effect().live_mode);
}

}  // namespace
}  // namespace rdmacfg::kinds
