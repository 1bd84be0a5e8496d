// SPDX-License-Identifier: Apache-2.0
// Stand-ins of a report: shapes that tell a name from a serial number, values that stay, and uniqueness.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "ctl/bundle/anonymiser.hpp"
#include "ctl/bundle/answers.hpp"
#include "ctl/bundle/pseudonyms.hpp"
#include "ctl/bundle/shapes.hpp"
#include "ctl/bundle/tape.hpp"
#include "formats/drop_ins.hpp"
#include "system/storage/disk_use.hpp"

namespace rdmacfg::ctl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct Shape {
  std::string_view text;
  bool fits;
};

// systemd.net-naming-scheme(7), and rdma_rename of rdma-core.
TEST(ReportShapes, PredictableNames) {
  for (const auto& [text, fits] : std::vector<Shape>{{"enp23s0f1np1", true},
                                                     {"enP1p3s0", true},
                                                     {"eno1", true},
                                                     {"ens3f0", true},
                                                     {"ibp16s0", true},
                                                     {"ibs5f1", true},
                                                     {"rocep17s0v3", true},
                                                     {"opap2s0", true},
                                                     {"wlp3s0", true},
                                                     {"enp65s0f0r5", true},  // a representor
                                                     {"en", false},
                                                     {"ib", false},
                                                     {"enx001122334455", false},  // a MAC address
                                                     {"enp", false},
                                                     {"enp1s", false},
                                                     {"enp123456s0", false},
                                                     {"enacme1", false},
                                                     {"eth0", false},
                                                     {"acmep1s0", false}})
    EXPECT_EQ(is_predictable(text), fits) << text;
}

TEST(ReportShapes, PlacesOnThePciBus) {
  for (const auto& [text, fits] : std::vector<Shape>{{"0000:10:00.0", true},
                                                     {"0000:10:00", true},
                                                     {"ffff:af:1f.7", true},
                                                     {"0000:10:00.x", false},
                                                     {"0000:10:00.10", false},
                                                     {"0000:10:0", false},
                                                     {"0000:1:00.0", false},
                                                     {"000:10:00.0", false},
                                                     {"000g:10:00.0", false},
                                                     {"0000:1g:00.0", false},
                                                     {"0000:10:g0.0", false},
                                                     {"0000:10", false},
                                                     {"0000:10:00.0:1", false}})
    EXPECT_EQ(is_pci(base::split(text, ':')), fits) << text;
}

TEST(ReportShapes, BoardsSizesAndRoundNumbers) {
  for (const auto& [text, fits] : std::vector<Shape>{{"MT_1090120019", true},
                                                     {"DEL_2810110034", true},
                                                     {"M_1090120019", false},
                                                     {"MTMTM_1090120019", false},
                                                     {"MT_109012001", false},
                                                     {"MT_10901200190", false},
                                                     {"MT_109012001X", false},
                                                     {"mt_1090120019", false},
                                                     {"MT1090120019", false}})
    EXPECT_EQ(is_board(text), fits) << text;
  for (const auto& [text, fits] : std::vector<Shape>{{"64M", true},
                                                     {"512MiB", true},
                                                     {"8T", true},
                                                     {"M", false},
                                                     {"64", false},
                                                     {"64MB", false},
                                                     {"123456M", false}})
    EXPECT_EQ(is_size(text), fits) << text;
  for (const auto& [text, fits] : std::vector<Shape>{{"0", true},
                                                     {"65520", true},
                                                     {"67108864", true},      // 64 MiB
                                                     {"10000000000", true},   // 10 Gb/s
                                                     {"20491837465", false},  // a serial number
                                                     {"1000000000000000000", false},
                                                     {"123456", false}})
    EXPECT_EQ(is_plain_number(text), fits) << text;
}

bool is_nothings_word(std::string_view /*word*/) { return false; }

