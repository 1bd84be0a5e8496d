// SPDX-License-Identifier: Apache-2.0
// Obstacles at the next boot to an rdma-configd profile that is up now.
#include "kinds/managers/nm_profile.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"

namespace rdmacfg::kinds {
namespace {

constexpr const char* kProfilePort = "00:02:c9:03:00:31:78:f2";
const std::string kProfileText =
    std::string("version = 1\n[[ipoib]]\nguid = \"") + kProfilePort +
    "\"\nname = \"mlx4_ib0\"\nbackend = \"networkmanager\"\nipv4 = { addresses = [\"192.0.2.1/24\"] }\n";

config::Document profile_document() {
  return config::parse_texts({{"config.toml", kProfileText}}, "node1", grammar());
}

std::unique_ptr<fakes::FakeKernel> host_with_profiles(const std::string& units) {
  return fakes::FakeKernel::parse(
      R"({"network_manager": {"fails": []}, "devices": [{"name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
          {"guid": "00:02:c9:03:00:31:78:f2", "interface": {"name": "mlx4_ib0", "up": true}}]}], "units": {)" +
      units + "}}");
}

TEST(NmProfile, ALineThatPreventsItsActivationIsRemoved) {
  const auto kernel = host_with_profiles("");
  auto host = kernel->host();
  ASSERT_EQ(core::apply(profile_document(), host).exit, model::Exit::kOk);
  auto& text = kernel->files.content[nm_file(kProfilePort)];
  const auto ours = text;
  ASSERT_TRUE(core::diff(profile_document(), host).plan.empty());
  const std::string section = "[connection]\n";
  text.insert(text.find(section) + section.size(), "permissions=user:alice:;\n");
  const auto plan = core::diff(profile_document(), host).plan;
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_EQ(plan.changes.front().key.kind, "nm_profile");
  EXPECT_EQ(core::apply(profile_document(), host).exit, model::Exit::kOk);
  EXPECT_EQ(kernel->files.content[nm_file(kProfilePort)], ours);
  EXPECT_TRUE(core::diff(profile_document(), host).plan.empty());
}

/// The warning about NetworkManager with these units; empty without one.
std::string said_of_next_boot(const std::string& units, const std::string& generator = "") {
  const auto kernel = host_with_profiles(units);
  if (!generator.empty()) kernel->files.content[generator] = "";
  auto host = kernel->host();
  for (const auto& diagnostic : core::diff(profile_document(), host).diagnostics) {
    if (diagnostic.message.find("after the next boot") != std::string::npos)
      return diagnostic.message + "; " + diagnostic.hint;
  }
  return {};
}

/// `nmcli networking off` lasts over boots.
TEST(NmProfile, AManagerThatIsSwitchedOffIsNamed) {
  const auto said_with = [](const char* state) {
    const auto kernel =
        host_with_profiles("\"NetworkManager.service\": {\"running\": true, \"enabled\": true}");
    kernel->files.content["/var/lib/NetworkManager/NetworkManager.state"] = state;
    auto host = kernel->host();
    std::string said;
    for (const auto& diagnostic : core::diff(profile_document(), host).diagnostics) {
      if (diagnostic.hint.starts_with("`nmcli networking on`")) said += diagnostic.message;
    }
    return said;
  };
  EXPECT_EQ(
      said_with("[main]\nNetworkingEnabled=false\nWirelessEnabled=true\n"),
      "/var/lib/NetworkManager/NetworkManager.state:2 switches NetworkManager off, so the interfaces that "
      "it configures have no addresses after the next boot");
  EXPECT_EQ(said_with("[main]\nNetworkingEnabled=true\nWirelessEnabled=false\n"), "");
  EXPECT_EQ(said_with("[main]\nNetworkingEnabled=false\nNetworkingEnabled=true\n"), "");
  EXPECT_EQ(said_with("[other]\nNetworkingEnabled=false\n"), "");
}

