// SPDX-License-Identifier: Apache-2.0
// {host}, {host.number}, {host.KEY}: values that a document has for each host.
#include "config/hosts/host_values.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "catalog/all.hpp"
#include "config/check.hpp"
#include "config/parsed.hpp"

namespace rdmacfg::config {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kPort = "[[ipoib]]\ndevice = \"mlx5_0\"\nport = 1\n";

Document read(const std::string& toml, const std::string& host, std::vector<Text> more = {},
              const Limits& limits = {}) {
  std::vector<Text> texts{{"/c/config.toml", "version = 1\n" + toml}};
  for (auto& text : more) texts.push_back(std::move(text));
  return parse_texts(std::move(texts), host, kinds::grammar(), limits);
}

std::vector<std::string> complaints_of(const Document& document) {
  std::vector<std::string> out;
  for (const auto& diagnostic : document.diagnostics) {
    auto text = diagnostic.where.text() + ": " + diagnostic.message;
    if (!diagnostic.hint.empty()) text += " | " + diagnostic.hint;
    for (const auto& related : diagnostic.related) text += " | " + related.where.text() + ": " + related.note;
    out.push_back(text);
  }
  return out;
}

std::string value(const Document& document, const std::string& key, const std::string& child = "") {
  if (document.sections.empty()) return "no section";
  const auto* section = &document.sections.front();
  if (!child.empty()) section = section->child("ipoib." + child);
  const auto* entry = section ? section->find(key) : nullptr;
  return entry ? model::text_of(entry->value) : "none";
}

/// The IPv4 address that a rule gives a host, or what is wrong.
std::string address(const std::string& rule, const std::string& host, const std::string& hosts_file = "") {
  std::vector<Text> more;
  if (!hosts_file.empty()) more.push_back({"/etc/hosts", hosts_file});
  const auto document = read("[host.address]\nib0 = { " + rule + " }\n" + kPort +
                                 "ipv4 = { dns = [\"{host.ib0.address}\"], search = [\"x\"] }\n",
                             host, std::move(more));
  return document.diagnostics.empty() ? value(document, "dns", "ipv4") : complaints_of(document).front();
}

TEST(HostValues, TheNameAndItsParts) {
  const auto document =
      read(std::string(kPort) +
               "name = \"{host}-{host.number}\"\n"
               "ipv4 = { search = [\"{host.fqdn}\", \"{host.domain}\", \"n{host.number.1}\"] }\n",
           "r07n012.example.net");
  EXPECT_THAT(complaints_of(document), IsEmpty());
  EXPECT_EQ(value(document, "name"), "r07n012-12");
  EXPECT_EQ(value(document, "search", "ipv4"), "r07n012.example.net, example.net, n7");
  EXPECT_EQ(document.host, "r07n012.example.net");
}

TEST(HostValues, AddressesAreCountedFromTheNumbersOfTheName) {
  EXPECT_EQ(address("network = \"10.1.0.0/16\"", "gpu003"), "10.1.0.3");
  EXPECT_EQ(address("network = \"10.1.0.0/16\", offset = 256", "gpu003"), "10.1.1.3");
  EXPECT_EQ(address("network = \"10.1.0.0/16\", step = [64, 1]", "r12n07.example.net"), "10.1.3.7");
  EXPECT_EQ(address("network = \"192.0.2.4/31\", offset = 1", "a0"), "192.0.2.5");
}

TEST(HostValues, AnIpv6AddressIsCountedAcrossBytes) {
  const auto document = read("[host.address]\nib0 = { network = \"2001:db8:1::/64\", offset = 65535 }\n" +
                                 std::string(kPort) + "ipv6 = { addresses = [\"{host.ib0}\"] }\n",
                             "gpu513");
  EXPECT_THAT(complaints_of(document), IsEmpty());
  EXPECT_EQ(value(document, "addresses", "ipv6"), "2001:db8:1::1:200/64");
}

TEST(HostValues, AnAddressOutsideOfItsNetworkIsAnError) {
  EXPECT_EQ(address("network = \"10.1.0.0/24\"", "n254"), "10.1.0.254");
  EXPECT_THAT(address("network = \"10.1.0.0/24\"", "n255"), HasSubstr("broadcast address of 10.1.0.0/24"));
  EXPECT_THAT(address("network = \"10.1.0.0/24\"", "n256"),
              HasSubstr("host n256 would have address 256 of 10.1.0.0/24, which is outside of that network"));
  EXPECT_THAT(address("network = \"10.1.0.0/24\"", "n0"), HasSubstr("address 0 of 10.1.0.0/24"));
  EXPECT_THAT(address("network = \"10.1.0.0/32\"", "n1"), HasSubstr("outside"));
  EXPECT_THAT(address("network = \"2001:db8::/64\", step = [4294967295]", "n999999999999999999"),
              HasSubstr("is too large"));
  EXPECT_THAT(address("network = \"10.0.0.0/8\"", "n99999999999999999999999"), HasSubstr("is too large"));
  EXPECT_THAT(address("network = \"10.1.0.0/8\"", "login"), HasSubstr("[host.address] ib0 network"));
  EXPECT_THAT(address("network = \"10.0.0.0/8\"", "login"),
              HasSubstr("the name of host login has no number"));
  EXPECT_THAT(address("network = \"10.0.0.0/8\", step = [1, 1]", "n1"),
              HasSubstr("has 1 number, but step has 2 factors"));
  EXPECT_THAT(address("network = \"10.0.0.0/8\", step = [1]", "r1n1"),
              HasSubstr("has 2 numbers, but step has 1 factor"));
}

TEST(HostValues, AddressesAreLookedUp) {
  const std::string file =
      "# us\n10.0.0.9  gpu003-ib0.x gpu003-ib0 # rail\nfe80::1 gpu003-ib0\nbad gpu003-ib0\n"
      "10.0.0.1 two\n10.0.0.2 two\n";
  EXPECT_EQ(address("lookup = \"{host}-ib0\"", "GPU003", file), "10.0.0.9");
  EXPECT_THAT(address("lookup = \"{host}-ib1\"", "gpu003", file),
              HasSubstr("/etc/hosts has no IPv4 address for gpu003-ib1"));
  EXPECT_THAT(address("lookup = \"two\"", "gpu003", file), HasSubstr("has two IPv4 addresses for two"));
  EXPECT_THAT(address("lookup = \"{host}-ib0\"", "gpu003"), HasSubstr("there is no /etc/hosts"));
}

TEST(HostValues, ATableGivesValuesOfAnySort) {
  const Text table{
      "/c/n.csv",
      "\xef\xbb\xbfhost,name,mtu,sm\r\n\r\n# rack 1\r\ngpu1,\"mlx_a\",2044,true\r\ngpu2,b,,false\r\n"};
  const auto toml = "[host]\ntable = \"n.csv\"\n" + std::string(kPort) +
                    "name = \"{host.name}\"\nmtu = \"{host.mtu}\"\numcast = \"{host.sm}\"\n";
  const auto first = read(toml, "gpu1.example.net", {table});
  EXPECT_THAT(complaints_of(first), IsEmpty());
  EXPECT_EQ(value(first, "name") + value(first, "mtu") + value(first, "umcast"), "mlx_a2044yes");
  EXPECT_THAT(
      complaints_of(read(toml, "gpu2", {table})),
      ElementsAre(HasSubstr("/c/config.toml:8:7: [[ipoib]] mtu: {host.mtu}: host gpu2 has no such value")));
  EXPECT_THAT(
      complaints_of(read(toml, "gpu3", {table})),
      ElementsAre(HasSubstr("/c/n.csv: has no line for this host"), HasSubstr("mtu"), HasSubstr("umcast")));
}

TEST(HostValues, ControlCharactersOfATableDoNotReachTheDocument) {
  const auto complaints = [](const std::string& field) {
    return complaints_of(
        read("[host]\ntable = \"n.csv\"\n[[sysctl]]\nkey = \"net.ipv4.tcp_rmem\"\nvalue = \"{host.a}\"\n",
             "gpu1", {{"/c/n.csv", "host,a\ngpu1," + field + "\n"}}));
  };
  EXPECT_THAT(complaints("4096 8192 8192"), IsEmpty());
  const std::vector<std::pair<std::string, std::string>> characters{
      {"\xc2\x85", "U+0085"}, {"\xc2\x9b", "U+009B"}, {"\xe2\x80\xa8", "U+2028"}, {"\xe2\x80\xae", "U+202E"}};
  for (const auto& [character, code] : characters) {
    EXPECT_THAT(complaints("4096" + character + "8192"),
                ElementsAre(AllOf(HasSubstr("value: the filled-in text contains the character "),
                                  HasSubstr(code), HasSubstr("/c/n.csv:2:6"))));
  }
}

TEST(HostValues, FilledInTextsHaveTheLimitOfStrings) {
  Limits limits;
  limits.string_bytes = 16;
  const auto complaints = [&](const std::string& first) {
    return complaints_of(read(
        "[host]\ntable = \"n.csv\"\n" + std::string(kPort) + "ipv4 = { search = [\"{host.a}{host.b}\"] }\n",
        "gpu1", {{"/c/n.csv", "host,a,b\ngpu1," + first + ",bbbbbbbb\n"}}, limits));
  };
  EXPECT_THAT(complaints("aaaaaaaa"), IsEmpty());
  EXPECT_THAT(complaints("aaaaaaaaa"),
              ElementsAre(HasSubstr("search: the filled-in text has 17 bytes, more than the 16 allowed")));
}

/// Inventories have full names, and many hosts call themselves by the short one.
TEST(HostValues, AFullNameInATableIsNotThatOfAShortOneAndIsTold) {
  const auto toml = "[host]\ntable = \"n.csv\"\n" + std::string(kPort) + "mtu = \"{host.mtu}\"\n";
  const Text table{"/c/n.csv", "host,mtu\nGPU1.x.net,2044\ngpu1.y.net,4092\ngpu2,2044\n"};
  EXPECT_EQ(value(read(toml, "gpu1.y.net", {table}), "mtu"), "4092");
  EXPECT_THAT(complaints_of(read(toml, "gpu1", {table})),
              ElementsAre(::testing::AllOf(HasSubstr("host gpu1 has no such value"),
                                           HasSubstr(" | GPU1.x.net is an alias: use"),
                                           HasSubstr("/c/n.csv:2:1: has GPU1.x.net, not gpu1"))));
  // Another domain is another host.
  EXPECT_THAT(complaints_of(read(toml, "gpu1.z.net", {table})),
              ElementsAre(HasSubstr("/c/n.csv: has no line for this host")));
}

TEST(HostValues, AWrongValueNamesHostAndLine) {
  const Text table{"/c/n.csv", "host,mtu\ngpu1,x\n"};
  EXPECT_THAT(
      complaints_of(read("[host]\ntable = \"n.csv\"\n" + std::string(kPort) + "mtu = \"{host.mtu}\"\n",
                         "gpu1", {table})),
      ElementsAre(
          ::testing::AllOf(HasSubstr("(host gpu1)"), HasSubstr("/c/n.csv:2:6: {host.mtu} is \"x\""))));
}

TEST(HostValues, AColumnDoesNotHideBehindAWordOfItsOwn) {
  const Text table{"/c/n.csv", "host,a,number,domain\nn7.x,mlx_a,3,example.net\n"};
  const auto of = [&](const std::string& name) {
    return read("[host]\ntable = \"n.csv\"\n" + std::string(kPort) + "name = \"" + name + "\"\n", "n7.x",
                {table});
  };
  EXPECT_EQ(value(of("{host.a}"), "name"), "mlx_a") << "nobody asks for the other columns";
  EXPECT_EQ(value(of("m{host.number.1}"), "name"), "m7");
  EXPECT_THAT(
      complaints_of(of("m{host.number}")),
      ElementsAre(HasSubstr(
          "{host.number}: a table has a column \"number\", which is a reserved word | rename the column")));
  EXPECT_THAT(complaints_of(of("m{host.domain}")), ElementsAre(HasSubstr("a column \"domain\"")));
}

TEST(HostValues, AMisspelledValueIsSuggested) {
  const auto document =
      read("[host.values.gpu1]\nrail0 = \"a\"\n" + std::string(kPort) + "name = \"{host.rail1}\"\n", "gpu1");
  EXPECT_THAT(complaints_of(document), ElementsAre(HasSubstr("did you mean {host.rail0}?")));
}

TEST(HostValues, AHostComesBeforeAPatternAndALaterFileBeforeAnEarlierOne) {
  const auto toml = "[host.values.\"gpu[001-004]\"]\nn = \"p\"\n[host.values.gpu003]\nn = \"h\"\n" +
                    std::string(kPort) + "name = \"x{host.n}\"\n";
  EXPECT_EQ(value(read(toml, "gpu003"), "name"), "xh");
  EXPECT_EQ(value(read(toml, "gpu004"), "name"), "xp");
  EXPECT_EQ(value(read(toml, "gpu003", {{"/c/z.toml", "[host.values.\"*\"]\nn = \"z\"\n"}}), "name"), "xz");
  EXPECT_THAT(complaints_of(read("[host.values.\"g*\"]\nn = \"q\"\n" + toml, "gpu001")),
              ElementsAre(HasSubstr("{host.n}: host gpu001 has two values: \"q\" and \"p\" | a host name "
                                    "takes precedence over a pattern; of two equal matches, remove one")));
}

TEST(HostValues, AHostHasItsValuesOnce) {
  const auto port = std::string(kPort) + "name = \"x{host.n}\"\n";
  EXPECT_THAT(
      complaints_of(read("[host.values.GPU1]\nn = \"a\"\n[host.values.gpu1]\nn = \"b\"\n" + port, "gpu1")),
      ElementsAre(HasSubstr("/c/config.toml:4:14: [host.values.gpu1]: host gpu1 is defined twice here")));
  // By its short and its full name.
  const auto both = [&](const std::string& last) {
    return read("[host.values.gpu1]\nn = \"a\"\n[host.values.\"gpu1.x.net\"]\n" + last + "\n" + port,
                "gpu1.x.net");
  };
  EXPECT_EQ(value(both("m = 1"), "name"), "xa");
  EXPECT_THAT(complaints_of(both("n = \"b\"")), ElementsAre(HasSubstr("host gpu1.x.net has two values: ")));
}

TEST(HostValues, TheLineOfAFullNameCountsBeforeThatOfTheShortOne) {
  const Text table{"/c/n.csv", "host,n,m\ngpu1,a,1\ngpu1.x.net,b,\n"};
  const auto of = [&](const std::string& name, const std::string& host) {
    return read("[host]\ntable = \"n.csv\"\n" + std::string(kPort) + "name = \"x{host." + name + "}\"\n",
                host, {table});
  };
  EXPECT_EQ(value(of("n", "gpu1.x.net"), "name"), "xb");
  EXPECT_EQ(value(of("n", "gpu1.y.net"), "name"), "xa");
  EXPECT_EQ(value(of("n", "gpu1"), "name"), "xa");
  EXPECT_THAT(complaints_of(of("m", "gpu1.x.net")),
              ElementsAre(HasSubstr("/c/n.csv:3:14: the field is empty")));
}

TEST(HostValues, APlaceholderInAValueOfATemplateIsAnError) {
  const auto of = [](const std::string& name) {
    return read("[host.values.gpu1]\na = \"ib{port}\"\nb = \"r\"\n" + std::string(kPort) + "name = \"" +
                    name + "\"\n",
                "gpu1");
  };
  EXPECT_THAT(
      complaints_of(of("{host.a}")),
      ElementsAre(::testing::AllOf(HasSubstr("[[ipoib]] name: {host.a}: \"ib{port}\" contains a placeholder, "
                                             "and placeholders in host values are not expanded | write"),
                                   HasSubstr("/c/config.toml:3:5: given here"))));
  const auto document = of("{host.b}{port}");
  EXPECT_THAT(complaints_of(document), IsEmpty());
  EXPECT_EQ(value(document, "name"), "r{port}") << "that of the document is for the port";
}

TEST(HostValues, AFilledInValueKnowsItsElementOfAList) {
  const auto document =
      read("[host.values.gpu1]\na = \"10.0.0.2/24\"\nb = \"10.0.0.3\"\n" + std::string(kPort) +
               "ipv4 = { addresses = [\"10.0.0.1/24\", \"{host.a}\", \"{host.b}/24\"] }\n",
           "gpu1");
  EXPECT_THAT(complaints_of(document), IsEmpty());
  ASSERT_EQ(document.filled.size(), 3U) << "the list, and two elements";
  std::vector<std::pair<std::size_t, int>> found;  // element, line of the value
  for (const auto& filled : document.filled.begin()->second)
    found.emplace_back(filled.item, filled.where.line);
  EXPECT_THAT(found, ElementsAre(std::pair<std::size_t, int>(1, 3), std::pair<std::size_t, int>(2, 4)));
}

TEST(HostValues, AnErrorOfAnElementNamesItsOwnValueAlone) {
  const auto complaints =
      complaints_of(read("[host.values.gpu1]\na = \"10.0.0.2\"\nb = \"10.0.0.3/24\"\n" + std::string(kPort) +
                             "ipv4 = { addresses = [\"10.0.0.1\", \"{host.a}\", \"{host.b}\"] }\n",
                         "gpu1"));
  EXPECT_THAT(
      complaints,
      ElementsAre(AllOf(HasSubstr("\"10.0.0.1\" has no prefix length"), ::testing::Not(HasSubstr("gpu1"))),
                  AllOf(HasSubstr("\"10.0.0.2\" has no prefix length"), HasSubstr("(host gpu1)"),
                        HasSubstr("config.toml:3:5"), ::testing::Not(HasSubstr("config.toml:4:5")))));
}

TEST(HostValues, AnElementThatRepeatsAValueOfTheHostNamesIt) {
  const std::string values = "[host.values.gpu1]\na = \"10.0.0.1/24\"\n";
  const auto of = [&](const std::string& list) {
    return complaints_of(
        read(values + std::string(kPort) + "ipv4 = { addresses = [" + list + "] }\n", "gpu1"));
  };
  EXPECT_THAT(of("\"{host.a}\", \"10.0.0.1/24\""),
              ElementsAre(AllOf(HasSubstr("is listed twice"), HasSubstr("(host gpu1)"),
                                HasSubstr("config.toml:3:5"))));
  EXPECT_THAT(of("\"10.0.0.2/24\", \"10.0.0.2/24\", \"{host.a}\""),
              ElementsAre(AllOf(HasSubstr("is listed twice"), ::testing::Not(HasSubstr("gpu1")))))
      << "also without the host";
}

TEST(HostValues, AValueThatEndsInABraceIsNoEscape) {
  const auto document = read(
      "[host.values.gpu1]\na = \"{\"\n[[opensm_option]]\nkey = \"log_prefix\"\nvalue = "
      "\"{host.a}{host.number}\"\n",
      "gpu1");
  EXPECT_THAT(complaints_of(document), IsEmpty());
  EXPECT_EQ(value(document, "value"), "{1");
}

TEST(HostValues, NothingIsFilledInTwice) {
  const auto document = read("[host.values.gpu1]\na = \"{host.b}\"\nb = \"c\"\n" + std::string(kPort) +
                                 "ipv4 = { search = [\"{{host}}\"] }\n[[opensm_option]]\nkey = "
                                 "\"log_prefix\"\nvalue = \"{host.a}{{host.b}{hostname}\"\n",
                             "gpu1");
  const auto& option = document.sections.back();
  ASSERT_EQ(option.path, "opensm_option");
  EXPECT_EQ(model::text_of(option.find("value")->value), "{host.b}{host.b}{hostname}");
}

TEST(HostValues, AFileForOtherHostsNeedsNoValueHere) {
  const auto document = read(
      kPort + std::string("name = \"mlx_a\"\n"), "login1",
      {{"/c/gpu.toml",
        "[match]\nhost = \"gpu*\"\n[host.values.gpu1]\nm = 2044\n[defaults.ipoib]\nmtu = \"{host.m}\"\n"}});
  EXPECT_THAT(complaints_of(document), IsEmpty());
  EXPECT_EQ(document.skipped.size(), 1U);
}

/// The error in [host] is enough; an entry whose default is unknown is not checked against others.
TEST(HostValues, ADefaultThatCannotBeFilledInMakesItsEntriesFaulty) {
  const auto document =
      read("[host.address]\nib0 = { network = \"192.0.2.5/24\" }\n[defaults.ipoib]\nmtu = \"{host.ib1}\"\n" +
               std::string(kPort),
           "gpu1");
  EXPECT_THAT(complaints_of(document), ElementsAre(HasSubstr("is an address inside a network")));
  ASSERT_EQ(document.sections.size(), 1U);
  EXPECT_TRUE(document.faulty.contains(document.sections[0].where));
}

TEST(HostValues, AHostWithoutANameIsNotGuessedAt) {
  EXPECT_THAT(complaints_of(read(kPort + std::string("name = \"{host}-a\"\n"), "")),
              ElementsAre(HasSubstr("this host has no name (yet) | set one in /etc/hostname")));
  EXPECT_THAT(
      complaints_of(read("[match]\nhost = \"gpu*\"\n", "")),
      ElementsAre("/c/config.toml:3:8: [match] host: this host has no name (yet), so the file cannot "
                  "be matched to it | set one in /etc/hostname, or wait until the network provides one"));
}

TEST(HostValues, WhatTheSectionSaysIsChecked) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"host = 3\n", "[host]: must be a section, not an integer"},
      {"[host]\ntabel = \"n.csv\"\n", "[host] tabel: unknown key; did you mean \"table\"?"},
      {"[host]\ntable = \"n.toml\"\n", "must be the name of a file that ends in .csv"},
      {"[host]\ntable = \"n.csv\"\n", "[host] table: n.csv cannot be found"},
      {"[host.values]\nx = 1\n", "[host.values.x]: must be a section, not an integer"},
      {"[host.values.x]\nnumber = 1\n", "is a reserved word"},
      {"[host.values.x]\n\"a b\" = 1\n", "cannot be the name of a value"},
      {"[host.values.x]\na = [1]\n", "must be a string, an integer or a boolean, not a list"},
      {"[host.values.x.site.org]\na = 1\n",
       "site: must be a string, an integer or a boolean, not a table | quote a host name with dots: "
       "[host.values.\"x.site.org\"]"},
      {"[host.values]\nx.site.org = { a = 1 }\n", "[host.values.\"x.site.org\"]"},
      {"[host.address]\na = { }\n", "neither network nor lookup is given"},
      {"[host.address]\na = { network = \"10.0.0.0/8\", lookup = \"x\" }\n",
       "network and lookup cannot be combined"},
      {"[host.address]\na = { network = \"10.0.0.0/8\", prefix = 8 }\n", "prefix: is only valid with lookup"},
      {"[host.address]\na = { network = \"10.0.0.0/8\", step = 1 }\n",
       "step: must be a list of numbers such as [64, 1], not an integer"},
      {"[host.address]\na = { network = \"10.0.0.0/8\", offset = -1 }\n",
       "offset: -1 is out of range; must be from 0 to 4294967295"},
      {"[host.address]\na = { lookup = \"x\", prefix = 33 }\n",
       "prefix: 33 is out of range; must be from 0 to 32"},
      {"[host.address]\na = { lookup = \"x\", family = \"ipv5\" }\n", "\"ipv5\" is not one of ipv4, ipv6"},
      {"[host]\ntable = \"{host}.csv\"\n",
       "{host}.csv cannot be found | [host] accepts no placeholders except in lookup"},
      {"[host.address]\na = { network = \"{host.net}\" }\n",
       "\"{host.net}\" is not a network | [host] accepts no placeholders except in lookup"},
      {"[host.values.\"{host}\"]\na = 1\n",
       "[host.values.{host}]: contains braces, which are not allowed in a host name"},
  };
  for (const auto& [toml, message] : cases)
    EXPECT_THAT(complaints_of(read(toml, "gpu1")), ElementsAre(HasSubstr(message))) << toml;
}

