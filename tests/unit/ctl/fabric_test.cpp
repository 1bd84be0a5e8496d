// SPDX-License-Identifier: Apache-2.0
// `rdma-configctl fabric` on hand-made fabrics.
#include <gmock/gmock.h>

#include "console.hpp"
#include "ctl/fabric/fabric_json.hpp"
#include "fabric/limits.hpp"
#include "fakes/fabrics.hpp"
#include "mini_schema.hpp"

namespace rdmacfg::ctl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using FabricJson = nlohmann::ordered_json;

class FabricCommand : public testing::Test {
 protected:
  /// Not the document of the host that the test runs on.
  FabricCommand() { console.environment.document.emplace(); }

  void own_document(const std::string& text) {
    console.environment.document =
        std::vector<config::Text>{{"/etc/rdma-configd/config.toml", "version = 1\n" + text}};
  }

  void answer_with(base::Result<fabric::Fabric> answer) {
    console.environment.fabric_reader = [answer] {
      return std::make_unique<fakes::FakeFabricReader>(answer);
    };
  }

  std::string file(const std::string& name, const std::string& text) {
    const auto path = console.folder() / name;
    std::ofstream(path) << text;
    return path.string();
  }

  static MiniSchema schema() {
    std::ifstream in(std::string(SOURCE_ROOT) + "/docs/json/fabric-1.schema.json");
    return MiniSchema(FabricJson::parse(in));
  }

  Console console;
};

TEST_F(FabricCommand, FoldsHostsThatAreAlike) {
  answer_with(fakes::fat_tree(64));
  EXPECT_EQ(console.run({"fabric"}), 0);
  EXPECT_EQ(console.err.str(), "");
  const auto text = console.out.str();
  EXPECT_THAT(text, HasSubstr("seen from mlx5_0/1: 64 hosts, 6 switches, 72 links"));
  EXPECT_THAT(text, HasSubstr("node001/1        master"));
  EXPECT_THAT(text, HasSubstr("all 70 ports"));
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 40) << text;
}

TEST_F(FabricCommand, ShowsTwoPlantedFaults) {
  auto fabric = fakes::fat_tree(64);
  fakes::port_of(fabric, "node017", 1)->active.widths = 0x01;
  fakes::port_of(fabric, "leaf1", 5)->active.widths = 0x01;
  fakes::port_of(fabric, "node023", 1)->pkeys = {0xffff, 0x8009};
  answer_with(fabric);
  EXPECT_EQ(console.run({"fabric", "findings"}), 0);
  EXPECT_THAT(console.out.str(),
              HasSubstr("node017/1 - leaf1/5  runs at 1X QDR, although both ends support 4X QDR"));
  EXPECT_THAT(console.out.str(), HasSubstr("node023/1            is the only port with P_Key 0x8009"));
  EXPECT_THAT(console.out.str(), Not(HasSubstr("SWITCHES")));
}

TEST_F(FabricCommand, WritesJsonThatObeysItsSchemaAndCanBeComparedAgain) {
  auto fabric = fakes::fat_tree(64);
  answer_with(fabric);
  EXPECT_EQ(console.run({"fabric", "--json", "--route", kGuid1}), 2);
  const auto saved = console.out.str();
  const auto json = FabricJson::parse(saved);
  EXPECT_EQ(schema().check(json), std::vector<std::string>());
  EXPECT_EQ(json["summary"]["hosts"], 64);
  EXPECT_EQ(console.err.str(), "");
  const auto good = file("good.json", saved);
  EXPECT_EQ(console.run({"fabric", "--compare", good}), 0);
  EXPECT_THAT(console.err.str(), HasSubstr("everything is as expected"));
  fakes::port_of(fabric, "node009", 1)->active.widths = 0x01;
  fakes::port_of(fabric, "leaf1", 3)->active.widths = 0x01;
  fakes::port_of(fabric, "node011", 1)->pkeys = {0xffff, 0x8009};
  answer_with(fabric);
  EXPECT_EQ(console.run({"fabric", "--compare", good}), 2);
  EXPECT_THAT(console.out.str(), HasSubstr("node009/1 - leaf1/3  speed  4X QDR    1X QDR"));
  EXPECT_THAT(console.out.str(), HasSubstr("node011/1            pkeys  0xffff    0x8009 0xffff"));
  EXPECT_EQ(console.run({"fabric", "--json", "--compare", good}), 2);
  EXPECT_EQ(schema().check(FabricJson::parse(console.out.str())), std::vector<std::string>());
}

