// SPDX-License-Identifier: Apache-2.0
// Warnings of drivers that the next boot leaves out.
#include "catalog/driver_at_boot.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"

namespace rdmacfg::kinds {
namespace {

using BootFiles = std::map<std::string, std::string>;

constexpr const char* kSiteConf = "/etc/modprobe.d/site.conf";
constexpr const char* kDefaultGrub = "/etc/default/grub";

/// Devices that mlx5_core has had since Linux 5.11, and mlx4_core since 6.6.
const BootFiles kAuxiliaryOfMlx5{{"/sys/bus/auxiliary/devices/mlx5_core.rdma.0/uevent", ""}};
const BootFiles kAuxiliaryOfMlx4{{"/sys/bus/auxiliary/devices/mlx4_core.ib.0/uevent", ""}};

BootFiles files_and_more(BootFiles files, const BootFiles& more) {
  files.insert(more.begin(), more.end());
  return files;
}

/// The messages about the next boot, of a document on a host with adapters of mlx5, mlx4 and mthca, and with
/// these files.
std::string told_of_drivers(const std::string& sections, const BootFiles& files,
                            const std::string& modules = R"("mlx4_en": {"loaded": true})") {
  auto kernel = fakes::FakeKernel::parse(R"({"modules": {)" + modules + R"(},
          "links": [{"name": "eth0", "up": true}],
          "dcb": {"eth0": {"driver": "mlx5_core"}},
          "mlx4_ports": {"0000:12:00.0": ["ib", "ib"]},
          "devices": [
            {"name": "mlx5_0", "driver": "mlx5_core", "pci": "0000:10:00.0", "ports": [
              {"guid": "00:02:c9:03:00:31:78:f2", "interface": {"name": "ib0", "up": true}}]},
            {"name": "mlx5_1", "driver": "mlx5_core.sf", "pci": "0000:11:00.0", "ports": [
              {"guid": "00:02:c9:03:00:31:79:02", "link_layer": "Ethernet", "netdev": "eth0"}]},
            {"name": "mlx4_0", "driver": "mlx4_core", "pci": "0000:12:00.0", "ports": [
              {"guid": "00:02:c9:03:00:31:79:12", "interface": {"name": "ib1", "up": true}}]},
            {"name": "mthca0", "driver": "ib_mthca", "pci": "0000:13:00.0", "ports": [
              {"guid": "00:02:c9:03:00:31:79:22", "interface": {"name": "ib2", "up": true}}]}]})");
  for (const auto& [path, text] : files) kernel->files.content.insert_or_assign(path, text);
  auto host = kernel->host();
  const auto report = core::diff(
      config::parse_texts({{"config.toml", "version = 1\n" + sections}}, "node1", grammar()), host);
  std::string out;
  for (const auto& diagnostic : report.diagnostics) {
    for (const auto* words : {" at boot (", " from the next boot on"}) {
      if (diagnostic.message.find(words) != std::string::npos) out += diagnostic.message + "\n";
    }
  }
  return out;
}

std::string port_entry(const std::string& guid) {
  return "[[ipoib]]\nguid = \"" + guid + "\"\nbackend = \"direct\"\n";
}

const std::string kMlx5Port = port_entry("00:02:c9:03:00:31:78:f2");
const std::string kMlx4Port = port_entry("00:02:c9:03:00:31:79:12");
const std::string kMthcaPort = port_entry("00:02:c9:03:00:31:79:22");
const std::string kRocePort = "[[roce]]\ndevice = \"mlx5_1\"\nport = 1\ndscp = 26\n";

std::string kept_out(const std::string& section, const std::string& module, const std::string& how,
                     const std::string& lost) {
  return section + ": /etc/modprobe.d/site.conf:1 keeps " + module + " from being loaded at boot (" + how +
         "): " + lost + " are gone after a reboot\n";
}

TEST(DriverAtBoot, TheDriverAndItsRdmaModuleAreNamed) {
  const std::string lost = "RDMA devices of mlx5_core";
  EXPECT_EQ(told_of_drivers(kMlx5Port, kAuxiliaryOfMlx5), "");
  EXPECT_EQ(
      told_of_drivers(kMlx5Port, files_and_more({{kSiteConf, "blacklist mlx5-ib\n"}}, kAuxiliaryOfMlx5)),
      kept_out("[[ipoib]]", "mlx5_ib", "blacklist", lost));
  EXPECT_EQ(told_of_drivers(kMlx5Port, {{kSiteConf, "blacklist mlx5_core\n"}}),
            kept_out("[[ipoib]]", "mlx5_core", "blacklist", lost));
  EXPECT_EQ(told_of_drivers(kMlx5Port, {{kSiteConf, "install mlx5_ib /bin/false\n"}}),
            kept_out("[[ipoib]]", "mlx5_ib", "install", lost));
  EXPECT_EQ(told_of_drivers(kMthcaPort, {{kSiteConf, "blacklist ib_mthca\n"}}),
            kept_out("[[ipoib]]", "ib_mthca", "blacklist", "RDMA devices of ib_mthca"));
  EXPECT_EQ(told_of_drivers(kMlx5Port, {{kSiteConf, "blacklist mlx4_core\n"}}), "") << "of another adapter";
  EXPECT_EQ(told_of_drivers(kMlx5Port, {{kSiteConf, "install mlx5_ib /sbin/modprobe -i mlx5_ib\n"}}), "")
      << "the command loads it";
}

TEST(DriverAtBoot, EachKindThatNeedsTheDriverNamesIt) {
  const BootFiles files{{kSiteConf, "install mlx5_core /bin/false\n"}};
  const auto told = [](const std::string& section, const std::string& lost) {
    return kept_out(section, "mlx5_core", "install", lost + " of mlx5_core");
  };
  EXPECT_EQ(told_of_drivers(kRocePort, files), told("[[roce]]", "RDMA devices")) << "of a sub-function";
  EXPECT_EQ(told_of_drivers("[[rdma_device]]\npci = \"0000:10:00.0\"\nname = \"fab0\"\n", files),
            told("[[rdma_device]]", "RDMA devices"));
  EXPECT_EQ(told_of_drivers("[[pfc]]\ninterface = \"eth0\"\npriorities = [3]\n", files),
            told("[[pfc]]", "interfaces"));
  EXPECT_EQ(told_of_drivers("[[mlx4_port]]\npci = \"0000:12:00.0\"\nports = [\"ib\", \"ib\"]\n",
                            {{kSiteConf, "blacklist mlx4_core\n"}}),
            kept_out("[[mlx4_port]]", "mlx4_core", "blacklist", "ports of mlx4_core"));
  EXPECT_EQ(told_of_drivers("[[pfc]]\ndriver = \"mlx4_en\"\npriorities = [3]\n",
                            {{kSiteConf, "install mlx4_en /bin/true\n"}}),
            kept_out("[[pfc]]", "mlx4_en", "install", "interfaces of mlx4_en"));
  EXPECT_TRUE(
      told_of_drivers("[[lossless]]\ninterface = \"eth0\"\n", files)
          .starts_with("[[lossless]]: /etc/modprobe.d/site.conf:1 keeps mlx5_core from being loaded"));
}

TEST(DriverAtBoot, ADriverIsNamedOnceAtItsFirstEntry) {
  const BootFiles files{{kSiteConf, "install mlx5_core /bin/false\n"}};
  EXPECT_EQ(told_of_drivers(kRocePort + kMlx5Port, files),
            kept_out("[[roce]]", "mlx5_core", "install", "RDMA devices of mlx5_core"));
  EXPECT_EQ(told_of_drivers(kMlx5Port + kRocePort, files),
            kept_out("[[ipoib]]", "mlx5_core", "install", "RDMA devices of mlx5_core"));
  EXPECT_EQ(told_of_drivers(kMlx5Port + "state = \"ignore\"\n", files), "");
}

// modprobe(8): a "blacklist" holds for names only with -b, which neither the kernel nor openibd gives.
TEST(DriverAtBoot, ABlacklistDoesNotHoldForModulesThatAreRequestedByName) {
  const BootFiles of_mlx4{{kSiteConf, "blacklist mlx4_ib\n"}};
  EXPECT_EQ(told_of_drivers(kMlx4Port, of_mlx4), "") << "Linux 6.1: mlx4_request_modules()";
  EXPECT_EQ(told_of_drivers(kMlx4Port, files_and_more(of_mlx4, kAuxiliaryOfMlx4)),
            kept_out("[[ipoib]]", "mlx4_ib", "blacklist", "RDMA devices of mlx4_core"));
  EXPECT_EQ(told_of_drivers(kMlx4Port, {{kSiteConf, "install mlx4_ib /bin/false\n"}}),
            kept_out("[[ipoib]]", "mlx4_ib", "install", "RDMA devices of mlx4_core"));
  const BootFiles openibd{{"/etc/infiniband/openib.conf", "ONBOOT=yes\n"}};
  EXPECT_EQ(told_of_drivers(kMlx5Port, files_and_more({{kSiteConf, "blacklist mlx5_core\n"}}, openibd)), "");
  const auto grub = [](const std::string& words) {
    return BootFiles{{kDefaultGrub, "GRUB_CMDLINE_LINUX=\"" + words + "\"\n"}};
  };
  const std::string told = "[[ipoib]]: /etc/default/grub:1 blacklists mlx4_ib from the next boot on\n";
  EXPECT_EQ(told_of_drivers(kMlx4Port, grub("modprobe.blacklist=mlx4_ib")), "");
  EXPECT_EQ(told_of_drivers(kMlx4Port, grub("module_blacklist=mlx4_ib")), told) << "the kernel refuses it";
  EXPECT_EQ(told_of_drivers(kMlx4Port, files_and_more(grub("modprobe.blacklist=mlx4_ib"), kAuxiliaryOfMlx4)),
            told);
}

TEST(DriverAtBoot, TheRunningCommandLineHasLeftTheDriverIn) {
  const std::string blacklist = "modprobe.blacklist=mlx5_core";
  EXPECT_EQ(told_of_drivers(kMlx5Port, {{"/proc/cmdline", "ro " + blacklist + "\n"}}), "");
  EXPECT_EQ(told_of_drivers(kMlx5Port, {{"/proc/cmdline", "ro\n"},
                                        {kDefaultGrub, "GRUB_CMDLINE_LINUX=\"" + blacklist + "\"\n"}}),
            "[[ipoib]]: /etc/default/grub:1 blacklists mlx5_core from the next boot on\n");
}

// dracut's parse-kernel.sh writes the line for its initramfs alone; udev of the host loads the module.
TEST(DriverAtBoot, ABlacklistOfTheInitramfsDoesNotReachTheHost) {
  EXPECT_EQ(
      told_of_drivers(kMlx5Port, {{kDefaultGrub, "GRUB_CMDLINE_LINUX=\"rd.driver.blacklist=mlx5_core\"\n"}}),
      "");
}

TEST(DriverAtBoot, NoLineKeepsOutABuiltInModule) {
  EXPECT_EQ(told_of_drivers(kMlx5Port, {{kSiteConf, "install mlx5_core /bin/false\n"}},
                            R"("mlx5_core": {"builtin": true})"),
            "");
}

TEST(DriverAtBoot, AModuleEntryHasItsOwnError) {
  EXPECT_EQ(
      told_of_drivers(kMlx5Port + "[[module]]\nname = \"mlx5_core\"\n",
                      {{kSiteConf, "install mlx5_core /bin/false\n"}}, R"("mlx5_core": {"loaded": true})"),
      "");
}

}  // namespace
}  // namespace rdmacfg::kinds
