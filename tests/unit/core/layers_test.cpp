// SPDX-License-Identifier: Apache-2.0
// An area includes those before it in kOrder only. docs/ARCHITECTURE.md draws the same map.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// An area may include itself and those before it, without what it is kept `from`.
struct Area {
  std::string name;
  std::set<std::string> from = {};
};

const std::vector<Area> kOrder{
    {"base"},
    {"model"},
    {"metrics"},
    {"config"},
    {"fabric"},
    {"system", {"config"}},
    {"system/linux", {"config"}},
    {"formats", {"config", "system/linux"}},
    {"kinds", {"config", "system/linux"}},
    {"kinds/host", {"config", "system/linux"}},
    {"kinds/rdma", {"config", "system/linux"}},
    {"kinds/address", {"config", "system/linux"}},
    {"kinds/ipoib", {"config", "system/linux"}},
    {"kinds/managers", {"config", "system/linux"}},
    {"kinds/ethernet", {"config", "system/linux"}},
    {"kinds/opensm", {"config", "system/linux"}},
    {"kinds/storage", {"config", "system/linux"}},
    {"kinds/expect", {"config", "system/linux"}},
    {"catalog", {"config", "system/linux"}},
    {"store", {"system/linux"}},
    {"core", {"system/linux"}},
    {"withdraw", {"system/linux"}},
    {"doctor", {"system/linux"}},
    {"foreign", {"system/linux", "store", "core", "withdraw", "doctor"}},
    {"fleet", {"system/linux", "store", "withdraw", "doctor", "foreign"}},
    {"ctl"},
    {"daemon", {"fabric", "doctor", "withdraw", "foreign", "fleet", "ctl"}},
};

/// The area of a path below src/: the longest that it begins with.
std::string area_of(const fs::path& path) {
  for (auto folder = path.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    const auto at = std::find_if(kOrder.begin(), kOrder.end(),
                                 [&](const Area& area) { return area.name == folder.string(); });
    if (at != kOrder.end()) return at->name;
  }
  return {};
}

std::size_t place_of(const std::string& area) {
  const auto at =
      std::find_if(kOrder.begin(), kOrder.end(), [&](const Area& each) { return each.name == area; });
  return static_cast<std::size_t>(at - kOrder.begin());
}

template <class Each>
void each_include(Each each) {
  const std::regex include(R"re(^\s*#\s*include\s*([<"])([^>"]+)[>"])re");
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOURCE_ROOT) / "src")) {
    const auto extension = entry.path().extension();
    if (extension != ".cpp" && extension != ".hpp") continue;
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      std::smatch found;
      if (std::regex_search(line, found, include)) each(entry.path(), found[1].str() == "\"", found[2].str());
    }
  }
}

TEST(Layers, IncludesPointOneWay) {
  std::size_t seen = 0;
  each_include([&](const fs::path& file, bool own, const std::string& included) {
    if (!own) return;
    ++seen;
    const auto path = fs::relative(file, fs::path(SOURCE_ROOT) / "src").string();
    const auto from = area_of(path), to = area_of(included);
    ASSERT_FALSE(from.empty()) << path << " is in no area";
    ASSERT_FALSE(to.empty()) << path << " includes " << included;
    // The engine knows the contract of kinds and the catalog, and no kind.
    const bool engine = place_of(from) >= place_of("store") && place_of(from) <= place_of("core");
    const bool knows_a_kind = engine && to.starts_with("kinds/");
    EXPECT_FALSE(place_of(to) > place_of(from) || kOrder[place_of(from)].from.contains(to) || knows_a_kind)
        << path << " includes " << included;
  });
  EXPECT_GT(seen, 50U);
}

/// Questions for few kinds are abilities (kinds/abilities.hpp), properties that never change are traits.
TEST(Layers, TheContractOfAKindIsSmall) {
  std::ifstream in(fs::path(SOURCE_ROOT) / "src/kinds/kind.hpp");
  const std::regex question(R"re(^\s*(\[\[nodiscard\]\] )?virtual )re");
  int questions = 0;
  for (std::string line; std::getline(in, line);) questions += std::regex_search(line, question) ? 1 : 0;
  EXPECT_GT(questions, 2);
  EXPECT_LE(questions, 14);
}