fabric::PortCounters counted(std::uint64_t symbol_errors, std::uint64_t discards = 0) {
  fabric::PortCounters out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (fabric::kPortCounterMeanings[i].name == "port_xmit_data") out[i] = 1000;
    if (fabric::kPortCounterMeanings[i].name == "symbol_error") out[i] = symbol_errors;
    if (fabric::kPortCounterMeanings[i].name == "port_xmit_discards") out[i] = discards;
  }
  return out;
}

TEST_F(FabricCommand, SaysWhatASavedFabricLacks) {
  const auto fabric = fakes::fat_tree(4);
  auto partly = fabric;
  partly.groups.reset();
  partly.missing = {"the multicast groups: no answer"};
  answer_with(partly);
  EXPECT_EQ(console.run({"fabric", "--json"}), 5);
  const auto saved = file("partly.json", console.out.str());
  answer_with(fabric);
  EXPECT_EQ(console.run({"fabric", "--compare", saved}), 5);
  EXPECT_THAT(console.err.str(),
              HasSubstr("not read: in the saved fabric: the multicast groups: no answer\n"));
  // Compared with the result of that, only what it lacks itself counts.
  EXPECT_EQ(console.run({"fabric", "--json", "--compare", saved}), 5);
  const auto whole = file("whole.json", console.out.str());
  EXPECT_EQ(console.run({"fabric", "--compare", whole}), 0);
  EXPECT_EQ(console.err.str(), "rdma-configctl: everything is as expected\n");
}

TEST_F(FabricCommand, ShowsWhichPortsHaveCountedErrors) {
  auto fabric = fakes::fat_tree(8);
  for (auto& node : fabric.nodes) {
    for (auto& port : node.ports) {
      if (port.peer) port.counters = counted(0);
    }
  }
  answer_with(fabric);
  EXPECT_EQ(console.run({"fabric", "counters"}), 0);
  EXPECT_EQ(console.out.str(), "");
  EXPECT_EQ(console.err.str(), "rdma-configctl: no port has counted an error\n");
  EXPECT_EQ(console.run({"fabric", "--json", "counters"}), 0);
  const auto saved = console.out.str();
  EXPECT_EQ(schema().check(FabricJson::parse(saved)), std::vector<std::string>());
  const auto good = file("good.json", saved);
  fakes::port_of(fabric, "node003", 1)->counters = counted(3, 1);
  answer_with(fabric);
  EXPECT_EQ(console.run({"fabric", "counters"}), 0);
  EXPECT_THAT(console.out.str(), HasSubstr("node003/1  leaf3/1  symbol_error 3, port_xmit_discards 1"));
  EXPECT_THAT(console.out.str(), Not(HasSubstr("node004")));
  EXPECT_EQ(console.run({"fabric", "counters", "--wide"}), 0);
  EXPECT_THAT(console.out.str(), HasSubstr("4000 B"));
  // A saved one that has them is compared with them, as it was asked for.
  EXPECT_EQ(console.run({"fabric", "--compare", good}), 2);
  EXPECT_THAT(console.out.str(),
              HasSubstr("node003/1    counters  no errors  symbol_error 3, port_xmit_discards 1"));
  // Without the topic nobody is asked.
  EXPECT_EQ(console.run({"fabric"}), 0);
  EXPECT_THAT(console.out.str(), Not(HasSubstr("symbol_error")));
}

TEST_F(FabricCommand, ShowsTargetsAsIbsrpdmPrintsThem) {
  auto fabric = fakes::fat_tree(4);
  fabric.targets.emplace();
  answer_with(fabric);
  EXPECT_EQ(console.run({"fabric", "targets"}), 0);
  EXPECT_EQ(console.out.str(), "");
  EXPECT_EQ(console.err.str(), "rdma-configctl: no port offers an SRP target\n");
  fabric.targets->push_back({.port_guid = fakes::port_of(fabric, "node003", 1)->guid,
                             .id_ext = 0x200500a0b81146a1,
                             .ioc_guid = 0x00a0b80200402bef,
                             .service_id = 0x200500a0b81146a2,
                             .io_class = fabric::kSrpIoClass,
                             .controller = "array"});
  const auto text = fmt::format(
      "id_ext=200500a0b81146a1,ioc_guid=00a0b80200402bef,dgid=fe80000000000000{:016x},pkey=ffff,"
      "service_id=200500a0b81146a2",
      fabric.targets->front().port_guid);
  answer_with(fabric);
  EXPECT_EQ(console.run({"fabric", "targets"}), 0);
  EXPECT_THAT(console.out.str(), HasSubstr(text + "  node003/1  array"));
  EXPECT_EQ(console.run({"fabric", "targets", "--json"}), 0);
  const auto json = FabricJson::parse(console.out.str());
  EXPECT_EQ(schema().check(json), std::vector<std::string>());
  EXPECT_EQ(json["targets"][0]["logins"][0], text);
  // Without the topic nobody is asked.
  EXPECT_EQ(console.run({"fabric", "--json"}), 0);
  EXPECT_FALSE(FabricJson::parse(console.out.str()).contains("targets"));
}

