// SPDX-License-Identifier: Apache-2.0
// The part of show about the host around its devices: as text, as JSON by its schema, and by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "console.hpp"
#include "ctl/host_view.hpp"
#include "mini_schema.hpp"

namespace rdmacfg::ctl {
namespace {

using Json = nlohmann::ordered_json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kShownDocument = R"(version = 1
[[lossless]]
interface = "eth1"
dscp = 24
[[memlock]]
domain = "@rdma"
limit = "unlimited"
units = ["slurmd"]
[[module]]
name = "mlx4_en"
options = ["pfctx=8"]
)";

class ShowFacts : public testing::Test {
 protected:
  ShowFacts() {
    console.kernel.add(R"({
      "devices": [{ "name": "rocep17s0", "driver": "mlx5_core", "pci": "0000:11:00.0", "node_guid": "0002:c903:0031:7901",
        "ports": [{ "guid": "0002:c903:0031:7902", "link_layer": "Ethernet", "netdev": "eth1" }] }],
      "links": [{ "name": "eth1", "up": true }, { "name": "eth2", "up": true }],
      "dcb": { "eth1": { "pfc": 16, "dcbx": 9, "apps": ["48:6"] }, "eth2": {} },
      "modules": { "mlx4_en": { "loaded": true, "parameters": { "pfctx": "0" } }, "ib_srp": {}, "ext4": { "loaded": true } },
      "units": { "slurmd.service": { "running": true }, "rdma-ndd.service": {}, "ssh.service": { "running": true },
                 "opensm.service": { "enabled": true }, "opensm@.service": { "installable": false } },
      "files": { "/etc/default/opensm": "PORTS=ALL\n",
                 "/etc/modprobe.d/rdma.conf": "options mlx4_en pfctx=4\noptions ib_srp cmd_sg_entries=255\noptions ext4 x=1\n",
                 "/etc/security/limits.d/10-hpc.conf": "# all\n* soft memlock 65536\n* hard nofile 1\n" }
    })");
    console.document(kShownDocument);
  }

  Json json(std::vector<std::string> words) {
    EXPECT_EQ(console.run(std::move(words)), 0) << console.err.str();
    auto out = Json::parse(console.out.str());
    std::ifstream file(std::string(SOURCE_ROOT) + "/docs/json/show-1.schema.json");
    EXPECT_EQ(MiniSchema(Json::parse(file)).check(out), std::vector<std::string>());
    return out;
  }

  Console console;
};

TEST_F(ShowFacts, HasATableForEach) {
  EXPECT_EQ(console.run({"show"}), 0);
  const auto text = console.out.str();
  EXPECT_THAT(text, AllOf(HasSubstr("FLOW CONTROL AND TRAFFIC CLASSES"), HasSubstr("LOSSLESS PRESETS"),
                          HasSubstr("LOCKED MEMORY OF LOGINS"), HasSubstr("MODULES"), HasSubstr("SERVICES")));
  EXPECT_THAT(text, AllOf(HasSubstr("/etc/security/limits.d/10-hpc.conf:2"), HasSubstr("[[pfc]] dscp"),
                          HasSubstr("config.toml:4"), HasSubstr("pfctx=4"), HasSubstr("slurmd.service")));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("ext4")), Not(HasSubstr("ssh.service")), Not(HasSubstr("eth2"))));
}

TEST_F(ShowFacts, TellsDcbLimitsModulesAndServices) {
  const auto out = json({"show", "--json"});
  ASSERT_EQ(out["dcb"].size(), 1U);
  EXPECT_EQ(out["dcb"][0]["interface"], "eth1");
  EXPECT_EQ(out["dcb"][0]["dscp"], Json({"48:6"}));
  EXPECT_EQ(out["dcb"][0]["dcbx"], "host");
  ASSERT_EQ(out["memlock"].size(), 1U);
  EXPECT_EQ(out["memlock"][0]["domain"], "*");
  EXPECT_EQ(out["memlock"][0]["limit"], "65536");
  EXPECT_EQ(out["memlock"][0]["where"]["line"], 2);
  ASSERT_EQ(out["modules"].size(), 2U);
  EXPECT_EQ(out["modules"][0]["name"], "ib_srp");
  EXPECT_EQ(out["modules"][0]["loaded"], false);
  EXPECT_EQ(out["modules"][1]["options"], Json({"pfctx=4"}));
  EXPECT_EQ(out["modules"][1]["running"], Json({"pfctx=0"}));
  std::vector<std::string> units;
  for (const auto& service : out["services"]) units.push_back(service["unit"]);
  EXPECT_EQ(units, (std::vector<std::string>{"opensm.service", "rdma-ndd.service", "slurmd.service"}));
  EXPECT_EQ(out["services"][2]["memlock"], "8192");
  EXPECT_EQ(out["services"][0]["at_boot"], "enabled");
}

