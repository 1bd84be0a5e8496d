// SPDX-License-Identifier: Apache-2.0
// Profiles of tuned (tuned.conf(5)); active ones are merged as tuned merges them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/import/boot/kernel_writes.hpp"
#include "foreign/keys.hpp"

namespace rdmacfg::foreign {

/// The local tuned profiles of a host, and the list of active ones. The files must outlive this object.
class TunedProfilesOfHost {
 public:
  /// A profile, or the file that names the active ones.
  void add(const File& file);
  static bool is_of_tuned(const File& file);
  /// Imports the settings of the active profiles; of all profiles if no file names the active ones.
  void take(Claims& claims, KernelWrites& writes);

 private:
  struct Profile {
    const File* file;
    std::string name;
    std::vector<Group> groups;
  };
  /// The merged sections of all loaded profiles.
  struct Sections {
    std::vector<Group> groups;
    std::map<std::string, std::size_t> places;  ///< in `groups`, by name
  };

  /// Merges a section into the same section of earlier profiles, or replaces it (`replace`).
  static void merge(const std::vector<Group>& groups, Sections& sections);
  /// Loads a profile after the profiles that it includes. If a profile is loaded twice, the last load counts.
  void load(std::string_view name, int depth);

  std::vector<Profile> profiles_;
  std::vector<std::string> active_;  ///< names; the later profile's setting wins
  std::vector<std::string> loads_;   ///< names, in the order in which they are loaded
  bool any_ = false;                 ///< whether a file names the active profiles
};

}  // namespace rdmacfg::foreign
