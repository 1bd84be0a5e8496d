// SPDX-License-Identifier: Apache-2.0
// `fleet validate` and `fleet report` on the command line: input, output, exit status.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "fabric/limits.hpp"
#include "fakes/fleet_site.hpp"
#include "unit/ctl/console.hpp"
#include "unit/ctl/mini_schema.hpp"

namespace rdmacfg::ctl {
namespace {

using Json = nlohmann::ordered_json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class FleetCommand : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    const auto path = console.folder() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
  std::string path(const std::string& name) const { return (console.folder() / name).string(); }

  /// The words with each "@name" as a path in the folder.
  int run(std::vector<std::string> words) {
    for (auto& word : words) {
      if (word.starts_with('@')) word = path(word.substr(1));
    }
    return console.run(words);
  }
  Json json(std::vector<std::string> words, int status, const std::string& schema) {
    words.emplace_back("--json");
    EXPECT_EQ(run(words), status) << console.out.str() << console.err.str();
    EXPECT_EQ(console.err.str(), "");
    auto out = Json::parse(console.out.str());
    EXPECT_EQ(out["exit"]["status"], status);
    std::ifstream file(std::string(SOURCE_ROOT) + "/docs/json/" + schema);
    EXPECT_EQ(MiniSchema(Json::parse(file)).check(out), std::vector<std::string>()) << out.dump(2);
    return out;
  }

