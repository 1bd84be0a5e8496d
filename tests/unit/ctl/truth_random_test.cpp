// SPDX-License-Identifier: Apache-2.0
// The rule of truth_test.cpp on hosts and documents that nobody thought of: made at random, the same ones in
// every run. RDMACFG_TRUTH=5000 in the environment makes 5000 of them, RDMACFG_TRUTH_SEED=17 only that one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "truth.hpp"

namespace rdmacfg::ctl::truth_random {
namespace {

/// Draws without std::uniform_int_distribution, whose numbers are each library's own.
class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed + 1) { random_.discard(7); }
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(random_() >> 4U) % count; }
  bool one_in(std::size_t count) { return below(count) == 0; }
  const char* of(std::initializer_list<const char*> list) { return list.begin()[below(list.size())]; }

 private:
  std::minstd_rand random_;
};

struct Sample {
  std::string host;
  std::string document;
};

class Maker {
 public:
  explicit Maker(unsigned seed) : dice_(seed) {}

  Sample make() {
    std::string host = "{";
    host += fmt::format("\"rename_up\": {},", dice_.one_in(2));
    host += "\"devices\": [" + base::join(devices(), ",") + "],";
    host += R"("links": [{ "name": "eth0", "up": true, "items": ["addr4 203.0.113.1/24"] },)"
            R"({ "name": "eth1", "up": true }],)";
    host += fmt::format("\"dcb\": {{ \"eth0\": {{ \"pfc\": {} }} }},", dice_.of({"0", "8", "16"}));
    host += R"("users": ["root"], "groups": ["rdma"],)";
    host += fmt::format(R"("sysctl": {{ "net/ipv4/neigh/default/gc_thresh1": "{}" }},)",
                        dice_.of({"128", "2048"}));
    const bool starts = !dice_.one_in(4);
    std::array<bool, 5> units{};
    for (auto at = units.rbegin(); at != units.rend(); ++at) *at = dice_.one_in(2);
    host += fmt::format(
        R"("units": {{ "rdma-ndd.service": {{ "enabled": {}, "running": {}, "installable": {} }},)"
        R"("iwpmd.service": {{ "enabled": {}, "running": {}, "starts": {} }},)"
        R"("opensm@.service": {{ "enabled": false, "running": false }} }},)",
        units[0], units[1], units[2], units[3], units[4], starts);
    std::array<bool, 3> loaded{};
    for (auto at = loaded.rbegin(); at != loaded.rend(); ++at) *at = dice_.one_in(2);
    host +=
        fmt::format(R"("modules": {{ "mlx4_core": {{ "loaded": {}, "parameters": {{ "num_vfs": "0" }} }},)"
                    R"("mlx4_en": {{ "loaded": {}, "parameters": {{ "pfctx": "0", "pfcrx": "0" }} }},)"
                    R"("ib_umad": {{ "loaded": {} }} }},)",
                    loaded[0], loaded[1], loaded[2]);
    host += fmt::format(R"("files": {{ {} }})", files());
    return {host + "}", document()};
  }

 private:
  struct Port {
    std::string guid, device;
    int number = 1;
    bool here = true;
  };

  std::string guid(std::size_t device, int port) const {
    return fmt::format("00:02:c9:03:00:31:{:02x}:{:02x}", 0x70 + device, port);
  }

  std::string interface(const std::string& name, bool& connects) {
    const bool connected = dice_.one_in(3);
    connects = connects || connected;
    std::string out =
        fmt::format(R"({{ "name": "{}", "mode": "{}", "mtu": {}, "up": {})", name,
                    connected ? "connected" : "datagram", connected ? "65520" : "2044", !dice_.one_in(4));
    if (dice_.one_in(3)) out += R"(, "items": ["addr4 192.0.2.77/24"])";
    if (dice_.one_in(3)) {
      // Drawn one by one: compilers differ in the order of arguments.
      const auto* by = dice_.of({"netlink", "sysfs"});
      const auto* pkey = dice_.of({"0x8002", "0x8003"});
      out +=
          fmt::format(R"(, "children": [{{ "pkey": "{}", "name": "{}.8002", "by": "{}" }}])", pkey, name, by);
    }
    return out + " }";
  }

