// SPDX-License-Identifier: Apache-2.0
// Settings of others that systemd-networkd overrules on interfaces that it configures.
#include <gtest/gtest.h>

#include <string>

#include "catalog/all.hpp"
#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"

namespace rdmacfg::kinds {
namespace {

/// Whether the document of a port with this backend and this setting is warned about the setting.
bool warns_of_accept_ra(const std::string& backend, const std::string& interface, int value,
                        const std::string& more = "") {
  auto kernel = fakes::FakeKernel::parse(
      R"({"networkd": {"fails": []}, "devices": [{"name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
          {"guid": "00:02:c9:03:00:31:78:f2", "interface": {"name": "ib0", "up": true}}]}]})");
  auto host = kernel->host();
  const auto text = "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nbackend = \"" + backend +
                    "\"\nipv4 = { addresses = [\"192.0.2.1/24\"] }\n" + more +
                    "[[sysctl]]\nkey = \"net/ipv6/conf/" + interface +
                    "/accept_ra\"\nvalue = " + std::to_string(value) + "\n";
  const auto report = core::diff(config::parse_texts({{"config.toml", text}}, "node1", grammar()), host);
  for (const auto& diagnostic : report.diagnostics) {
    if (diagnostic.message ==
        "systemd-networkd sets accept_ra of " + interface + " to 0 whenever it configures the interface")
      return true;
  }
  return false;
}

/// link_set_ipv6_accept_ra() of networkd-sysctl.c
TEST(Networkd, RouterAdvertisementsAreNotTheKernelsThere) {
  EXPECT_TRUE(warns_of_accept_ra("networkd", "ib0", 2));
  EXPECT_FALSE(warns_of_accept_ra("networkd", "ib0", 0)) << "as networkd sets it";
  EXPECT_FALSE(warns_of_accept_ra("networkd", "eth0", 2)) << "another interface";
  EXPECT_FALSE(warns_of_accept_ra("direct", "ib0", 2));
  EXPECT_TRUE(warns_of_accept_ra("networkd", "fab0", 1, "name = \"fab0\"\n")) << "its name to come";
}

/// netplan's generator creates its own link; systemd-networkd.socket also starts the service at boot.
TEST(Networkd, AServiceThatDoesNotStartAtBootIsNamed) {
  const auto warns = [](const std::string& units, const std::string& link = "") {
    auto kernel = fakes::FakeKernel::parse(
        R"({"networkd": {"fails": []}, "devices": [{"name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
            {"guid": "00:02:c9:03:00:31:78:f2", "interface": {"name": "ib0", "up": true}}]}], "units": {)" +
        units + "}}");
    if (!link.empty()) kernel->files.content[link] = "";
    auto host = kernel->host();
    const std::string text =
        "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nbackend = \"networkd\"\n"
        "ipv4 = { addresses = [\"192.0.2.1/24\"] }\n";
    const auto report = core::diff(config::parse_texts({{"config.toml", text}}, "node1", grammar()), host);
    for (const auto& diagnostic : report.diagnostics) {
      if (diagnostic.message.starts_with("systemd-networkd.service is not enabled, so ")) return true;
    }
    return false;
  };
  const std::string disabled = "\"systemd-networkd.service\": {\"running\": true}";
  EXPECT_TRUE(warns(disabled));
  EXPECT_FALSE(warns("\"systemd-networkd.service\": {\"running\": true, \"enabled\": true}"));
  EXPECT_FALSE(warns(disabled + ", \"systemd-networkd.socket\": {\"enabled\": true}"));
  EXPECT_FALSE(warns(disabled, "/run/systemd/generator/multi-user.target.wants/systemd-networkd.service"));
}

}  // namespace
}  // namespace rdmacfg::kinds
