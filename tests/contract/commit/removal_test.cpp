// SPDX-License-Identifier: Apache-2.0
// Resources that a boot, a reload or an event may not take away.
#include <gmock/gmock.h>

#include "contract/commit_host.hpp"
#include "fakes/proc_tcp.hpp"

namespace rdmacfg::contract {
namespace {

using ::testing::HasSubstr;

std::string with_children(int from, int to) {
  std::string text = "version = 1\n[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\n";
  for (int i = from; i < to; ++i) text += "[[ipoib.pkey]]\npkey = " + std::to_string(i) + "\n";
  return text;
}

class Removal : public ::testing::Test {
 protected:
  Removal() {
    for (auto& device : host_.kernel().machine.devices) {
      for (auto& port : device.ports) {
        for (int i = 2; i < 20; ++i) port.pkeys.push_back(static_cast<std::uint16_t>(0x8000 + i));
      }
    }
  }
  Report by_itself(const std::string& text, core::RemovalGuard guard = core::RemovalGuard::kMost) {
    return host_.with([&](core::Context& context) {
      context.options.independent = true;
      context.options.guard_removal = guard;
      return core::commit(document_of(text),
                          {.who = "", .what = "reload", .host_name = "node1", .by_itself = true}, context);
    });
  }
  std::string children() {
    std::string out;
    for (const auto& link : host_.kernel().machine.links) {
      if (link.parent != 0) out += link.name + " ";
    }
    return out;
  }

  Host host_{two_ports()};
};

TEST_F(Removal, MostOfWhatIsManagedStays) {
  ASSERT_TRUE(applied(host_.commit(with_children(2, 12))));
  const auto before = children();
  for (const auto& text :
       {std::string("version = 1\n"), with_children(2, 4),
        std::string("version = 1\n[match]\nhost = 'other'\n") + with_children(2, 12).substr(12)}) {
    const auto report = by_itself(text);
    EXPECT_EQ(report.exit, model::Exit::kError);
    ASSERT_FALSE(report.diagnostics.empty());
    EXPECT_THAT(report.diagnostics.front().message, HasSubstr("nothing was changed: this would remove "));
    EXPECT_THAT(report.diagnostics.front().message, HasSubstr(" managed resources ("));
    EXPECT_EQ(
        report.diagnostics.front().hint,
        "if that is intended: `rdma-configctl apply --allow-removal` allows it once, `max_removal = 100` in "
        "[daemon] always");
    EXPECT_EQ(children(), before);
    EXPECT_EQ(host_.ledger().active, 1U) << "what is active is held instead";
  }
  EXPECT_TRUE(applied(by_itself("version = 1\n", core::RemovalGuard::kNone)));
  EXPECT_EQ(children(), "");
}

TEST_F(Removal, AHandfulMayGoAndSoMayAMinority) {
  ASSERT_TRUE(applied(host_.commit(with_children(2, 5))));
  EXPECT_TRUE(applied(by_itself("version = 1\n")));
  ASSERT_TRUE(applied(host_.commit(with_children(2, 18))));
  EXPECT_TRUE(applied(by_itself(with_children(2, 12))));
}

TEST_F(Removal, TheDocumentMayAllowIt) {
  ASSERT_TRUE(applied(host_.commit(with_children(2, 12))));
  EXPECT_TRUE(applied(by_itself("version = 1\n[daemon]\nmax_removal = 100\n")));
  EXPECT_EQ(children(), "");
}

TEST_F(Removal, TheWayInStays) {
  ASSERT_TRUE(applied(host_.commit(with_children(2, 3))));
  auto& child = host_.kernel().machine.links.back();
  ASSERT_NE(child.parent, 0);
  const auto name = child.name;
  host_.kernel().carry(name, "addr4 192.0.2.7/24");
  const auto refused = [&] {
    auto report = by_itself("version = 1\n", core::RemovalGuard::kLifelines);
    return report.exit == model::Exit::kError ? text_of(report) : "";
  };
  // 192.0.2.7:22 from 192.0.2.9, established.
  host_.kernel().files.content["/proc/net/tcp"] =
      fakes::proc_tcp(fakes::proc_tcp_end("192.0.2.7", 22), fakes::proc_tcp_end("192.0.2.9", 54321));
  EXPECT_THAT(refused(), HasSubstr(name + ", which carries a login session"));
  host_.kernel().files.content["/proc/net/tcp"] = fakes::proc_tcp(
      fakes::proc_tcp_end("192.0.2.7", 22), fakes::proc_tcp_end("0.0.0.0", 0), fakes::kListening);
  EXPECT_EQ(refused(), "") << "nobody is logged in";
}

TEST_F(Removal, WhatNobodyConfirmedIsTakenBackAllTheSame) {
  ASSERT_TRUE(applied(host_.commit(with_children(2, 12), kWithin)));
  host_.pass(kWithin);
  const auto report = host_.with([&](core::Context& context) {
    context.options.guard_removal = core::RemovalGuard::kMost;
    return core::hold({.who = "", .what = "hold", .host_name = "node1", .by_itself = true}, context);
  });
  EXPECT_TRUE(applied(report)) << text_of(report);
  EXPECT_EQ(children(), "");
}

constexpr const char* kWithManagers =
    R"({"network_manager": {"fails": []}, "networkd": {"fails": []}, "devices": [{"name": "mlx4_0", "pci": "0000:10:00.0", "ports": [
          {"guid": "00:02:c9:03:00:31:78:f2", "pkeys": ["0xffff", "0x8002"],
           "interface": {"name": "ib0", "up": true}},
          {"guid": "00:02:c9:03:00:31:78:f3", "pkeys": ["0xffff"],
           "interface": {"name": "ib1", "up": true}}]}]})";