TEST_F(ShowFacts, ExplainsAPresetWithThePlaceOfEachValue) {
  const auto out = json({"show", "--json"});
  ASSERT_EQ(out["expansions"].size(), 1U);
  const auto& preset = out["expansions"][0];
  EXPECT_EQ(preset["interface"], "eth1");
  EXPECT_EQ(preset["where"]["line"], 2);
  std::map<std::string, std::pair<Json, int>> settings;
  for (const auto& setting : preset["settings"]) {
    settings[setting["kind"].get<std::string>() + " " + setting["name"].get<std::string>()] = {
        setting["value"], setting["where"]["line"]};
  }
  EXPECT_EQ(settings["dcb dscp"], std::pair(Json({"24:3"}), 4));
  EXPECT_EQ(settings["dcb priorities"].second, 2);
  EXPECT_EQ(settings["roce tos"], std::pair(Json(98), 4));
}

TEST_F(ShowFacts, TellsTheOrderOfTrustWhereThereIsOne) {
  EXPECT_EQ(console.run({"show", "dcb"}), 0) << console.err.str();
  EXPECT_THAT(console.out.str(), AllOf(HasSubstr("DSCP"), Not(HasSubstr("TRUST"))));
  EXPECT_FALSE(json({"show", "--json"})["dcb"][0].contains("trust"));
  console.kernel.dcb.interfaces.at("eth1").trust = std::vector<std::uint8_t>{5, 255};
  EXPECT_EQ(console.run({"show", "dcb"}), 0) << console.err.str();
  EXPECT_THAT(console.out.str(), AllOf(HasSubstr("TRUST"), HasSubstr("dscp, pcp")));
  EXPECT_EQ(json({"show", "--json"})["dcb"][0]["trust"], Json({"dscp", "pcp"}));
}

TEST_F(ShowFacts, SaysWhichSubnetManagersRunAndWithWhichPriority) {
  console.document(
      "version = 1\n[[opensm]]\nguid = \"00:02:c9:03:00:31:78:f2\"\npriority = 9\nbeside_other = true\n");
  EXPECT_EQ(console.run({"apply", "--yes"}), 0) << console.err.str();
  const auto out = json({"show", "--json"});
  const auto& services = out["services"];
  const auto at = std::find_if(services.begin(), services.end(), [](const Json& service) {
    return service["unit"] == "opensm@0x0002c903003178f2.service";
  });
  ASSERT_NE(at, services.end());
  EXPECT_EQ((*at)["priority"], 9);
  EXPECT_EQ((*at)["active"], "active");
}

TEST_F(ShowFacts, TellsWhoMadeTheAdapter) {
  const auto device = json({"show", "--json"})["devices"].front();
  EXPECT_EQ(device["vendor_id"], 0x02c9);
  EXPECT_EQ(device["vendor_part_id"], 4103);
  EXPECT_EQ(console.run({"show", device["name"]}), 0);
  EXPECT_THAT(console.out.str(), HasSubstr("0x02c9, part 4103"));
}

TEST_F(ShowFacts, TellsTheLimitsOfADevice) {
  EXPECT_EQ(json({"show", "--json"})["devices"].front()["limits"], Json());
  console.kernel.device_limits = {{"max_qp", 392632}, {"max_qp_wr", 16351}, {"max_sge", 32},
                                  {"max_cq", 65408},  {"max_cqe", 4194303}, {"max_mr_size", 0x10000}};
  EXPECT_EQ(json({"show", "--json"})["devices"].front()["limits"]["max_qp_wr"], 16351);
  EXPECT_EQ(console.run({"show", "rocep17s0"}), 0);
  EXPECT_THAT(console.out.str(), AllOf(HasSubstr("at most 392632, each with 16351 work requests of 32 parts"),
                                       HasSubstr("at most 65408, each with 4194303 entries"),
                                       HasSubstr("each of 0x10000 bytes")));
}

TEST_F(ShowFacts, TellsTheHardwareRevision) {
  EXPECT_EQ(json({"show", "--json"})["devices"].back()["hardware"], Json());
  console.kernel.files.content["/sys/class/infiniband/rocep17s0/hw_rev"] = "0xb0\n";
  EXPECT_EQ(json({"show", "--json"})["devices"].back()["hardware"], "0xb0");
  EXPECT_EQ(console.run({"show", "rocep17s0"}), 0);
  EXPECT_THAT(console.out.str(), HasSubstr("0xb0"));
}