struct Placeholder {
  std::string head;  ///< sections before the port
  std::string name;  ///< of the port's interface, with a placeholder
  std::string host;
  std::string says;  ///< from the placeholder on
};

/// A placeholder that has no value says why, and what to do.
TEST(HostValues, APlaceholderWithoutAValueNamesTheRemedy) {
  const std::string values = "[host.values.gpu1]\nrail0 = \"a\"\n";
  const std::vector<Placeholder> cases{
      {"", "x{host.number", "gpu1", "\"{host.number\" has no } at its end | write {host.NAME}"},
      {"", "{host.domain}", "gpu1", "{host.domain}: the name gpu1 has no domain | write the domain itself"},
      {"", "{host.number.0}", "gpu1",
       "{host.number.0}: is not known | the numbers of a name are {host.number.1}, {host.number.2}, …"},
      {"", "{host.number.x}", "gpu1",
       "{host.number.x}: is not known | the numbers of a name are {host.number.1}, {host.number.2}, …"},
      {"", "{host.number}", "login",
       "{host.number}: the name of host login has no number | use [match] to limit the file to numbered "
       "hosts"},
      {"", "{host.number.2}", "gpu1",
       "{host.number.2}: the name of host gpu1 has only 1 number | use [match] to limit the file to numbered "
       "hosts"},
      {"", "{host.number.3}", "r1n2",
       "{host.number.3}: the name of host r1n2 has only 2 numbers | use [match] to limit the file to "
       "numbered hosts"},
      {"", "{host.number}", "n99999999999999999999",
       "{host.number}: the number in the name of host n99999999999999999999 is too large"},
      {"", "{host.rail0}", "gpu1",
       "{host.rail0}: host gpu1 has no such value | give it in [host.values], [host.address] or a table"},
      {values, "{host.rail0}", "gpu2",
       "{host.rail0}: host gpu2 has no such value | other hosts have this value: add gpu2 to the table, or "
       "write [host.values.gpu2]"},
      {values, "{host.number+1}", "gpu1",
       "{host.number+1}: \"number+1\" cannot be the name of a value | values take no arithmetic; "
       "[host.address] calculates addresses from network, step and offset"},
      {"", "{host. rail0}", "gpu1",
       "{host. rail0}: \" rail0\" cannot be the name of a value | values take no arithmetic; "
       "[host.address] calculates addresses from network, step and offset"},
      {values + "fabric = \"b\"\n", "{host.storage}", "gpu1",
       "{host.storage}: host gpu1 has no such value | the values are fabric, rail0"},
      {values, "{host.rail1}", "gpu1",
       "{host.rail1}: host gpu1 has no such value; did you mean {host.rail0}?"},
  };
  for (const auto& row : cases) {
    const auto all = complaints_of(read(row.head + kPort + "name = \"" + row.name + "\"\n", row.host));
    ASSERT_EQ(all.size(), 1U) << row.name;
    const auto at = all.front().find("[[ipoib]] name: ");
    ASSERT_NE(at, std::string::npos) << all.front();
    EXPECT_EQ(all.front().substr(at), "[[ipoib]] name: " + row.says);
  }
}

