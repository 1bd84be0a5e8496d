// SPDX-License-Identifier: Apache-2.0
// Scripts as lines of commands: lines that are joined, loops and variables that are written out, `tee`.
#include "foreign/syntax/shell_script.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "foreign/syntax/shell_line.hpp"
#include "foreign/syntax/shell_loops.hpp"

namespace rdmacfg::foreign {
namespace {

std::vector<std::string> texts_of(std::string_view script) {
  std::vector<std::string> out;
  for (const auto& line : lines_of_script(script)) out.push_back(line.text);
  return out;
}

struct SpelledRow {
  const char* name;
  std::string script;
  std::vector<std::string> lines;
};

TEST(ShellScript, WritesOutWhatTheScriptItselfSays) {
  const std::vector<SpelledRow> rows{
      {"words", "for i in 0 1; do a$i; done", {"a0", "a1"}},
      {"lines",
       "for i in x y\ndo\n  a $i\n  b ${i}z && c\ndone\nd",
       {"a x", "b xz && c", "a y", "b yz && c", "d"}},
      {"range", "for i in {8..10}; do a $i; done", {"a 8", "a 9", "a 10"}},
      {"alternatives", "for i in ib{0,2}; do a $i; done", {"a ib0", "a ib2"}},
      {"sequence", "for i in $(seq 0 1); do a $i; done", {"a 0", "a 1"}},
      {"behind the loop", "for i in 0; do a $i; done; b", {"a 0", "b"}},
      {"an if within", "for i in 0; do if b; then a $i; fi; done", {"if b; then a 0; fi"}},
      {"single quotes", "for i in 0; do a '$i' \"$i\" \\$i $ii; done", {"a '$i' \"0\" \\$i $ii"}},
      {"variable", "A=ib0\nb $A ${A}x", {"A=ib0", "b ib0 ib0x"}},
      {"list", "A=\"x y\"\nfor i in $A; do b $i; done", {"A=\"x y\"", "b x", "b y"}},
      {"comment", "A=ib0  # the first\nb $A", {"A=ib0  # the first", "b ib0"}},
      {"output", "for i in 0; do a $i; done > /b 2>&1\nc", {"a 0", "c"}},
      {"word of the shell as text", "c if\nA=x\nd $A", {"c if", "A=x", "d x"}},
      {"arguments", "set -- x y\nfor i; do b $i; done", {"set -- x y", "b x", "b y"}},
      {"arguments, quoted", "set -- x y\nfor i in \"$@\"; do b $i; done", {"set -- x y", "b x", "b y"}},
      {"arguments, lines", "set -- x\nfor i\ndo\nb $i\ndone", {"set -- x", "b x"}},
      {"counted", "for ((i=0;i<2;i++)); do a$i; done", {"a0", "a1"}},
      {"counted, blanks", "for (( i = 1; i <= 2; ++i ))\ndo\na $i\ndone\nb", {"a 1", "a 2", "b"}},
      {"counted by a variable",
       "N=2\nfor ((i=0; i<N; i++)); do a$i; done\nfor ((i=0; i<$N; i+=1)); do b$i; done",
       {"N=2", "for ((i=0; i<N; i++)); do a$i; done", "b0", "b1"}},
      {"array", "A=(x\n  y) \nfor i in \"${A[@]}\"; do b $i; done", {"A=(x y)", "b x", "b y"}},
  };
  for (const auto& row : rows) EXPECT_EQ(texts_of(row.script), row.lines) << row.name;
}

TEST(ShellScript, LeavesWhatOnlyTheRunningScriptKnows) {
  for (const std::string line :
       {"for i in $LIST; do a $i; done", "for i in /sys/class/net/ib*; do a $i; done",
        "for i in $(ls); do a $i; done", "for i in 0 1; do b && continue; a $i; done",
        "for i in 0 1; do for j in 2; do a $i$j; done; done", "for i in 0 1; do a $i; done < /etc/b",
        "for i in 0 1; do i=2; a $i; done", "b && for i in 0 1; do a $i; done",
        "for i in {0..99999}; do a; done", "for i in {00..03}; do a $i; done", "for i; do a $i; done",
        "for i in \"$@\"; do a $i; done", "for ((i=0;i<2;i+=2)); do a $i; done",
        "for ((i=2;i>0;i--)); do a $i; done", "for ((i=0;i<0;i++)); do a $i; done",
        "for ((i=0;i<100000;i++)); do a $i; done", "for ((;;)); do a; done",
        "for i in 0; do echo 1; done > /sys/b", "for i in 0; do a; done >> /sys/b < c"})
    EXPECT_EQ(texts_of(line), std::vector<std::string>{line});
  // The value is another one later, or is not assigned in any case.
  EXPECT_EQ(texts_of("A=x\nb $A\nA=y")[1], "b $A");
  EXPECT_EQ(texts_of("A=x\nread A\nb $A")[2], "b $A");
  EXPECT_EQ(texts_of("if b; then\nA=x\nfi\nc $A")[3], "c $A");
  EXPECT_EQ(texts_of("if b; then\nc done\nA=x\nfi\nd $A")[4], "d $A");
  EXPECT_EQ(texts_of("cat <<E\nA=x\nE\nb $A")[3], "b $A");
  // A file of the host may say otherwise; an assignment behind that counts.
  for (const std::string_view reads :
       {". /etc/b", "source /etc/b", "[ -r /etc/b ] && . /etc/b", "if a; then . /etc/b; fi", "eval $C"})
    EXPECT_EQ(texts_of(fmt::format("A=x\n{}\nb $A", reads)).back(), "b $A") << reads;
  EXPECT_EQ(texts_of(". /etc/b\nA=x\nb $A").back(), "b x");
  EXPECT_EQ(texts_of("A=\"x y\"\n. /etc/b\nfor i in $A; do b $i; done").back(), "for i in $A; do b $i; done");
  // The arguments are others by then, or those of a function.
  for (const std::string_view before :
       {"set -- x\nset -- y", "set -- x\nshift", "set -- x\nf() { a; }", "if a; then\nset -- x\nfi",
        "set -- x\n. /etc/b", "set -- $A", "echo \"$@\"\nset -- x"})
    EXPECT_EQ(texts_of(fmt::format("{}\nfor i; do b $i; done", before)).back(), "for i; do b $i; done")
        << before;
  // The shell makes no words of braces in a value.
  EXPECT_EQ(texts_of("A='x{0,1}'\nfor i in $A; do b $i; done").back(), "for i in $A; do b $i; done");
  EXPECT_EQ(texts_of("cat <<E\nfor i in 0 1; do a $i; done\nE")[1], "for i in 0 1; do a $i; done");
}

TEST(ShellScript, WritesOutNothingThatBecomesFarLonger) {
  const auto length = [](const std::vector<std::string>& lines) {
    std::size_t out = 0;
    for (const auto& line : lines) out += line.size();
    return out;
  };
  constexpr std::size_t kMost = 8U << 20U;
  std::string uses, loop = "for i in";
  for (int at = 0; at < 20'000; ++at) uses += "$A";
  for (int at = 0; at < 60; ++at) loop += ' ' + std::string(100, 'x');
  loop += "; do b ";
  for (int at = 0; at < 2000; ++at) loop += "$i";
  EXPECT_LT(length(texts_of("A=" + std::string(2000, 'x') + "\nb " + uses)), kMost);
  EXPECT_LT(length(texts_of(loop + "; done")), kMost);
}

TEST(ShellScript, KnowsTheLinesOfLoops) {
  const auto lines = lines_of_script("\nfor i in 0 1\ndo\n  a\ndone\n");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].number, 4);
  EXPECT_FALSE(lines[0].again);
  EXPECT_EQ(lines[1].number, 4);
  EXPECT_TRUE(lines[1].again);
}

TEST(ShellScript, WritesIntoEachFileOfTee) {
  EXPECT_EQ(spell_out_tee("echo a | tee /x"), "echo a > /x");
  EXPECT_EQ(spell_out_tee("echo a | sudo tee -a /x /y >/dev/null"), "echo a > /x && echo a > /y");
  EXPECT_EQ(spell_out_tee("echo a | tee /x/$IFACE/b"), "echo a > /x/$IFACE/b");
  EXPECT_EQ(spell_out_tee("b && printf 'a\\n' | tee /x; c"), "b && echo a > /x; c");
  for (const std::string line : {"a b | tee /x", "echo a | tee /x | b", "echo a b | tee /x", "echo tee"})
    EXPECT_EQ(spell_out_tee(line), line);
}

TEST(ShellWords, ShowNoSecrets) {
  struct Row {
    std::string command, shown;
  };
  const std::vector<Row> rows{
      {"nvme connect -a 192.0.2.1 --dhchap-secret=DHHC-1:00:x: -q a",
       "nvme connect -a 192.0.2.1 --dhchap-secret=… -q a"},
      {"nvme connect --dhchap-ctrl-secret DHHC-1:00:x:", "nvme connect --dhchap-ctrl-secret …"},
      {"nvme connect -SDHHC-1:00:x: -C DHHC-1:00:y:", "nvme connect -S… -C …"},
      {"nvme connect --tls_key 'NVMeTLSkey-1:01:x y' a", "nvme connect --tls_key … a"},
      {"targetcli /iscsi/a set auth userid=u Password=\"a b\" c",
       "targetcli /iscsi/a set auth userid=u Password=… c"},
      {"iscsiadm -m node -n node.session.auth.password -v x -T a",
       "iscsiadm -m node -n node.session.auth.password -v … -T a"},
      {"opensm --m_key 0x5 -B", "opensm --m_key … -B"},
      {"a --secret='x", "a --secret=…"},
      {"a --secret=", "a --secret="},
      {"a --secret", "a --secret"},
  };
  for (const auto& row : rows) EXPECT_EQ(without_secrets(row.command), row.shown);
  for (const std::string command :
       {"", " ip link set ib0  up", "mlnx_qos -i ens1 --pfc 0,1", "echo id_ext=1,pkey=ffff > /x"})
    EXPECT_EQ(without_secrets(command), command);
}

TEST(ShellWords, KnowWhatIsWrittenIntoAFile) {
  const auto words = [](std::string_view command) { return base::join(shell_words(command, ""), " "); };
  for (const std::string_view command :
       {"echo -n a > /x", "echo a >> /x", "printf a > /x", "printf 'a\\n' > /x", "printf \"%s\\n\" a > /x"})
    EXPECT_EQ(words(command), "echo a > /x") << command;
  EXPECT_EQ(words("printf '%s %s' a b > /x"), "printf %s %s a b > /x");
  EXPECT_EQ(words("printf '%d\\n' 1 > /x"), "printf %d\\n 1 > /x");
}

}  // namespace
}  // namespace rdmacfg::foreign
