// SPDX-License-Identifier: Apache-2.0
// The tables of limits: documents and units agree with them.
#include "model/limits.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <string_view>
#include <vector>

#include "catalog/owned_files.hpp"
#include "ctl/bundle/limits.hpp"
#include "fabric/limits.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::model::limits {
namespace {

using ::testing::HasSubstr;

std::string content(const std::string& path) {
  std::ifstream in(std::filesystem::path(SOURCE_ROOT) / path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string line_of(const Row& row) {
  return fmt::format("| `{}` | {} {} | {} | {} |\n", row.name, row.value, row.unit, row.beyond, row.reason);
}

/// A header with limits, and its table.
struct Source {
  const char* header;
  std::span<const Row> rows;
};
const std::vector<Source> kSources{{"src/model/limits.hpp", kTable},
                                   {"src/fabric/limits.hpp", fabric::limits::kTable},
                                   {"src/ctl/bundle/limits.hpp", ctl::limits::kTable}};

TEST(Limits, OneIsSingular) {
  for (const auto& source : kSources) {
    for (const auto& row : source.rows)
      EXPECT_FALSE(row.value == 1 && row.unit.ends_with('s')) << row.name << ": 1 " << row.unit;
  }
}

TEST(Limits, EveryTableIsKnownHere) {
  std::set<std::string> found, known;
  for (const auto& source : kSources) known.insert(source.header);
  const std::filesystem::path root(SOURCE_ROOT);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "src")) {
    const auto extension = entry.path().extension();
    if (extension != ".hpp" && extension != ".cpp") continue;
    const auto path = std::filesystem::relative(entry.path(), root).string();
    const bool has_table = content(path).find("limits::Row") != std::string::npos;
    if (entry.path().filename() == "limits.hpp" || has_table) found.insert(path);
  }
  EXPECT_EQ(found, known)
      << "a table of limits that no test reads; add it to kSources and to docs/RELIABILITY.md";
}

TEST(Limits, TheDocumentListsThemAsTheyAre) {
  const auto text = content("docs/RELIABILITY.md");
  for (const auto& source : kSources) {
    std::string table;
    for (const auto& row : source.rows) table += line_of(row);
    EXPECT_THAT(text, HasSubstr("|---|---|---|---|\n" + table + '\n')) << "the table must be:\n" << table;
    EXPECT_THAT(text, HasSubstr(fmt::format("`{}`", source.header)));
  }
}

TEST(Limits, EachConstantIsInItsTable) {
  std::set<std::string> names;
  for (const auto& source : kSources) {
    const auto header = content(source.header);
    std::size_t seen = 0;
    for (const auto& row : source.rows)
      EXPECT_TRUE(names.emplace(row.name).second) << row.name << " is defined twice";
    const std::regex constant(R"(inline constexpr [\w:]+ (k\w+))");
    for (std::sregex_iterator at(header.begin(), header.end(), constant), end; at != end; ++at) {
      const auto name = (*at)[1].str();
      if (name == "kKiB" || name == "kTable") continue;
      ++seen;
      EXPECT_TRUE(names.contains(name)) << name << " is not in the table";
    }
    EXPECT_EQ(seen, source.rows.size()) << source.header;
  }
}

TEST(Limits, TheServiceHasThoseOfTheTable) {
  for (const std::string unit : {"units/rdma-configd.service", "units/rdma-configd-rollback.service"}) {
    const auto text = content(unit);
    EXPECT_THAT(text, HasSubstr(fmt::format("\nMemoryMax={}G\n", kServiceMemory / kMiB / 1024)));
    EXPECT_THAT(text, HasSubstr(fmt::format("\nTasksMax={}\n", kServiceTasks)));
    EXPECT_THAT(text, HasSubstr("\nCPUWeight="));
  }
  EXPECT_THAT(content("units/rdma-configd.service"), HasSubstr("\nOOMPolicy=continue\n"));
}

/// Folders that the units may write.
std::set<std::string> writable(const std::string& unit) {
  std::set<std::string> out;
  std::istringstream lines(content(unit));
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view kKey = "ReadWritePaths=";
    if (!line.starts_with(kKey)) continue;
    std::istringstream paths(line.substr(kKey.size()));
    for (std::string path; paths >> path;) out.insert(path.starts_with('-') ? path.substr(1) : path);
  }
  return out;
}