struct CountedAddress {
  std::string rule, host;
  std::string says;  ///< after the placeholder, with the rule's place
};

TEST(HostValues, AnAddressThatCannotBeCountedNamesTheRemedy) {
  const std::vector<CountedAddress> cases{
      {"network = \"10.1.0.0/24\"", "n256",
       "host n256 would have address 256 of 10.1.0.0/24, which is outside of that network | its last host "
       "has "
       "number 254; use a shorter prefix or a smaller offset"},
      {"network = \"2001:db8::/120\"", "n256",
       "host n256 would have address 256 of 2001:db8::/120, which is outside of that network | its last host "
       "has "
       "number 255; use a shorter prefix or a smaller offset"},
      {"network = \"192.0.2.4/31\"", "n2",
       "host n2 would have address 2 of 192.0.2.4/31, which is outside of that network | its last host has "
       "number 1; use a shorter prefix or a smaller offset"},
      {"network = \"10.1.0.0/24\"", "n255",
       "host n255 would have the broadcast address of 10.1.0.0/24 | use a shorter prefix or a smaller "
       "offset"},
      {"network = \"10.1.0.0/24\"", "n0",
       "host n0 would have address 0 of 10.1.0.0/24, which is the network itself | start counting with "
       "offset = "
       "1"},
      {"network = \"10.0.0.0/8\"", "login",
       "the name of host login has no number to count with | use [match] to limit the file to numbered "
       "hosts"},
      {"network = \"10.0.0.0/8\"", "n99999999999999999999",
       "the number in the name of host n99999999999999999999 is too large"},
      {"network = \"10.0.0.0/8\", step = [1, 1]", "n1",
       "the name of host n1 has 1 number, but step has 2 factors"},
  };
  for (const auto& row : cases) {
    const auto said = address(row.rule, row.host);
    const auto at = said.find("{host.ib0.address}: ");
    ASSERT_NE(at, std::string::npos) << said;
    EXPECT_EQ(said.substr(at), "{host.ib0.address}: " + row.says + " | /c/config.toml:3:1: defined here");
  }
}