TEST(ReportPseudonyms, WhatMeansTheSameEverywhereStays) {
  Pseudonyms pseudonyms(is_nothings_word);
  for (const char* text :
       {"0.0.0.0", "127.0.0.1", "127.8.9.10", "169.254.7.8", "224.0.0.1", "239.255.1.2", "255.255.255.255",
        "255.255.252.0", "::", "::1", "fe80::1", "febf::1", "ff02::1", "ff12:401b:ffff::1"})
    EXPECT_EQ(pseudonyms.address(*model::IpAddress::parse(text), 128).text(), text);
  for (const std::uint64_t mac : {std::uint64_t{0}, std::uint64_t{0xffffffffffff},
                                  std::uint64_t{0x01005e000001}, std::uint64_t{0x333300000001}})
    EXPECT_EQ(pseudonyms.mac(mac), mac);
  for (const std::uint64_t id : {std::uint64_t{0}, ~std::uint64_t{0}}) EXPECT_EQ(pseudonyms.eui64(id), id);
  for (const std::uint64_t prefix : {std::uint64_t{0}, std::uint64_t{0xfe80000000000000}})
    EXPECT_EQ(pseudonyms.prefix(prefix), prefix);
}

TEST(ReportPseudonyms, NoTwoShareOne) {
  Pseudonyms pseudonyms(is_nothings_word);
  std::set<std::string> words, numbers, uuids, addresses;
  std::set<std::uint64_t> macs, guids;
  constexpr std::uint64_t kMany = 1000;
  for (std::uint64_t i = 1; i <= kMany; ++i) {
    words.insert(pseudonyms.word("w" + std::string(1 + i % 7, 'x') + std::to_string(i) + "y"));
    numbers.insert(pseudonyms.number(std::to_string(90'000'000 + i)));
    uuids.insert(pseudonyms.uuid("6f9619ff-8b86-d011-b42d-" + std::to_string(100'000'000'000 + i)));
    macs.insert(pseudonyms.mac(0x525400000000 + i));
    guids.insert(pseudonyms.eui64(0x0002c90300000000 + i));
    addresses.insert(pseudonyms
                         .address(*model::IpAddress::parse("10." + std::to_string(i % 250) + "." +
                                                           std::to_string(i / 250) + ".7"),
                                  32)
                         .text());
  }
  for (const auto size :
       {words.size(), numbers.size(), uuids.size(), macs.size(), guids.size(), addresses.size()})
    EXPECT_EQ(size, kMany);
}

// Of networks all over the address space each keeps one of its own, which is none of those with a meaning.
TEST(ReportPseudonyms, NetworksHaveStandInsThatAreNetworks) {
  Pseudonyms pseudonyms(is_nothings_word);
  std::set<std::string> seen;
  for (int first = 223; first >= 20; --first) {
    if (first == 127) continue;
    const auto other = pseudonyms.address(*model::IpAddress::parse(std::to_string(first) + ".1.2.0"), 24);
    EXPECT_NE(other.bytes[0], 0);
    EXPECT_NE(other.bytes[0], 127);
    EXPECT_LT(other.bytes[0], 224);
    EXPECT_EQ(other.bytes[3], 0) << "the host part of a network is 0";
    seen.insert(other.text());
  }
  EXPECT_EQ(seen.size(), 203U);
}

// With every first byte in use, too: those that stay included, and 169, of which only 169.254 stays.
TEST(ReportPseudonyms, NoTwoNetworksOfTheWholeAddressSpaceShareOne) {
  Pseudonyms pseudonyms(is_nothings_word);
  std::set<model::IpAddress> seen;
  constexpr unsigned kBytes = 256, kLastUnicast = 223;
  for (unsigned first = kLastUnicast; first >= 1; --first) {
    for (unsigned second = 0; second < kBytes; ++second) {
      model::IpAddress address{model::Family::kIpv4, {}};
      address.bytes = {static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(second), 3, 4};
      const auto other = pseudonyms.address(address, 32);
      EXPECT_EQ(other.bytes[0] == 169 && other.bytes[1] == 254, first == 169 && second == 254)
          << address.text() << " became " << other.text();
      seen.insert(other);
    }
  }
  EXPECT_EQ(seen.size(), std::size_t{kLastUnicast} * kBytes);
}

TEST(ReportPseudonyms, NoTwoSubnetPrefixesShareOne) {
  Pseudonyms pseudonyms(is_nothings_word);
  std::set<std::uint64_t> seen;
  constexpr std::uint64_t kMany = 1000, kApart = 61;  // up to 0xee48: none of the ranges that stay
  for (std::uint64_t i = 1; i <= kMany; ++i) {
    const auto other = pseudonyms.prefix(i * kApart << 48 | 1);
    EXPECT_NE(other >> 48 & 0xffc0, 0xfe80U) << "link-local";
    EXPECT_NE(other >> 56, 0xffU) << "a multicast group";
    seen.insert(other);
  }
  EXPECT_EQ(seen.size(), kMany);
}

TEST(ReportPseudonyms, WordsThatMeanSomethingAreNoStandIns) {
  std::vector<std::string> taken;
  Pseudonyms pseudonyms([&](std::string_view word) {
    if (taken.size() == 3) return false;
    taken.emplace_back(word);
    return true;
  });
  const auto first = pseudonyms.word("acme");
  EXPECT_THAT(taken, testing::AllOf(testing::SizeIs(3), Not(testing::Contains(first))));
  EXPECT_EQ(pseudonyms.word("acme"), first);
  EXPECT_EQ(pseudonyms.word("acme0017"), first + "0017");
  EXPECT_NE(pseudonyms.word("acme20491837465"), first + "20491837465")
      << "a serial number, not the number of a name";
  EXPECT_NE(pseudonyms.number("123456789"), pseudonyms.number("123456780"));
  EXPECT_EQ(pseudonyms.number("123456789").size(), 9U);
}

// A GID that is made of a MAC address belongs to the stand-in of that, whichever was seen first.
TEST(ReportPseudonyms, AMacAddressAndItsGidBelongTogether) {
  Pseudonyms pseudonyms(is_nothings_word);
  const auto id = pseudonyms.eui64(0x0202c9fffe3178f2);  // of 00:02:c9:31:78:f2
  const auto mac = pseudonyms.mac(0x0002c93178f2);
  EXPECT_EQ(id >> 24 & 0xffff, 0xfffeU);
  EXPECT_EQ((id >> 40 << 24 | (id & 0xffffff)) ^ mac, std::uint64_t{1} << 41) << "RFC 4291, appendix A";
}

/// Digits of hexadecimal numbers and letters of words count as one letter each.
std::string outline(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += std::string_view("0123456789abcdefABCDEF").find(c) != std::string_view::npos ? 'h' : c;
  return out;
}

TEST(AnonymiserSpellings, ValuesKeepTheirSpelling) {
  for (const char* text :
       {"52:54:00:12:34:56", "52-54-00-12-34-56", "525400123456", "0x0002c903003178f2", "0X0002C903003178F2",
        "0002C903003178F2", "0002:C903:0031:78F2", "00-02-c9-03-00-31-78-f2",
        "6f9619ff-8b86-d011-b42d-00c04fc964ff", "80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:31:78:f2",
        "80000208fe800000000000000002c903003178f2", "fd000000000000000002c903003178f2"}) {
    Anonymiser anonymiser({});
    const auto other = anonymiser.text(text);
    EXPECT_NE(other, text);
    EXPECT_EQ(outline(other), outline(text)) << other;
    EXPECT_EQ(anonymiser.text(std::string("(") + text + ")"), "(" + other + ")") << "the same one each time";
  }
}

// PORTS of OpenSM's services take a GUID as any number.
TEST(AnonymiserSpellings, AGuidWithoutItsLeadingZerosHasTheSameStandIn) {
  Anonymiser anonymiser({});
  const auto whole = anonymiser.text("0x0002c903003178f2");
  EXPECT_EQ(anonymiser.text("0x2c903003178f2"), "0x" + whole.substr(whole.find_first_not_of("0x")));
  EXPECT_EQ(anonymiser.text("opensm@0X2C903003178F2"),
            "opensm@0X" + anonymiser.text("0002C903003178F2").substr(whole.find_first_not_of("0x") - 2));
}

TEST(AnonymiserSpellings, WhatIsNoAddressIsStillNobodys) {
  Anonymiser anonymiser({});
  for (const char* text :
       {"10.3.4.5.6", "300.10.44.55", "10.3.4.55x", "a1:b2:c3:d4:e5:f6:a7:b8:c9", "12:acme:56",
        "0002:c903:0031:78f2:1", "00-02-c9-03-00-31-78-f2-acme", "6f9619ff-8b86-d011-b42d-00c04fc964ffacme",
        "a1:b2:c3:d4:e5:f6:a1:b2:c3:d4:e5:f6:a1:b2:c3:d4", "0xdeadbeefcafe0123456789",
        "0002c903003178f20002c903003178f21"}) {
    const auto other = anonymiser.text(text);
    EXPECT_THAT(other, AllOf(Not(HasSubstr("acme")), Not(HasSubstr("c903")), Not(HasSubstr("c9-03")),
                             Not(HasSubstr("d4:e5")), Not(HasSubstr("deadbeef")), Not(HasSubstr("fc964ff"))))
        << text;
  }
}

TEST(AnonymiserSpellings, TimesPlacesAndShortNumbersStay) {
  for (const char* text : {"12:34:56", "1:02:03", "0000:10:00.0", "0000:3b:00", "0x0", "0x15b3", "0x00000000",
                           "10", "4294967296", "\\n", "a \\", ":", "::1", "- -"})
    EXPECT_EQ(Anonymiser({}).text(text), text) << text;
}

// A report answers for a folder by its name.
TEST(AnonymiserSpellings, FoldersOfUnitsStay) {
  for (const auto folder : kinds::kUnitLoadPath) EXPECT_EQ(Anonymiser({}).text(std::string(folder)), folder);
}

// A report is read again: another word would be another use, and the way to a host's own disks would be free.
TEST(AnonymiserSpellings, SortsOfUsesOfDisksStay) {
  using Sort = system::DiskUse::Sort;
  for (const auto sort : {Sort::kOther, Sort::kMount, Sort::kBtrfs, Sort::kPool, Sort::kSwap}) {
    const auto written = nlohmann::json(sort).get<std::string>();
    EXPECT_EQ(Anonymiser({}).text(written), written);
  }
}

// Older reports have the texts of uses alone, which do not tell whether a host needs the disk itself: the
// answer is named as one that cannot be read. Newer ones may have sorts that are not known here.
TEST(ReportAnswers, UsesOfDisksAreReadFromReportsOfOtherReleases) {
  Tape tape(nlohmann::json::parse(R"({"nvme_host.uses": {"nvme1": ["/dev/nvme1n1 is mounted on /"]}})"));
  using Uses = base::Result<std::vector<system::DiskUse>>;
  const auto uses = tape.ask("nvme_host.uses", "nvme1", [] { return Uses(); });
  ASSERT_TRUE(uses);
  EXPECT_TRUE(uses->empty());
  EXPECT_THAT(tape.damaged(), testing::ElementsAre("nvme_host.uses nvme1"));
  const system::DiskUse swap{"/dev/sdb2 is swap space", system::DiskUse::Sort::kSwap};
  EXPECT_EQ(nlohmann::json(swap).get<system::DiskUse>(), swap);
  const nlohmann::json unknown{{"text", "in use"}, {"sort", "tape"}};
  EXPECT_EQ(unknown.get<system::DiskUse>(), system::DiskUse{"in use"});
}

TEST(AnonymiserSpellings, LengthsOfNetworksAreKept) {
  Anonymiser anonymiser({});
  EXPECT_THAT(anonymiser.text("10.77.0.0/16"), testing::EndsWith(".0.0/16"));
  EXPECT_THAT(anonymiser.text("2001:db8:7::/48"), testing::EndsWith("::/48"));
  EXPECT_THAT(anonymiser.text("10.77.0.9/129"), testing::EndsWith(".9/129")) << "no length";
}

// Several separators between the name of a secret and its value, and several ends of the value.
TEST(AnonymiserSpellings, SecretsAreTakenOut) {
  struct Row {
    std::string text, kept;
  };
  for (const auto& [text, kept] :
       std::vector<Row>{{"password=hunter2\nmtu=1500\n", "\nmtu=1500\n"},
                        {"password=hunter2\r\nmtu=1500\n", "\r\nmtu=1500\n"},
                        {"password: hunter2 hunter2\nmtu: 1500\n", "\nmtu: 1500\n"},
                        {"password hunter2 mtu 1500\n", " mtu 1500\n"},
                        {"password\thunter2", ""},
                        {"password => 'hunter2', mtu => 1500", ", mtu => 1500"},
                        {"\"password\": \"hun\\\"ter2\", \"mtu\": 1500", ", \"mtu\": 1500"},
                        {"password = \"hunter2\nmtu = 1500\n", "\nmtu = 1500\n"},
                        {"password = 'hunter2", ""},
                        {"<password>hunter2</password>\n<mtu>1500</mtu>", "\n<mtu>1500</mtu>"},
                        {"<password>hunter2", ""},
                        {"psk-flags=hunter2\n", "\n"},
                        {"-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----\nmtu", "\nmtu"},
                        {"-----BEGIN PRIVATE KEY-----\nhunter2\n-----END", ""},
                        {"-----BEGIN PRIVATE KEY-----\nhunter2\n", ""}}) {
    const auto other = Anonymiser({}).text(text);
    EXPECT_THAT(other, AllOf(Not(HasSubstr("hunter")), Not(HasSubstr("ter2")), HasSubstr("removed"),
                             testing::EndsWith(kept)))
        << text;
  }
  // There is no value.
  for (const char* text :
       {"password", "password=", "password =\n", "\"auth\": {\"mtu\": 1500}", "auth = [", "password)"})
    EXPECT_THAT(Anonymiser({}).text(text), Not(HasSubstr("removed"))) << text;
}

TEST(AnonymiserSpellings, NamesOfSecrets) {
  for (const auto& [text, fits] : std::vector<Shape>{{"password", true},
                                                     {"PASSWD", true},
                                                     {"wep-key0", true},
                                                     {"tcp_fastopen_key", true},
                                                     {"pin", true},
                                                     {"pass", true},
                                                     {"m_key", true},
                                                     {"PresharedKey", true},
                                                     {"802-1x.private-key", true},
                                                     {"snmp_community", true},
                                                     {"key", false},
                                                     {"pkey", false},
                                                     {"P_Key", false},
                                                     {"PartitionKey", false},
                                                     {"pinned", false},
                                                     {"passive", false},
                                                     {"mtu", false},
                                                     {"", false}})
    EXPECT_EQ(Anonymiser::is_secret(text), fits) << text;
}

// Names of the host are replaced whatever they are made of, and its numbers stay.
TEST(AnonymiserSpellings, OwnNames) {
  Anonymiser anonymiser({"rdma-ib-7", "x", "ib"});
  const auto name = anonymiser.text("rdma-ib-7");
  EXPECT_THAT(name, AllOf(Not(HasSubstr("rdma")), Not(HasSubstr("ib")), testing::EndsWith("-7")));
  EXPECT_THAT(anonymiser.text("RDMA-IB-7:"), AllOf(Not(HasSubstr("RDMA")), testing::EndsWith("-7:")));
  EXPECT_EQ(anonymiser.text("rdma-ib-70").find("rdma-ib-70"), 0U) << "another name";
  EXPECT_EQ(anonymiser.text("ib"), "ib") << "a known word gives nobody away";
}

}  // namespace
}  // namespace rdmacfg::ctl