/// The host's lifeline, on an interface that has 192.0.2.1.
class WayIn : public ::testing::Test {
 protected:
  static std::string entry(const std::string& keys, const std::string& guid = "f2") {
    return "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:" + guid + "\"\n" + keys + "\n";
  }
  static std::string inet(const std::string& backend, const std::string& ipv4) {
    return "version = 1\n" + entry("backend = \"" + backend + "\"\nipv4 = { " + ipv4 + " }");
  }
  /// An established connection to 192.0.2.1 at `port`.
  void log_in(unsigned port = 22) {
    host_.kernel().files.content["/proc/net/tcp"] =
        fakes::proc_tcp(fakes::proc_tcp_end("192.0.2.1", port), fakes::proc_tcp_end("192.0.2.9", 54321));
  }
  /// The objection of `apply --yes`; empty: it was done.
  std::string apply_unseen(const std::string& text,
                           core::RemovalGuard guard = core::RemovalGuard::kLifelines) {
    const auto report = host_.with([&](core::Context& context) {
      context.options.guard_removal = guard;
      return core::commit(document_of(text), {.who = "root", .what = "apply", .host_name = "node1"}, context);
    });
    return applied(report) ? "" : text_of(report);
  }

  /// The same of the removal of everything, while users are logged in from these hosts.
  std::string by_logind(std::vector<std::string> hosts) {
    host_.kernel().accounts.logged_in_from = std::move(hosts);
    return apply_unseen("version = 1\n");
  }

  Host host_{FakeKernel::parse(kWithManagers)};
  const std::string routed_ = R"(addresses = ["192.0.2.1/24"], gateway = "192.0.2.254")";
  const std::string bare_ = R"(addresses = ["192.0.2.1/24"])";
};

TEST_F(WayIn, MovesToAnotherBackend) {
  log_in();
  const std::vector<std::string> backends{"direct",         "networkmanager", "direct", "networkd",
                                          "networkmanager", "networkd",       "direct"};
  for (const auto& backend : backends) {
    SCOPED_TRACE(backend);
    EXPECT_EQ(apply_unseen(inet(backend, routed_), core::RemovalGuard::kMost), "");
  }
}

TEST_F(WayIn, StaysWithEachBackend) {
  for (const std::string backend : {"direct", "networkmanager", "networkd"}) {
    SCOPED_TRACE(backend);
    log_in();
    ASSERT_EQ(apply_unseen(inet(backend, routed_)), "");
    EXPECT_THAT(apply_unseen(inet(backend, bare_)), HasSubstr("the default route over ib0"));
    EXPECT_THAT(apply_unseen(inet(backend, R"(addresses = ["192.0.2.2/24"], gateway = "192.0.2.254")")),
                HasSubstr("ib0 192.0.2.1, which carries a login session"));
    EXPECT_THAT(apply_unseen("version = 1\n" + entry("state = \"down\"")),
                HasSubstr("which carries the default route"));
    EXPECT_EQ(apply_unseen(inet(backend, R"(addresses = ["192.0.2.1/24"], gateway = "192.0.2.253")")), "")
        << "another next hop";
    EXPECT_EQ(apply_unseen(inet(backend, R"(addresses = ["192.0.2.1/16"], gateway = "192.0.2.253")")), "")
        << "another prefix length";
    EXPECT_EQ(apply_unseen(inet(backend, bare_), core::RemovalGuard::kNone), "");
    EXPECT_THAT(apply_unseen("version = 1\n"), HasSubstr("192.0.2.1, which carries a login session"));
    host_.kernel().files.content.erase("/proc/net/tcp");
    EXPECT_EQ(apply_unseen("version = 1\n"), "");
  }
}

