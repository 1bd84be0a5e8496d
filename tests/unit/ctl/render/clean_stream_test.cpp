// SPDX-License-Identifier: Apache-2.0
// Text from elsewhere does not act on a terminal: the stream itself, and every way in which rdma-configctl
// shows names of devices and interfaces, profiles, lines of files and values of the kernel.
#include "ctl/render/clean_stream.hpp"

#include <gmock/gmock.h>

#include <regex>

#include "base/characters.hpp"
#include "unit/ctl/console.hpp"

namespace rdmacfg::ctl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kBad = "\xef\xbf\xbd";  // U+FFFD

std::string cleaned(const std::string& text, bool colour = false, bool progress = false,
                    bool piecemeal = false) {
  std::ostringstream out;
  {
    const CleanStream clean(out, colour,
                            progress ? CleanStream::Progress::kLine : CleanStream::Progress::kNone);
    if (piecemeal) {
      for (const char character : text) out << character;
    } else {
      out << text;
    }
  }
  return out.str();
}

TEST(CleanStream, LetsTextThroughAndNothingThatActs) {
  EXPECT_EQ(cleaned("a\tb\nü – 漢\n"), "a\tb\nü – 漢\n");
  for (const std::string sequence : {"\x1b", "\x07", "\r", "\x7f", "\x01", "\xc2\x9b", "\xe2\x80\xa8",
                                     "\xe2\x80\xae", "\xe2\x81\xa6", "\xff", "\xc3"}) {
    SCOPED_TRACE(::testing::PrintToString(sequence));
    for (const bool piecemeal : {false, true}) {
      const auto shown = cleaned("x" + sequence + "y", true, false, piecemeal);
      EXPECT_EQ(shown, "x" + std::string(kBad) + "y");
    }
  }
  EXPECT_EQ(cleaned(std::string("a\0b", 3)), "a" + std::string(kBad) + "b");
}

TEST(CleanStream, HasColoursOfItsOwnOnly) {
  for (const bool piecemeal : {false, true}) {
    EXPECT_EQ(cleaned("\x1b[31mred\x1b[0m", true, false, piecemeal), "\x1b[31mred\x1b[0m");
    EXPECT_EQ(cleaned("\x1b[31mred", false, false, piecemeal), std::string(kBad) + "[31mred");
    for (const std::string sequence :
         {"\x1b[31;5mx", "\x1b[2J", "\x1b]0;title\x07", "\x1b[38;5;1mx", "\x1bPx\x1b\\"})
      EXPECT_THAT(cleaned(sequence, true, true, piecemeal), Not(HasSubstr("\x1b")))
          << ::testing::PrintToString(sequence);
  }
}

TEST(CleanStream, WhatIsIncompleteAtTheEndIsShownSo) {
  EXPECT_EQ(cleaned("\x1b[3", true), std::string(kBad) + "[3");
  EXPECT_EQ(cleaned("\xe2\x80"), std::string(kBad) + kBad);
}

/// Nothing that acts but the program's own colours.
std::string acting(std::string text) {
  text = std::regex_replace(text, std::regex("\x1b\\[(0|1|2|31|32|33|1;31|1;35|1;36)m"), "");
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto length = base::utf8_length(std::string_view(text).substr(at));
    const auto character = text.substr(at, std::max<std::size_t>(length, 1));
    if (length == 0 ||
        (character != "\n" && character != "\t" && base::is_control(base::code_point(character))))
      out += ::testing::PrintToString(character) + " in " +
             ::testing::PrintToString(text.substr(at > 40 ? at - 40 : 0, 80)) + "\n";
    at += character.size();
  }
  return out;
}

constexpr const char* kEsc = "\x1b]0;x\x07\x1b[2J\xc2\x9b\xe2\x80\xae";