/// Outside of its folder and the catalog, a kind is asked for its traits, and not for its name.
TEST(Layers, NobodyAsksForTheNameOfAKind) {
  const std::regex comparison(R"re(key\.kind [!=]= ")re");
  for (const auto* area : {"store", "core", "withdraw", "doctor", "ctl", "daemon"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOURCE_ROOT) / "src" / area)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);)
        EXPECT_FALSE(std::regex_search(line, comparison)) << entry.path() << ": " << line;
    }
  }
}

TEST(Layers, TheMapIsTheTree) {
  std::ifstream in(fs::path(SOURCE_ROOT) / "docs/ARCHITECTURE.md");
  const std::regex row(R"re(^\| `([a-z][a-z/]*)` \|.*)re");
  std::vector<std::string> drawn, known;
  for (std::string line; std::getline(in, line);) {
    std::smatch found;
    if (std::regex_match(line, found, row)) drawn.push_back(found[1]);
  }
  for (const auto& area : kOrder) known.push_back(area.name);
  EXPECT_EQ(drawn, known);
  for (const auto& area : kOrder) EXPECT_TRUE(fs::is_directory(fs::path(SOURCE_ROOT) / "src" / area.name));
}

TEST(Layers, TheMapNamesEachFolderOfAnArea) {
  std::ifstream in(fs::path(SOURCE_ROOT) / "docs/ARCHITECTURE.md");
  const std::regex row(R"re(^\| `([a-z][a-z/]*)` \| (.*) \|[^|]*\|$)re");
  std::map<std::string, std::string> held;
  for (std::string line; std::getline(in, line);) {
    std::smatch found;
    if (std::regex_match(line, found, row)) held[found[1]] = found[2];
  }
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOURCE_ROOT) / "src")) {
    if (!entry.is_directory()) continue;
    const auto path = fs::relative(entry.path(), fs::path(SOURCE_ROOT) / "src");
    const auto area = area_of(path / "file");
    if (area.empty() || area == path.string()) continue;
    const auto name = "`" + path.filename().string() + "`";
    EXPECT_NE(held[area].find(name), std::string::npos) << area << " does not name " << path;
  }
}

TEST(Layers, FoldersAreSmall) {
  const std::map<std::string, int> most{
      {"src", 32}, {"tests/unit", 32}, {"tests/contract", 32}, {"tests/fakes", 32}, {"tests/lab/suite", 32}};
  for (const auto& [top, limit] : most) {
    std::map<std::string, int> files;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOURCE_ROOT) / top)) {
      if (entry.is_regular_file()) ++files[entry.path().parent_path().string()];
    }
    for (const auto& [folder, count] : files) EXPECT_LE(count, limit) << folder;
  }
}

/// Code branches on values, never on the words of a sentence of ours. The files here read texts of others.
TEST(Layers, NoSentenceIsSearchedFor) {
  const std::set<std::string> others{"src/config/other_tools.cpp",
                                     "src/foreign/import/boot/script_sections.cpp",
                                     "src/foreign/import/boot/scripts.cpp",
                                     "src/formats/firewall/nftables_conf.cpp",
                                     "src/kinds/address/profiles/foreign_profiles.cpp",
                                     "src/kinds/expect/readings.cpp"};
  const std::regex search(
      R"re((find|starts_with|ends_with|contains|compare)\((std::string_view\()?"[^"]*[A-Za-z,:] [A-Za-z][^"]*"|[!=]= "[^"]*[A-Za-z,:] [A-Za-z][^"]*")re");
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOURCE_ROOT) / "src")) {
    if (!entry.is_regular_file()) continue;
    const auto path = fs::relative(entry.path(), SOURCE_ROOT).string();
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      if (line.find('"') == std::string::npos || !std::regex_search(line, search)) continue;
      found.insert(path);
      EXPECT_TRUE(others.contains(path)) << path << ": " << line;
    }
  }
  EXPECT_EQ(found, others) << "a file that searches for no sentence any more";
}

