// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "unit/temp_folder.hpp"

namespace rdmacfg::system {

/// A folder of one test, removed at its end.
class TempTree {
 public:
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }
  [[nodiscard]] std::filesystem::path at(const std::string& below) const {
    return path() / std::filesystem::path(below).relative_path();
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
  unit::TempFolder folder_;
};

}  // namespace rdmacfg::system