TEST(NmProfile, AManagerThatDoesNotStartAtBootIsNamed) {
  const std::string unit = "\"NetworkManager.service\": {\"running\": true, ";
  EXPECT_EQ(
      said_of_next_boot(unit + "\"enabled\": false}"),
      "NetworkManager.service is not enabled, so the interfaces that it configures have no addresses "
      "after the next boot; `systemctl enable NetworkManager.service`, or choose another backend for its "
      "ports");
  EXPECT_EQ(
      said_of_next_boot(unit + "\"enabled\": true, \"masked\": true}"),
      "NetworkManager.service is masked, so the interfaces that it configures have no addresses after the "
      "next boot; `systemctl unmask NetworkManager.service`, then `systemctl enable "
      "NetworkManager.service`, or choose another backend for its ports");
  EXPECT_EQ(said_of_next_boot(unit + "\"enabled\": true}"), "");
  EXPECT_EQ(said_of_next_boot(""), "") << "no such unit: NetworkManager was started otherwise";
  EXPECT_EQ(said_of_next_boot(
                unit + R"("enabled": false}, "NetworkManager-wait-online.service": {"enabled": true})"),
            "")
      << "it requires NetworkManager";
  EXPECT_EQ(said_of_next_boot(unit + "\"enabled\": false}",
                              "/run/systemd/generator/multi-user.target.wants/NetworkManager.service"),
            "")
      << "as a generator has it";
}

TEST(NmProfile, AManagerThatTheNextCommandLineMasksIsNamed) {
  const auto kernel =
      host_with_profiles("\"NetworkManager.service\": {\"running\": true, \"enabled\": true}");
  kernel->files.content["/etc/kernel/cmdline"] = "systemd.mask=NetworkManager.service\n";
  auto host = kernel->host();
  std::string said;
  for (const auto& diagnostic : core::diff(profile_document(), host).diagnostics) said += diagnostic.message;
  EXPECT_EQ(
      said,
      "/etc/kernel/cmdline:1 masks NetworkManager.service from the next boot on (systemd.mask=), so the "
      "interfaces that it configures have no addresses after the next boot");
}

/// _dev_ipforwarding4_start() of nm-device.c
TEST(NmProfile, ForwardingOfAnInterfaceIsTheDefaultThere) {
  std::string version = "1.54.0";
  const auto warns = [&](const std::string& backend, const std::string& settings) {
    const auto kernel = host_with_profiles("");
    kernel->network_manager.version = version;
    for (const auto* path :
         {"ip_forward", "conf/default/forwarding", "conf/eth0/forwarding", "conf/mlx4_ib0/forwarding"})
      kernel->sysctl.set(std::string("net/ipv4/") + path, "0");
    auto host = kernel->host();
    auto text = kProfileText;
    text.replace(text.find("networkmanager"), std::string("networkmanager").size(), backend);
    const auto report =
        core::diff(config::parse_texts({{"config.toml", text + settings}}, "node1", grammar()), host);
    for (const auto& diagnostic : report.diagnostics) {
      if (diagnostic.message.starts_with("NetworkManager 1.54 and newer set forwarding of mlx4_ib0 to "))
        return true;
    }
    return false;
  };
  const auto sets = [](const std::string& path, int value) {
    return "[[sysctl]]\nkey = \"net/ipv4/" + path + "\"\nvalue = " + std::to_string(value) + "\n";
  };
  const auto own = sets("conf/mlx4_ib0/forwarding", 1);
  EXPECT_TRUE(warns("networkmanager", own));
  EXPECT_FALSE(warns("direct", own));
  EXPECT_FALSE(warns("networkmanager", sets("conf/eth0/forwarding", 1))) << "another interface";
  EXPECT_FALSE(warns("networkmanager", sets("conf/mlx4_ib0/forwarding", 0))) << "as it sets it";
  EXPECT_FALSE(warns("networkmanager", own + sets("ip_forward", 1)));
  EXPECT_TRUE(warns("networkmanager", own + sets("ip_forward", 1) + sets("conf/default/forwarding", 0)));
  version = "1.52.1";
  EXPECT_FALSE(warns("networkmanager", own));
}

}  // namespace
}  // namespace rdmacfg::kinds