class Sinks : public ::testing::Test {
 protected:
  Sinks() {
    auto& kernel = console.kernel;
    kernel
        .add_device(
            {.name = std::string("mlx") + "\x1b[2J", .pci = "0000:20:00.0", .node_guid = 0x0002c90300317900})
        .ib_port({.guid = "00:02:c9:03:00:31:79:01", .interface = "ib\x1b[2Jx", .pkeys = {0xffff, 0x8002}});
    auto& files = kernel.files.content;
    const std::string evil = kEsc;
    files["/etc/NetworkManager/system-connections/site.nmconnection"] =
        "[connection]\nid=site" + evil +
        "\nuuid=1\ntype=infiniband\ninterface-name=ib0\n[infiniband]\n"
        "transport-mode=" +
        evil + "\n[ipv4]\nmethod=manual\naddress1=192.0.2.9/24\n";
    files["/etc/modprobe.d/site" + evil + ".conf"] = "options mlx4_core log_num_mtt=" + evil + "\n";
    files["/etc/sysctl.d/50-site.conf"] = "net.core.somaxconn = 1" + evil + "\n" + evil + "\n";
    files["/etc/rdma/partitions.conf"] = "Default=0x7fff" + evil + ", ipoib : ALL=full;\n" + evil;
    files["/etc/udev/rules.d/70-persistent-ipoib.rules"] =
        "ACTION==\"add\", ATTR{address}==\"?*" + evil + "\", NAME=\"x" + evil + "\"\n";
    files["/etc/sysconfig/network-scripts/ifcfg-ib0"] =
        "DEVICE=ib0\nTYPE=InfiniBand\nIPADDR=" + evil + "\nWHAT" + evil + "=1\n";
    files["/etc/network/interfaces"] = "iface ib0 inet static\n  address " + evil + "\n  " + evil + " x\n";
    files["/var/lib/rdma-configd/state.json"] = "{" + evil;
    files["/var/lib/rdma-configd/generations.json"] = "{\"schema\":1,\"x\":\"" + evil + "\"";
  }

  Console console;
};

TEST_F(Sinks, ShowNothingThatActs) {
  const std::string document =
      std::string("version = 1\n[[ipoib]]\nguid = \"") + kGuid1 +
      "\"\nmtu = 2044\nbackend = \"networkmanager\"\nipv4 = { addresses = [\"192.0.2.1/24\"] }\n"
      "[[ipoib]]\nguid = \"00:02:c9:03:00:31:79:01\"\n[[module]]\nname = \"mlx4_core\"\noptions = [\"a=1\"]\n"
      "[[sysctl]]\nkey = \"net.core.somaxconn\"\nvalue = 2\n";
  const std::vector<std::vector<std::string>> commands{{"validate"},
                                                       {"diff"},
                                                       {"show"},
                                                       {"status"},
                                                       {"doctor"},
                                                       {"history"},
                                                       {"verify"},
                                                       {"apply", "--dry-run"},
                                                       {"apply", "--yes"},
                                                       {"show", "devices"},
                                                       {"show", "partitions"},
                                                       {"import"},
                                                       {"import", "--from", "networkmanager"},
                                                       {"export", "commands"},
                                                       {"no\x1b[2Jsuch"},
                                                       {"show", "--\x1b[2J"},
                                                       {"--config", "/no/\x1b[2J", "validate"}};
  const std::vector<std::string> documents{document, document + "x\x1b[2J = 1\n",
                                           document + "# \xe2\x80\xae\n[[ipoib]]\nname = \"\x1b\"\n"};
  for (const auto& text : documents) {
    console.document(text);
    for (auto words : commands) {
      // A document that is not understood is the same to all the others.
      if (&text != &documents.front() && words != commands.front()) continue;
      SCOPED_TRACE(::testing::PrintToString(words));
      const auto run = [&] {
        console.answer("n\n");
        console.run(words);
        EXPECT_EQ(acting(console.out.str()), "");
        EXPECT_EQ(acting(console.err.str()), "");
      };
      console.environment.out_terminal = console.environment.err_terminal = false;
      run();
      console.terminal();
      run();
      words.emplace_back("--json");
      run();
    }
  }
}

TEST_F(Sinks, TheNamesAreShownAllTheSame) {
  console.document(std::string("version = 1\n[[ipoib]]\nguid = \"") + kGuid1 + "\"\nmtu = 2044\n");
  console.kernel.files.content.erase("/var/lib/rdma-configd/state.json");
  console.kernel.files.content.erase("/var/lib/rdma-configd/generations.json");
  console.run({"show"});
  EXPECT_THAT(console.out.str(), HasSubstr("[2Jx  0xffff")) << console.err.str();
}

}  // namespace
}  // namespace rdmacfg::ctl
