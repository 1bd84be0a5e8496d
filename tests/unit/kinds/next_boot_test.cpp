// SPDX-License-Identifier: Apache-2.0
// Warnings of what the next boot undoes: it leaves a module out, or switches IPv6 off.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"

namespace rdmacfg::kinds {
namespace {

constexpr const char* kGrubFile = "/etc/default/grub";

/// The messages about a document, on a host with a port, the modules of these sections and these files.
std::string told_of_boot(const std::string& sections, const std::map<std::string, std::string>& files) {
  auto kernel = fakes::FakeKernel::parse(
      R"({"rdma_system": {"loaded": true, "shared": true},
          "modules": {"mlx4_en": {"loaded": true, "parameters": {"pfctx": "8", "pfcrx": "8"}},
                      "rdma_rxe": {"loaded": true}},
          "links": [{"name": "eth0", "up": true}],
          "devices": [{"name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
              {"guid": "00:02:c9:03:00:31:78:f2", "interface": {"name": "ib0", "up": true}}]}]})");
  for (const auto& [path, text] : files) kernel->files.content.insert_or_assign(path, text);
  auto host = kernel->host();
  const auto report = core::diff(
      config::parse_texts({{"config.toml", "version = 1\n" + sections}}, "node1", grammar()), host);
  std::string out;
  for (const auto& diagnostic : report.diagnostics) out += diagnostic.message + "\n";
  return out;
}

const std::string kPortEntry = "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nbackend = \"direct\"\n";

bool is_told(const std::string& sections, const std::map<std::string, std::string>& files,
             const std::string& message) {
  return told_of_boot(sections, files).find(message + "\n") != std::string::npos;
}

TEST(NextBoot, AKernelCommandLineThatOverrulesASectionIsNamed) {
  EXPECT_TRUE(is_told("[[pfc]]\ndriver = \"mlx4_en\"\npriorities = [3]\n",
                      {{kGrubFile, "GRUB_CMDLINE_LINUX=\"mlx4_en.pfctx=0\"\n"}},
                      "[[pfc]] priorities: /etc/default/grub:1 sets pfctx of mlx4_en from the next boot on: "
                      "\"pfctx=0\""));
  EXPECT_TRUE(is_told(
      "[rdma_system]\nnetns = \"shared\"\n", {{kGrubFile, "GRUB_CMDLINE_LINUX=\"ib_core.netns_mode=0\"\n"}},
      "[rdma_system] netns: /etc/default/grub:1 sets netns_mode of ib_core from the next boot "
      "on: \"netns_mode=0\""));
  EXPECT_TRUE(is_told("[[soft_rdma]]\ninterface = \"eth0\"\ntype = \"rxe\"\nname = \"rxe0\"\n",
                      {{kGrubFile, "GRUB_CMDLINE_LINUX=\"module_blacklist=rdma_rxe\"\n"}},
                      "[[soft_rdma]] type: /etc/default/grub:1 blacklists rdma_rxe from the next boot on"));
}

TEST(NextBoot, PortsThatTheirModuleLeavesAreNamed) {
  const std::string gone = ": IPoIB interfaces are gone after a reboot";
  EXPECT_EQ(told_of_boot(kPortEntry, {}), "");
  EXPECT_TRUE(is_told(kPortEntry, {{"/etc/modprobe.d/site.conf", "blacklist ib-ipoib\n"}},
                      "[[ipoib]]: /etc/modprobe.d/site.conf:1 keeps ib_ipoib from being loaded at boot "
                      "(blacklist)" +
                          gone));
  EXPECT_TRUE(is_told(kPortEntry, {{"/etc/modprobe.d/site.conf", "install ib_ipoib /bin/false\n"}},
                      "[[ipoib]]: /etc/modprobe.d/site.conf:1 keeps ib_ipoib from being loaded at boot "
                      "(install)" +
                          gone));
  EXPECT_TRUE(is_told(kPortEntry, {{kGrubFile, "GRUB_CMDLINE_LINUX=\"module_blacklist=ib_ipoib\"\n"}},
                      "[[ipoib]]: /etc/default/grub:1 blacklists ib_ipoib from the next boot on"));
}