  std::vector<std::string> devices() {
    std::vector<std::string> out;
    const auto count = dice_.below(4);
    std::size_t interfaces = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const bool mlx4 = dice_.one_in(2);
      const auto name = fmt::format("{}_{}", mlx4 ? "mlx4" : "mlx5", i);
      bool connects = mlx4;  // an interface that is connected shows that the adapter can do it
      std::vector<std::string> ports;
      const int number_of = mlx4 ? 2 : 1;
      for (int port = 1; port <= number_of; ++port) {
        const bool ethernet = dice_.one_in(4);
        const auto* pkeys = dice_.one_in(2) ? R"(, "0x8002")" : "";
        const bool sm = !dice_.one_in(4);
        const auto* mtu = dice_.of({"2048", "4096"});
        const auto* state = dice_.of({"ACTIVE", "ACTIVE", "DOWN", "INIT"});
        std::string text = fmt::format(
            R"({{ "guid": "{}", "state": "{}", "link_layer": "{}", "mtu": {}, "sm": {}, "pkeys": ["0xffff"{}])",
            guid(i, port), state, ethernet ? "Ethernet" : "InfiniBand", mtu, sm, pkeys);
        if (!ethernet) text += ", \"interface\": " + interface(fmt::format("ib{}", interfaces++), connects);
        ports.push_back(text + " }");
        if (!ethernet) ports_.push_back({guid(i, port), name, port});
        if (ethernet) ethernet_.push_back({guid(i, port), name, port});
      }
      const bool can = mlx4 || dice_.one_in(2);
      out.push_back(fmt::format(
          R"({{ "name": "{}", "driver": "{}", "pci": "0000:{:02x}:00.0", "node_guid": "{}", "connected": {}, "ports": [{}] }})",
          name, mlx4 ? "mlx4_core" : "mlx5_core", 0x10 + i, guid(i, 0), can || connects,
          base::join(ports, ",")));
    }
    ports_.push_back({"00:02:c9:03:00:31:ee:ee", "mlx4_9", 1, false});
    return out;
  }

  std::string files() {
    std::vector<std::string> out{R"("/etc/nsswitch.conf": "group: files\n")"};
    if (dice_.one_in(4))
      out.emplace_back(
          R"("/etc/udev/rules.d/70-persistent-ipoib.rules": "ACTION==\"add\", SUBSYSTEM==\"net\", DRIVERS==\"?*\", ATTR{type}==\"32\", ATTR{address}==\"?*00:02:c9:03:00:31:70:01\", NAME=\"old_ib0\"\n")");
    if (dice_.one_in(4)) out.emplace_back(R"("/etc/modprobe.d/site.conf": "options mlx4_core num_vfs=2\n")");
    if (dice_.one_in(4))
      out.emplace_back(R"("/etc/sysctl.d/zzz.conf": "net.ipv4.neigh.default.gc_thresh1 = 64\n")");
    if (dice_.one_in(4)) out.emplace_back(R"("/etc/opensm/opensm.conf": "max_wire_smps 4\n")");
    return base::join(out, ",");
  }

  void key(std::string& text, std::size_t odds, const std::string& line) {
    if (dice_.one_in(odds)) text += line + "\n";
  }

  void port(std::string& text, const Port& port, std::size_t index) {
    text += "[[ipoib]]\n";
    text += dice_.one_in(3) ? fmt::format("device = \"{}\"\nport = {}\n", port.device, port.number)
                            : fmt::format("guid = \"{}\"\n", port.guid);
    key(text, 2, fmt::format("name = \"rail{}\"", index));
    if (dice_.one_in(2)) {
      text += dice_.of({"mode = \"datagram\"\n", "mode = \"connected\"\n",
                        "mode = \"connected\"\non_unsupported = \"datagram\"\nmtu = 2044\n",
                        "mode = \"connected\"\nmtu = 65520\n", "mode = \"datagram\"\nmtu = 2044\n",
                        "mode = \"datagram\"\nmtu = 4092\n"});
    }
    key(text, 4, fmt::format("state = \"{}\"", dice_.of({"up", "down", "ignore"})));
    key(text, 6, "umcast = true");
    key(text, 5, "prune = true");
    key(text, 4, fmt::format("backend = \"{}\"", dice_.of({"direct", "networkd", "networkmanager"})));
    if (dice_.one_in(3)) text += fmt::format("ipv4 = {{ addresses = [\"192.0.2.{}/24\"] }}\n", index + 1);
    const auto children = dice_.below(3);
    for (std::size_t i = 0; i < children; ++i) {
      text += fmt::format("[[ipoib.pkey]]\npkey = 0x800{}\n", i + 2);
      key(text, 3, fmt::format("name = \"part{}_{}\"", index, i));
      key(text, 3, fmt::format("mode = \"{}\"", dice_.of({"datagram", "connected"})));
      key(text, 4, fmt::format("state = \"{}\"", dice_.of({"up", "down", "absent", "ignore"})));
    }
  }

  std::string document() {
    std::string text = "version = 1\n";
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      if (ports_[i].here ? !dice_.one_in(4) : dice_.one_in(4)) port(text, ports_[i], i);
    }
    for (const auto& port : ethernet_) {
      if (dice_.one_in(2))
        text += fmt::format("[[roce]]\ndevice = \"{}\"\nport = {}\nmode = \"v2\"\ndscp = 26\n", port.device,
                            port.number);
    }
    key(text, 3, "[[module]]\nname = \"mlx4_core\"\noptions = [\"num_vfs=4\"]");
    key(text, 3, "[[module]]\nname = \"ib_umad\"");
    key(text, 3, fmt::format("[[pfc]]\ninterface = \"{}\"\npriorities = [3]", dice_.of({"eth0", "eth9"})));
    key(text, 4, "[[pfc]]\ndriver = \"mlx4_en\"\npriorities = [4]");
    key(text, 3, "[[sysctl]]\nkey = \"net.ipv4.neigh.default.gc_thresh1\"\nvalue = 2048");
    key(text, 4, "[[sysctl]]\ninterface = \"rail0\"\nrp_filter = 2");
    key(text, 5, "[[sysctl]]\nkey = \"net.ipv4.not_there\"\nvalue = 1");
    key(text, 3, "[[memlock]]\ndomain = \"@rdma\"\nlimit = \"unlimited\"");
    key(text, 3, fmt::format("[[service]]\nname = \"rdma-ndd\"\nenabled = {}", dice_.one_in(2)));
    key(text, 3, fmt::format("[[service]]\nname = \"iwpmd\"\nenabled = true\nrunning = {}", dice_.one_in(2)));
    key(text, 4, fmt::format("[[opensm]]\nguid = \"{}\"\npriority = 3", ports_.front().guid));
    key(text, 4, "[[opensm_option]]\nkey = \"max_wire_smps\"\nvalue = 16");
    key(text, 4, "[[partition]]\npkey = 0x7fff\nmembers = [\"ALL=full\"]");
    key(text, 5, "[initramfs]\npolicy = \"report\"");
    key(text, 5, "[[rdma_device]]\npci = \"0000:10:00.0\"\nname = \"fab0\"");
    key(text, 6, "[[mlx4_port]]\npci = \"0000:10:00.0\"\nports = [\"ib\", \"ib\"]");
    key(text, 6, "[rdma_system]\nnetns = \"shared\"");
    key(text, 4, "[[soft_rdma]]\ninterface = \"eth1\"\ntype = \"rxe\"\nname = \"rxe0\"");
    key(text, 5, "[[lossless]]\ninterface = \"eth1\"\npriority = 3\ndscp = 26");
    key(text, 4, fmt::format("[[expect]]\nname = \"fabric\"\ndevices = {}", dice_.below(3) + 1));
    key(text, 5, "[[expect]]\nname = \"links\"\nactive_ports = 1\nsubnet_manager = true");
    return text;
  }

  Dice dice_;
  std::vector<Port> ports_, ethernet_;
};

