// SPDX-License-Identifier: Apache-2.0
// Every document that the documentation shows is one that `validate` accepts, without a warning.
#include <gtest/gtest.h>

#include "console.hpp"

namespace rdmacfg::ctl {
namespace {

namespace fs = std::filesystem;

struct Shown {
  std::string where;  ///< "docs/RECIPES.md:17"
  std::string text;
};

/// The texts between lines that begin with `begin` and lines that begin with `end`.
std::vector<Shown> documents_in(const fs::path& file, const std::string& begin, const std::string& end) {
  std::ifstream stream(file);
  std::vector<Shown> out;
  std::string line;
  bool inside = false;
  for (int number = 1; std::getline(stream, line); ++number) {
    if (inside && line.starts_with(end)) {
      inside = false;
    } else if (inside) {
      out.back().text += line + '\n';
    } else if (line.starts_with(begin)) {
      inside = true;
      out.push_back({file.filename().string() + ":" + std::to_string(number), ""});
    }
  }
  EXPECT_FALSE(inside) << file << ": no " << end;
  return out;
}

/// What `validate` says of it; empty when it is content.
std::string complaint(std::string text) {
  // Excerpts leave it out.
  if (text.find("version = ") == std::string::npos) text = "version = 1\n" + text;
  Console console;
  // One of the hosts in examples of [match]: what is for others is not checked.
  console.environment.host_name = "login1";
  console.document(text);
  const int status = console.run({"validate"});
  return status == 0 && console.err.str().empty() ? "" : console.out.str() + console.err.str() + "?";
}

TEST(Documents, OfTheDocumentationAreValid) {
  std::vector<Shown> all = documents_in(fs::path(SOURCE_ROOT) / "README.md", "```toml", "```");
  for (const auto& file : fs::directory_iterator(fs::path(SOURCE_ROOT) / "docs")) {
    if (file.path().extension() != ".md") continue;
    for (auto& one : documents_in(file.path(), "```toml", "```")) all.push_back(std::move(one));
  }
  EXPECT_GE(all.size(), 25U);
  for (const auto& one : all) EXPECT_EQ(complaint(one.text), "") << one.where << '\n' << one.text;
}

TEST(Documents, OfTheManualPageAreValid) {
  const auto page = fs::path(SOURCE_ROOT) / "docs/man/rdma-configd.toml.5";
  int whole = 0;
  for (auto& one : documents_in(page, ".EX", ".EE")) {
    for (std::size_t at = 0; (at = one.text.find("\\-", at)) != std::string::npos;) one.text.erase(at, 1);
    EXPECT_EQ(complaint(one.text), "") << one.where << '\n' << one.text;
    ++whole;
  }
  EXPECT_GE(whole, 3);
}

TEST(Documents, AreReallyLookedAt) {
  EXPECT_NE(complaint("[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nmode = \"conected\"\n"), "");
  EXPECT_NE(complaint("[[roce]]\ninterface = \"eth0\"\nmode = \"v2\"\n[[lossless]]\ninterface = \"eth0\"\n"),
            "")
      << "a warning counts";
}

}  // namespace
}  // namespace rdmacfg::ctl
