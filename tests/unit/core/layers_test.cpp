// SPDX-License-Identifier: Apache-2.0
// Dependencies point one way: base ← model ← {config, system} ← kinds ← core ← {daemon, ctl}.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

namespace {

namespace fs = std::filesystem;

const std::map<std::string, std::set<std::string>> kMayInclude{
    {"base", {"base"}},
    {"model", {"base", "model"}},
    {"config", {"base", "model", "config"}},
    {"system", {"base", "model", "system"}},
    {"system/linux", {"base", "model", "system", "system/linux"}},
    {"kinds", {"base", "model", "system", "kinds"}},
    {"core", {"base", "model", "config", "system", "kinds", "core"}},
    {"foreign", {"base", "model", "config", "system", "kinds", "foreign"}},
    {"daemon", {"base", "model", "config", "system", "system/linux", "kinds", "core", "daemon"}},
    {"ctl",
     {"base", "model", "config", "system", "system/linux", "kinds", "core", "foreign", "ctl", "ctl/bundle"}},
    {"ctl/bundle", {"base", "model", "config", "system", "kinds", "core", "ctl", "ctl/bundle"}},
    {"ctl/commands",
     {"base", "model", "config", "system", "kinds", "core", "foreign", "ctl", "ctl/commands"}},
};

std::string folder_of(const fs::path& file) {
  const auto folder = fs::relative(file.parent_path(), fs::path(SOURCE_ROOT) / "src").string();
  return folder;
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
    const auto from = folder_of(file), to = fs::path(included).parent_path().string();
    ASSERT_TRUE(kMayInclude.contains(from)) << "unknown folder " << from;
    EXPECT_TRUE(kMayInclude.at(from).contains(to)) << file << " includes " << included;
  });
  EXPECT_GT(seen, 50U);
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
      {"nlohmann", {"core", "daemon", "ctl", "ctl/commands", "ctl/bundle"}},
      {"sdbus-c++", {"system/linux"}}};
  each_include([&](const fs::path& file, bool own, const std::string& included) {
    if (own) return;
    const auto library = included.substr(0, included.find_first_of("/."));
    const auto at = home.find(library);
    if (at == home.end()) return;
    EXPECT_TRUE(at->second.contains(folder_of(file))) << file << " includes <" << included << ">";
  });
}

}  // namespace
