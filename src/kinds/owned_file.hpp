// SPDX-License-Identifier: Apache-2.0
// The declaration of a file that a kind writes. Integrity, `withdraw`, the initramfs, the daemon's
// watches, the purge of the package and the table of files in the manual are made from it
// (catalog/owned_files.hpp).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/managed_block.hpp"
#include "model/resource.hpp"

namespace rdmacfg::kinds {

struct OwnedFile {
  enum class Extent {
    kWhole,   ///< ours: `withdraw` leaves it under another name, as the administrator's
    kBlock,   ///< of others, with lines of ours between `marks`: `withdraw` leaves these without marks
    kRecord,  ///< what we remember: `withdraw` removes it
  };
  enum class Access {
    kPublic,   ///< mode 0644
    kPrivate,  ///< mode 0600
  };
  /// For its readers, after somebody else than the kind has written it.
  enum class AfterWrite {
    kNothing,       ///< they see it by themselves, or at the next boot
    kReloadUdev,    ///< udevd reads its rules
    kReloadUnits,   ///< systemd reads its units
    kLoadProfile,   ///< NetworkManager reads the profile
    kTellBackends,  ///< udevd reads its rules, and the ports' managers hear of them
  };

  /// Absolute. One '*' stands for what differs: at least one character, none of them '/'.
  std::string_view path;
  std::string_view what;  ///< its content, for people: "names of ports' interfaces"
  Extent extent = Extent::kWhole;
  Access access = Access::kPublic;
  const Marks* marks = nullptr;               ///< of kBlock
  std::span<const std::string_view> notes{};  ///< beginnings of lines within the block that only we use

  /// The text as the kind writes it, from what the kind reads of a text; empty: no file. Lines that are not
  /// in it are somebody else's. nullptr: others may have lines in the file, or its kind sees every line.
  std::string (*rendered)(std::string_view text) = nullptr;

  /// Of a file that an initramfs contains: its text when all that is desired is done; nothing: no file.
  std::optional<std::string> (*text_after)(std::span<const model::Desired> desired,
                                           std::span<const model::Observed> observed) = nullptr;

  AfterWrite after_write = AfterWrite::kNothing;

  /// Of a name that others' files may have, too: whether a text is that of a file of ours.
  bool (*ours)(std::string_view text) = nullptr;
};

}  // namespace rdmacfg::kinds