  Console console;
};

TEST_F(FleetCommand, ValidateChecksADocumentForEveryHost) {
  write("site.toml",
        "version = 1\n[host]\ntable = \"nodes.csv\"\n[[opensm]]\nguid = \"{host.guid}\"\npriority = "
        "\"{host.priority}\"\n[[ipoib]]\nguid = \"{host.guid}\"\n");
  write("nodes.csv",
        "host,guid,priority\na1,00:02:c9:03:00:31:78:01,1\na2,00:02:c9:03:00:31:78:02,2\n"
        "a3,00:02:c9:03:00:31:78:03,3\n");
  EXPECT_EQ(run({"fleet", "validate", "--hosts", "a[1-3]", "@site.toml"}), 0)
      << console.out.str() << console.err.str();
  EXPECT_EQ(console.out.str(), "Valid: 3 hosts in 2 files.\n");
  EXPECT_EQ(run({"fleet", "validate", "-q", "--hosts", "a[1-3]", "@site.toml"}), 0);
  EXPECT_EQ(console.out.str(), "");
  // A subset of the table is allowed, and the table is read whole whatever this host is called.
  EXPECT_EQ(run({"fleet", "validate", "@site.toml", "--hosts", "a2"}), 0);
  EXPECT_THAT(console.out.str(), HasSubstr("has values for 2 hosts that are not in the list: a[1,3]"));
  const auto out =
      json({"fleet", "validate", "--hosts", "a[1-4],a1", "@site.toml"}, 1, "fleet-validation-1.schema.json");
  EXPECT_EQ(out["diagnostics"][0]["message"], "host a1 is listed twice");
  EXPECT_EQ(out["diagnostics"][0]["where"]["column"], 8);
  EXPECT_EQ(out["findings"][0]["rule"], "document");
  EXPECT_EQ(out["findings"][0]["hosts"], "a4");
  EXPECT_EQ(out["summary"]["hosts"], 4);
  // The hosts of a faulty item may be those, and so may the subnet manager.
  EXPECT_EQ(run({"fleet", "validate", "--hosts", "a1,a[3-2]", "@site.toml"}), 1);
  EXPECT_THAT(console.err.str(), AllOf(HasSubstr("range 3-2 is reversed"), HasSubstr("1 error, 0 warnings")));
  EXPECT_EQ(run({"fleet", "validate", "--hosts", "a1", "@nodes.csv"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("nodes.csv: is a table of host values, not a document"));
}

TEST_F(FleetCommand, ValidateReadsTheListFromAFileOrStandardInput) {
  write("site.toml", "version = 1\n[[module]]\nname = \"ib_umad\"\n");
  write("hosts", "# rack 1\na[1-3] # three\n\nb1,b2\n");
  EXPECT_EQ(run({"fleet", "validate", "--hosts", "@hosts", "@site.toml"}), 0) << console.err.str();
  EXPECT_THAT(console.out.str(), HasSubstr("Valid: 5 hosts"));
  console.answer("a1\na2\n");
  EXPECT_EQ(run({"fleet", "validate", "--hosts", "-", "@site.toml"}), 0) << console.err.str();
  write("bad", "a[1-2\nb1\n");
  EXPECT_EQ(run({"fleet", "validate", "--hosts", "@bad", "@site.toml"}), 1);
  EXPECT_THAT(console.err.str(), AllOf(HasSubstr("bad:1:2: error: unmatched bracket"), HasSubstr("a[1-2\n"),
                                       HasSubstr("1 host in 1 file: 1 error, 0 warnings")));
  EXPECT_EQ(run({"fleet", "validate", "--hosts", "@nowhere", "@site.toml"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("nowhere does not exist; write the path of a file with hosts"));
}

TEST_F(FleetCommand, ValidateTakesTheHostsOfATable) {
  write("site.toml", "version = 1\n[host]\ntable = \"nodes.csv\"\n[[module]]\nname = \"{host.m}\"\n");
  write("nodes.csv", "\xef\xbb\xbf# rack 1\r\nhost,m\r\na1,ib_umad\r\n\"a2\",ib_umad\r\n#a3,ib_umad\r\n\r\n");
  EXPECT_EQ(run({"fleet", "validate", "--hosts", "@nodes.csv", "@site.toml"}), 0) << console.err.str();
  EXPECT_EQ(console.out.str(), "Valid: 2 hosts in 2 files.\n");
  // A place is that in the table.
  write("nodes.csv", "host,m\na1,ib_umad\n  -a2,ib_umad\n");
  EXPECT_EQ(run({"fleet", "validate", "--hosts", "@nodes.csv", "@site.toml"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("nodes.csv:3:3: error: \"-a2\" is not a valid host name"));
  // An inventory has the column anywhere; a comma in quotes separates nothing.
  write("inventory.csv", "\"rack\",host\r\n\"r1, left\",a1\r\nröw,\"a2\"\r\n");
  write("nodes.csv", "host,m\na1,ib_umad\na2,ib_umad\n");
  EXPECT_EQ(run({"fleet", "validate", "--hosts", "@inventory.csv", "@site.toml"}), 0) << console.err.str();
  EXPECT_EQ(console.out.str(), "Valid: 2 hosts in 2 files.\n");
  write("inventory.csv", "rack,host,note\nröw,-a1,x\n");
  EXPECT_EQ(run({"fleet", "validate", "--hosts", "@inventory.csv", "@site.toml"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("inventory.csv:2:5: error: \"-a1\" is not a valid host name"));
  // Other lists are as they were.
  write("list.csv", "a1,a2\n");
  write("nodes.csv", "host,m\na1,ib_umad\na2,ib_umad\n");
  EXPECT_EQ(run({"fleet", "validate", "--hosts", "@list.csv", "@site.toml"}), 0) << console.err.str();
  EXPECT_EQ(console.out.str(), "Valid: 2 hosts in 2 files.\n");
}

TEST_F(FleetCommand, ATableOfHostsThatCannotBeReadIsOneError) {
  write("site.toml", "version = 1\n[[module]]\nname = \"ib_umad\"\n");
  const std::vector<std::pair<std::string, std::string>> tables{
      {"host;guid\ngpu1;x\ngpu2;y\n",
       "hosts.csv:1:5: fields are separated by semicolons; must be separated by commas"},
      {"\xef\xbb\xbf# site\r\nrack;\"host\"\r\nr1;gpu1\r\n",
       "hosts.csv:2:5: fields are separated by semicolons"},
      {"host\tguid\ngpu1\tx\n", "hosts.csv:1:5: fields are separated by tabs; must be separated by commas"},
      {"rack,Host\nr1,gpu1\n", "hosts.csv:1:6: the column is called \"Host\"; must be \"host\""},
      {"host,note,host\ngpu1,x,gpu2\n", "hosts.csv:1:11: there are two columns \"host\""},
      {"name,guid\ngpu1,x\n", "hosts.csv:1: no column is called \"host\""},
      {"gpu1,gpu2\ngpu3,gpu4\n", "write a list of hosts with one on each line"},
      {"note,host\n\"of two\nlines\",gpu1\n", "hosts.csv:2: a quoted field does not end on its line"},
  };
  for (const auto& [text, message] : tables) {
    write("hosts.csv", text);
    for (const auto* command : {"validate", "report"}) {
      std::filesystem::create_directories(path("in"));
      const std::string last = command == std::string("validate") ? "@site.toml" : "@in";
      EXPECT_EQ(run({"fleet", command, "--hosts", "@hosts.csv", last}), 1) << text;
      EXPECT_THAT(console.err.str(), AllOf(HasSubstr("error: --hosts: "), HasSubstr(message))) << text;
      EXPECT_EQ(console.out.str(), "") << text;
    }
  }
  // Lists of hosts stay as they are.
  for (const auto* text : {"gpu1\ngpu2\n", "gpu1,gpu2\ngpu3\n", "gpu1,\ngpu2\n", "host\ngpu1\n"}) {
    write("hosts.csv", text);
    EXPECT_EQ(run({"fleet", "validate", "--hosts", "@hosts.csv", "@site.toml"}), 0) << console.err.str();
  }
}

TEST_F(FleetCommand, ValidateTakesNoFileForAHost) {
  write("site.toml", "version = 1\n[[module]]\nname = \"ib_umad\"\n");
  for (const auto* name : {"nofile-of-hosts.txt", "RACK.CSV", "hosts.yaml", "./hosts"}) {
    EXPECT_EQ(run({"fleet", "validate", "--hosts", name, "@site.toml"}), 1) << name;
    EXPECT_THAT(console.err.str(),
                HasSubstr(std::string("--hosts: ") + name + " does not exist; write the path of a file"));
  }
  for (const auto* name : {"gpu1.example.net", "txt", "a.txt,b1", "a[1-2].txt"})
    EXPECT_EQ(run({"fleet", "validate", "--hosts", name, "@site.toml"}), 0) << name << console.err.str();
  const auto out =
      json({"fleet", "validate", "--hosts", "nofile-of-hosts.txt", "@site.toml"}, 1, "report-1.schema.json");
  EXPECT_EQ(out["error"]["code"], "not_found");
}

TEST_F(FleetCommand, AFindingThatNoLineOfTheDocumentCausesHasThatOfTheList) {
  write("site.toml", "version = 1\n[match]\nhost = [\"a*\"]\n[[module]]\nname = \"ib_umad\"\n");
  write("hosts", "\xef\xbb\xbf# rack 1\na1\na[2-3], b7 a1.x\n");
  const auto out =
      json({"fleet", "validate", "--hosts", "@hosts", "@site.toml"}, 1, "fleet-validation-1.schema.json");
  std::map<std::string, std::vector<std::string>> places;
  for (const auto& finding : out["findings"]) {
    for (const auto& place : finding["places"]) {
      const auto& where = place["where"];
      EXPECT_EQ(where["file"], path("hosts"));
      places[finding["rule"].get<std::string>()].push_back(std::to_string(where["line"].get<int>()) + ':' +
                                                           std::to_string(where["column"].get<int>()));
    }
  }
  EXPECT_EQ(places["no-file"], std::vector<std::string>{"3:9"});
  EXPECT_EQ(places["host-name"], (std::vector<std::string>{"2:1", "3:12"}));
  EXPECT_EQ(places.size(), 2U) << out.dump(2);
}

TEST_F(FleetCommand, WrongCommandLinesAreRefused) {
  EXPECT_EQ(run({"fleet"}), 1);
  EXPECT_THAT(console.err.str(),
              HasSubstr("fleet takes a subcommand: validate --hosts HOSTS, or report DIR"));
  EXPECT_EQ(run({"fleet", "validate"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("--hosts is missing"));
  EXPECT_EQ(run({"fleet", "report"}), 1);
  EXPECT_EQ(run({"fleet", "report", "@nowhere"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("No such file"));
  EXPECT_EQ(run({"fleet", "validate", "--hosts", "-", "--config", "-"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("cannot be both the hosts and a document"));
  EXPECT_EQ(run({"fleet", "validate", "--hosts", "a1", "--by", "x"}), 1);
  EXPECT_EQ(run({"fleet", "report", "a", "b"}), 1);
  EXPECT_EQ(run({"fleet", "validate", "report"}), 1);
  EXPECT_EQ(run({"fleet", "--help"}), 0);
  EXPECT_THAT(console.out.str(), AllOf(HasSubstr("--hosts HOSTS|FILE"), HasSubstr("--by PATTERN|FILE")));
}

/// 40 hosts in four racks, of which some drift.
void collect(const std::function<void(const std::string& name, const std::string& text)>& write, int hosts) {
  for (int number = 1; number <= hosts; ++number) {
    const int drift = number % 10 == 3 ? 0 : number == 5 ? 2 : number == 21 ? 3 : -1;
    const auto host = "r" + std::to_string(1 + number / 10) + "n" + std::to_string(number);
    if (number % 2 == 0) {
      write("in/" + host + ".show.json", fakes::show_of_host(number, drift));
      write("in/" + host + ".diff.json", fakes::diff_of_host(number, drift));
    } else {
      write("in/" + host + "/show.json", fakes::show_of_host(number, drift));
      write("in/" + host + "/diff.json", fakes::diff_of_host(number, drift));
    }
  }
}

TEST_F(FleetCommand, ReportSaysEachDifferenceOnce) {
  collect([&](const auto& name, const auto& text) { write(name, text); }, 39);
  EXPECT_EQ(run({"fleet", "report", "@in"}), 2) << console.err.str();
  EXPECT_THAT(console.out.str(),
              AllOf(HasSubstr("r1n3,r2n13,r3n23,r4n33 (4)  ipoib rail0: mtu is 1500, must be 2044\n"),
                    HasSubstr("r1n5"), HasSubstr("28.33.1000, on most hosts 28.39.2048\n")));
  EXPECT_EQ(console.err.str(), "rdma-configctl: 39 hosts: 3 findings\n");
  const auto out = json({"fleet", "report", "--by", "{group}n*", "@in"}, 2, "fleet-report-1.schema.json");
  ASSERT_EQ(out["findings"].size(), 3U);
  EXPECT_EQ(out["findings"][0]["attribute"], "mtu");
  EXPECT_EQ(out["findings"][0]["groups"].size(), 4U);
  EXPECT_EQ(out["findings"][0]["groups"][0]["of"], 9);
  EXPECT_EQ(out["findings"][0]["groups"][0]["group"], "r1");
  write("racks.csv", "host,row\nr1n3,east\nr2n13,east\n");
  EXPECT_EQ(run({"fleet", "report", "--by", "@racks.csv", "@in"}), 1) << "most hosts have no group";
  EXPECT_THAT(console.out.str(), HasSubstr("east (2 of 2)"));
  EXPECT_THAT(console.err.str(), HasSubstr("racks.csv: error: 37 hosts are in no group"));
}

TEST_F(FleetCommand, ReportTellsFaultyFilesAndReadsTheRest) {
  collect([&](const auto& name, const auto& text) { write(name, text); }, 9);
  const auto whole = fakes::show_of_host(30);
  write("in/cut.show.json", whole.substr(0, whole.size() / 2));
  write("in/foreign.diff.json", "{\"schema\": \"other\"}\n");
  write("in/nobody.json", "{}\n");
  write("in/notes.txt", "ignored\n");
  write("in/old/notes.txt", "ignored\n");
  std::filesystem::create_directories(path("in/lost"));
  write("in/.hidden.show.json", "ignored\n");
  write("in/large.show.json", std::string(model::limits::kFleetFileBytes + 1, ' '));
  ASSERT_EQ(::mkfifo(path("in/pipe.show.json").c_str(), 0600), 0);
  EXPECT_EQ(run({"fleet", "report", "@in"}), 1);
  EXPECT_THAT(
      console.err.str(),
      AllOf(HasSubstr("cut.show.json:"), HasSubstr("the JSON is cut off here"),
            HasSubstr("foreign.diff.json:1:1"), HasSubstr("the name of the file does not name a host"),
            HasSubstr("more than the 8388608 bytes"),
            HasSubstr("pipe.show.json: error: is not a regular file"),
            HasSubstr("in/lost: error: has neither show.json nor diff.json of the host"),
            Not(HasSubstr("notes")), Not(HasSubstr("in/old"))));
  EXPECT_THAT(console.out.str(), HasSubstr("mtu is 1500, must be 2044"));
  const auto out = json({"fleet", "report", "@in"}, 1, "fleet-report-1.schema.json");
  EXPECT_EQ(out["diagnostics"].size(), 6U);
}

/// Their hosts would be missing without a word.
TEST_F(FleetCommand, ReportTellsOfPackedFiles) {
  write("in/a1.show.json", fakes::show_of_host(1));
  for (const std::string name :
       {"in/a2.show.json.gz", "in/collected.tar.zst", "in/OLD.ZIP", "in/a3/show.json.xz"}) {
    write(name, "packed");
    EXPECT_EQ(run({"fleet", "report", "@in"}), 1) << name;
    EXPECT_THAT(console.err.str(), AllOf(HasSubstr(path(name) + ": error: is packed and was not read"),
                                         HasSubstr("1 host: 0 findings")));
    std::filesystem::remove_all(path(name));
    std::filesystem::remove_all(path("in/a3"));
  }
  // Archives in a folder of their own are nobody's output.
  write("in/earlier/collected.tar.gz", "packed");
  EXPECT_EQ(run({"fleet", "report", "@in"}), 0) << console.err.str();
}

TEST_F(FleetCommand, ReportTellsOfAPackedFileBesideTheOtherOutputOfAHost) {
  write("in/a1/show.json", fakes::show_of_host(1));
  write("in/a1/show.json.1.gz", "an older one");
  EXPECT_EQ(run({"fleet", "report", "@in"}), 0) << console.err.str();
  write("in/a1/diff.json.xz", "packed");
  EXPECT_EQ(run({"fleet", "report", "@in"}), 1);
  EXPECT_THAT(console.err.str(),
              AllOf(HasSubstr(path("in/a1/diff.json.xz") + ": error: is packed and was not read"),
                    HasSubstr("1 host: 0 findings"), Not(HasSubstr("show.json.1.gz"))));
}

TEST_F(FleetCommand, GroupsAreAPatternOrAFileThatExists) {
  write("in/a1.show.json", fakes::show_of_host(1));
  EXPECT_EQ(run({"fleet", "report", "--by", "a[1-6/2]", "@in"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("--by:1:1: error: a pattern needs {group} once"));
  EXPECT_EQ(run({"fleet", "report", "--by", "{group}[1-9/2]", "@in"}), 0) << console.err.str();
  EXPECT_EQ(run({"fleet", "report", "--by", "lists/racks.csv", "@in"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("error: --by: lists/racks.csv does not exist; write the path of a "
                                           "file, or a pattern such as '{group}n*'"));
}

TEST_F(FleetCommand, ReportReadsFilesOfAtMostKFleetFileBytes) {
  auto text = fakes::show_of_host(1);
  text.resize(model::limits::kFleetFileBytes, ' ');
  write("in/a1.show.json", text);
  (void)run({"fleet", "report", "@in"});
  EXPECT_THAT(console.err.str(), Not(HasSubstr("more than the")));
  write("in/a1.show.json", text + " ");
  EXPECT_EQ(run({"fleet", "report", "@in"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("more than the 8388608 bytes"));
}

/// The answer of gpu00001's fabric is beside those of hosts, in any of these places; no host has its name.
TEST_F(FleetCommand, ReportComparesWithTheGroupsOfAFabric) {
  const auto fabric = [](const std::string& groups) {
    return R"({"schema": "org.rdmaconfigd.fabric/1", "nodes": [{"ports": [{"port": 1, "lid": 10,
      "guid": "00:02:c9:03:00:00:00:01"}]}], "groups": )" +
           groups + "}\n";
  };
  const std::string group = R"([{"gid": "ff12:401b:ffff::ffff:ffff", "mtu": 1024, "rate_gbps": 800.0}])";
  write("in/gpu00001.show.json", fakes::show_of_host(1));
  EXPECT_EQ(run({"fleet", "report", "@in"}), 0) << console.out.str() << console.err.str();
  for (const std::string name : {"in/fabric.json", "in/sm1-rail0.fabric.json", "in/sm1/fabric.json"}) {
    write(name, fabric(group));
    EXPECT_EQ(run({"fleet", "report", "@in"}), 2) << name << console.err.str();
    EXPECT_THAT(
        console.out.str(),
        AllOf(
            HasSubstr("MTU of rail0 in partition 0xffff: 2044, must be at most 1020 by its multicast group"),
            HasSubstr("rate of port mlx5_0/1 in partition 0xffff: 400 Gbit/s, must be at least 800 "
                      "Gbit/s to join its multicast group"),
            Not(HasSubstr("rail1"))));
    EXPECT_EQ(console.err.str(), "rdma-configctl: 1 host: 2 findings\n") << name;
    const auto out = json({"fleet", "report", "@in"}, 2, "fleet-report-1.schema.json");
    ASSERT_EQ(out["findings"].size(), 2U);
    for (const auto& finding : out["findings"]) EXPECT_EQ(finding["pkeys"], Json::array({"0xffff"}));
    std::filesystem::remove(path(name));
  }
  write("in/sm1.fabric.json", fabric("null"));
  EXPECT_EQ(run({"fleet", "report", "@in"}), 1);
  EXPECT_THAT(console.err.str(),
              AllOf(HasSubstr("sm1.fabric.json:1:1"), HasSubstr("has no multicast groups")));
}

/// A fabric may have more than a host: kFabricFileBytes.
TEST_F(FleetCommand, AFabricMayBeLargerThanTheAnswerOfAHost) {
  write("in/a1.show.json", fakes::show_of_host(1));
  std::string text = R"({"schema": "org.rdmaconfigd.fabric/1", "nodes": [], "groups": []})";
  text.resize(fabric::limits::kFabricFileBytes, ' ');
  write("in/a1.fabric.json", text);
  EXPECT_EQ(run({"fleet", "report", "@in"}), 0) << console.err.str();
  write("in/a1.fabric.json", text + " ");
  EXPECT_EQ(run({"fleet", "report", "@in"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("more than the 67108864 bytes"));
}

TEST_F(FleetCommand, ReportUsesOneOutputOfAHost) {
  write("in/a1.show.json", fakes::show_of_host(1));
  write("in/a1/show.json", fakes::show_of_host(2));
  write("in/a 2/show.json", fakes::show_of_host(3));
  EXPECT_EQ(run({"fleet", "report", "@in"}), 1);
  EXPECT_THAT(console.err.str(),
              AllOf(HasSubstr("in/a1/show.json also belongs to host a1"),
                    HasSubstr("does not have the name of a host"), HasSubstr("1 host: 0 findings")));
}

TEST_F(FleetCommand, UpperAndLowerCaseAreOneHostOfAReport) {
  write("in/A1.show.json", fakes::show_of_host(1));
  write("in/a1.diff.json", fakes::diff_of_host(1));
  EXPECT_EQ(run({"fleet", "report", "@in"}), 0);
  EXPECT_THAT(console.err.str(), HasSubstr("1 host: 0 findings"));
  write("in/a1.show.json", fakes::show_of_host(1));
  EXPECT_EQ(run({"fleet", "report", "@in"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("in/A1.show.json also belongs to host a1"));
}

TEST_F(FleetCommand, AHostByItsShortAndByItsFullNameIsAnErrorOfAReport) {
  for (const std::string name : {"a1", "a1.example.net", "a2", "A2.example.net", "a3.example.net", "a3.x"})
    write("in/" + name + ".show.json", fakes::show_of_host(1));
  EXPECT_EQ(run({"fleet", "report", "@in"}), 1);
  EXPECT_THAT(console.err.str(),
              AllOf(HasSubstr(path("in") + ": error: 2 hosts have output under both the short and the full "
                                           "name: a[1,2]\n"),
                    HasSubstr("6 hosts: ")))
      << "a3.example.net and a3.x are two hosts";
  EXPECT_EQ(run({"fleet", "report", "--hosts", "a1,a1.example.net", "@in"}), 0) << console.err.str();
  EXPECT_EQ(run({"fleet", "report", "--hosts", "a[1-2].example.net", "@in"}), 0) << console.err.str();
}

TEST_F(FleetCommand, AnOutputInAFolderTooDeepIsAnErrorOfAReport) {
  write("in/a1.show.json", fakes::show_of_host(1));
  write("in/notes/readme.json", "{}");
  EXPECT_EQ(run({"fleet", "report", "@in"}), 0) << console.err.str();
  for (const std::string name : {"in/a2/tmp/show.json", "in/rack1/a2.diff.json", "in/rack1/a2/show.json"}) {
    write(name, fakes::show_of_host(2));
    EXPECT_EQ(run({"fleet", "report", "@in"}), 1) << name;
    EXPECT_THAT(console.err.str(),
                AllOf(HasSubstr(path(name) + ": error: is nested too deeply and was not read"),
                      HasSubstr("1 host: 0 findings")));
    std::filesystem::remove_all(path(name).substr(0, path(name).rfind('/')));
    std::filesystem::remove_all(path("in/a2"));
    std::filesystem::remove_all(path("in/rack1"));
  }
}

TEST_F(FleetCommand, ASlashInABracketIsTheStepOfAListOfHosts) {
  write("site.toml", "version = 1\n[[module]]\nname = \"ib_umad\"\n");
  const auto out =
      json({"fleet", "validate", "--hosts", "gpu[1-9/2]", "@site.toml"}, 0, "fleet-validation-1.schema.json");
  EXPECT_EQ(out["summary"]["hosts"], 5);
  EXPECT_EQ(run({"fleet", "validate", "--hosts", "lists/gpu[1-9]", "@site.toml"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("lists/gpu[1-9] does not exist"));
}

TEST_F(FleetCommand, ReportSaysWhichHostsHaveNotAnswered) {
  for (int number = 1; number <= 3; ++number)
    write("in/a" + std::to_string(number) + ".show.json", fakes::show_of_host(number));
  // Files as `ssh HOST … >FILE` leaves them of hosts that are down; more of them than errors that are shown.
  for (int number = 10; number < 40; ++number) {
    write("in/a" + std::to_string(number) + ".show.json", "");
    write("in/a" + std::to_string(number) + ".diff.json", "\n");
  }
  EXPECT_EQ(run({"fleet", "report", "@in"}), 2) << console.err.str();
  EXPECT_THAT(console.out.str(), HasSubstr("error  a[10-39] (30)  the output of the host is empty\n"));
  EXPECT_EQ(console.err.str(), "rdma-configctl: 33 hosts: 1 finding\n");
  write("hosts", "A1 a[2-5]\n");
  EXPECT_EQ(run({"fleet", "report", "--hosts", "@hosts", "@in"}), 2) << console.err.str();
  EXPECT_THAT(console.out.str(), HasSubstr("error  a[4,5] (2)  no output from this host\n"));
  EXPECT_EQ(console.err.str(), "rdma-configctl: 5 hosts: 1 finding\n");
  EXPECT_EQ(run({"fleet", "report", "--hosts", "a[1-3]", "@in"}), 0) << console.out.str();
  EXPECT_EQ(run({"fleet", "report", "--hosts", "a[1-3],a3", "@in"}), 1);
  EXPECT_THAT(console.err.str(), AllOf(HasSubstr("--hosts:1:8: error: host a3 is listed twice"),
                                       HasSubstr("3 hosts: 0 findings")));
  const auto alike = json({"fleet", "report", "--hosts", "a[2-3].example.net,a1,A1.x", "@in"}, 2,
                          "fleet-report-1.schema.json");
  ASSERT_EQ(alike["findings"].size(), 2U) << alike.dump(2);
  EXPECT_EQ(alike["findings"][0]["hosts"], "a[2,3].example.net");
  EXPECT_EQ(alike["findings"][0]["message"], "no output from this host, but there is output from a2");
  EXPECT_EQ(alike["findings"][1]["hosts"], "A1.x");
  EXPECT_EQ(alike["findings"][1]["message"], "no output from this host") << "a1 is another one of the list";
  const auto out = json({"fleet", "report", "--hosts", "b1", "@in"}, 2, "fleet-report-1.schema.json");
  EXPECT_EQ(out["findings"][0]["check"], "host");
  EXPECT_EQ(out["findings"][0]["hosts"], "b1");
  EXPECT_EQ(out["summary"]["hosts"], 1);
}

TEST_F(FleetCommand, ReportTellsOfHostsThatItCannotRead) {
  write("in/a1.show.json", fakes::show_of_host(1));
  std::filesystem::create_symlink("/nonexistent/a2", path("in/a2"));
  std::filesystem::create_directories(path("in/a3"));
  std::filesystem::create_symlink("/nonexistent/show.json", path("in/a3/show.json"));
  EXPECT_EQ(run({"fleet", "report", "@in"}), 1);
  EXPECT_THAT(console.err.str(), AllOf(HasSubstr("in/a2: error: No such file or directory"),
                                       HasSubstr("in/a3/show.json: error: No such file or directory")));
  std::filesystem::remove(path("in/a2"));
  std::filesystem::remove_all(path("in/a3"));
  EXPECT_EQ(run({"fleet", "report", "@in"}), 0);
  if (::geteuid() == 0) return;  // who may read everything
  std::filesystem::create_directories(path("in/a4"));
  write("in/a4/show.json", fakes::show_of_host(4));
  std::filesystem::permissions(path("in/a4"), std::filesystem::perms::none);
  EXPECT_EQ(run({"fleet", "report", "@in"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("in/a4: error: Permission denied"));
  std::filesystem::permissions(path("in/a4"), std::filesystem::perms::owner_all);
}

TEST_F(FleetCommand, AnEmptyFolderIsAnError) {
  std::filesystem::create_directories(path("in"));
  EXPECT_EQ(run({"fleet", "report", "@in"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("contains no files of hosts"));
}

TEST_F(FleetCommand, RulesOfSectionsNameTheHostAndItsValues) {
  write("site.toml",
        "version = 1\n[host.values.a1]\nmtu = 65520\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:01\"\nmode = "
        "\"datagram\"\nmtu = \"{host.mtu}\"\n");
  EXPECT_EQ(run({"validate", "--host", "a1", "@site.toml"}), 1) << console.out.str();
  EXPECT_THAT(console.err.str(), AllOf(HasSubstr("site.toml:7:7: error:"), HasSubstr("(host a1)"),
                                       HasSubstr("site.toml:3:7: note: {host.mtu} is \"65520\" on host a1")));
}

}  // namespace
}  // namespace rdmacfg::ctl
