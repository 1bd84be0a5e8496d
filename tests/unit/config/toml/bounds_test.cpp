// SPDX-License-Identifier: Apache-2.0
// Each limit of a document, at the limit and one beyond.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "unit/config/sample_document.hpp"

namespace rdmacfg::config {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string repeated(std::string_view what, std::size_t times) {
  std::string out;
  while (times-- > 0) out += what;
  return out;
}

/// The first error of a document of these files, or nothing.
std::string wrong_with(std::vector<Text> texts, const Limits& limits = {}) {
  const auto document = parse_texts(std::move(texts), "host", sample_grammar(), limits);
  for (const auto& diagnostic : document.diagnostics) {
    if (diagnostic.message.find("allowed") != std::string::npos)
      return diagnostic.where.text() + ": " + diagnostic.message;
  }
  return {};
}

std::string wrong_with(const std::string& text, const Limits& limits = {}) {
  return wrong_with(std::vector<Text>{{"a", text}}, limits);
}

std::string list_of(std::size_t items) { return "x = [" + repeated("1,", items) + "]"; }

TEST(Bounds, ItemsOfAList) {
  const Limits limits;
  EXPECT_THAT(wrong_with(list_of(limits.list_items)), IsEmpty());
  EXPECT_EQ(wrong_with(list_of(limits.list_items + 1)),
            fmt::format("a:1:5: x has {} items, more than the {} allowed", limits.list_items + 1,
                        limits.list_items));
  EXPECT_THAT(wrong_with("[[a]]\n[[a]]\nb = { c = [" + repeated("1,", limits.list_items + 1) + "] }"),
              HasSubstr("a:3:11: a.b.c has"));
}

TEST(Bounds, BytesOfATextAndOfAKey) {
  const Limits limits;
  const auto text = [](std::size_t bytes) { return "x = '" + std::string(bytes, 'v') + "'"; };
  EXPECT_THAT(wrong_with(text(limits.string_bytes)), IsEmpty());
  EXPECT_THAT(wrong_with(text(limits.string_bytes + 1)),
              HasSubstr("a:1:5: x has 4097 bytes, more than the 4096"));
  EXPECT_THAT(wrong_with("x = [ '" + std::string(limits.string_bytes + 1, 'v') + "' ]"),
              HasSubstr("4097 bytes"));
  const auto key = [](std::size_t bytes) { return std::string(bytes, 'k') + " = 1"; };
  EXPECT_THAT(wrong_with(key(limits.string_bytes)), IsEmpty());
  EXPECT_THAT(wrong_with(key(limits.string_bytes + 1)), HasSubstr("a key has 4097 bytes"));
}

TEST(Bounds, EntriesOfAKindAndInAll) {
  Limits limits;
  limits.entries = 10;
  limits.entries_of_kind = 6;
  const auto entries = [](std::size_t a, std::size_t b) {
    return repeated("[[a]]\n", a) + repeated("[[b]]\n", b);
  };
  EXPECT_THAT(wrong_with(entries(6, 4), limits), IsEmpty());
  EXPECT_EQ(wrong_with(entries(7, 0), limits),
            "a:7:1: the document has more than the 6 [[a]] entries allowed");
  EXPECT_THAT(wrong_with(entries(6, 5), limits),
              HasSubstr("a:11:1: the document has more than the 10 entries"));
}

TEST(Bounds, EntriesAreCountedOverAllFiles) {
  Limits limits;
  limits.entries_of_kind = 6;
  EXPECT_THAT(wrong_with({{"a", repeated("[[a]]\n", 3)}, {"b", repeated("[[a]]\n", 3)}}, limits), IsEmpty());
  EXPECT_THAT(wrong_with({{"a", repeated("[[a]]\n", 3)}, {"b", repeated("[[a]]\n", 4)}}, limits),
              HasSubstr("b:4:"));
}

TEST(Bounds, EntriesAtTheRealLimit) {
  const Limits limits;
  EXPECT_THAT(wrong_with(repeated("[[a]]\n", limits.entries_of_kind)), IsEmpty());
  EXPECT_THAT(wrong_with(repeated("[[a]]\n", limits.entries_of_kind + 1)), HasSubstr("10000 [[a]] entries"));
}

TEST(Bounds, BytesOfAFileAndOfAllFiles) {
  const Limits limits;
  const auto file = [](std::size_t bytes) { return "#" + std::string(bytes - 1, 'c'); };
  EXPECT_THAT(wrong_with(file(limits.file_bytes)), IsEmpty());
  EXPECT_THAT(wrong_with(file(limits.file_bytes + 1)), HasSubstr("1048577 bytes, more than the 1048576"));
  const Text full{"full", file(limits.file_bytes)};
  EXPECT_THAT(wrong_with({full, full}), IsEmpty());
  EXPECT_THAT(wrong_with({full, full, {"more", "#"}}),
              HasSubstr("more: the document has more than the 2097152 bytes allowed with this file; it and "
                        "later files were not read"));
}

TEST(Bounds, LevelsOfNesting) {
  const Limits limits;
  const auto nested = [](std::size_t levels) {
    return "a = " + repeated("[", levels) + repeated("]", levels);
  };
  const auto most = static_cast<std::size_t>(limits.nesting) - 1;  // the key is one
  EXPECT_THAT(wrong_with(nested(most)), IsEmpty());
  EXPECT_THAT(wrong_with(nested(most + 1)), HasSubstr("nested deeper than the 32 levels"));
}

}  // namespace
}  // namespace rdmacfg::config
