// SPDX-License-Identifier: Apache-2.0
// The promises of docs/FIRST-USE.md to a new user: rules that have no test elsewhere,
// and that the page names tests that there are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <set>

#include "console.hpp"
#include "core/commit/commit.hpp"
#include "sources.hpp"

namespace rdmacfg::ctl::first_use {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kPort = std::string("version = 1\n[[ipoib]]\nguid = \"") + kGuid1 + "\"\n";

struct FirstUse : testing::Test {
  Console host;
  int diff(const std::string& text) {
    host.document(text);
    return host.run({"diff"});
  }
};

TEST_F(FirstUse, ARuleThatSomebodyEditedIsSeenByAllAndMendedOnce) {
  host.document(kPort + "name = \"rail0\"\n");
  ASSERT_EQ(host.run({"apply", "--yes"}), 0) << host.err.str();
  auto& rules = host.kernel.files.content["/etc/udev/rules.d/70-rdma-configd-ipoib.rules"];
  const auto ours = rules;
  rules.replace(rules.find("rail0"), 5, "mine0");
  EXPECT_EQ(host.run({"diff"}), 2);
  EXPECT_EQ(host.run({"show", "--differs"}), 0);
  EXPECT_THAT(host.out.str(), HasSubstr("differs"));
  EXPECT_EQ(host.run({"apply", "--yes"}), 0);
  EXPECT_THAT(host.out.str(), Not(HasSubstr("Nothing to do")));
  EXPECT_EQ(rules, ours);
  EXPECT_EQ(host.run({"diff"}), 0);
}

TEST_F(FirstUse, AKeyThatAPkeyEntryRepeatsMayBeMeantForItsPort) {
  host.document(kPort + "[[ipoib.pkey]]\npkey = 0x8002\nmode = \"datagram\"\nmode = \"connected\"\n");
  EXPECT_EQ(host.run({"validate"}), 1);
  EXPECT_THAT(host.err.str(), AllOf(HasSubstr(":7:1: error: mode is set twice"),
                                    HasSubstr("keys of [[ipoib]] must precede its first [[ipoib.pkey]]")));
  host.document(
      kPort +
      "mode = \"datagram\"\n[[ipoib.pkey]]\npkey = 0x8002\nmtu = 1\nmtu = 2\nmode = \"datagram\"\nmode = "
      "\"connected\"\n");
  EXPECT_EQ(host.run({"validate"}), 1);
  EXPECT_THAT(host.err.str(), HasSubstr("hint: remove one of the two")) << "the port has a mode of its own";
}

TEST_F(FirstUse, MistakesOfALosslessEntryAreSaidOfIt) {
  host.kernel.machine.add_link("eth7", "");
  EXPECT_EQ(diff("version = 1\n[[lossless]]\ninterface = \"eth7\"\n"), 1) << host.out.str();
  EXPECT_THAT(host.err.str(), AllOf(HasSubstr("[[lossless]] interface: eth7 has no data center bridging"),
                                    Not(HasSubstr("[[pfc]]"))));
}

TEST_F(FirstUse, AnInterfaceThatIsMissingHidesNothingElse) {
  EXPECT_EQ(diff(kPort + "mode = \"connected\"\n[[pfc]]\ninterface = \"renamed\"\npriorities = [3]\n"), 2);
  EXPECT_THAT(host.out.str(),
              AllOf(HasSubstr("interface renamed does not exist"), HasSubstr("datagram → connected")));
}

TEST_F(FirstUse, AKernelSettingThatIsNotThereIsWarnedOf) {
  host.kernel.files.content["/proc/sys/net/ipv4/ip_forward"] = "0\n";
  EXPECT_EQ(diff("version = 1\n[[sysctl]]\nkey = \"net.ipv4.ip_forwrd\"\nvalue = 1\n"), 2);
  EXPECT_THAT(host.err.str(),
              AllOf(HasSubstr("warning: [[sysctl]] key: the running kernel does not have net/ipv4/ip_forwrd"),
                    HasSubstr("did you mean \"net.ipv4.ip_forward\"?")));
}

TEST_F(FirstUse, ARebootInTheWindowIsNotCalledALateConfirmation) {
  host.document(kPort + "mode = \"connected\"\n");
  ASSERT_EQ(host.run({"apply", "--yes", "--confirm", "60"}), 0) << host.err.str();
  host.kernel.reboot();
  EXPECT_EQ(host.run({"status"}), 2);
  EXPECT_EQ(host.run({"diff"}), 2);
  EXPECT_THAT(host.err.str(), HasSubstr("was not confirmed before the host was rebooted"));
  auto system = host.kernel.host();
  core::Context context{system, {}};
  (void)core::expire({.who = "boot", .what = "boot", .host_name = "node1"}, context);
  EXPECT_EQ(host.run({"history"}), 0);
  EXPECT_THAT(host.out.str(), HasSubstr("rolled back: the host was rebooted before it was confirmed"));
}

TEST_F(FirstUse, TheDefaultPartitionIsCalledAsInTheDocument) {
  host.kernel.units.add("opensm@.service", {});
  host.kernel.files.content["/etc/opensm/opensm.conf"] = "";
  (void)diff("version = 1\n[[partition]]\npkey = 0x7fff\nmembers = [\"ALL=full\"]\n");
  EXPECT_THAT(host.out.str(), AllOf(HasSubstr("partition Default"), Not(HasSubstr("0xffff"))));
}

TEST_F(FirstUse, ASyntaxErrorDoesNotHideTheOthers) {
  host.document(kPort + "mode = \"conected\"\nmtu = \n[[module]]\nnaem = \"ib_umad\"\n");
  EXPECT_EQ(host.run({"validate"}), 1);
  EXPECT_THAT(host.err.str(), AllOf(HasSubstr(":4:8: error: [[ipoib]] mode: \"conected\" is not one of"),
                                    HasSubstr(":5:1: error: mtu has no value"),
                                    HasSubstr(":7:1: error: [[module]] naem: unknown key"),
                                    Not(HasSubstr("no identifying key"))));
}

TEST_F(FirstUse, ProfilesOfPortsWithoutANameAreCalledInWords) {
  host.kernel.network_manager.running = true;
  host.document(kPort + "backend = \"networkmanager\"\nipv4 = { method = \"auto\" }\n");
  (void)host.run({"diff"});
  EXPECT_THAT(host.out.str(), HasSubstr(std::string("IPoIB ") + kGuid1));
}

TEST_F(FirstUse, AModuleOptionThatTheKernelLacksIsNotImported) {
  host.kernel.modules.modules["mlx4_core"].parameters["num_vfs"] = "0";
  host.kernel.files.content["/etc/modprobe.d/mlx4.conf"] = "options mlx4_core log_num_mtt=24 num_vfs=4\n";
  EXPECT_EQ(host.run({"import", "modprobe"}), 5) << host.err.str();
  EXPECT_THAT(host.out.str(), AllOf(HasSubstr("num_vfs=4"), Not(HasSubstr("log_num_mtt"))));
  EXPECT_THAT(host.err.str(), HasSubstr("/etc/modprobe.d/mlx4.conf:1"));
  EXPECT_THAT(host.err.str(), HasSubstr("log_num_mtt"));
}

/// Every test, case and file that the tables of a page name is there.
class PagesOfTests : public testing::Test {
 protected:
  PagesOfTests() {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kSource / "tests")) {
      if (entry.path().extension() != ".cpp") continue;
      const auto text = content(entry.path());
      for (auto at = text.find("\nTEST"); at != std::string::npos; at = text.find("\nTEST", at + 1)) {
        const auto open = text.find('(', at), comma = text.find(", ", open), close = text.find(')', comma);
        if (close == std::string::npos) break;
        tests_.insert(text.substr(open + 1, comma - open - 1) + "." +
                      text.substr(comma + 2, close - comma - 2));
      }
    }
  }

  [[nodiscard]] bool is_there(const std::string& name) const {
    if (name.find('/') != std::string::npos) return std::filesystem::exists(kSource / name);
    return tests_.contains(name) ||
           std::filesystem::exists(kSource / "tests/foreign/cases" / (name + ".txt"));
  }

  /// @return the number of rows that begin with a number
  std::size_t check(const std::string& name) const {
    std::size_t rows = 0;
    std::istringstream lines(content(kSource / "docs" / name));
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("| ") || std::isdigit(static_cast<unsigned char>(line[2])) == 0) continue;
      ++rows;
      const auto named = matches(line.substr(line.rfind(" | ")), "`([^`]*)`");
      EXPECT_FALSE(named.empty()) << line;
      for (const auto& test : named) EXPECT_TRUE(is_there(test)) << test;
    }
    return rows;
  }

 private:
  std::set<std::string> tests_;
};

TEST_F(PagesOfTests, NameTestsThatThereAre) {
  EXPECT_EQ(check("FIRST-USE.md"), 43U);
  EXPECT_EQ(check("IMPORT.md"), 141U);
  EXPECT_EQ(check("RUNBOOK.md"), 42U);
}

}  // namespace
}  // namespace rdmacfg::ctl::first_use