TEST(Limits, EveryFolderThatIsWrittenIsWritableForTheUnits) {
  const auto files = system::make_linux_files();
  for (const std::string unit : {"units/rdma-configd.service", "units/rdma-configd-rollback.service"}) {
    const auto may = writable(unit);
    for (const auto& folder : kinds::managed_folders(*files)) {
      auto path = std::filesystem::path(folder);
      while (path.has_relative_path() && !may.contains(path.string())) path = path.parent_path();
      EXPECT_TRUE(may.contains(path.string())) << unit << ": " << folder;
    }
    for (const std::string path : {"/run", "/sys/devices", "/sys/kernel/config", "/proc/sys/net"})
      EXPECT_TRUE(may.contains(path)) << unit << ": " << path;
    EXPECT_FALSE(may.contains("/etc"));
  }
}

/// Lines that no test can go beyond within seconds, or at all.
const std::map<std::string_view, std::string_view> kNotTried{
    {"kBusMatches", "their number is fixed; UnitWatchTest has more units than matches"},
    {"kBusCall", "seconds of a bus that does not answer"},
    {"kChangeCpu", "900 s of computing; WorkerBounds has the process's limit"},
    {"kParseCpu", "10 s of computing; Sandbox.TooMuchTimeOrMemoryIsAnError goes beyond a shorter one"},
    {"kLookTime", "JobsTest.ALookThatTakesTooLongIsKilled goes beyond a shorter one"},
    {"kChangeTime", "JobsTest.AChangeThatTakesTooLongIsCancelled goes beyond a shorter one"},
    {"kUndoTime", "JobsTest.AChangeThatDoesNotUndoInTimeIsKilled goes beyond a shorter one"},
    {"kServiceMemory", "systemd's; TheServiceHasThoseOfTheTable compares it"},
    {"kServiceTasks", "systemd's; TheServiceHasThoseOfTheTable compares it"},
};
/// Names by which tests reach a constant that a structure has taken over.
const std::map<std::string_view, std::string_view> kCalled{
    {"kFileBytes", "limits.file_bytes"},
    {"kDocumentFiles", "limits.files"},
    {"kNesting", "limits.nesting"},
    {"kErrors", "limits.errors"},
    {"kEntries", "limits.entries"},
    {"kEntriesOfKind", "limits.entries_of_kind"},
    {"kListItems", "limits.list_items"},
    {"kStringBytes", "limits.string_bytes"},
    {"kTableBytes", "limits.table_bytes"},
    {"kTableRows", "limits.table_rows"},
    {"kTableColumns", "limits.table_columns"},
    {"kTables", "limits.tables"},
    {"kLooksOfUser", "OneUserDoesNotTakeTheSlotsOfOthers"},
    {"kOptions", "ApiOptions::kMost"},
    {"kOptionBytes", "ApiOptions::kLongest"},
};

TEST(Limits, EachIsTriedByATest) {
  std::string tests;
  const auto root = std::filesystem::path(SOURCE_ROOT) / "tests";
  for (const auto* folder : {"unit", "contract", "foreign"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      const auto& path = entry.path();
      if (path.extension() == ".cpp" && path.filename() != "limits_test.cpp")
        tests += content(std::filesystem::relative(path, SOURCE_ROOT));
    }
  }
  for (const auto& source : kSources) {
    for (const auto& row : source.rows) {
      if (kNotTried.contains(row.name)) continue;
      const auto at = kCalled.find(row.name);
      // Not HasSubstr(), which prints all tests.
      EXPECT_NE(tests.find(at == kCalled.end() ? row.name : at->second), std::string::npos)
          << row.name << ": a test at the limit, and one beyond it, are missing";
    }
  }
}

TEST(Limits, NoExceptionIsMadeForALimitThatHasGone) {
  std::set<std::string_view> names;
  for (const auto& source : kSources) {
    for (const auto& row : source.rows) names.insert(row.name);
  }
  for (const auto& [name, why] : kNotTried) EXPECT_TRUE(names.contains(name)) << name << ": " << why;
  for (const auto& [name, as] : kCalled) EXPECT_TRUE(names.contains(name)) << name << ": " << as;
}

/// The escaped text of the largest document has to fit what a generation's record may have (system::Files).
TEST(Limits, ADocumentFitsItsRecordAndAReportItsMessage) {
  constexpr std::size_t kFiles = 4 * kMiB, kBusMessage = 32 * kMiB;
  static_assert(2 * kDocumentBytes <= kFiles);
  static_assert(3 * kReportBytes <= kBusMessage);
  static_assert(kEntriesOfKind <= kEntries);
  static_assert(kBusMessages * static_cast<std::size_t>(kBusCall.count()) < 180);  // WatchdogSec=
  static_assert(kLookTime > kLookCpu && kChangeTime > kChangeCpu);
  static_assert((kLooks + kRootLooks + 1) * kLookMemory <= kServiceMemory);
}

}  // namespace
}  // namespace rdmacfg::model::limits
