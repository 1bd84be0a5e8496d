// SPDX-License-Identifier: Apache-2.0
// Manual pages and completions say what the program knows.
#include "ctl/docs/manual.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "unit/ctl/sources.hpp"

namespace rdmacfg::ctl {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

struct Part {
  const char* name;
  const char* file;
};

std::ostream& operator<<(std::ostream& out, const Part& part) { return out << part.name; }

class GeneratedPart : public testing::TestWithParam<Part> {};

TEST_P(GeneratedPart, IsNotStale) {
  const auto text = content(kSource / GetParam().file);
  const auto mark = std::string("generated: rdma-configctl reference ") + GetParam().name + "\n";
  ASSERT_NE(text.find(mark), std::string::npos);
  const auto from = text.find(mark) + mark.size();
  const auto end = text.find("end of generated", from);
  ASSERT_NE(end, std::string::npos);
  EXPECT_EQ(text.substr(from, text.rfind('\n', end) + 1 - from), render_part(GetParam().name))
      << "packaging/update-generated writes it again";
}

INSTANTIATE_TEST_SUITE_P(All, GeneratedPart,
                         testing::Values(Part{"man-commands", "docs/man/rdma-configctl.1"},
                                         Part{"man-sections", "docs/man/rdma-configd.toml.5"},
                                         Part{"man-files", "docs/man/rdma-configd.8"},
                                         Part{"shell-files", "packaging/debian/rdma-configd.postrm"},
                                         Part{"bash", "packaging/completions/rdma-configctl.bash"},
                                         Part{"zsh", "packaging/completions/_rdma-configctl"},
                                         Part{"fish", "packaging/completions/rdma-configctl.fish"}),
                         [](const auto& instance) {
                           return std::regex_replace(std::string(instance.param.name), std::regex("-"), "_");
                         });

TEST(Manual, HasEverySubcommandAndOption) {
  const auto page = content(kSource / "docs/man/rdma-configctl.1");
  const auto bash = content(kSource / "packaging/completions/rdma-configctl.bash");
  const auto zsh = content(kSource / "packaging/completions/_rdma-configctl");
  const auto fish = content(kSource / "packaging/completions/rdma-configctl.fish");
  int options = 0;
  for (const auto& command : describe_command_line()) {
    if (!command.name.empty()) {
      EXPECT_THAT(page, HasSubstr("\n.B rdma-configctl " + command.name)) << "SYNOPSIS";
      EXPECT_THAT(page, HasSubstr("\n.SS " + command.name + "\n"));
      EXPECT_THAT(bash, HasSubstr("\t" + command.name + ") echo "));
      EXPECT_THAT(zsh, HasSubstr("'" + command.name + ":"));
      EXPECT_THAT(fish, HasSubstr(" -a " + command.name + " -d "));
    }
    for (const auto& option : command.options) {
      for (const auto& name : option.names) {
        ++options;
        EXPECT_THAT(page, HasSubstr("\\fB" + std::regex_replace(name, std::regex("-"), "\\-") + "\\fP"));
        EXPECT_THAT(zsh, HasSubstr(")" + name)) << command.name;
        const bool is_long = name.starts_with("--");
        EXPECT_THAT(fish, HasSubstr((is_long ? " -l " : " -s ") + name.substr(is_long ? 2 : 1)))
            << command.name;
      }
    }
  }
  EXPECT_GT(options, 20);
}

TEST(Manual, HasEveryMemberOfTheBus) {
  const auto page = content(kSource / "docs/man/org.rdmaconfigd1.5");
  const auto members = found(kSource / "src/daemon/bus/api.cpp",
                             "(?:->method|->property|->signal<[^(]*>|\\badd)\\(\\s*\"(\\w+)\"");
  ASSERT_GT(members.size(), 20U);
  for (const auto& member : members) {
    EXPECT_TRUE(std::regex_search(page, std::regex("\n\\.B[IR] " + member + "[( ]"))) << member;
  }
  const auto errors = found(kSource / "src/daemon/bus/api.cpp", "error\\(\"(\\w+)\"");
  ASSERT_GT(errors.size(), 2U);
  for (const auto& error : errors)
    EXPECT_THAT(page, HasSubstr("\n.B org.rdmaconfigd1.Error." + error + "\n"));
}

TEST(Manual, HasThePagesThatUnitsName) {
  int pages = 0;
  for (const auto& unit : fs::directory_iterator(kSource / "units")) {
    for (const auto& line : found(unit.path(), "Documentation[=:] *([^\n]*)")) {
      for (const auto& name : words(line)) {
        std::smatch part;
        ASSERT_TRUE(std::regex_match(name, part, std::regex("man:([a-z0-9.-]+)\\(([1-8])\\)"))) << name;
        EXPECT_TRUE(fs::exists(kSource / "docs/man" / (part[1].str() + "." + part[2].str()))) << name;
        ++pages;
      }
    }
  }
  EXPECT_GT(pages, 5);
}

TEST(Manual, IsGoodRoff) {
  if (!installed("mandoc") && !installed("man")) GTEST_SKIP() << "neither mandoc nor man is installed";
  for (const auto& page : fs::directory_iterator(kSource / "docs/man")) {
    const auto path = page.path().string();
    if (installed("mandoc")) {
      EXPECT_EQ(say("mandoc -Tlint -Wwarning " + path), "");
    }
    if (installed("man")) {
      EXPECT_EQ(say("MANPAGER=cat man --warnings -E UTF-8 -l -Tutf8 -Z " + path + " 2>&1 >/dev/null"), "");
    }
  }
}

}  // namespace
}  // namespace rdmacfg::ctl