TEST_F(FabricCommand, ClearsCountersOnlyWhereItIsTold) {
  auto fabric = fakes::fat_tree(4);
  fakes::port_of(fabric, "node003", 1)->counters = counted(3);
  fakes::port_of(fabric, "leaf1", 1)->counters = counted(0);
  fakes::port_of(fabric, "leaf1", 2)->counters = counted(2);
  std::vector<system::CounterPlace> cleared;
  std::vector<fabric::End> silent;
  struct Recording : fakes::FakeFabricReader {
    Recording(fabric::Fabric answer, std::vector<system::CounterPlace>& to, std::vector<fabric::End> none)
        : FakeFabricReader(std::move(answer)), places(to), mute(std::move(none)) {}
    base::Result<std::vector<fabric::End>> clear_counters(
        const system::FabricRequest& /*request*/, const std::vector<system::CounterPlace>& all) override {
      places = all;
      return mute;
    }
    std::vector<system::CounterPlace>& places;
    std::vector<fabric::End> mute;
  };
  console.environment.fabric_reader = [&] { return std::make_unique<Recording>(fabric, cleared, silent); };
  EXPECT_EQ(console.run({"fabric", "--clear-counters", "node003/1"}), 0);
  EXPECT_THAT(console.out.str(), HasSubstr("symbol_error 3"));
  EXPECT_EQ(console.err.str(), "rdma-configctl: the error counters of 1 port are 0 now\n");
  ASSERT_EQ(cleared.size(), 1U);
  EXPECT_EQ(cleared[0].lid, fakes::port_of(fabric, "node003", 1)->lid);
  // The ports of a switch are asked for by its own LID.
  EXPECT_EQ(console.run({"fabric", "--clear-counters", "leaf1"}), 0);
  ASSERT_EQ(cleared.size(), 2U);
  EXPECT_EQ(cleared[1].lid, fakes::port_of(fabric, "leaf1", 0)->lid);
  EXPECT_EQ(cleared[1].port.port, 2);
  silent = {cleared[1].port};
  EXPECT_EQ(console.run({"fabric", "--clear-counters", "all"}), 5);
  EXPECT_THAT(console.err.str(), HasSubstr("not cleared: leaf1/2: no answer"));
  EXPECT_THAT(console.err.str(), HasSubstr("the error counters of 2 ports are 0 now"));
  cleared.clear();
  for (const auto* wrong : {"node9/1", "leaf1/3", "leaf1/x", "nobody"}) {
    EXPECT_EQ(console.run({"fabric", "--clear-counters", wrong}), 1) << wrong;
    EXPECT_THAT(console.err.str(), HasSubstr(std::string("--clear-counters ") + wrong)) << wrong;
  }
  EXPECT_TRUE(cleared.empty());
}

