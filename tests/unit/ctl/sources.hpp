// SPDX-License-Identifier: Apache-2.0
// The files of the sources as tests of documentation and packages see them.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "unit/temp_folder.hpp"

namespace rdmacfg::ctl {

inline const std::filesystem::path kSource = SOURCE_ROOT;

inline std::string content(const std::filesystem::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A shell command's text on both of its outputs.
inline std::string say(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen((command + " 2>&1").c_str(), "re"), ::pclose);
  std::string out;
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) > 0;)
    out.append(buffer.data(), n);
  return out;
}

inline bool installed(const std::string& program) { return !say("command -v " + program).empty(); }

inline std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// A source file without its lines of comment, string literals in pieces put together.
inline std::string code_of(const std::filesystem::path& file) {
  std::istringstream stream(content(file));
  std::string out;
  for (std::string line; std::getline(stream, line);) {
    const auto at = line.find_first_not_of(' ');
    if (at != std::string::npos && line.compare(at, 2, "//") != 0) out += line + '\n';
  }
  return std::regex_replace(out, std::regex("\"\\s*\n\\s*\""), "");
}

/// The matches of the first group of `pattern`.
inline std::vector<std::string> matches(const std::string& text, const char* pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> out;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
    out.push_back((*at)[1]);
  return out;
}

inline std::vector<std::string> found(const std::filesystem::path& file, const char* pattern) {
  return matches(content(file), pattern);
}

/// The code below a folder of src/, all of it.
inline std::string code_below(const std::string& folder) {
  std::string out;
  for (const auto& source : std::filesystem::recursive_directory_iterator(kSource / "src" / folder)) {
    const auto type = source.path().extension();
    if (type == ".cpp" || type == ".hpp") out += code_of(source.path());
  }
  return out;
}

/// A folder that goes with the test.
class Scratch {
 public:
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((path() / file).parent_path());
    std::ofstream(path() / file) << text;
  }

 private:
  unit::TempFolder folder_;
};

}  // namespace rdmacfg::ctl
