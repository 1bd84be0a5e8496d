// SPDX-License-Identifier: Apache-2.0
#include "fakes/fleet_site.hpp"

#include <fmt/format.h>

#include <map>

namespace rdmacfg::fakes {

namespace {

constexpr int kRails = 8;

std::string host_name(int number) { return fmt::format("gpu{:05}", number); }
std::string guid_of(int number, int rail) {
  return fmt::format("00:02:c9:03:{:02x}:{:02x}:{:02x}:{:02x}", rail, number >> 16, (number >> 8) & 0xff,
                     number & 0xff);
}
std::string address_of(int number, int network) {
  return fmt::format("10.{}.{}.{}/16", network, number / 250, number % 250 + 1);
}

/// The table, line by line.
class Nodes {
 public:
  Nodes(int hosts) : hosts_(hosts) {
    for (int number = 1; number <= hosts; ++number) add(host_name(number), number);
    for (int number = 1; number <= 2; ++number) {
      const auto name = fmt::format("sm{}", number);
      add(name, hosts + number);
      set(name, "smprio", std::to_string(number));
    }
  }

  void add(const std::string& name, int number) {
    names_.push_back(name);
    auto& row = rows_[name];
    for (int rail = 0; rail < kRails; ++rail) {
      row[fmt::format("g{}", rail)] = guid_of(number, rail);
      row[fmt::format("a{}", rail)] = address_of(number, rail + 1);
    }
    row["p0"] = address_of(number, 20);
    row["mtu"] = row["pmtu"] = "2044";
    row["mode"] = "datagram";
    row["pk"] = "0x8005";
    row["dscp"] = "26";
    row["prio"] = "3";
    row["roce"] = "v2";
    row["map"] = "26:3";
    row["smprio"] = "";
  }
  void set(const std::string& name, const std::string& column, const std::string& value) {
    rows_.at(name).at(column) = value;
  }
  std::string& at(int number, const std::string& column) { return rows_.at(host_name(number)).at(column); }
  [[nodiscard]] int hosts() const { return hosts_; }

  [[nodiscard]] std::string text() const {
    std::string out = "host";
    for (const auto& [column, value] : rows_.begin()->second) out += "," + column;
    out += '\n';
    for (const auto& name : names_) {
      out += name;
      for (const auto& [column, value] : rows_.at(name)) out += "," + value;
      out += '\n';
    }
    return out;
  }