TEST(HostValues, AnAddressThatCannotBeLookedUpNamesTheRemedy) {
  const std::string file = "10.0.0.1 two\n10.0.0.2 two\n";
  const std::string end = " | /c/config.toml:3:1: defined here";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"lookup = \"{host}-ib0\"", "/etc/hosts has no IPv4 address for gpu1-ib0 | add a line for it"},
      {"lookup = \"two\"",
       "/etc/hosts has two IPv4 addresses for two | remove one | /etc/hosts:1:1: first defined here | "
       "/etc/hosts:2:1: and "
       "here"},
  };
  for (const auto& [rule, says] : cases) {
    const auto said = address(rule, "gpu1", file);
    const auto at = said.find("{host.ib0.address}: ");
    ASSERT_NE(at, std::string::npos) << said;
    EXPECT_EQ(said.substr(at), "{host.ib0.address}: " + says + end);
  }
  const auto said = read(
      "[host.address]\nib1 = { network = \"10.0.0.0/8\" }\nib0 = { lookup = "
      "\"{host.ib1}\" }\n" +
          std::string(kPort) + "ipv4 = { dns = [\"{host.ib0}\"] }\n",
      "gpu1");
  EXPECT_THAT(
      complaints_of(said),
      ElementsAre(HasSubstr("{host.ib0}: {host.ib1}: an address cannot be derived from another address | "
                            "/c/config.toml:3:1: defined here | /c/config.toml:4:1: defined here")));
}