TEST_F(FabricCommand, ComparesCables) {
  answer_with(fakes::fat_tree(4));
  const auto cables = file("cables.toml",
                           "version = 1\n[[cable]]\nfrom = \"leaf1/1\"\nto = \"node001/1\"\n"
                           "[[cable]]\nfrom = \"leaf2/1\"\nto = \"node003/1\"\n");
  EXPECT_EQ(console.run({"fabric", "--cables", cables}), 2);
  EXPECT_THAT(console.out.str(), HasSubstr("leaf2/1      cable  node003/1  node002/1"));
  EXPECT_THAT(console.err.str(), HasSubstr("1 difference from what is expected"));
  const auto bad = file("bad.toml", "version = 1\n[[cable]]\nfrom = \"leaf1\"\nto = \"n/1\"\n");
  EXPECT_EQ(console.run({"fabric", "--cables", bad}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("must be a node and a port"));
  EXPECT_EQ(console.run({"fabric", "--cables", "/nowhere"}), 1);
}

constexpr const char* kGoodCable = "[[cable]]\nfrom = \"leaf1/1\"\nto = \"node001/1\"\n";
constexpr const char* kWrongCable = "[[cable]]\nfrom = \"leaf2/1\"\nto = \"node003/1\"\n";
constexpr const char* kPortOfHost = "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nname = \"fab0\"\n";

TEST_F(FabricCommand, ComparesCablesOfTheHostsDocument) {
  answer_with(fakes::fat_tree(4));
  own_document(std::string(kPortOfHost) + kGoodCable);
  EXPECT_EQ(console.run({"fabric"}), 0);
  EXPECT_THAT(console.err.str(), HasSubstr("everything is as expected"));
  own_document(std::string(kPortOfHost) + kGoodCable + kWrongCable);
  EXPECT_EQ(console.run({"fabric"}), 2);
  EXPECT_THAT(console.out.str(), HasSubstr("leaf2/1      cable  node003/1  node002/1"));
  EXPECT_THAT(console.err.str(), HasSubstr("1 difference from what is expected"));
  EXPECT_EQ(console.run({"fabric", "--json"}), 2);
  const auto json = FabricJson::parse(console.out.str());
  EXPECT_EQ(schema().check(json), std::vector<std::string>());
  ASSERT_EQ(json["differences"].size(), 1U);
  EXPECT_EQ(json["differences"][0]["object"], "leaf2/1");
  // A part of the fabric, its names and drawings are looked at for themselves.
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"fabric", "hosts"}, {"fabric", "--tree"}, {"fabric", "-o", "name"}, {"fabric", "-o", "dot"}})
    EXPECT_EQ(console.run(words), 0) << words.back();
  // A file in its place.
  const auto good = file("good.toml", std::string("version = 1\n") + kGoodCable);
  EXPECT_EQ(console.run({"fabric", "--cables", good}), 0);
  EXPECT_EQ(console.run({"fabric", "hosts", "-f", good}), 0);
}

/// Their exit statuses tell of the saved fabric and of the counters.
TEST_F(FabricCommand, ComparesNoCablesOfTheHostsDocumentWithASavedFabricOrClearedCounters) {
  auto fabric = fakes::fat_tree(4);
  fakes::port_of(fabric, "node003", 1)->counters = counted(3);
  answer_with(fabric);
  ASSERT_EQ(console.run({"fabric", "--json"}), 0);
  const auto saved = file("good.json", console.out.str());
  const auto cables = file("wrong.toml", std::string("version = 1\n") + kWrongCable);
  for (const auto& document : {std::string(kWrongCable), std::string("[[cable]\n")}) {
    own_document(document);
    EXPECT_NE(console.run({"fabric"}), 0) << document;
    for (const auto& [option, value] : std::vector<std::pair<std::string, std::string>>{
             {"--compare", saved}, {"--clear-counters", "node003/1"}}) {
      EXPECT_EQ(console.run({"fabric", option, value}), 0) << option << ": " << console.err.str();
      for (const auto* file_option : {"--cables", "--config"})
        EXPECT_EQ(console.run({"fabric", option, value, file_option, cables}), 2) << option << file_option;
    }
  }
}

/// Nobody is to take a wrong or cut file for a fabric that is as expected.
TEST_F(FabricCommand, RefusesACableFileWithoutCablesOrVersion) {
  answer_with(fakes::fat_tree(4));
  const auto none = file("none.toml", std::string("version = 1\n") + kPortOfHost);
  const auto no_version = file("no-version.toml", kGoodCable);
  const auto empty = file("empty.toml", "");
  for (const std::string option : {"--cables", "--config"}) {
    EXPECT_EQ(console.run({"fabric", option, none}), 1) << option;
    EXPECT_THAT(console.err.str(), HasSubstr(none + " has no [[cable]] entry")) << option;
    EXPECT_THAT(console.err.str(), Not(HasSubstr("as expected"))) << option;
    EXPECT_EQ(console.run({"fabric", option, no_version}), 1) << option;
    EXPECT_THAT(console.err.str(), HasSubstr("version is missing")) << option;
    EXPECT_EQ(console.run({"fabric", option, empty}), 1) << option;
    EXPECT_THAT(console.err.str(), HasSubstr("the file is empty")) << option;
  }
}

