// SPDX-License-Identifier: Apache-2.0
// The name server that programs ask on a host where systemd-resolved runs.
#include "kinds/address/dns.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "fakes/fake_kernel.hpp"
#include "kinds/world.hpp"

namespace rdmacfg::kinds {
namespace {

TEST(Dns, AServerBesideResolvedIsNamed) {
  struct Row {
    const char* resolv_conf;
    const char* nsswitch;
    const char* server;
  };
  const char* const plain = "passwd: files\nhosts: files dns\n";
  const char* const theirs = "# by hand\nsearch example.net\nnameserver 192.0.2.53\nnameserver 192.0.2.54\n";
  for (const auto& row :
       {Row{theirs, plain, "192.0.2.53"}, Row{theirs, "", "192.0.2.53"},
        Row{theirs, "hosts: files resolve [!UNAVAIL=return] dns\n", ""},
        Row{theirs, "hosts: files resolve\n", ""}, Row{theirs, "hosts: files dns resolve\n", "192.0.2.53"},
        Row{theirs, "#hosts: resolve\n", "192.0.2.53"}, Row{theirs, "hosts:files resolve dns\n", ""},
        Row{theirs, "hosts: files dns # resolve\n", "192.0.2.53"},
        Row{"nameserver 127.0.0.53\noptions edns0 trust-ad\n", plain, ""},
        Row{"# This is /run/systemd/resolve/resolv.conf managed by man:systemd-resolved(8).\nnameserver "
            "192.0.2.53\n",
            plain, ""},
        Row{"#nameserver 192.0.2.53\n", plain, ""}, Row{"", plain, ""}})
    EXPECT_EQ(server_beside_resolved(row.resolv_conf, row.nsswitch), row.server)
        << row.resolv_conf << row.nsswitch;
}

TEST(Dns, ProgramsMayAskNoNameServerAtAll) {
  struct Row {
    const char* nsswitch;
    bool none;
  };
  for (const auto& row :
       {Row{"passwd: files\nhosts: files\n", true}, Row{"hosts:\tfiles myhostname # dns\n", true},
        Row{"hosts: files mdns4_minimal [NOTFOUND=return]\n", true}, Row{"hosts: files dns\n", false},
        Row{"hosts: files mdns4_minimal [NOTFOUND=return] dns\n", false},
        Row{"hosts: files resolve [!UNAVAIL=return]\n", false}, Row{"hosts: files sss\n", false},
        Row{"#hosts: files\n", false}, Row{"passwd: files\n", false}, Row{"", false}})
    EXPECT_EQ(asks_no_name_server(row.nsswitch), row.none) << row.nsswitch;
}

// The vendor's file counts where /etc has none.
TEST(Dns, AWarningTellsOfNsswitchOfEtcOrOfTheVendor) {
  struct Row {
    const char *etc, *vendor;
    const char* warning;  ///< part of it; nullptr: none
  };
  for (const auto& row :
       {Row{nullptr, "hosts: files resolve dns\n", nullptr},
        Row{nullptr, "hosts: files dns\n", "makes programs query 192.0.2.53"},
        Row{nullptr, "hosts: files\n", "/usr/etc/nsswitch.conf makes programs query no name server"},
        Row{"hosts: files\n", "hosts: files resolve\n",
            "/etc/nsswitch.conf makes programs query no name server"},
        Row{"hosts: files resolve\n", "hosts: files\n", nullptr}}) {
    SCOPED_TRACE(std::string(row.etc == nullptr ? "" : row.etc) + row.vendor);
    const auto kernel = fakes::FakeKernel::parse(R"({"devices": [], "links": []})");
    kernel->resolver.running = true;
    kernel->files.content["/etc/resolv.conf"] = "nameserver 192.0.2.53\n";
    if (row.etc != nullptr) kernel->files.content["/etc/nsswitch.conf"] = row.etc;
    kernel->files.content["/usr/etc/nsswitch.conf"] = row.vendor;
    auto host = kernel->host();
    auto world = World::observe_links(host);
    ASSERT_TRUE(world);
    std::vector<model::Desired> desired(1);
    desired[0].key = {"dns", "0x0002c903000a0bc1"};
    desired[0].settings["servers"] = std::vector<std::string>{"192.0.2.1"};
    model::Diagnostics diagnostics;
    dns().check(desired, {}, *world, diagnostics);
    ASSERT_EQ(diagnostics.size(), row.warning == nullptr ? 0U : 1U);
    if (row.warning == nullptr) continue;
    EXPECT_EQ(diagnostics[0].severity, model::Severity::kWarning);
    EXPECT_THAT(diagnostics[0].message, testing::HasSubstr(row.warning));
  }
}

}  // namespace
}  // namespace rdmacfg::kinds