unsigned number_in(const char* variable, unsigned otherwise) {
  const char* text = std::getenv(variable);
  const auto number = base::parse_number(text == nullptr ? "" : text);
  return number ? static_cast<unsigned>(*number) : otherwise;
}

TEST(TruthAtRandom, IsTheSameWhateverAsks) {
  constexpr unsigned kInCi = 4;
  const Console files;  // its folder goes with it
  const auto only = number_in("RDMACFG_TRUTH_SEED", 0);
  const auto count = number_in("RDMACFG_TRUTH", kInCi);
  unsigned fits = 0;
  for (unsigned seed = only == 0 ? 1 : only; seed <= (only == 0 ? count : only); ++seed) {
    const auto sample = Maker(seed).make();
    const auto file = files.folder() / fmt::format("{}.toml", seed);
    std::ofstream(file) << sample.document;
    SCOPED_TRACE(fmt::format("RDMACFG_TRUTH_SEED={}\n{}\n{}", seed, sample.host, sample.document));
    truth::Host host(sample.host, file.string());
    fits += truth::compare(host, "before") ? 1U : 0U;
    host.apply();
    (void)truth::compare(host, "applied");
    std::minstd_rand random(seed);
    for (int i = 0; i < 2; ++i) truth::disturb(host.kernel(), random);
    (void)truth::compare(host, "disturbed");
    if (HasFailure()) return;
  }
  if (only == 0) {
    EXPECT_GT(fits, 0U) << "no document fits its host";
  }
}

}  // namespace
}  // namespace rdmacfg::ctl::truth_random