 private:
  int hosts_;
  std::vector<std::string> names_;
  std::map<std::string, std::map<std::string, std::string>> rows_;
};

std::string main_document() {
  std::string out = "version = 1\n[match]\nhost = [\"gpu*\", \"sm*\"]\n[host]\ntable = \"nodes.csv\"\n";
  for (int rail = 0; rail < kRails; ++rail) {
    out += fmt::format(
        "[[ipoib]]\nguid = \"{{host.g{0}}}\"\nname = \"rail{0}\"\nipv4 = {{ addresses = [\"{{host.a{0}}}\"] "
        "}}\n",
        rail);
    out += rail == 0 ? "mode = \"{host.mode}\"\nmtu = \"{host.mtu}\"\n[[ipoib.pkey]]\npkey = 0x8002\nmtu = "
                       "\"{host.pmtu}\"\nipv4 = { addresses = [\"{host.p0}\"] }\n"
                     : "mode = \"datagram\"\nmtu = 2044\n";
    if (rail == 1) out += "[[ipoib.pkey]]\npkey = \"{host.pk}\"\n";
  }
  return out +
         "[[lossless]]\ninterface = \"ens1\"\ndscp = \"{host.dscp}\"\npriority = \"{host.prio}\"\n"
         "[[roce]]\ninterface = \"ens2\"\nmode = \"{host.roce}\"\n"
         "[[pfc]]\ninterface = \"ens3\"\npriorities = [3]\ndscp = [\"{host.map}\"]\n";
}

/// The document of a subnet manager; `also_in_6` is a port, or nothing.
std::string manager_document(const std::string& host, const std::string& name_of_5,
                             const std::string& also_in_6 = {}) {
  const auto more = also_in_6.empty() ? also_in_6 : fmt::format(", \"{}=full\"", also_in_6);
  const auto partition = [](const char* pkey, const std::string& members) {
    return fmt::format("[[partition]]\npkey = {}\nmembers = [{}]\n", pkey, members);
  };
  return fmt::format(
             "[match]\nhost = [\"{}\"]\n[[opensm]]\nguid = \"{{host.g0}}\"\npriority = \"{{host.smprio}}\"\n",
             host) +
         partition("0x7fff", "\"ALL=full\"") + partition("0x8002", "\"ALL=full\"") +
         partition("0x8003", fmt::format("\"{}=full\"", guid_of(1, 1))) +
         partition("0x8004", fmt::format("\"ALL=limited\", \"{}=full\"", guid_of(1, 1))) +
         partition("0x8005", "\"ALL=full\"") + fmt::format("name = \"{}\"\n", name_of_5) +
         partition("0x8006", fmt::format("\"{}=full\"{}", guid_of(2, 1), more)) +
         partition("0x8007", "\"ALL=full\"") + "ipoib = false\n";
}

using Planted = std::vector<std::pair<std::string, std::string>>;

void spoil_identities(Nodes& nodes, Planted& out) {
  for (int i = 0; i < 3; ++i) {
    nodes.at(10 + i, "a2") = nodes.at(20 + i, "a2");
    out.emplace_back("address", fmt::format("gpu[{:05},{:05}]", 10 + i, 20 + i));
    nodes.at(30 + i, "g3") = nodes.at(40 + i, "g3");
    out.emplace_back("guid", fmt::format("gpu[{:05},{:05}]", 30 + i, 40 + i));
  }
}

void spoil_networks(Nodes& nodes, Planted& out) {
  for (int i = 0; i < 3; ++i) {
    nodes.at(50 + i, "pmtu") = std::to_string(1500 + i);
    out.emplace_back("partition-mtu", host_name(50 + i));
    std::swap(nodes.at(60 + i, fmt::format("a{}", i)), nodes.at(60 + i, fmt::format("a{}", i + 4)));
    out.emplace_back("rails-swapped", host_name(60 + i));
    nodes.at(70 + i, "a6") = fmt::format("192.168.{}.1/24", i);
    out.emplace_back("partition-subnet", host_name(70 + i));
  }
  nodes.at(80, "mtu") = "4092";
  nodes.at(81, "mtu") = "4092";
  out.emplace_back("partition-mtu", "gpu[00080,00081]");
  nodes.at(82, "mode") = "connected";
  out.emplace_back("partition-mode", host_name(82));
  nodes.at(83, "p0") = "10.21.0.1/16";
  out.emplace_back("partition-subnet", host_name(83));
}

void spoil_fabric(Nodes& nodes, Planted& out) {
  nodes.at(90, "pk") = "0x8009";
  nodes.at(91, "pk") = "0x8009";
  out.emplace_back("pkey-unknown", "gpu[00090,00091]");
  nodes.at(92, "pk") = "0x8007";
  out.emplace_back("pkey-ipoib", host_name(92));
  nodes.at(93, "pk") = "0x8003";
  out.emplace_back("pkey-member", host_name(93));
  nodes.at(94, "pk") = "0x8006";
  out.emplace_back("pkey-member", host_name(94));
  nodes.at(95, "pk") = "0x8004";
  nodes.at(96, "pk") = "0x8004";
  out.emplace_back("pkey-limited", "gpu[00095,00096]");
  nodes.set("sm1", "smprio", "2");
  out.emplace_back("sm-priority", "sm[1,2]");
  out.emplace_back("partition-name", "sm[1,2]");
  out.emplace_back("sm-partition", "sm2");
  nodes.at(100, "roce") = "v1";
  out.emplace_back("roce-mode", host_name(100));
  nodes.at(101, "dscp") = "24";
  out.emplace_back("roce-dscp", host_name(101));
  nodes.at(102, "dscp") = "46";
  out.emplace_back("roce-dscp", host_name(102));
  nodes.at(103, "prio") = "4";
  out.emplace_back("pfc-priority", host_name(103));
  nodes.at(104, "map") = "24:3";
  out.emplace_back("pfc-dscp", host_name(104));
}

void spoil_documents(Nodes& nodes, Planted& out) {
  nodes.at(110, "mtu") = "99999";
  nodes.at(111, "a1") = "10.2.0.300/16";
  nodes.at(112, "a3") = "";
  nodes.at(113, "g5") = "00:02:c9";
  nodes.at(114, "pk") = "0x0000";
  for (int number = 110; number <= 114; ++number) out.emplace_back("document", host_name(number));
}

}  // namespace

FleetSite fleet_site(int hosts, Mistakes which) {
  const bool mistakes = which == Mistakes::kForty;
  FleetSite out;
  out.hosts = fmt::format("gpu[00001-{:05}],sm[1-2]", hosts);
  Nodes nodes(hosts);
  if (mistakes) {
    spoil_identities(nodes, out.mistakes);
    spoil_networks(nodes, out.mistakes);
    spoil_fabric(nodes, out.mistakes);
    spoil_documents(nodes, out.mistakes);
    out.hosts += ",gpu00007,login1,gpu00008.example.net";
    out.mistakes.emplace_back("list", "gpu00007");
    out.mistakes.emplace_back("no-file", "login1");
    nodes.add("gpu99999", hosts + 9);
    out.mistakes.emplace_back("unknown-host", "");
    nodes.add("gpu00008.example.net", hosts + 8);
    out.mistakes.emplace_back("host-name", "gpu00008,gpu00008.example.net");
  }
  out.texts = {{"/site/config.toml", main_document()},
               {"/site/sm1.toml", manager_document("sm1", "store")},
               {"/site/sm2.toml", mistakes ? manager_document("sm2", "scratch", guid_of(3, 1))
                                           : manager_document("sm2", "store")},
               {"/site/nodes.csv", nodes.text()}};
  return out;
}

namespace {

std::string port_json(int number, int rail, int drift) {
  std::string gids;
  for (int index = 0; index < 4; ++index)
    gids += fmt::format(
        R"({}{{"index": {}, "type": "IB/RoCE v1", "gid": "fe80:0000:0000:0000:0002:c903:{:04x}:{:04x}", "netdev": null}})",
        index > 0 ? ", " : "", index, rail, number & 0xffff);
  return fmt::format(
      R"({{"device": "mlx5_{0}", "port": 1, "link_layer": "InfiniBand", "state": "ACTIVE", "physical_state": "LinkUp",
 "rate": "{1}", "lid": {2}, "sm_lid": 1, "lmc": 0, "capabilities": 626001992, "mtu_active": 4096, "mtu_max": 4096,
 "guid": "{3}", "gid_prefix": "fe80:0000:0000:0000", "netdevs": ["rail{0}"],
 "pkeys": [{{"pkey": "0xffff", "membership": "full"}}, {{"pkey": "0x8002", "membership": "full"}}],
 "gids": [{4}], "roce": null}})",
      rail, drift == 4 && rail == 5 ? "100 Gb/sec (4X EDR)" : "400 Gb/sec (4X NDR)", 10 * number + rail,
      guid_of(number, rail), gids);
}