TEST(NextBoot, AListOfRdmaCoreWithoutIpoibIsNamedWhereNoOtherHasIt) {
  constexpr const char* kList = "/etc/rdma/modules/infiniband.conf";
  const std::string without = "# ib_ipoib\nib_umad\n";
  const auto warns = [&](const std::map<std::string, std::string>& files) {
    return is_told(kPortEntry, files,
                   "[[ipoib]]: /etc/rdma/modules/infiniband.conf leaves ib_ipoib out, and no other list of "
                   "modules names it: IPoIB interfaces are gone after a reboot");
  };
  EXPECT_TRUE(warns({{kList, without}}));
  EXPECT_FALSE(warns({{kList, "ib_ipoib\n"}}));
  EXPECT_FALSE(warns({{kList, without}, {"/etc/modules-load.d/site.conf", "ib-ipoib\n"}}));
  EXPECT_FALSE(warns({{kList, without}, {"/proc/cmdline", "ro modules_load=ib_ipoib\n"}}));
  EXPECT_FALSE(warns({{kList, without}, {"/etc/infiniband/openib.conf", "IPOIB_LOAD=yes\n"}}));
}

TEST(NextBoot, Ipv6ThatIsSwitchedOffIsNamed) {
  const std::string addressed = kPortEntry + "ipv6 = { addresses = [\"2001:db8::1/64\"] }\n";
  const std::string off = "net.ipv6.conf.all.disable_ipv6 = 1\n", site = "/etc/sysctl.d/90-site.conf";
  const std::string told =
      "ib0 2001:db8::1/64: /etc/sysctl.d/90-site.conf:1 switches IPv6 off on ib0 at boot";
  EXPECT_TRUE(is_told(addressed, {{site, off}}, told));
  EXPECT_FALSE(is_told(addressed, {{site, "net.ipv6.conf.all.disable_ipv6 = 0\n"}}, told));
  const std::string initial = "net.ipv6.conf.default.disable_ipv6 = 1\n";
  EXPECT_TRUE(is_told(addressed, {{site, initial}}, told));
  EXPECT_FALSE(is_told(addressed, {{site, initial + "net.ipv6.conf.all.disable_ipv6 = 0\n"}}, told))
      << "the later line sets the default, too";
  EXPECT_TRUE(
      is_told(addressed,
              {{site, initial}, {"/etc/sysctl.d/10-all.conf", "net.ipv6.conf.all.disable_ipv6 = 0\n"}}, told))
      << "the earlier line does not count";
  const std::string later = "/etc/sysctl.d/95-later.conf";
  EXPECT_FALSE(is_told(addressed, {{site, off}, {later, "net.ipv6.conf.default.disable_ipv6 = 0\n"}}, told))
      << "an interface that comes later begins with the default";
  EXPECT_FALSE(is_told(addressed, {{site, off}, {later, "-net.ipv6.conf.all.disable_ipv6\n"}}, told))
      << "taken out again";
  EXPECT_FALSE(is_told(
      addressed, {{site, off}, {"/etc/sysctl.d/95-ib.conf", "net.ipv6.conf.ib0.disable_ipv6 = 0\n"}}, told))
      << "the interface's own line";
  EXPECT_FALSE(is_told(addressed + "[[sysctl]]\nkey = \"net/ipv6/conf/ib0/disable_ipv6\"\nvalue = 0\n",
                       {{site, off}}, told));
  EXPECT_FALSE(is_told(kPortEntry + "name = \"fab0\"\nipv6 = { addresses = [\"2001:db8::1/64\"] }\n",
                       {{site, off}, {"/etc/sysctl.d/95-ib.conf", "net.ipv6.conf.fab0.disable_ipv6 = 0\n"}},
                       told))
      << "the line of its name to come";
  EXPECT_FALSE(is_told(kPortEntry + "ipv4 = { addresses = [\"192.0.2.1/24\"] }\n", {{site, off}}, told));
  EXPECT_TRUE(is_told(addressed, {{kGrubFile, "GRUB_CMDLINE_LINUX=\"ipv6.disable=1\"\n"}},
                      "ib0 2001:db8::1/64: /etc/default/grub:1 switches IPv6 off from the next boot on: "
                      "\"ipv6.disable=1\""));
}

