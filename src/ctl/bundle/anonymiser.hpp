// SPDX-License-Identifier: Apache-2.0
// Texts of a host without what says whose host it is.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "ctl/bundle/pseudonyms.hpp"

namespace rdmacfg::ctl {

/// Lets through what is known to be harmless, and nothing else: words of the vocabulary (vocabulary.hpp),
/// predictable names of devices and interfaces (systemd.net-naming-scheme(7)), short numbers, PCI addresses
/// and punctuation. Addresses, GUIDs and UUIDs, however they are spelled, get stand-ins of their sort; all
/// other words, in comments too, get words for stand-ins. The value of what is called a key, a password, a
/// token or the like is removed, whatever it is.
class Anonymiser {
 public:
  /// `names`: of the host, of its users: they get stand-ins even where all of their parts are known words.
  explicit Anonymiser(const std::vector<std::string>& names);

  /// A file, a name, a path, an answer of the kernel.
  std::string text(std::string_view text);

  /// A UUID whose stand-in is known.
  void know_uuid(const std::string& uuid, const std::string& stand_in) {
    pseudonyms_.know_uuid(uuid, stand_in);
  }

  /// Whether what is called so is nobody else's business: "password", "wep-key0", "tcp_fastopen_key".
  static bool is_secret(std::string_view name);

 private:
  struct Scan;
  struct Names {
    std::unordered_set<std::string> all;                     ///< in lower case
    std::set<std::size_t, std::greater<std::size_t>> sizes;  ///< that they have
  };

  Pseudonyms pseudonyms_;
  Names names_;
};

/// The stand-in for the value of a secret.
inline constexpr std::string_view kRemoved = "removed";

}  // namespace rdmacfg::ctl