/// A stream follows links out of --root, waits for a FIFO and reads files of any size: files of the host are
/// read by system::Files. The files here read /proc, the kernel's own tree of modules, or what a command was
/// told to.
TEST(Layers, FilesOfTheHostAreNotReadByStreams) {
  const std::set<std::string> others{"src/ctl/commands/edit.cpp",
                                     "src/ctl/main.cpp",
                                     "src/daemon/bus/requests.cpp",
                                     "src/daemon/watch/suspects.cpp",
                                     "src/store/lock.cpp",
                                     "src/system/linux/dbus/units.cpp",
                                     "src/system/linux/files/disk_uses.cpp",
                                     "src/system/linux/modules.cpp",
                                     "src/system/linux/mounts.cpp",
                                     "src/system/linux/netlink/dcb.cpp",
                                     "src/system/linux/process.cpp",
                                     "src/system/linux/verbs/verbs_open.cpp"};
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOURCE_ROOT) / "src")) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      if (line.find("ifstream") == std::string::npos) continue;
      const auto path = fs::relative(entry.path(), SOURCE_ROOT).string();
      found.insert(path);
      EXPECT_TRUE(others.contains(path)) << path << ": " << line;
    }
  }
  EXPECT_EQ(found, others) << "a file that has no stream any more";
}

/// Variables with these names hold text for people, perhaps a single word. Braces and brackets may be
/// searched for.
TEST(Layers, NoTextForPeopleIsCompared) {
  const std::regex compared(
      R"re(\b(what|label|reason|message|hint|note|why|verdict|advice|warning)(\(\))?(\.text\(\))?(( == | != )(std::string_view\()?"[^"]|\.(find|starts_with|ends_with|contains|compare)\((std::string_view\()?"[A-Za-z]))re");
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOURCE_ROOT) / "src")) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      if (line.find('"') == std::string::npos) continue;
      EXPECT_FALSE(std::regex_search(line, compared)) << entry.path() << ": " << line;
    }
  }
}

/// A label is for people, and two objects may have the same one: they are told apart by their keys, and parts
/// of a label are values beside it.
TEST(Layers, NoLabelIsReadBack) {
  const std::regex reads(
      R"re(\blabel(\(\))?\.(substr|r?find\w*|starts_with|ends_with)\(|\blabel [=!]= \w[\w.>-]*\blabel\b)re");
  for (const auto* area :
       {"config", "kinds", "catalog", "store", "core", "withdraw", "doctor", "ctl", "daemon"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOURCE_ROOT) / "src" / area)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) {
        if (line.find("label") == std::string::npos) continue;
        EXPECT_FALSE(std::regex_search(line, reads)) << entry.path() << ": " << line;
      }
    }
  }
}

/// A file of more than about 400 lines is split by subject.
TEST(Layers, FilesAreShort) {
  constexpr int kMost = 450;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOURCE_ROOT) / "src")) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path());
    int lines = 0;
    for (std::string line; std::getline(in, line);) ++lines;
    EXPECT_LE(lines, kMost) << entry.path();
  }
}

/// By its second line, or by the comment of its first declaration.
TEST(Layers, HeadersSayWhatTheyAreFor) {
  const std::regex passed_over(R"re(^\s*$|^#.*|^namespace .*|^(class|struct) \w+;$|^using .*)re");
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOURCE_ROOT) / "src")) {
    if (entry.path().extension() != ".hpp") continue;
    std::ifstream in(entry.path());
    std::string line;
    std::getline(in, line);
    std::getline(in, line);
    if (line.starts_with("// ")) continue;
    while (std::getline(in, line) && std::regex_match(line, passed_over)) continue;
    EXPECT_TRUE(line.starts_with("///")) << entry.path() << " says: " << line;
  }
}

