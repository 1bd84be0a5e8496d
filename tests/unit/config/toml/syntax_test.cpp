// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "config/toml/tree.hpp"
#include "unit/config/sample_document.hpp"

namespace rdmacfg::config {
namespace {

/// The tree in one line: {a=1, b=[x, y]}.
std::string write(const Node& node) {
  std::string out;
  const auto add = [&](const std::string& part) { out += (out.empty() ? "" : ", ") + part; };
  switch (node.sort) {
    case Node::Sort::kScalar:
      return model::text_of(node.scalar);
    case Node::Sort::kForeign:
      return std::string(node.foreign);
    case Node::Sort::kList:
      for (const auto& item : node.items) add(write(item));
      return "[" + out + "]";
    case Node::Sort::kTable:
      for (const auto& [name, member] : node.members) add(name + "=" + write(member));
      return "{" + out + "}";
  }
  return out;
}

/// The tree, or the errors with their places when there are any.
std::string parsed(std::string text, const Limits& limits = {}) {
  const Text file{"", std::move(text)};
  const auto tree = parse_tree(file, limits);
  std::string out;
  for (const auto& error : tree.errors) {
    out += fmt::format("{}:{} {}\n", error.where.line, error.where.column, error.message);
  }
  return out.empty() ? write(tree.root) : out.substr(0, out.size() - 1);
}

TEST(Syntax, Documents) {
  EXPECT_EQ(parsed(""), "{}");
  EXPECT_EQ(parsed("# only a comment"), "{}");
  EXPECT_EQ(parsed("\xef\xbb\xbf"
                   "a = 1\r\n\r\nb = 'x' # c\r\n"),
            "{a=1, b=x}");
  EXPECT_EQ(parsed("a.\"b c\" . 'd' = true"), "{a={b c={d=yes}}}");
  EXPECT_EQ(parsed("a = [ 1, # one\n 'x', [], ]\n"), "{a=[1, x, []]}");
  EXPECT_EQ(parsed("a = {b = 1, c.d = [{}], }"), "1:25 a ',' before '}' is not allowed");
  EXPECT_EQ(parsed("a = {b = 1, c.d = [{}]}"), "{a={b=1, c={d=[{}]}}}");
  EXPECT_EQ(parsed("[ a . b ] # c\nc = 1\n[a]\nd = 2"), "{a={b={c=1}, d=2}}");
  EXPECT_EQ(parsed("[[a]]\nb = 1\n[[a.c]]\nd = 1\n[[a]]\n[[a.c]]\nd = 2\n[a.e]"),
            "{a=[{b=1, c=[{d=1}]}, {c=[{d=2}], e={}}]}");
  EXPECT_EQ(parsed("a.b = 1\na.c = 2\n[d]\ne.f = 1\n[d.e.g]\nh = 1"), "{a={b=1, c=2}, d={e={f=1, g={h=1}}}}");
  EXPECT_EQ(parsed("a = \"\"\"\nx\\\n  y\"\"\"\nb = '''\n''''"), "{a=xy, b='}");
  EXPECT_EQ(parsed("a = 1979-05-27 07:32:00\nb = 1979-05-27 # 07"), "{a=a date, b=a date}");
  EXPECT_EQ(parsed("1234 = 1\n\"\" = 2"), "{=2, 1234=1}");
}

TEST(Syntax, NamesPatchesAndMergeConflicts) {
  EXPECT_EQ(parsed("--- a/config.toml\n+++ b/config.toml\n@@ -1 +1 @@\n"),
            "1:1 this is a patch, not an rdma-configd document");
  EXPECT_EQ(parsed("diff --git a/x b/x\n"), "1:1 this is a patch, not an rdma-configd document");
  EXPECT_EQ(parsed("---\na: 1\n"), "1:1 this is YAML, but the configuration is written in TOML");
  EXPECT_EQ(parsed("a = 1\n<<<<<<< HEAD\nb = 1\n=======\nc = 1\n>>>>>>> theirs\nd = 1\n"),
            "2:1 a merge conflict is unresolved");
  EXPECT_EQ(parsed("<<<<<<< HEAD\n=======\n>>>>>>> x\n<<<<<<< HEAD\n=======\n>>>>>>> x\n"),
            "1:1 a merge conflict is unresolved\n4:1 a merge conflict is unresolved");
  EXPECT_EQ(parsed("=======\n"), "1:1 there is no key before =");
}

TEST(Syntax, ErrorsOfOneLine) {
  EXPECT_EQ(parsed("mtu 2044"), "1:5 expected = after mtu, found '2'");
  EXPECT_EQ(parsed("mtu"), "1:4 expected = after mtu, found the end of the file");
  EXPECT_EQ(parsed("mtu =\n"), "1:1 mtu has no value");
  EXPECT_EQ(parsed("mtu = # 2044\n"), "1:1 mtu has no value");
  EXPECT_EQ(parsed("= 1"), "1:1 there is no key before =");
  EXPECT_EQ(parsed("é = 1"), "1:1 expected a key, found 'é'");
  EXPECT_EQ(parsed("a\u00a0= 1"), "1:2 expected = after a, found the invisible character U+00A0");
  EXPECT_EQ(parsed("\u200ba = 1"), "1:1 expected a key, found the invisible character U+200B");
  EXPECT_EQ(parsed("[a]\u00a0"), "1:4 unexpected invisible character U+00A0 at the end of the line");
  EXPECT_EQ(parsed("n\u0430me = 1"), "1:2 '\u0430' (U+0430) is not an ASCII letter");
  EXPECT_EQ(parsed("[ip\u043eib]"), "1:4 '\u043e' (U+043E) is not an ASCII letter");
  EXPECT_EQ(parsed("a. = 1"), "1:4 there is no key before =");
  EXPECT_EQ(parsed("a = 1 b = 2"), "1:7 unexpected 'b' at the end of the line");
  EXPECT_EQ(parsed("é = 1\na = 'x"),
            "1:1 expected a key, found 'é'\n2:5 the string that begins here has no closing ' on its line");
  EXPECT_EQ(parsed("a = \"x\\\nb = 1"), "1:5 the string that begins here has no closing \" on its line");
  EXPECT_EQ(parsed("a == 1"), "1:4 expected a value, found '='");
  EXPECT_EQ(parsed("a = 1;"), "1:5 1; is not a valid value");
  EXPECT_EQ(parsed("a = ]"), "1:5 expected a value, found ']'");
  EXPECT_EQ(parsed("[a\nb = 1"), "1:3 expected ] to close the section's name, found the end of the line");
  EXPECT_EQ(parsed("[[a]\nb = 1"), "1:4 expected ]] to close the section's name, found ']'");
  EXPECT_EQ(parsed("[]"), "1:2 expected a key, found ']'");
  EXPECT_EQ(parsed("[a] b = 1"), "1:5 unexpected 'b' at the end of the line");
  EXPECT_EQ(parsed("\"\"\"a\"\"\" = 1"), "1:1 a key cannot be a multi-line string");
  EXPECT_EQ(parsed("a = connected\nb = 099"),
            "1:5 connected is not a valid value\n2:5 a number cannot begin with 0");
}

TEST(Syntax, ErrorsInsideOfBracketsEndTheFile) {
  EXPECT_EQ(parsed("a = [1 2]\nb ="), "1:8 expected ',' or ']' in the list, found '2'");
  EXPECT_EQ(parsed("a = [1,\n\nb = 2\n"), "3:1 b = … inside unclosed brackets");
  EXPECT_EQ(parsed("a = [1,\n"), "1:5 the list that begins here has no closing ]");
  EXPECT_EQ(parsed("a = [,]"), "1:6 a list element is missing before ','");
  EXPECT_EQ(parsed("a = {b = 1 c = 2}"), "1:12 expected ',' or '}' in the table, found 'c'");
  EXPECT_EQ(parsed("a = {\nb = 1}"), "1:5 the table that begins here has no closing } on its line");
  EXPECT_EQ(parsed("a = '''x\ny ="), "1:5 the string that begins here has no closing '''");
}

TEST(Syntax, WhatMustNotBeThereTwice) {
  EXPECT_EQ(parsed("a = 1\na = 2"), "2:1 a is set twice");
  EXPECT_EQ(parsed("a = {b = 1, b = 2}"), "1:13 b is set twice");
  EXPECT_EQ(parsed("[a]\n[a]"), "2:1 section [a] is defined twice");
  EXPECT_EQ(parsed("[a]\n[[a]]"), "2:1 [[a]] cannot follow [a]");
  EXPECT_EQ(parsed("[[a]]\n[a]"), "2:1 [a] cannot follow [[a]]");
  EXPECT_EQ(parsed("a.b = 1\n[a]"), "2:1 section [a] is defined twice");
  EXPECT_EQ(parsed("a = 1\n[a.b]"), "2:2 a is already an integer and cannot contain a section");
  EXPECT_EQ(parsed("a = {}\n[a.b]"), "2:2 a was closed by its }");
  EXPECT_EQ(parsed("a = {}\na.b = 1"), "2:1 a is closed; nothing can be added to it here");
  EXPECT_EQ(parsed("a = []\n[[a]]"), "2:1 a was closed by its ]");
  EXPECT_EQ(parsed("[a.b.c]\nz = 9\n[a]\nb.c.t = 1"), "4:1 b is closed; nothing can be added to it here");
  EXPECT_EQ(parsed("a = 1\na.b = 1"), "2:1 a is already an integer; nothing can be added to it");
}

TEST(Syntax, ASectionThatIsNoGoodTakesItsKeysAlong) {
  EXPECT_EQ(parsed("[a]\nx = 1\n[a]\nx = 2\n[b]\nx = y"),
            "3:1 section [a] is defined twice\n6:5 y is not a valid value");
  // A line that was meant to begin a section: its keys are not those of the section before.
  EXPECT_EQ(parsed("x = 1\na]]\nx = 2"), "2:2 expected = after a, found ']'");
  EXPECT_EQ(parsed("x = 1\n<a>\nx = 2"), "2:1 expected a key, found '<'");
  EXPECT_EQ(parsed("x = 1\n]\nx = 2"), "2:1 expected a key, found ']'\n3:1 x is set twice");
}

/// The remedy of the first error.
std::string first_hint(std::string text) {
  const Text file{"", std::move(text)};
  const auto tree = parse_tree(file, {});
  return tree.errors.empty() ? "no error" : tree.errors.front().hint;
}

TEST(Syntax, ClashesOfSectionsSayWhatToWrite) {
  EXPECT_EQ(parsed("[a.b]\n[[a]]"), "2:1 [[a]] cannot follow a section below a");
  EXPECT_EQ(first_hint("[a.b]\n[[a]]"), "subsections follow their entry: put [[a]] first");
  EXPECT_EQ(parsed("a = 1\n[a]"), "2:1 a is already an integer and cannot be a section too");
  EXPECT_EQ(first_hint("[a]\na = 1\n[a.a]"), "a has no a below it; for another entry write [[a]]");
  EXPECT_EQ(first_hint("[a]\n[[a]]"), "keep one, or write [[a]] in both places if several are allowed");
  EXPECT_EQ(first_hint("[[a]]\n[a]"), "write [[a]] for another entry");
  EXPECT_EQ(first_hint("[a]\n[a]"), "write its keys in one place");
  EXPECT_EQ(first_hint("['a b']\n[['a b']]"),
            "keep one, or write [[\"a b\"]] in both places if several are allowed");
}

TEST(Syntax, AListOfYamlIsToldFromOneOfToml) {
  EXPECT_EQ(parsed("- ib0\n"), "1:1 this is YAML, but the configuration is written in TOML");
  EXPECT_EQ(parsed("[a]\nb = 1\n- c\n"), "3:1 expected a key, found '-'");
  EXPECT_EQ(first_hint("[a]\nb = 1\n- c\n"), "write a list in brackets: key = [\"a\", \"b\"]");
}

TEST(Syntax, KnowsWhereThingsAre) {
  const Text good{"", "x = 1\n\te.b = ['ü', { c.dd = \"\"\"1\n2\"\"\" }]\n[[ s . t ]]\n"};
  const auto tree = parse_tree(good, {});
  const auto text = [](const Span& span) {
    return fmt::format("{}:{}+{}", span.line, span.column, span.length);
  };
  const auto& b = tree.root.members.at("e").members.at("b");
  EXPECT_EQ(text(b.key), "2:4+1");
  EXPECT_EQ(text(b.at), "2:8+19");
  EXPECT_EQ(text(b.items.at(0).at), "2:9+3");
  EXPECT_EQ(text(b.items.at(1).members.at("c").members.at("dd").key), "2:18+2");
  EXPECT_EQ(text(b.items.at(1).members.at("c").members.at("dd").at), "2:23+4");
  const auto& t = tree.root.members.at("s").members.at("t").items.at(0);
  EXPECT_EQ(text(t.key), "4:8+1");
  EXPECT_EQ(text(t.at), "4:1+11");
}

}  // namespace
}  // namespace rdmacfg::config