TEST_F(ShowFacts, TellsWhatPortsHaveCounted) {
  auto& files = console.kernel.files.content;
  const std::string port = "/sys/class/infiniband/rocep17s0/ports/1/";
  files[port + "counters/port_xmit_data"] = "4000\n";
  files[port + "counters/symbol_error"] = "0\n";
  files[port + "counters/link_downed"] = "2\n";
  files[port + "counters/VL15_dropped"] = "N/A (no PMA)\n";
  files[port + "hw_counters/out_of_sequence"] = "7\n";
  files[port + "hw_counters/vendors_own"] = "1\n";
  files[port + "hw_counters/lifespan"] = "10\n";
  EXPECT_FALSE(json({"show", "--json"})["devices"].back()["ports"][0].contains("counters"))
      << "not asked for";
  EXPECT_EQ(
      json({"show", "--json", "counters"})["devices"].back()["ports"][0]["counters"],
      Json::parse(
          R"({"link_downed":2,"out_of_sequence":7,"symbol_error":0,"vendors_own":1,"port_xmit_data":4000})"));
  EXPECT_EQ(console.run({"show", "counters", "rocep17s0/1"}), 0);
  EXPECT_THAT(console.out.str(),
              HasSubstr("rocep17s0/1  link_downed      2      times that the link went down"));
  EXPECT_THAT(console.out.str(), HasSubstr("rocep17s0/1  vendors_own      1      -"));
  EXPECT_THAT(console.out.str(), Not(HasSubstr("symbol_error")));
  EXPECT_EQ(console.run({"show", "counters", "--wide"}), 0);
  EXPECT_THAT(console.out.str(), HasSubstr("symbol_error     0"));
  for (const auto* name : {"link_downed", "port_xmit_data", "hw"}) files.erase(port + "counters/" + name);
  files.erase(port + "hw_counters/out_of_sequence");
  files.erase(port + "hw_counters/vendors_own");
  EXPECT_EQ(console.run({"show", "counters"}), 0);
  EXPECT_EQ(console.out.str(), "");
  EXPECT_THAT(console.err.str(), HasSubstr("all counters are 0; --wide shows them"));
}

TEST_F(ShowFacts, TellsOmniPathAndIwarpApart) {
  console.kernel.add(R"({ "devices": [
      { "name": "hfi1_0", "driver": "hfi1", "pci": "0000:12:00.0", "ports": [{ "guid": "0011:7501:0102:0304", "mtu": 10240 }] },
      { "name": "irdma0", "driver": "ice", "pci": "0000:13:00.0", "iwarp": true,
        "ports": [{ "guid": "0002:c903:0031:8002", "link_layer": "Ethernet", "netdev": "eth2", "gid_types": ["IB/RoCE v1"] }] }] })");
  const auto out = json({"show", "--json"});
  std::map<std::string, Json> protocols;
  for (const auto& device : out["devices"]) protocols[device["name"]] = device["protocol"];
  EXPECT_EQ(protocols["hfi1_0"], "omni_path");
  EXPECT_EQ(protocols["irdma0"], "iwarp");
  EXPECT_EQ(protocols["rocep17s0"], "roce");
  EXPECT_EQ(console.run({"show", "ports"}), 0);
  EXPECT_THAT(console.out.str(), AllOf(HasSubstr("hfi1_0/1     Omni-Path"), HasSubstr("irdma0/1     iWARP")));
  EXPECT_EQ(console.run({"show", "gids", "irdma0"}), 0);
  EXPECT_THAT(console.out.str(), AllOf(HasSubstr("iWARP"), Not(HasSubstr("RoCE v1"))));
  EXPECT_EQ(console.run({"show", "roce"}), 0);
  EXPECT_THAT(console.out.str(), Not(HasSubstr("irdma0")));
  EXPECT_EQ(console.run({"show", "hfi1_0"}), 0);
  EXPECT_THAT(console.out.str(), HasSubstr("InfiniBand (Omni-Path)"));
}

TEST(PortViewGuid, OfAnEthernetPortIsThatOfItsFirstGid) {
  system::RdmaPort port;
  port.link_layer = "Ethernet";
  PortView view{nullptr, &port, {}, {}, {}, {}};
  EXPECT_EQ(view.guid().number, 0U);
  view.gids = {{1, "RoCE v2", "fe80:0000:0000:0000:0202:c9ff:fea0:b031", "eth1"}};
  EXPECT_EQ(view.guid().number, 0U) << "the first one is empty, as ibstat says";
  view.gids->front().index = 0;
  EXPECT_EQ(view.guid().text(), "02:02:c9:ff:fe:a0:b0:31");
  port.guid = model::Guid{5};
  EXPECT_EQ(view.guid().number, 5U);
}

TEST_F(ShowFacts, NarrowsToAName) {
  EXPECT_EQ(console.run({"show", "slurmd.service"}), 0);
  EXPECT_THAT(console.out.str(),
              AllOf(HasSubstr("SERVICES"), Not(HasSubstr("MODULES")), Not(HasSubstr("rdma-ndd"))));
  const auto out = json({"show", "--json", "rocep17s0"});
  EXPECT_EQ(out["dcb"].size(), 1U) << "of its interface";
  EXPECT_EQ(out["modules"].size(), 0U);
  EXPECT_EQ(console.run({"show", "mlx4_em"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("did you mean mlx4_en?"));
}

TEST_F(ShowFacts, OfAnotherRootTellsWhatIsInFiles) {
  const auto out = json({"show", "--json", "--root", console.folder().string()});
  EXPECT_EQ(out["modules"][0]["loaded"], Json());
  EXPECT_EQ(out["services"].size(), 0U);
  EXPECT_EQ(out["memlock"].size(), 1U);
}

}  // namespace
}  // namespace rdmacfg::ctl