TEST_F(WayIn, TheWayToTheHostsOwnFileSystemsStays) {
  auto& content = host_.kernel().files.content;
  ASSERT_EQ(apply_unseen(inet("direct", bare_)), "");
  content["/proc/1/mountinfo"] =
      "22 1 0:21 / / rw - nfs4 192.0.2.9:/a rw,addr=192.0.2.9,clientaddr=192.0.2.1\n";
  for (const auto& text : {std::string("version = 1\n"), inet("direct", R"(addresses = ["192.0.2.2/24"])")}) {
    EXPECT_THAT(apply_unseen(text),
                HasSubstr("ib0 192.0.2.1, by which this host reaches its own file systems"));
  }
  EXPECT_EQ(apply_unseen(inet("direct", routed_)), "") << "the address stays";
  ASSERT_EQ(apply_unseen(inet("direct", bare_), core::RemovalGuard::kNone), "");
  content["/proc/1/mountinfo"] =
      "22 1 0:21 / / rw - nfs4 192.0.2.9:/a rw,addr=192.0.2.9,clientaddr=0.0.0.0\n";
  EXPECT_THAT(apply_unseen("version = 1\n"), HasSubstr("ib0 192.0.2.1, by which this host reaches"))
      << "the address that the server is beside";
  content["/proc/1/mountinfo"] = "22 1 0:21 / /data rw - nfs4 192.0.2.9:/a rw,addr=192.0.2.9\n";
  EXPECT_EQ(apply_unseen("version = 1\n"), "") << "the system goes on without /data";
}