TEST(HostValues, ATableOfAStandardInputDocumentHasAWholePath) {
  const auto document = parse_texts({{"<standard input>", "version = 1\n[host]\ntable = \"n.csv\"\n"}},
                                    "gpu1", kinds::grammar());
  EXPECT_THAT(complaints_of(document),
              ElementsAre("<standard input>:3:9: [host] table: n.csv cannot be found | for a document on "
                          "standard input the name must begin with /"));
}

TEST(HostValues, AFileThatOthersWriteIsAWarningWithTheReason) {
  const auto document = parse_texts({{.name = "/c/config.toml",
                                      .text = "version = 1\n",
                                      .written_by_others = "every user can write to it"}},
                                    "gpu1", kinds::grammar());
  ASSERT_EQ(document.diagnostics.size(), 1U);
  const auto& diagnostic = document.diagnostics.front();
  EXPECT_EQ(diagnostic.severity, model::Severity::kWarning);
  EXPECT_EQ(diagnostic.message,
            "/c/config.toml: every user can write to it, and could control what root does");
  EXPECT_EQ(diagnostic.hint,
            "rdma-configd applies only files that only root can write, parent directories included: chown "
            "root, chmod go-w");
}

TEST(HostTable, EverySortOfMistakeIsOneErrorWithItsPlace) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "n.csv: is empty | its first line names the columns: host,ib0,ib1"},
      {"name,ib0\n",
       "n.csv:1:1: the first column is called \"name\"; must be \"host\" | the first line names the columns, "
       "separated by commas: host,ib0,ib1"},
      {"host;ib0\ngpu1;a\n",
       "n.csv:1:5: fields are separated by semicolons; must be separated by commas | save "
       "the table with commas: the separator that spreadsheets write depends on the locale"},
      {"\xef\xbb\xbf\"host\";\"ib0\"\r\n\"gpu1\";\"a\"\r\n", "n.csv:1:7: fields are separated by semicolons"},
      {"host\tib0\ngpu1\ta\n", "n.csv:1:5: fields are separated by tabs; must be separated by commas"},
      {"host|ib0\n", "n.csv:1:1: the first column is called \"host|ib0\""},
      {"hostname;ib0\n", "n.csv:1:1: the first column is called \"hostname;ib0\""},
      {"host,a,\ngpu1,mlx_a,\n",
       "n.csv:1:8: a column has no name | name the column, or remove it from all lines"},
      {"host,,a\n", "n.csv:1:6: a column has no name"},
      {"host,ib0,ib0\n", "n.csv:1:10: there are two columns \"ib0\""},
      {"host,ib 0\n", "n.csv:1:6: \"ib 0\" cannot be the name of a column"},
      {"host,a\ngpu1,1,2\n",
       "n.csv:2:1: has 3 fields, but the table has 2 columns | the columns are host, a; leave the field of a "
       "missing value empty"},
      {"host,a\ngpu1\n", "n.csv:2:1: has 1 field, but the table has 2 columns"},
      {"host,a\n,1\n", "n.csv:2:1: the host is missing"},
      {"host,a\n\"gpu[1-3]\",mlx_a\n",
       "n.csv:2:1: \"gpu[1-3]\" is a pattern, but a line of a table is about one host | write a line for "
       "each host"},
      {"host,a\n*,mlx_a\n", "n.csv:2:1: \"*\" is a pattern"},
      {"host,a\ngpu1,mlx_a\nGPU1,2\n", "n.csv:3:1: host GPU1 is in the table twice"},
      {"host,a\ngpu1,\"1\n", "n.csv:2:6: a quoted field does not end on its line"},
      {"host,a\ngpu1,\"1\"2\n", "n.csv:2:9: a comma must follow the quoted field"},
      {"host,a\ngpu1,1\"2\n", "n.csv:2:7: a quote inside an unquoted field"},
      {std::string("host,a\ngpu1,\0\n", 14), "n.csv:2:6: control character 0x00"},
      {"host,a\ngpu1,\xff\n", "n.csv:2:6: byte 0xff"},
      {"host,a\rgpu1,1\r",
       "n.csv:1:7: a carriage return must be followed by a line feed | save the file with Unix line endings"},
  };
  for (const auto& [text, message] : cases) {
    const auto found =
        complaints_of(read("[host]\ntable = \"n.csv\"\n" + std::string(kPort) + "name = \"{host.a}\"\n",
                           "gpu1", {{"/c/n.csv", text}}));
    EXPECT_THAT(found, ElementsAre(HasSubstr(message))) << text;
  }
}

