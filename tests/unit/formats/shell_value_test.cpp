// SPDX-License-Identifier: Apache-2.0
#include "formats/shell_value.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace rdmacfg::kinds {
namespace {

struct ShellValueRow {
  std::string_view text;
  std::optional<std::string_view> value;
};

// systemd.exec(5), EnvironmentFile=; and files that shells read.
TEST(ShellValue, IsThatOfTheLastAssignment) {
  constexpr std::array kRows{
      ShellValueRow{"#X=1\n X=ALL # all\nX=\"0x1 0x2\" # two\n", "0x1 0x2"},
      ShellValueRow{"X=ALL # all\n", "ALL"}, ShellValueRow{"X='0x1'\nXY=2\nYX=3\n", "0x1"},
      ShellValueRow{"export X=0x7\n", "0x7"}, ShellValueRow{"X=\n", ""}, ShellValueRow{"X=1", "1"},
      ShellValueRow{"X=\"0x1", "0x1"}, ShellValueRow{"#X=ALL\n", std::nullopt},
      ShellValueRow{"X ALL\n", std::nullopt}, ShellValueRow{"", std::nullopt},
      // Without quotes a value has blanks.
      ShellValueRow{"X=a b\tc \n", "a b\tc"}, ShellValueRow{"X=a#b\n", "a#b"},
      // In quotes it has lines, which assign nothing.
      ShellValueRow{"X=\"a\nb\"\n", "a\nb"}, ShellValueRow{"X=1\nY=\"\nX=2\n\"\n", "1"},
      ShellValueRow{"Y='\nX=2\n'\nX=3\n", "3"}, ShellValueRow{"# it's a comment\nX=1\n# isn't it\n", "1"},
      // A line that goes on.
      ShellValueRow{"X=a \\\nb\nc\n", "a b"}, ShellValueRow{"X=\"a \\\nb\"\n", "a b"},
      ShellValueRow{"X=a\\", "a\\"}};
  for (const auto& row : kRows) {
    const auto value = row.value ? std::optional(std::string(*row.value)) : std::nullopt;
    EXPECT_EQ(shell_value(row.text, "X"), value) << row.text;
  }
}

}  // namespace
}  // namespace rdmacfg::kinds
