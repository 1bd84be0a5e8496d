// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "sample_document.hpp"

namespace rdmacfg::config {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string rendered(std::string text) {
  const auto document = parse_one(std::move(text));
  return render_diagnostics(document, document.diagnostics);
}

/// The excerpt of a place in `line`.
std::string excerpt(const std::string& line, int column, int length) {
  Document document;
  document.files = {{"a", line}};
  return render_diagnostics(document, {{model::Severity::kError, {"a", 1, column, length}, "m", "", {}}});
}

TEST(Render, PlaceMessageExcerptAndHint) {
  EXPECT_EQ(rendered("version = 1\nmtu = 2044\n"),
            "a:2:1: error: mtu: unknown key\n"
            "    2 | mtu = 2044\n"
            "      | ^~~\n"
            "  hint: mtu belongs to [[ipoib]], [[ipoib.pkey]]\n");
}

TEST(Render, RelatedPlaces) {
  EXPECT_EQ(rendered("version = 1\r\n\tversion = 1\r\n"),
            "a:2:2: error: version is set twice\n"
            "    2 | \tversion = 1\n"
            "      | \t^~~~~~~\n"
            "  hint: remove one of the two\n"
            "a:1:1: note: first defined here\n"
            "    1 | version = 1\n"
            "      | ^~~~~~~\n");
}

TEST(Render, WithoutAPlace) {
  model::Diagnostic diagnostic{model::Severity::kWarning, {}, "message", "", {}};
  EXPECT_EQ(render_diagnostics({}, {diagnostic}), "warning: message\n");
  diagnostic.where.file = "/etc/x";
  EXPECT_EQ(render_diagnostics({}, {diagnostic}), "/etc/x: warning: message\n");
  diagnostic.where.line = 7;
  diagnostic.where.column = 1;
  EXPECT_EQ(render_diagnostics({}, {diagnostic}), "/etc/x:7:1: warning: message\n")
      << "a file that is not at hand";
}

TEST(Render, ColumnsAreCharacters) {
  EXPECT_EQ(excerpt("\xef\xbb\xbf"
                    "é = 'ü' x",
                    9, 1),
            "a:1:9: error: m\n    1 | é = 'ü' x\n      |         ^\n");
}

TEST(Render, CutsLongLines) {
  const auto text = excerpt(std::string(300, 'a') + "b" + std::string(300, 'c'), 301, 250);
  EXPECT_EQ(text, "a:1:301: error: m\n    1 | …" + std::string(40, 'a') + "b" + std::string(59, 'c') +
                      "…\n      | " + std::string(41, ' ') + "^" + std::string(59, '~') + "\n");
  EXPECT_EQ(excerpt(std::string(300, 'a'), 1, 2),
            "a:1:1: error: m\n    1 | " + std::string(100, 'a') + "…\n      | ^~\n");
}

TEST(Render, PlacesBehindTheLine) {
  EXPECT_EQ(excerpt("ab", 3, 1), "a:1:3: error: m\n    1 | ab\n      |   ^\n");
  EXPECT_EQ(excerpt("ab", 900, 5), "a:1:900: error: m\n    1 | ab\n      |   ^\n");
  EXPECT_EQ(excerpt("", 1, 1), "a:1:1: error: m\n");
}

TEST(Render, NothingActsOnTheTerminal) {
  // ESC, C1 CSI, a right-to-left override, a carriage return, a bad byte; in text, message, hint and file
  // name.
  const std::string evil =
      "\x1b[2J \xc2\x9b"
      "2J \xe2\x80\xae \r \xff";
  Document document;
  document.files = {{evil, evil}};
  const model::Diagnostic diagnostic{
      model::Severity::kError, {evil, 1, 1, 3}, evil, evil, {{{evil, 1, 1, 1}, evil}}};
  const auto text = render_diagnostics(document, {diagnostic});
  for (const auto* bad : {"\x1b", "\xc2\x9b", "\xe2\x80\xae", "\r", "\xff"})
    EXPECT_THAT(text, Not(HasSubstr(bad)));
  EXPECT_THAT(text, HasSubstr("    1 | \xef\xbf\xbd[2J"));
  EXPECT_THAT(rendered("\"\\u001b[2J\" = 1"), Not(HasSubstr("\x1b")));
}

TEST(Render, ColourOnlyWhenAsked) {
  const auto document = parse_one("x = 1");
  EXPECT_THAT(render_diagnostics(document, document.diagnostics), Not(HasSubstr("\x1b")));
  EXPECT_THAT(render_diagnostics(document, document.diagnostics, Colouring::kAnsi),
              HasSubstr("\x1b[1;31merror:\x1b[0m x: unknown key"));
}

}  // namespace
}  // namespace rdmacfg::config
