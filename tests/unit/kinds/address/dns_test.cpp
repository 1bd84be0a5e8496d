// SPDX-License-Identifier: Apache-2.0
// The name server that programs ask on a host where systemd-resolved runs.
#include "kinds/address/dns.hpp"

#include <gtest/gtest.h>

#include <string>

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
        Row{theirs, "#hosts: resolve\n", "192.0.2.53"},
        Row{"nameserver 127.0.0.53\noptions edns0 trust-ad\n", plain, ""},
        Row{"# This is /run/systemd/resolve/resolv.conf managed by man:systemd-resolved(8).\nnameserver "
            "192.0.2.53\n",
            plain, ""},
        Row{"#nameserver 192.0.2.53\n", plain, ""}, Row{"", plain, ""}})
    EXPECT_EQ(server_beside_resolved(row.resolv_conf, row.nsswitch), row.server)
        << row.resolv_conf << row.nsswitch;
}

}  // namespace
}  // namespace rdmacfg::kinds
