// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace rdmacfg::system {

/// A folder of one test, removed at its end.
class TempTree {
 public:
  TempTree() {
    std::string name = (std::filesystem::temp_directory_path() / "rdmacfg-system.XXXXXX").native();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  TempTree(const TempTree&) = delete;
  TempTree& operator=(const TempTree&) = delete;
  ~TempTree() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path at(const std::string& below) const {
    return path_ / std::filesystem::path(below).relative_path();
  }

  void put(const std::string& below, const std::string& content) const {
    std::filesystem::create_directories(at(below).parent_path());
    std::ofstream(at(below)) << content;
  }
  void link(const std::string& below, const std::string& target) const {
    std::filesystem::create_directories(at(below).parent_path());
    std::filesystem::create_symlink(target, at(below));
  }
  [[nodiscard]] std::string get(const std::string& below) const {
    std::ostringstream out;
    out << std::ifstream(at(below)).rdbuf();
    return out.str();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace rdmacfg::system