TEST(HostTable, BlanksAroundFieldsDoNotCount) {
  const Text table{"/c/n.csv", "host , a\n\"gpu1 \", \"mlx_a\" \ngpu2\t,mlx_b\n"};
  const auto toml = "[host]\ntable = \"n.csv\"\n" + std::string(kPort) + "name = \"{host.a}\"\n";
  EXPECT_EQ(value(read(toml, "gpu1", {table}), "name"), "mlx_a");
  EXPECT_EQ(value(read(toml, "gpu2", {table}), "name"), "mlx_b");
  EXPECT_THAT(complaints_of(read(toml, "gpu1", {{"/c/n.csv", "host,a\ngpu1, \"b\" c\n"}})),
              ElementsAre(HasSubstr("n.csv:2:11: a comma must follow the quoted field")));
}

TEST(HostTable, EmptyRowsOfASpreadsheetDoNotCount) {
  const auto toml = "[host]\ntable = \"n.csv\"\n" + std::string(kPort) + "name = \"{host.a}\"\n";
  const auto document =
      read(toml, "gpu1", {{"/c/n.csv", ",,\r\nhost,a,b\r\n,,\r\n , ,\t\r\ngpu1,mlx_a,\r\n,\r\n"}});
  EXPECT_THAT(complaints_of(document), IsEmpty());
  EXPECT_EQ(value(document, "name"), "mlx_a");
  EXPECT_THAT(complaints_of(read(toml, "gpu1", {{"/c/n.csv", "host,a\n,\"\"\n"}})),
              ElementsAre(HasSubstr("n.csv:2:1: the host is missing")))
      << "a value that is empty, of no host";
}

TEST(HostTable, LinesAfterAMistakeAreReadAndItsMistakesToo) {
  const Text table{"/c/n.csv", "host,a\ngpu1\ngpu2,mlx_a\ngpu2,mlx_b\ngpu3,\"x\ngpu4,mlx_d\n"};
  const auto toml = "[host]\ntable = \"n.csv\"\n" + std::string(kPort) + "name = \"{host.a}\"\n";
  const auto mistakes = ElementsAre(HasSubstr("n.csv:2:1: has 1 field, but the table has 2 columns"),
                                    HasSubstr("n.csv:4:1: host gpu2 is in the table twice"),
                                    HasSubstr("n.csv:5:6: a quoted field does not end"));
  for (const auto* host : {"gpu1", "gpu2", "gpu3", "gpu4", "gpu5"})
    EXPECT_THAT(complaints_of(read(toml, host, {table})), mistakes) << host;
  EXPECT_EQ(value(read(toml, "gpu4", {table}), "name"), "mlx_d");
  EXPECT_EQ(value(read(toml, "gpu2", {table}), "name"), "mlx_a");
  Limits limits;
  limits.errors = 2;
  model::Diagnostics found;
  EXPECT_EQ(HostTable::parse(table, limits, found).hosts(), std::vector<std::string>{"gpu2"});
  EXPECT_EQ(found.size(), 2U);
}