std::string device_json(int number, int rail, int drift) {
  return fmt::format(
      R"({{"name": "mlx5_{0}", "hca_type": "MT4129", "node_type": "CA", "firmware": "{1}", "hardware": "0x0", "vendor_id": 713,
 "vendor_part_id": 4129, "board_id": "MT_0000000838", "node_guid": "{2}", "system_guid": "{2}", "node_description": "gpu{3:05} mlx5_{0}",
 "driver": "mlx5_core", "pci": "0000:{4:02x}:00.0", "soft": null, "ports": [{5}]}})",
      rail, drift == 3 ? "28.33.1000" : "28.39.2048", guid_of(number, rail), number, 16 + rail,
      port_json(number, rail, drift));
}

std::string interface_json(int number, int rail, int drift) {
  return fmt::format(
      R"({{"name": "rail{0}", "index": {1}, "altnames": [], "device": "mlx5_{0}", "port": 1, "guid": "{2}", "parent": null,
 "pkey": "0xffff", "mode": "datagram", "connected_capable": true, "mtu": {3}, "umcast": false, "addresses": ["{4}"], "up": true, "carrier": true}})",
      rail, 10 + rail, guid_of(number, rail), drift == 0 && rail == 0 ? 1500 : 2044,
      address_of(number, rail + 1));
}