TEST_F(FabricCommand, TakesTheDocumentOfAHostAsACableFile) {
  answer_with(fakes::fat_tree(4));
  const auto document = file("host.toml", std::string("version = 1\n") + kPortOfHost + kWrongCable);
  for (const auto* option : {"--cables", "--config"}) {
    EXPECT_EQ(console.run({"fabric", "links", option, document}), 2) << option;
    EXPECT_THAT(console.out.str(), HasSubstr("node003/1  node002/1")) << option;
  }
  EXPECT_EQ(console.run({"fabric", "--cables", document, "--config", document}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("--cables and --config cannot be combined"));
  const auto twice = file("twice.toml", std::string("version = 1\n") + kGoodCable +
                                            "[[cable]]\nfrom = \"leaf1/2\"\nto = \"node001/1\"\n");
  for (const auto* option : {"--cables", "--config"}) {
    EXPECT_EQ(console.run({"fabric", option, twice}), 1) << option;
    EXPECT_THAT(console.err.str(), HasSubstr("node001/1 already has a cable, to leaf1/1")) << option;
  }
}

/// The fabric is shown all the same, but nobody is to take the cables for right.
TEST_F(FabricCommand, NamesTheCablesOfADocumentWithErrorsAsMissing) {
  answer_with(fakes::fat_tree(4));
  for (const auto& document : std::vector<std::string>{std::string(kGoodCable) + "length = 3\n",
                                                       std::string(kGoodCable) + "[[ipoib]]\nname = \"x\"\n",
                                                       "[[cable]]\nfrom = \"leaf1/1\"\n", "[[cable]\n"}) {
    own_document(document);
    EXPECT_EQ(console.run({"fabric"}), 5) << document;
    EXPECT_THAT(console.out.str(), HasSubstr("4 hosts")) << document;
    EXPECT_THAT(console.err.str(), HasSubstr("not read: the cables of the document, which has errors"))
        << document;
    EXPECT_THAT(console.err.str(), Not(HasSubstr("as expected"))) << document;
  }
  // Errors of a document without cables are of other subcommands.
  own_document("[[ipoib]]\nname = \"x\"\n");
  EXPECT_EQ(console.run({"fabric"}), 0);
  EXPECT_EQ(console.err.str(), "");
}

TEST_F(FabricCommand, DrawsIt) {
  answer_with(fakes::fat_tree(64));
  EXPECT_EQ(console.run({"fabric", "-o", "dot"}), 0);
  EXPECT_TRUE(console.out.str().starts_with("graph fabric {\n"));
  EXPECT_EQ(console.run({"fabric", "--format", "svg"}), 0);
  EXPECT_TRUE(console.out.str().starts_with("<svg "));
  EXPECT_EQ(console.run({"fabric", "--tree"}), 0);
  EXPECT_THAT(console.out.str(), HasSubstr("├─ leaf1  4X QDR; also to spine2\n"));
  EXPECT_EQ(console.run({"fabric", "-o", "name", "switches"}), 0);
  EXPECT_EQ(console.out.str(), "leaf1\nleaf2\nleaf3\nleaf4\nspine1\nspine2\n");
  EXPECT_EQ(console.run({"show", "-o", "svg"}), 1);
}

TEST_F(FabricCommand, SaysWhatIsWrongWithItsArguments) {
  answer_with(fakes::fat_tree(4));
  EXPECT_EQ(console.run({"fabric", "host"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("fabric has no topic host; did you mean hosts?"));
  EXPECT_EQ(console.run({"fabric", "--route", "x"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("--route"));
  EXPECT_EQ(console.run({"fabric", "--timeout", "0"}), 1);
  EXPECT_EQ(console.run({"fabric", "--root", console.folder().string()}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("fabric cannot be combined with --root"));
  EXPECT_EQ(console.run({"fabric", "-f", "x.toml"}), 1);
}

TEST_F(FabricCommand, FailsAndIsInPartAsTheReaderSays) {
  answer_with(base::fail(base::Code::kNotFound, "there is no InfiniBand port on this host"));
  EXPECT_EQ(console.run({"fabric"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("error: there is no InfiniBand port on this host"));
  EXPECT_EQ(console.run({"fabric", "--json"}), 1);
  EXPECT_EQ(FabricJson::parse(console.out.str())["error"]["code"], "not_found");
  auto fabric = fakes::fat_tree(4);
  fabric.missing = {"the multicast groups: no answer"};
  answer_with(fabric);
  EXPECT_EQ(console.run({"fabric"}), 5);
  EXPECT_THAT(console.err.str(), HasSubstr("not read: the multicast groups: no answer"));
}

TEST_F(FabricCommand, ShowsNoControlCharactersOfHosts) {
  auto fabric = fakes::fat_tree(4);
  fabric.nodes[0].description = "evil\x1b[31m\nx";
  answer_with(fabric);
  for (const auto& words : std::vector<std::vector<std::string>>{{"fabric"},
                                                                 {"fabric", "--tree"},
                                                                 {"fabric", "--json"},
                                                                 {"fabric", "-o", "dot"},
                                                                 {"fabric", "-o", "svg"}}) {
    EXPECT_EQ(console.run(words), 0);
    EXPECT_THAT(console.out.str(), Not(HasSubstr("\x1b")));
  }
}

TEST_F(FabricCommand, RefusesSavedFabricsThatAreNone) {
  answer_with(fakes::fat_tree(4));
  for (
      const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
          {"", "is not a JSON object"},
          {"[]", "is not a JSON object"},
          {"{}", "was not written by"},
          {R"({"schema":"org.rdmaconfigd.fabric/1"})", "has no fabric"},
          {R"({"schema":"org.rdmaconfigd.fabric/1","nodes":[{}]})", "is damaged: a value of \"guid\""},
          {R"({"schema":"org.rdmaconfigd.fabric/1","nodes":[{"guid":"x"}]})", "is damaged"},
          {R"({"schema":"org.rdmaconfigd.fabric/1","nodes":[{"guid":"0x0000000000000001","ports":[{"lid":70000}]}]})",
           "\"lid\""},
          {R"({"schema":"org.rdmaconfigd.fabric/1","nodes":[{"guid":"0x0000000000000001","ports":[{"width":"5X"}]}]})",
           "\"width\""},
          {R"({"schema":"org.rdmaconfigd.fabric/1","nodes":3})", "its nodes are not a list"},
          {R"({"schema":"org.rdmaconfigd.fabric/1","nodes":[3]})", "\"nodes\""},
          {R"({"schema":"org.rdmaconfigd.fabric/1","nodes":[{"guid":"0x0000000000000001"},{"guid":"0x0000000000000001"}]})",
           "\"guid\""},
          {R"({"schema":"org.rdmaconfigd.fabric/1","nodes":[{"guid":"0x0000000000000001","ports":[{"port":1},{"port":1}]}]})",
           "\"port\""},
          {R"({"schema":"org.rdmaconfigd.fabric/1","nodes":[{"guid":"0x0000000000000001","ports":[{"pkeys":[3]}]}]})",
           "\"pkeys\""},
          {R"({"schema":"org.rdmaconfigd.fabric/1","nodes":[],"missing":[3]})", "\"missing\""}}) {
    EXPECT_EQ(console.run({"fabric", "--compare", file("bad.json", text)}), 1) << text;
    EXPECT_THAT(console.err.str(), HasSubstr(why)) << text;
  }
  EXPECT_EQ(console.run({"fabric", "--compare", "/nowhere.json"}), 1);
  EXPECT_EQ(console.run({"fabric", "--compare", console.folder().string()}), 1);
}

TEST(SavedFabric, HasAtMostKFabricFileBytes) {
  std::string text = R"({"schema":"org.rdmaconfigd.fabric/1","nodes":[]})";
  text.resize(fabric::limits::kFabricFileBytes, ' ');
  EXPECT_TRUE(parse_fabric(text));
  text += ' ';
  EXPECT_FALSE(parse_fabric(text));
}

/// One that somebody else made, so that it takes long: members of one object, and brackets.
TEST(SavedFabric, TakesNoQuadraticTime) {
  std::string text = R"({"schema":"org.rdmaconfigd.fabric/1","nodes":[])";
  for (int i = 0; i < 300'000; ++i) text += fmt::format(",\"{}\":0", i);
  EXPECT_TRUE(parse_fabric(text + '}'));
  EXPECT_FALSE(parse_fabric(std::string(1'000'000, '[')));
}

TEST(SavedFabric, HasAtMostKFabricNodes) {
  const auto of = [](std::size_t count) {
    std::string text = R"({"schema":"org.rdmaconfigd.fabric/1","nodes":[)";
    for (std::size_t i = 1; i <= count; ++i)
      text += fmt::format("{}{{\"guid\":\"{:#018x}\"}}", i == 1 ? "" : ",", i);
    return parse_fabric(text + "]}");
  };
  EXPECT_TRUE(of(fabric::limits::kFabricNodes));
  EXPECT_FALSE(of(fabric::limits::kFabricNodes + 1));
}

}  // namespace
}  // namespace rdmacfg::ctl