TEST(HostTable, LimitsHoldExactly) {
  Limits limits;
  limits.table_rows = 2;
  limits.table_columns = 3;
  limits.tables = 1;
  limits.table_bytes = 40;
  limits.string_bytes = 8;
  const auto found = [&](const std::string& table, const std::string& head = "[host]\ntable = \"n.csv\"\n") {
    return complaints_of(read(head, "a", {{"/c/n.csv", table}}, limits));
  };
  EXPECT_THAT(found("host,b,c\na,1,2\nb,1,12345678\n"), IsEmpty());
  EXPECT_THAT(found("host,b\na,1\nb,1\nc,1\n"),
              ElementsAre(HasSubstr(": the table has more than the 2 hosts allowed")));
  EXPECT_THAT(found("host,b,c,d\n"),
              ElementsAre(HasSubstr("n.csv:1:10: has more than the 3 columns allowed")));
  EXPECT_THAT(found("host," + std::string(34, ',') + "\n"),
              ElementsAre(HasSubstr("has more than the 3 columns")));
  EXPECT_THAT(found("host,b\na" + std::string(31, ',') + "\n"),
              ElementsAre(HasSubstr("has 4 fields or more, but the table has 2 columns")))
      << "no more of them are kept than that";
  EXPECT_THAT(found("host,b\na,123456789\n"), ElementsAre(HasSubstr("a field has 9 bytes, more than the 8")));
  EXPECT_THAT(found("host,b\na,1\n" + std::string(29, '\n')), IsEmpty());
  EXPECT_THAT(found("host,b\na,1\n" + std::string(30, '\n')),
              ElementsAre(HasSubstr("n.csv: has 41 bytes, more than the 40 allowed | remove hosts "
                                    "or columns that no document uses")));
  EXPECT_THAT(found("host,b\na,1\n", "[host]\ntable = [\"n.csv\", \"n.csv\"]\n"),
              ElementsAre(HasSubstr("[host] table: the document names more than the 1 tables allowed")));
}

TEST(HostTable, AHostKeepsItsOwnLinesAndTheirPlaces) {
  const Text table{"n.csv", "# head\nhost,a\ngpu1,1\ngpu2,2\ngpu3,3\n"};
  EXPECT_EQ(rows_of_host(table, "gpu2.example.net", {}), "\nhost,a\n\ngpu2,2\n");
  EXPECT_EQ(rows_of_host(table, "other", {}), "\nhost,a\n");
  const Text broken{"n.csv", "host,a\ngpu1,1\ngpu1,2\n"};
  EXPECT_EQ(rows_of_host(broken, "gpu1", {}), broken.text);
}

class HostFiles : public ::testing::Test {
 protected:
  HostFiles() { std::filesystem::create_directories(root_ / "etc/rdma-configd"); }
  ~HostFiles() override { std::filesystem::remove_all(root_); }
  void write(const std::string& file, const std::string& text) const { std::ofstream(root_ / file) << text; }

  std::filesystem::path root_ = std::filesystem::path(::testing::TempDir()) / "host_files";
};

TEST_F(HostFiles, TablesAndNamesAreReadBelowTheRoot) {
  write("etc/rdma-configd/config.toml",
        "version = 1\n[host]\ntable = [\"n.csv\", \"/etc/m.csv\"]\n[host.address]\nib0 = { lookup = "
        "\"{host.name}\" }\n");
  write("etc/rdma-configd/n.csv", "host,name\ngpu1,one\ngpu2,two\n");
  write("etc/m.csv", "host,b\ngpu2,two\n");
  write("etc/hosts", "10.0.0.1 one\n10.0.0.2 two\n10.0.0.3 three\n");
  const auto texts = read_files({.root = root_, .file = {}, .host = "gpu2"});
  ASSERT_TRUE(texts.has_value());
  ASSERT_EQ(texts->size(), 4U);
  EXPECT_EQ(texts->at(1).text, "host,name\n\ngpu2,two\n");
  EXPECT_EQ(texts->at(2).name, (root_ / "etc/m.csv").native());
  EXPECT_EQ(texts->at(3).text, "\n10.0.0.2 two");
  EXPECT_EQ(read_files({.root = root_, .file = {}, .host = "gpu2", .every_host = true})->at(3).text.size(),
            41U);
}

TEST_F(HostFiles, ATableIsNoDocument) {
  for (const auto* name : {"etc/nodes.csv", "etc/hosts"}) {
    write(name, "host,name\ngpu1,one\n");
    const auto path = (root_ / name).native();
    const auto texts = read_files({.root = root_, .file = path, .host = "gpu1"});
    ASSERT_FALSE(texts.has_value()) << name;
    EXPECT_THAT(texts.error().message, HasSubstr(path + ": is a table of host values, not a document"));
  }
}

TEST_F(HostFiles, ATableBeyondTheLimitIsAnError) {
  write("etc/rdma-configd/config.toml", "version = 1\n[host]\ntable = \"n.csv\"\n");
  write("etc/rdma-configd/n.csv", "host,name\ngpu1,one\n");
  Limits limits;
  limits.table_bytes = 19;
  EXPECT_TRUE(read_files({.root = root_, .file = {}, .host = "gpu1"}, limits).has_value());
  limits.table_bytes = 18;
  const auto texts = read_files({.root = root_, .file = {}, .host = "gpu1"}, limits);
  ASSERT_FALSE(texts.has_value());
  EXPECT_THAT(texts.error().message, HasSubstr("n.csv: is larger than the 18 bytes"));
}

TEST(HostValues, AMisspeltSectionIsToldItsName) {
  for (const auto* header : {"[hosts.values.gpu1]", "[hots]", "[Host]"}) {
    const auto complaints = complaints_of(read(std::string(header) + "\na = \"1\"\n", "gpu1"));
    ASSERT_EQ(complaints.size(), 1U) << header;
    EXPECT_THAT(complaints[0], HasSubstr("unknown section; did you mean \"host\"?")) << header;
  }
}

TEST(HostValues, ADocumentIsReadForManyHosts) {
  const Parsed parsed(
      {{"/c/config.toml", "version = 1\n[host.values.\"gpu*\"]\nmtu = \"2044\"\n" + std::string(kPort) +
                              "mtu = \"{host.mtu}\"\n"},
       {"/c/sm.toml", "[match]\nhost = [\"sm*\"]\n[[module]]\nname = \"ib_umad\"\nload = 3\n"},
       {"/c/all.toml", "[[module]]\nname = \"ib_uverbs\"\n"}});
  for (int times = 0; times < 2; ++times) {
    const auto gpu = parsed.on("gpu1", kinds::grammar()), sm = parsed.on("sm1", kinds::grammar());
    EXPECT_EQ(gpu.sections.size(), 2U);
    EXPECT_EQ(gpu.filled.size(), 1U);
    ASSERT_EQ(gpu.skipped.size(), 1U);
    EXPECT_THAT(gpu.skipped[0].why, HasSubstr("not to gpu1"));
    EXPECT_EQ(complaints_of(gpu).size(), 1U) << "a file for others is checked, too";
    EXPECT_EQ(sm.sections.size(), 3U);
    EXPECT_EQ(complaints_of(sm).size(), 2U);
  }
}