/// systemd-sysctl reads patterns, and lines that take a setting out of them.
TEST(NextBoot, APatternThatSwitchesIpv6OffIsNamed) {
  const std::string addressed = kPortEntry + "ipv6 = { addresses = [\"2001:db8::1/64\"] }\n";
  const std::string site = "/etc/sysctl.d/90-site.conf", earlier = "/etc/sysctl.d/10-ib.conf";
  const std::string pattern = "net.ipv6.conf.*.disable_ipv6 = 1\n";
  const std::string told =
      "ib0 2001:db8::1/64: /etc/sysctl.d/90-site.conf:1 switches IPv6 off on ib0 at boot";
  EXPECT_TRUE(is_told(addressed, {{site, pattern}}, told));
  EXPECT_TRUE(is_told(addressed, {{site, pattern}, {earlier, "net.ipv6.conf.all.disable_ipv6 = 0\n"}}, told));
  EXPECT_FALSE(is_told(addressed, {{site, pattern}, {earlier, "net.ipv6.conf.ib0.disable_ipv6 = 0\n"}}, told))
      << "the interface's own line";
  EXPECT_FALSE(is_told(addressed, {{site, pattern + "net.ipv6.conf.ib*.disable_ipv6 = 0\n"}}, told))
      << "a later pattern";
  const std::string excluded = "-net.ipv6.conf.ib0.disable_ipv6\n";
  EXPECT_FALSE(is_told(addressed, {{site, "net.ipv6.conf.ib*.disable_ipv6 = 1\n" + excluded}}, told));
  EXPECT_TRUE(is_told(addressed, {{site, pattern + excluded}}, told)) << "it sets the default, too";
  EXPECT_TRUE(is_told(addressed + "[[sysctl]]\nkey = \"net.ipv6.conf.all.disable_ipv6\"\nvalue = 0\n",
                      {{site, pattern}}, told))
      << "the interface takes the pattern's value when it appears";
  EXPECT_FALSE(is_told(addressed + "[[sysctl]]\nkey = \"net/ipv6/conf/ib0/disable_ipv6\"\nvalue = 0\n",
                       {{site, pattern}}, told));
}

/// 50-default.conf of systemd has such a pattern on RHEL and Arch.
TEST(NextBoot, APatternThatLeavesADefaultWithoutEffectIsNamed) {
  const std::string file = "/usr/lib/sysctl.d/50-default.conf", pattern = "net.ipv4.conf.*.rp_filter = 2\n";
  const std::string told =
      "/usr/lib/sysctl.d/50-default.conf:1 sets net/ipv4/conf/*/rp_filter to 2 on each interface that "
      "appears, "
      "so net/ipv4/conf/default/rp_filter has no effect there";
  const auto entry = [](const std::string& interface, const std::string& value) {
    return "[[sysctl]]\ninterface = \"" + interface + "\"\nrp_filter = " + value + "\n";
  };
  EXPECT_TRUE(is_told(entry("default", "0"), {{file, pattern}}, told));
  EXPECT_FALSE(is_told(entry("default", "2"), {{file, pattern}}, told)) << "the same value";
  EXPECT_FALSE(is_told(entry("default", "0"), {{file, pattern + "-net.ipv4.conf.*.rp_filter\n"}}, told));
  EXPECT_EQ(told_of_boot(entry("ib0", "0"), {{file, pattern}}).find(file), std::string::npos)
      << "the entry names its setting";
}

}  // namespace
}  // namespace rdmacfg::kinds
