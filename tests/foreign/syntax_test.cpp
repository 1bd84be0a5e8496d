// SPDX-License-Identifier: Apache-2.0
// The languages below the formats: blocks of the shell, commands in other namespaces, lists of keyfiles,
// crontabs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "foreign/syntax/crontab_lines.hpp"
#include "foreign/syntax/gkeyfile.hpp"
#include "foreign/syntax/shell_blocks.hpp"
#include "foreign/syntax/shell_line.hpp"

namespace rdmacfg::foreign {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

/// A script for ib0, which comes up, and its commands that run in any case.
struct ScriptRow {
  const char* name;
  std::string script;
  std::vector<std::string> certain;
};

std::vector<std::string> certain_commands(const std::string& script) {
  ShellBlocks blocks([](std::string_view value) { return value == "ib0" || value == "up"; });
  blocks.begin();
  std::vector<std::string> out;
  int number = 0;
  for (const auto line : base::split(script, '\n')) {
    ++number;
    for (const auto& part : parts_of(line)) {
      const auto command = blocks.next(part, number);
      if (command.text.empty() || command.test || command.decides || command.text.starts_with("exit"))
        continue;
      if (command.condition().empty()) out.emplace_back(command.text);
    }
  }
  return out;
}

TEST(ShellBlocks, KnowWhichCommandsRunInAnyCase) {
  const std::vector<ScriptRow> rows{
      {"a list", "a; b & c", {"a", "b", "c"}},
      {"if", "if x; then a; elif y; then b; else c; fi; d", {"d"}},
      {"if in lines", "if x\nthen\n  a\nfi\nd", {"d"}},
      {"if in another", "if [ \"$1\" = ib0 ]; then if x; then a; fi; b; fi", {"b"}},
      {"a hook's interface", "if [ \"$1\" = ib0 ] && [ up = \"$2\" ]; then a; else b; fi", {"a"}},
      {"another interface", "if [ \"$1\" = ib1 ]; then a; fi; b", {"b"}},
      {"a negated test", "if ! [ \"$1\" = ib0 ]; then a; fi; b", {"b"}},
      {"tests joined by ||", "if [ \"$2\" = up ] || [ \"$2\" = down ]; then a; fi", {}},
      {"double brackets", "if [[ $IFACE == ib0 && ${ACTION} == up ]]; then a; fi", {"a"}},
      {"loops", "for i in 1 2; do a; done; while x; do b; done; until y; do c; done; d", {"d"}},
      {"case of a hook", "case \"$2\" in up) a ;; down) b ;; esac; c", {"a", "c"}},
      {"case of something else", "case $x in\n  up)\n    a\n    ;;\nesac\nb", {"b"}},
      {"alternatives", "case $2 in up|down) a;; esac", {}},
      {"alternatives that all hold", "case $2 in\n  ib0 | \"up\") a;;\n  (x|y) b;;\nesac; c", {"a", "c"}},
      {"any other value", "case $2 in down|x) a;; *) b;; esac", {"b"}},
      {"any value but the usual", "case $2 in up) a;; *) b;; esac", {"a"}},
      {"else of another interface", "if [ $1 != ib0 ]; then a; else b; fi", {"b"}},
      {"either test", "[ $1 = ib1 ] || a; [ $1 = ib0 ] || b", {"a"}},
      {"function", "f() {\n  a\n}\nb", {"b"}},
      {"function with the brace below", "function f\n{\n  a\n}\nb", {"b"}},
      {"function in a line", "f(){ a; }; b", {"b"}},
      {"early exit", "x\n[ -e /y ] || exit 0\na", {"x"}},
      {"early exit in if", "if [ -e /y ]; then exit; fi\na", {}},
      {"early exit of other hooks",
       "[ \"$1\" = ib0 ] || [ $1 = up ] || exit 0; [ $2 = down ] && exit 0; a",
       {"a"}},
      {"early exit of other values", "case $2 in up|ib0) ;; *) exit 0;; esac; a", {"a"}},
      {"early exit where it is missing", "[ -e /sys/class/net/ib0 ] || { exit 0; }; a", {"a"}},
      {"exit of a failure", "[ -e /y ] || exit 1; a", {"a"}},
      {"exit of a subshell", "( [ -e /y ] || exit 0; a ); b", {"b"}},
      {"group and subshell", "{ a; }; ( b; c ); (d)", {"a", "b", "c", "d"}},
      {"group behind &&", "[ -x /y ] && { a; }; b", {"b"}},
      {"the interface is there", "[ -d /sys/class/net/ib0 ] && a", {"a"}},
      {"a file is there", "[ -e /y ] && a; b", {"b"}},
      {"||", "x || a; b", {"x", "b"}},
      {"&& behind ||", "x || y && a", {"x"}},
  };
  for (const auto& row : rows)
    EXPECT_THAT(certain_commands(row.script), ElementsAreArray(row.certain)) << row.name;
}

TEST(ShellBlocks, ACommandThatMayFailMakesTheNextUncertain) {
  ShellBlocks blocks([](std::string_view) { return false; });
  blocks.begin();
  EXPECT_EQ(blocks.next({"", "a"}, 1).condition(), "");
  EXPECT_EQ(blocks.next({"&&", "b"}, 1).condition(), "");
  blocks.warn_of_implausible();
  EXPECT_EQ(blocks.next({"&&", "c"}, 1).condition(), "runs only where the command before it succeeds");
  EXPECT_EQ(blocks.next({"||", "d"}, 1).condition(), "runs only where the command before it fails");
  EXPECT_EQ(blocks.next({"", "e"}, 2).condition(), "");
}

TEST(ShellBlocks, KnowTheCommandsOfFunctionsThatAreCalled) {
  ShellBlocks blocks([](std::string_view) { return true; });
  blocks.set_called({"f"});
  blocks.begin();
  (void)blocks.next({"", "f() {"}, 1);
  EXPECT_EQ(blocks.next({"", "a"}, 2).condition(), "");
  // The function's own argument, not the hook's.
  (void)blocks.next({"", "[ $1 = ib0 ]"}, 3);
  EXPECT_NE(blocks.next({"&&", "return 0"}, 3).condition(), "");
  EXPECT_EQ(blocks.next({"", "b"}, 4).condition(), "runs only where the function does not end in line 3");
  (void)blocks.next({"", "}"}, 5);
  EXPECT_EQ(blocks.next({"", "c"}, 6).condition(), "");
  (void)blocks.next({"", "g() {"}, 7);
  EXPECT_EQ(blocks.next({"", "d"}, 8).condition(), "runs only where the function in line 7 is called");
  EXPECT_EQ(blocks.functions(), (ShellBlocks::Names{"f", "g"}));
}

TEST(ShellBlocks, NameTheBlockWithItsLine) {
  ShellBlocks blocks([](std::string_view) { return false; });
  blocks.begin();
  (void)blocks.next({"", "if x"}, 3);
  EXPECT_EQ(blocks.next({"", "then a"}, 4).condition(), "runs only under the `if` in line 3");
  (void)blocks.next({"", "fi"}, 5);
  (void)blocks.next({"", "f() {"}, 6);
  const auto within = blocks.next({"", "b"}, 7);
  EXPECT_EQ(within.condition(), "runs only where the function in line 6 is called");
  EXPECT_EQ(within.depth, 1U);
}

TEST(ShellWords, LeaveOutWhatOnlyRunsTheCommand) {
  const auto words = [](std::string_view command) { return base::join(shell_words(command, ""), " "); };
  EXPECT_EQ(words("sudo -n -u root /usr/bin/mlnx_qos -i ens1"), "mlnx_qos -i ens1");
  EXPECT_EQ(words("LANG=C nice -n 5 nohup opensm -B"), "opensm -B");
  EXPECT_EQ(words("timeout -k 5 10s opensm"), "opensm");
  EXPECT_EQ(words("env -u HOME A=1 opensm"), "opensm");
  EXPECT_EQ(words("sudo -- ip l s ib0 up"), "ip link set ib0 up");
  // Without a command behind them they are commands themselves.
  EXPECT_EQ(words("sudo -l"), "sudo -l");
  EXPECT_EQ(words("A=1"), "A=1");
  EXPECT_EQ(words("timeout 10"), "timeout 10");
  EXPECT_EQ(words("A=$(opensm -h) true"), "A=$(opensm -h) true");
  EXPECT_EQ(words("command -v opensm"), "command -v opensm");
}

TEST(ShellWords, KeepTheValueOfAnAssignmentTogether) {
  struct ValueRow {
    const char* command;
    std::vector<std::string> expected;
  };
  const std::vector<ValueRow> rows{
      {R"(CMD="sudo modprobe ib_umad")", {"CMD=sudo modprobe ib_umad"}},
      {"CMD=' modprobe ib_umad'", {"CMD= modprobe ib_umad"}},
      {R"(IF="ib0 ip link set ib1 mtu 2044")", {"IF=ib0 ip link set ib1 mtu 2044"}},
      {"LIST=(sudo modprobe ib_umad)", {"LIST=(sudo modprobe ib_umad)"}},
      {R"(TEXT="connected > /etc/a")", {"TEXT=connected > /etc/a"}},
      {"OPENSM=/usr/sbin/opensm", {"OPENSM=/usr/sbin/opensm"}},
      {R"(A="1 2" B='3 4' opensm -B)", {"opensm", "-B"}},
      {R"(sudo env A="x modprobe ib_umad" opensm -B)", {"opensm", "-B"}},
      {R"(export CMD="sudo modprobe ib_umad")", {"export", "CMD=sudo modprobe ib_umad"}},
  };
  for (const auto& row : rows) EXPECT_EQ(shell_words(row.command, ""), row.expected) << row.command;
}

TEST(ShellWords, KnowTheScriptOfAShell) {
  EXPECT_EQ(script_of_shell("sudo sh -c 'a; b \"c\"'"), "a; b \"c\"");
  EXPECT_EQ(script_of_shell("/bin/bash -ec \"a\""), "a");
  EXPECT_EQ(script_of_shell("A=\"1 2\" sudo /bin/sh -ec 'a \"b\"'"), "a \"b\"");
  EXPECT_EQ(script_of_shell("A='1' sh -c \"a 'b'\""), "a 'b'");
  EXPECT_EQ(script_of_shell("sh -c a"), "");
  EXPECT_EQ(script_of_shell("sh '/etc/a'"), "");
  EXPECT_EQ(script_of_shell("ssh host -c 'a'"), "");
  EXPECT_EQ(script_of_shell("sh -c '"), "");
}

TEST(ShellWords, KnowTheNetworkNamespaceOfACommand) {
  struct NamespaceRow {
    const char* command;
    const char* name;  ///< empty: that of the script
    const char* inner;
  };
  const std::vector<NamespaceRow> rows{
      {"ip link set ib0 up", "", ""},
      {"ip netns add storage", "", ""},
      {"nsenter -t 1 -m mount", "", ""},
      {"ip -n storage link set ib0 up", "storage", "ip link set ib0 up"},
      {"ip -4 -net storage l s ib0 up", "storage", "ip link set ib0 up"},
      {"ip --netns storage addr add 192.0.2.1/24 dev ib0", "storage", "ip addr add 192.0.2.1/24 dev ib0"},
      {"/sbin/ip netns exec storage /sbin/ip a a 192.0.2.1/24 dev ib0", "storage",
       "ip addr add 192.0.2.1/24 dev ib0"},
      {"nsenter --net=/run/netns/x ip link set ib0 up", "of nsenter", "ip link set ib0 up"},
      {"nsenter -t 1 -n ip link set ib0 up", "of nsenter", "ip link set ib0 up"},
  };
  for (const auto& row : rows) {
    const auto there = elsewhere_of(shell_words(row.command, ""));
    ASSERT_EQ(there.has_value(), *row.name != '\0') << row.command;
    if (!there) continue;
    EXPECT_EQ(there->name, row.name) << row.command;
    EXPECT_EQ(base::join(there->command, " "), row.inner) << row.command;
  }
}

TEST(GKeyFile, DividesListsAtSemicolons) {
  EXPECT_THAT(gkeyfile_list("a;b;"), ElementsAre("a", "b"));
  EXPECT_THAT(gkeyfile_list(" a ; ;b c"), ElementsAre("a", "b c"));
  EXPECT_THAT(gkeyfile_list("a\\;b;c"), ElementsAre("a;b", "c"));
  EXPECT_THAT(gkeyfile_list(""), ElementsAre());
}

TEST(GKeyFile, KeepsTheBlanksBehindAValue) {
  const auto text = parse_gkeyfile({"/a", "[g]\n  a =  b \t\nc=d\r\n \t\n"});
  ASSERT_EQ(text.groups.size(), 1U);
  ASSERT_EQ(text.groups.front().items.size(), 2U);
  EXPECT_EQ(text.groups.front().items[0].key, "a");
  EXPECT_EQ(text.groups.front().items[0].value, "b \t");
  EXPECT_FALSE(text.groups.front().items[0].escaped);
  EXPECT_EQ(text.groups.front().items[1].value, "d");
  EXPECT_TRUE(text.refused.empty());
}

TEST(GKeyFile, KnowsEscapesAndRefusesOthers) {
  const auto text =
      parse_gkeyfile({"/a", "[g] \t\nplain = a\\sb\\\\\\tc\nlast=\\\nwrong=\\x\nlist=a\\;b;\n"});
  ASSERT_EQ(text.groups.size(), 1U);
  EXPECT_EQ(text.groups.front().name, "g");
  const auto& items = text.groups.front().items;
  ASSERT_EQ(items.size(), 4U);
  EXPECT_EQ(items[0].value, "a b\\\tc");
  EXPECT_TRUE(items[0].escaped);
  EXPECT_EQ(items[0].why, "");
  EXPECT_EQ(items[1].key, "last") << "no line goes on in the next";
  EXPECT_NE(items[1].why, "");
  EXPECT_NE(items[2].why, "");
  EXPECT_EQ(items[3].value, "a\\;b;");
  EXPECT_TRUE(text.refused.empty());
}

TEST(GKeyFile, RefusesTheFileForOneLine) {
  for (const auto* text : {"key=1\n[g]\n", "[g]\nword\n", "[g]\n=1\n", "[g]\n; comment\n", "[g]\na]b=1\n"})
    EXPECT_EQ(parse_gkeyfile({"/a", text}).refused.size(), 1U) << text;
  for (const auto* text : {"# comment\n\n[g]\na=1\n", "[g]\n;a=1\n", "[g]\nid[de]=1\n"})
    EXPECT_EQ(parse_gkeyfile({"/a", text}).refused.size(), 0U) << text;
}

std::vector<std::string> crontab_commands(std::string_view path, std::string_view text) {
  std::vector<std::string> out;
  for (const auto& line : lines_of_crontab(path, text))
    out.push_back(fmt::format("{} {}{}", line.number, line.at_boot ? "boot: " : "", line.command));
  return out;
}

TEST(Crontab, NamesAUserOnlyInTablesOfTheSystem) {
  EXPECT_THAT(
      crontab_commands("/etc/crontab",
                       "# comment\nMAILTO=root\n\n@reboot root a  b\n*/5 * * * * root c\n@daily root\n"),
      ElementsAre("4 boot: a  b", "5 c"));
  EXPECT_THAT(crontab_commands("/var/spool/cron/crontabs/root", "@reboot a b\n0 3 * * * c\n"),
              ElementsAre("1 boot: a b", "2 c"));
}

}  // namespace
}  // namespace rdmacfg::foreign