std::string resource_json(const std::string& kind, const std::string& id, const std::string& label,
                          const std::string& status, const std::string& attributes) {
  return fmt::format(
      R"({{"kind": "{}", "id": "{}", "label": "{}", "status": "{}", "reason": "", "warnings": [], "attributes": [{}]}})",
      kind, id, label, status, attributes);
}

std::string attribute_json(const std::string& name, const std::string& now, const std::string& wanted) {
  return fmt::format(
      R"({{"name": "{}", "now": {}, "wanted": {}, "origin": {{"file": "/etc/rdma-configd/config.toml", "line": 12, "column": 7}}}})",
      name, now, wanted);
}

std::string resources_json(int number, int drift) {
  std::string out;
  const auto add = [&](const std::string& resource) { out += (out.empty() ? "" : ",\n") + resource; };
  for (int rail = 0; rail < kRails; ++rail) {
    const bool mtu = drift == 0 && rail == 0;
    add(resource_json("ipoib", guid_of(number, rail), fmt::format("rail{}", rail),
                      mtu ? "differs" : "in_sync",
                      attribute_json("mode", "\"datagram\"", "\"datagram\"") + ", " +
                          attribute_json("mtu", mtu ? "1500" : "2044", "2044") + ", " +
                          attribute_json("state", "\"up\"", "\"up\"")));
    const auto address = '"' + address_of(number, rail + 1) + '"';
    add(resource_json("address", guid_of(number, rail), fmt::format("rail{}", rail), "in_sync",
                      attribute_json("addresses", '[' + address + ']', '[' + address + ']')));
  }
  const bool missing = drift == 1;
  add(resource_json("pkey", guid_of(number, 0) + "/0x8002", "rail0.8002", missing ? "differs" : "in_sync",
                    attribute_json("name", missing ? "null" : "\"rail0.8002\"", "\"rail0.8002\"") + ", " +
                        attribute_json("mtu", missing ? "null" : "2044", "2044")));
  add(resource_json("service", "rdma-ndd.service", "rdma-ndd.service", drift == 2 ? "differs" : "in_sync",
                    attribute_json("running", drift == 2 ? "false" : "true", "true")));
  return out;
}

constexpr const char* kHead =
    R"({{"schema": "org.rdmaconfigd.{}/1", "command": "{}", "exit": {{"status": {}, "name": "{}"}}, "error": null, "diagnostics": [],
)";

}  // namespace

std::string show_of_host(int number, int drift) {
  std::string devices, interfaces;
  for (int rail = 0; rail < kRails; ++rail) {
    devices += (rail > 0 ? ",\n" : "") + device_json(number, rail, drift);
    interfaces += (rail > 0 ? ",\n" : "") + interface_json(number, rail, drift);
  }
  return fmt::format(kHead, "show", "show", 0, "ok") +
         fmt::format("\"devices\": [{}], \"interfaces\": [{}], \"resources\": [{}], \"notes\": []}}\n",
                     devices, interfaces, resources_json(number, drift));
}

std::string diff_of_host(int number, int drift) {
  const bool differs = drift >= 0 && drift <= 2;
  return fmt::format(kHead, "report", "diff", differs ? 2 : 0, differs ? "differs" : "ok") +
         fmt::format("\"resources\": [{}], \"changes\": [], \"notes\": [], \"left_over\": []}}\n",
                     resources_json(number, drift));
}

}  // namespace rdmacfg::fakes
