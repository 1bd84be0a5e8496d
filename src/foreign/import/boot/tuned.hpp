// SPDX-License-Identifier: Apache-2.0
// Profiles of tuned (tuned.conf(5)), merged as tuned merges those that are active.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/import/boot/kernel_writes.hpp"
#include "foreign/keys.hpp"

namespace rdmacfg::foreign {

/// The profiles of tuned that a host has of its own, and those that are active. The files have to stay.
class TunedProfilesOfHost {
 public:
  /// A profile, or the file that names the active ones.
  void add(const File& file);
  static bool is_of_tuned(const File& file);
  /// Takes the settings of the active profiles; of all, where no file names the active ones.
  void take(Claims& claims, KernelWrites& writes);

 private:
  struct Profile {
    const File* file;
    std::string name;
    std::vector<Group> groups;
  };
  /// Of all profiles that are loaded, as tuned merges them.
  struct Sections {
    std::vector<Group> groups;
    std::map<std::string, std::size_t> places;  ///< in `groups`, by name
  };

  /// The keys of a section join those that earlier profiles have in it, unless it replaces them.
  static void merge(const std::vector<Group>& groups, Sections& sections);
  /// Loads a profile behind those that it includes. Of one that is loaded twice the last time counts.
  void load(std::string_view name, int depth);

  std::vector<Profile> profiles_;
  std::vector<std::string> active_;  ///< names; of two settings that of the later one holds
  std::vector<std::string> loads_;   ///< names, in the order in which they are loaded
  bool any_ = false;                 ///< whether the host says which one is active
};

}  // namespace rdmacfg::foreign
