// SPDX-License-Identifier: Apache-2.0
// Files under names that others may use, too.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace rdmacfg::kinds {

/// Right before a file is written: an error when it is somebody else's, who has put it there since the host
/// was observed. Undoing could not bring it back. `text`: its content now; `ours`: whether a text may be
/// replaced.
base::Result<void> refuse_others_file(const std::optional<std::string>& text, std::string_view path,
                                      bool (*ours)(std::string_view text));

}  // namespace rdmacfg::kinds