/// A text that mentions the host is read again for each host, however it is written.
TEST(HostValues, AnEscapedBraceIsFilledInForEachHost) {
  std::vector<Text> texts{{"/c/config.toml",
                           "version = 1\n[[module]]\nname = \"ib_ipoib\"\n"
                           "options = [\"a=\\u007bhost}\", 'b=1']\n"}};
  const Parsed parsed(std::move(texts));
  for (const auto* host : {"gpu1", "gpu2"}) {
    const auto document = parsed.on(host, kinds::grammar());
    EXPECT_THAT(complaints_of(document), IsEmpty());
    EXPECT_THAT(value(document, "options"), HasSubstr(std::string("a=") + host));
    EXPECT_EQ(document.host, host);
  }
}

/// A key of the language, below the headers of its section.
struct WrittenKey {
  std::string headers;
  const model::FieldSpec* field = nullptr;
};

/// Keys that identify an entry, without `key`: an entry without an identity is one error, whatever is in it.
std::string identity_beside(const model::SectionSpec& spec, std::string_view key) {
  static const std::map<std::string_view, std::string_view> kValues{{"guid", "\"00:02:c9:03:00:31:78:f2\""},
                                                                    {"pci", "\"0000:10:00.0\""},
                                                                    {"port", "1"},
                                                                    {"pkey", "0x8002"},
                                                                    {"nsid", "1"},
                                                                    {"number", "1"},
                                                                    {"address", "\"192.0.2.1\""}};
  for (const auto& identity : spec.identities) {
    if (std::find(identity.begin(), identity.end(), key) != identity.end()) continue;
    std::string out;
    for (const auto& name : identity) {
      const auto at = kValues.find(name);
      out += fmt::format("{} = {}\n", name, at == kValues.end() ? "\"a1\"" : at->second);
    }
    return out;
  }
  return {};
}

void add_keys(const model::SectionSpec& spec, const std::string& parent, const std::string& headers,
              std::vector<WrittenKey>& out) {
  const auto path = path_of(parent, spec.name);
  const auto here = headers + label_of(path, spec.repeated) + "\n";
  for (const auto& field : spec.fields) {
    if (is_written(field)) out.push_back({here + identity_beside(spec, field.name), &field});
  }
  for (const auto& child : spec.children) add_keys(child, path, here + identity_beside(spec, ""), out);
}

std::vector<WrittenKey> all_keys() {
  std::vector<WrittenKey> out;
  for (const auto& spec : kinds::grammar()) add_keys(spec, "", "", out);
  return out;
}

void add_entries(const model::Section& section, std::vector<std::string>& out) {
  for (const auto& [key, entry] : section.entries)
    out.push_back(section.path + " " + key + " = " + model::text_of(entry.value));
  for (const auto& child : section.children) add_entries(child, out);
}

/// The values of a document and its complaints, without the host in them.
struct Reading {
  std::vector<std::string> entries, complaints;
  bool is_filled = false;  ///< with a value of the host
  bool operator==(const Reading& other) const {
    return entries == other.entries && complaints == other.complaints;
  }
};

/// @param value  of {host.v}
Reading reading_of(const WrittenKey& key, const std::string& written, const std::string& value) {
  const auto document = read(key.headers + std::string(key.field->name) + " = " + written +
                                 "\n[host.values.\"*\"]\nv = \"" + value + "\"\n",
                             "n1");
  Reading out;
  out.is_filled = !document.filled.empty();
  const std::string host = " (host n1)";
  for (const auto& section : document.sections) add_entries(section, out.entries);
  for (const auto& diagnostic : document.diagnostics) {
    auto text = diagnostic.message;
    if (const auto at = text.find(host); at != std::string::npos) {
      text.erase(at, host.size());
      out.is_filled = true;
    }
    out.complaints.push_back(std::move(text));
  }
  std::sort(out.complaints.begin(), out.complaints.end());
  return out;
}

/// A filled-in text has the meaning, or the error, of the same text in the document.
TEST(HostValues, EveryKeyOfTheLanguageTakesThem) {
  const auto keys = all_keys();
  ASSERT_GT(keys.size(), 100U);
  for (const auto& key : keys) {
    SCOPED_TRACE(key.headers + std::string(key.field->name));
    const std::string odd = "zz !";  // no word of the language
    const auto text = reading_of(key, "\"{host.v}\"", odd);
    EXPECT_TRUE(text.is_filled);
    EXPECT_EQ(text.complaints, reading_of(key, '"' + odd + '"', odd).complaints);
    EXPECT_EQ(text.entries, reading_of(key, '"' + odd + '"', odd).entries);
    const auto list = reading_of(key, "[\"{host.v}\"]", odd);
    EXPECT_TRUE(list.is_filled);
    EXPECT_EQ(list.complaints, reading_of(key, "[\"" + odd + "\"]", odd).complaints);
    const auto number = reading_of(key, "\"{host.v}\"", "1");
    EXPECT_TRUE(number == reading_of(key, "\"1\"", "1") || number == reading_of(key, "1", "1"))
        << ::testing::PrintToString(number.complaints);
  }
}

/// A key that takes certain words only names them where a host has another one.
TEST(HostValues, AWordThatAKeyDoesNotTakeIsAnErrorWithThoseThatItTakes) {
  std::size_t closed = 0;
  for (const auto& key : all_keys()) {
    const auto schema = nlohmann::json::parse(key.field->schema, nullptr, false);
    if (!schema.is_object() || !schema.contains("enum")) continue;
    const auto& words = schema.at("enum");
    if (!std::all_of(words.begin(), words.end(), [](const auto& word) { return word.is_string(); })) continue;
    // Of some, as of [[expect]], the kind refuses the word, at its place.
    if (reading_of(key, "\"zz !\"", "").complaints.empty()) continue;
    ++closed;
    SCOPED_TRACE(key.headers + std::string(key.field->name));
    const auto wrong = base::join(reading_of(key, "\"{host.v}\"", "zz !").complaints, "\n");
    for (const auto& word : words) {
      const auto text = word.get<std::string>();
      EXPECT_THAT(wrong, HasSubstr(text));
      EXPECT_EQ(reading_of(key, "\"{host.v}\"", text).complaints,
                reading_of(key, '"' + text + '"', text).complaints);
    }
  }
  EXPECT_GT(closed, 5U);
}

}  // namespace
}  // namespace rdmacfg::config