/// The kernel is asked for connections; its table as text is only for one that cannot be asked, and is too
/// large to be read on a host with 25,000 connections.
TEST_F(WayIn, IsFoundAmongManyConnections) {
  ASSERT_EQ(apply_unseen(inet("direct", bare_)), "");
  const auto local = model::IpAddress::parse("192.0.2.1").value();
  const auto remote = model::IpAddress::parse("192.0.2.9").value();
  auto& connections = host_.kernel().inet.connections;
  connections.emplace(40'000, system::TcpConnection{.local = local, .remote = remote, .local_port = 2049});
  host_.kernel().files.content["/proc/net/tcp"] = std::string(std::size_t{5} << 20U, '\n');
  connections->push_back({.local = local, .remote = remote, .local_port = 22});
  EXPECT_THAT(apply_unseen("version = 1\n"), HasSubstr("192.0.2.1, which carries a login session"));
  connections->back().local = model::IpAddress::parse("::ffff:192.0.2.1").value();
  connections->back().remote = model::IpAddress::parse("::ffff:192.0.2.9").value();
  EXPECT_THAT(apply_unseen("version = 1\n"), HasSubstr("192.0.2.1, which carries a login session"));
  connections->pop_back();
  EXPECT_EQ(apply_unseen("version = 1\n"), "") << "nobody is logged in over any of them";
}

TEST_F(WayIn, MovesToAnotherInterface) {
  const std::string other =
      entry(R"(ipv4 = { addresses = ["198.51.100.1/24"], gateway = "198.51.100.254" })", "f3");
  ASSERT_EQ(apply_unseen(inet("direct", routed_)), "");
  EXPECT_EQ(apply_unseen("version = 1\n" + other), "") << "there is a default route as before";
}

TEST_F(WayIn, IsNotPutDownWithItsParentOrItself) {
  const std::string child = "[[ipoib.pkey]]\npkey = 0x8002\nipv4 = { addresses = [\"192.0.2.1/24\"] }\n";
  ASSERT_EQ(apply_unseen("version = 1\n" + entry("backend = \"direct\"") + child), "");
  log_in();
  EXPECT_THAT(apply_unseen("version = 1\n" + entry("backend = \"direct\"") + child + "state = \"down\"\n"),
              HasSubstr("which carries a login session"));
  EXPECT_THAT(apply_unseen("version = 1\n" + entry("backend = \"direct\"\nstate = \"down\"") +
                           "[[ipoib.pkey]]\npkey = 0x8002\nstate = \"down\"\n"),
              HasSubstr("which carries a login session"));
  EXPECT_THAT(apply_unseen("version = 1\n" + entry("backend = \"direct\"") +
                           "[[ipoib.pkey]]\npkey = 0x8002\nstate = \"absent\"\n"),
              HasSubstr("which carries a login session"));
}

/// A session that only logind knows of, as of mosh or of an sshd that listens at a port of its command line.
TEST_F(WayIn, LogindKnowsSessions) {
  ASSERT_EQ(apply_unseen(inet("direct", bare_)), "");
  log_in(2222);  // from 192.0.2.9
  EXPECT_EQ(by_logind({}), "");
  ASSERT_EQ(apply_unseen(inet("direct", bare_)), "");
  for (const std::string host : {"192.0.2.9", "::ffff:192.0.2.9"})
    EXPECT_THAT(by_logind({host}), HasSubstr("ib0 192.0.2.1, which carries a login session"));
  host_.kernel().files.content.erase("/proc/net/tcp");
  EXPECT_THAT(by_logind({"host.example.net", "192.0.2.77"}),
              HasSubstr("ib0 192.0.2.1, which carries a login session"))
      << "no connection of it: the host is in the network of the address";
  for (const std::string host : {"198.51.100.7", "host.example.net", "127.0.0.1", ":0", ""}) {
    EXPECT_EQ(by_logind({host}), "") << host;
    ASSERT_EQ(apply_unseen(inet("direct", bare_)), "");
  }
}

/// Where the other end is behind a router, the session also needs the route to it.
TEST_F(WayIn, TheRouteToTheOtherEndStays) {
  const auto with_routes = [&](const std::string& routes) {
    return "version = 1\n" +
           entry("backend = \"direct\"\nipv4 = { " + bare_ + ", routes = [" + routes + "] }");
  };
  const std::string near = R"({ to = "203.0.113.0/24", via = "192.0.2.254" })";
  const std::string wide = R"({ to = "203.0.0.0/16", via = "192.0.2.253" })";
  const std::string elsewhere = R"({ to = "198.18.0.0/15", via = "192.0.2.254" })";
  ASSERT_EQ(apply_unseen(with_routes(near + ", " + elsewhere)), "");
  // 192.0.2.1:22 from 203.0.113.9.
  host_.kernel().files.content["/proc/net/tcp6"] = fakes::proc_tcp(
      fakes::proc_tcp_end("::ffff:192.0.2.1", 22), fakes::proc_tcp_end("::ffff:203.0.113.9", 54321));
  EXPECT_EQ(apply_unseen(with_routes(near)), "") << "another route may go";
  EXPECT_THAT(apply_unseen(with_routes(elsewhere)),
              HasSubstr("the route to 203.0.113.0/24 over ib0, which carries a login session"));
  EXPECT_EQ(apply_unseen(with_routes(wide)), "") << "a wider one leads there, too";
  EXPECT_THAT(apply_unseen(inet("direct", bare_)), HasSubstr("the route to 203.0.0.0/16 over ib0"));
  EXPECT_EQ(apply_unseen(inet("direct", routed_)), "") << "and so does a default route";
}

/// More connections than are read, or no right to read them: that nobody is logged in is not known.
TEST_F(WayIn, ConnectionsThatCannotBeReadMayCarrySessions) {
  ASSERT_EQ(apply_unseen(inet("direct", bare_)), "");
  host_.kernel().files.unreadable.insert("/proc/net/tcp");
  EXPECT_THAT(apply_unseen("version = 1\n"), HasSubstr("ib0 192.0.2.1, which may carry a login session"));
  EXPECT_EQ(apply_unseen(inet("direct", R"(addresses = ["192.0.2.1/24", "192.0.2.2/24"])")), "");
  host_.kernel().files.unreadable.clear();
  EXPECT_EQ(apply_unseen("version = 1\n"), "");
}

TEST_F(WayIn, SshListensWhereItsConfigurationSays) {
  ASSERT_EQ(apply_unseen(inet("direct", bare_)), "");
  log_in(2222);
  auto& files = host_.kernel().files.content;
  for (const std::string line : {"Port 2222", "  port=2222", "ListenAddress 0.0.0.0:2222",
                                 "ListenAddress [::]:2222", "Port\t2222 # ours"}) {
    SCOPED_TRACE(line);
    files["/etc/ssh/sshd_config.d/50-port.conf"] = "# of the cloud\n" + line + "\n";
    EXPECT_THAT(apply_unseen("version = 1\n"), HasSubstr("which carries a login session"));
  }
  for (const std::string line : {"#Port 2222", "Port 2223", "ListenAddress fe80::2222", "Port x", "Port"}) {
    files["/etc/ssh/sshd_config"] = line + "\n";
    files.erase("/etc/ssh/sshd_config.d/50-port.conf");
    EXPECT_EQ(apply_unseen("version = 1\n"), "") << line;
    ASSERT_EQ(apply_unseen(inet("direct", bare_)), "");
  }
}

}  // namespace
}  // namespace rdmacfg::contract
