// SPDX-License-Identifier: Apache-2.0
// The generated files are what the program generates; its JSON obeys the published schemas.
#include "ctl/docs/schema.hpp"

#include <gtest/gtest.h>

#include "catalog/all.hpp"
#include "unit/ctl/console.hpp"
#include "unit/ctl/mini_schema.hpp"

namespace rdmacfg::ctl {
namespace {

using Json = nlohmann::ordered_json;

std::string schema_file_text(const std::string& path) {
  std::ifstream file(std::string(SOURCE_ROOT) + "/" + path);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Schema, IsNotStale) {
  EXPECT_EQ(render_schema(kinds::grammar()), schema_file_text("conf/rdma-configd.schema.json"))
      << "rdma-configctl schema > conf/rdma-configd.schema.json";
}

TEST(Reference, IsNotStale) {
  const auto text = schema_file_text("docs/CONFIGURATION.md");
  const std::string begin = "<!-- generated: rdma-configctl reference -->\n\n";
  const auto start = text.find(begin);
  const auto end = text.find("\n<!-- end of generated -->");
  ASSERT_NE(start, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const auto from = start + begin.size();
  EXPECT_EQ(text.substr(from, end - from), render_reference(kinds::grammar()))
      << "put the output of `rdma-configctl reference` between the markers";
}

TEST(Schema, AcceptsAndRefusesDocuments) {
  const MiniSchema schema(Json::parse(render_schema(kinds::grammar())));
  const auto good = Json::parse(R"({"version":1,"match":{"host":["gpu[001-512]"]},
      "defaults":{"ipoib":{"mode":"datagram","pkey":{"mtu":2044}}},
      "ipoib":[{"guid":"00:02:c9:03:00:31:78:f2","name":"mlx4_ib0","mode":"connected","mtu":65520,
                "pkey":[{"pkey":32770,"mode":"datagram"},{"pkey":"0x8003"}]},
               {"device":"mlx4_0","port":2}]})");
  EXPECT_EQ(schema.check(good), std::vector<std::string>());
  for (
      const auto* patch :
      {R"({"module":[{"name":"mlx4_core","options":"num_vfs=4"}]})",
       R"({"pfc":[{"driver":"mlx4_en","priorities":3}]})",
       R"({"pfc":[{"interface":"ens1","priorities":["3"],"bandwidth":["100"]}]})",
       R"({"partition":[{"pkey":2,"members":"ALL=full","mtu":4096,"sl":15}]})",
       R"({"memlock":[{"domain":"*","limit":"unlimited","units":"slurmd.service"}]})",
       R"({"ipoib":[{"match":{"port":1},"name":"ib_s{pci_slot}p{port}","pkey":[{"pkey":2,"state":"absent"}]}]})"}) {
    auto other = good;
    other.merge_patch(Json::parse(patch));
    EXPECT_EQ(schema.check(other), std::vector<std::string>()) << patch;
  }
  for (const auto* patch :
       {R"({"match":{"host":null}})", R"({"match":{"host":[]}})", R"({"ipoib":[{"match":{}}]})",
        R"({"ipoib":[{"device":"mlx4_0","port":1,"state":"absent"}]})",
        R"({"defaults":{"ipoib":{"state":"absent"}}})",
        R"({"ipoib":[{"device":"mlx4_0","port":1,"name":"a b{port}"}]})",
        R"({"opensm":[{"guid":"00:02:c9:03:00:31:78:f2","priority":16}]})",
        R"({"partition":[{"pkey":2,"sl":16}]})", R"({"partition":[{"pkey":2,"rate":1}]})",
        R"({"partition":[{"pkey":2,"scope":15}]})", R"({"partition":[{"pkey":2,"mtu":100}]})",
        R"({"partition":[{"pkey":2,"defmember":"none"}]})",
        R"({"module":[{"name":"mlx4_core","options":[4]}]})",
        R"({"pfc":[{"driver":"mlx4_en","priorities":8}]})"}) {
    auto bad = good;
    bad.merge_patch(Json::parse(patch));
    EXPECT_NE(schema.check(bad), std::vector<std::string>()) << patch;
  }
  for (const auto* patch :
       {R"({"version":2})", R"({"ipoib":[{"name":"x"}]})",
        R"({"ipoib":[{"guid":"00:02:c9:03:00:31:78:f2","device":"mlx4_0","port":1}]})",
        R"({"ipoib":[{"guid":"nonsense"}]})", R"({"ipoib":[{"device":"mlx4_0","port":1,"mod":1}]})",
        R"({"ipoib":[{"device":"mlx4_0","port":1,"pkey":[{}]}]})",
        R"({"ipoib":[{"device":"mlx4_0","port":1,"pkey":[{"pkey":32768}]}]})",
        R"({"defaults":{"ipoib":{"name":"ib0"}}})", R"({"ipiob":[]})"}) {
    auto bad = good;
    bad.merge_patch(Json::parse(patch));
    EXPECT_NE(schema.check(bad), std::vector<std::string>()) << patch;
  }
}

struct JsonCase {
  std::vector<std::string> words;
  std::string document;
  const char* schema;
};

class JsonOutput : public testing::TestWithParam<JsonCase> {};

TEST_P(JsonOutput, ObeysItsSchemaAndIsAlone) {
  Console console;
  console.document(GetParam().document);
  console.kernel.add_child("ib0", 0x8003, "ib0.8003");
  const int status = console.run(GetParam().words);
  const auto json = Json::parse(console.out.str(), nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << console.out.str();
  EXPECT_EQ(json["exit"]["status"], status);
  EXPECT_EQ(console.err.str(), "");
  const MiniSchema schema(Json::parse(schema_file_text(std::string("docs/json/") + GetParam().schema)));
  EXPECT_EQ(schema.check(json), std::vector<std::string>()) << json.dump(2);
}

const std::string kChild = kRename + "  [[ipoib.pkey]]\n  pkey = 0x8002\n  mtu = 2044\n";

INSTANTIATE_TEST_SUITE_P(
    All, JsonOutput,
    testing::Values(
        JsonCase{{"show", "--json"}, kChild, "show-1.schema.json"},
        JsonCase{{"show", "--json", "mlx4_0/1"}, kChild, "show-1.schema.json"},
        JsonCase{{"show", "--json"}, "version = 3\n", "show-1.schema.json"},
        JsonCase{{"show", "--json", "nothing"}, kChild, "report-1.schema.json"},
        JsonCase{{"diff", "--json"}, kChild, "report-1.schema.json"},
        JsonCase{{"diff", "--json"}, kChild + "x = 1\n", "report-1.schema.json"},
        JsonCase{{"apply", "--json", "--yes"}, kChild, "report-1.schema.json"},
        JsonCase{{"apply", "--json"}, kChild, "report-1.schema.json"},
        JsonCase{{"apply", "--json", "--dry-run"}, kChild, "report-1.schema.json"},
        JsonCase{{"apply", "--json", "--yes", "--confirm", "9"}, kChild, "report-1.schema.json"},
        JsonCase{{"confirm", "--json"}, kChild, "report-1.schema.json"},
        JsonCase{{"rollback", "--json", "--yes"}, kChild, "report-1.schema.json"},
        JsonCase{{"rollback", "--json"}, kChild, "report-1.schema.json"},
        JsonCase{{"history", "--json"}, kChild, "history-1.schema.json"},
        JsonCase{{"wait-online", "--json", "--timeout", "0"}, kChild, "report-1.schema.json"},
        JsonCase{{"withdraw", "--json", "--dry-run"}, kChild, "withdrawal-1.schema.json"},
        JsonCase{{"withdraw", "--json"}, kChild, "report-1.schema.json"},
        JsonCase{{"validate", "--json"}, "version = \n", "report-1.schema.json"},
        JsonCase{{"validate", "--json"}, kChild, "report-1.schema.json"},
        JsonCase{{"doctor", "--json"}, kChild, "doctor-1.schema.json"},
        JsonCase{{"doctor", "--json"}, kChild + "x = 1\n", "doctor-1.schema.json"},
        JsonCase{{"status", "--json"}, kChild, "status-1.schema.json"},
        JsonCase{{"status", "-o", "json"}, "version = 3\n", "status-1.schema.json"},
        JsonCase{{"get", "--json", "ipoib[0]"}, kChild, "value-1.schema.json"},
        JsonCase{{"show", "--json", "--document"}, kChild, "document-1.schema.json"},
        JsonCase{{"export", "--json", "commands"}, kChild, "export-1.schema.json"},
        JsonCase{{"import", "--json", "live"}, kChild, "import-1.schema.json"},
        JsonCase{
            {"fleet", "validate", "--hosts", "n[1-2]", "--json"}, kChild, "fleet-validation-1.schema.json"},
        JsonCase{{"fleet", "validate", "--hosts", "n[", "--json"},
                 "version = 3\n",
                 "fleet-validation-1.schema.json"},
        JsonCase{{"fleet", "report", "--json", "/nowhere/at/all"}, kChild, "report-1.schema.json"},
        JsonCase{{"--version", "--json"}, kChild, "version-1.schema.json"},
        JsonCase{{"help", "--json"}, kChild, "help-1.schema.json"},
        JsonCase{{"show", "--help", "-o", "json"}, kChild, "help-1.schema.json"},
        JsonCase{{"--json", "help", "help"}, kChild, "help-1.schema.json"},
        JsonCase{{"reload", "--json"}, kChild, "report-1.schema.json"},
        JsonCase{{"--json", "nonsense"}, kChild, "report-1.schema.json"},
        JsonCase{{"--json"}, kChild, "report-1.schema.json"}));

}  // namespace
}  // namespace rdmacfg::ctl
