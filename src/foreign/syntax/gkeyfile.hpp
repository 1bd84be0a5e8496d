// SPDX-License-Identifier: Apache-2.0
// Keyfiles as GLib reads them (gkeyfile.c), which is not as systemd reads its own: '#' alone begins a
// comment, no line goes on in the next, and one line that is neither a group nor a key has the whole file
// refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "foreign/claims.hpp"
#include "foreign/keys.hpp"

namespace rdmacfg::foreign {

struct GKeyFile {
  std::vector<Group> groups;    ///< those of one name are not merged
  std::vector<Remark> refused;  ///< lines for which GLib refuses the file
  std::vector<Remark> ignored;  ///< lines without an effect: translations, keys that begin with ';'
};

/// Values have the blanks behind them, as in GLib, and are without their escapes (\s, \n, \t, \r, \\), but
/// "\;" stays for gkeyfile_list(). A value with another escape has none, but a reason (Item::why). GLib takes
/// escapes out of text and lists only; numbers and truth values it reads as they are written (Item::escaped).
GKeyFile parse_gkeyfile(const File& file);

/// The elements of a list, which semicolons end; "\;" is one of an element's own. Without empty elements, and
/// trimmed.
std::vector<std::string> gkeyfile_list(std::string_view value);

}  // namespace rdmacfg::foreign