/// The function that has the parameter at `at` beside others; empty when there is no other.
std::string function_with_parameter(const std::string& text, std::size_t at) {
  std::size_t open = at;
  for (int depth = 0; open > 0; --open) {
    const char before = text[open - 1];
    if (before == ';' || before == '{' || before == '}') return {};
    if (before == ')') ++depth;
    if (before == '(' && depth-- == 0) break;
  }
  if (open == 0) return {};
  std::size_t close = open;
  for (int depth = 1; close < text.size(); ++close) {
    if (text[close] == '(') ++depth;
    if (text[close] == ')' && --depth == 0) break;
  }
  if (text.substr(open, close - open).find(',') == std::string::npos) return {};
  std::size_t name = open - 1;
  while (name > 0 && (std::isalnum(static_cast<unsigned char>(text[name - 1])) != 0 || text[name - 1] == '_'))
    --name;
  return text.substr(name, open - 1 - name);
}

/// f(x, true) does not say what it does. Here the boolean is the value itself, or calls pass a member or
/// variable that has its name.
TEST(Layers, NoOtherFunctionTakesABooleanBesideOtherParameters) {
  const std::set<std::string> known{"CleanStream",   "clean",       "compare",      "enable",
                                    "is_ipoib",      "label_of",    "observe_live", "open_management",
                                    "render_fabric", "save_texts",  "set_any_host", "set_enabled",
                                    "verdict_of",    "warn_outside"};
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOURCE_ROOT) / "src")) {
    if (entry.path().extension() != ".hpp") continue;
    std::ifstream in(entry.path());
    const std::string text(std::istreambuf_iterator<char>(in), {});
    for (auto at = text.find("bool "); at != std::string::npos; at = text.find("bool ", at + 1)) {
      const auto end = text.find_first_of(",);{}(", at);
      if (end == std::string::npos || (text[end] != ',' && text[end] != ')')) continue;
      const auto name = function_with_parameter(text, at);
      if (name.empty()) continue;
      EXPECT_TRUE(known.contains(name))
          << entry.path() << ": " << name << " needs an enum class, or two functions";
      found.insert(name);
    }
  }
  EXPECT_EQ(found, known) << "the list is longer than it must be";
}

/// The same of calls, also to functions of one file. Here the boolean is a value: to set, to store, or a
/// fallback; or the function is a library's.
TEST(Layers, NoOtherCallPassesABooleanBehindOtherArguments) {
  const std::set<std::string> known{"all",         "asked_", "dump",        "emplace",      "enable",
                                    "exchange",    "parse",  "read_flag",   "set_any_host", "set_derived",
                                    "set_enabled", "taken",  "try_emplace", "value"};
  const std::regex call(R"re((\w+)\((?:[^()"]|"[^"]*"|\([^()]*\))+, (?:true|false)[,)])re");
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOURCE_ROOT) / "src")) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      const bool maybe =
          line.find(", true") != std::string::npos || line.find(", false") != std::string::npos;
      if (!maybe || line.find("//") != std::string::npos) continue;
      for (std::smatch match; std::regex_search(line, match, call); line = match.suffix()) {
        EXPECT_TRUE(known.contains(match[1].str()))
            << entry.path() << ": " << match[0] << " needs an enum class";
        found.insert(match[1].str());
      }
    }
  }
  EXPECT_EQ(found, known) << "the list is longer than it must be";
}

TEST(Layers, LibrariesStayInTheirFolder) {
  const std::map<std::string, std::set<std::string>> home{
      {"toml", {"config"}},
      {"netlink", {"system/linux"}},
      {"infiniband", {"system/linux"}},
      {"libkmod", {"system/linux"}},
      {"seccomp", {"system/linux"}},
      {"systemd", {"system/linux", "daemon"}},
      {"linux", {"config", "system/linux"}},
      {"CLI", {"ctl"}},
      {"yaml", {"foreign"}},
      {"nlohmann", {"store", "core", "foreign", "fleet", "daemon", "ctl"}},
      {"sdbus-c++", {"system/linux"}}};
  each_include([&](const fs::path& file, bool own, const std::string& included) {
    if (own) return;
    const auto library = included.substr(0, included.find_first_of("/."));
    const auto at = home.find(library);
    if (at == home.end()) return;
    const auto area = area_of(fs::relative(file, fs::path(SOURCE_ROOT) / "src"));
    EXPECT_TRUE(at->second.contains(area)) << file << " includes <" << included << ">";
  });
}

}  // namespace
