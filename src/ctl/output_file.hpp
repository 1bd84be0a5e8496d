// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

#include "base/error.hpp"

namespace rdmacfg::ctl {

/// Writes a file that the user asked for; folders on the way are created. One that is there keeps its mode,
/// and its text where there is no room for the new one. After success the disk has it under its name. A
/// killed run leaves a temporary file (system/temporary_file.hpp), which the next one removes. In a folder
/// where everybody makes files (/tmp), a link or file of another user is refused (kDenied). A link to an
/// open file, such as /dev/stdout, is written through.
base::Result<void> write_output(const std::filesystem::path& path, std::string_view text);

/// The same with mode 0600 from the beginning, for text with secrets; the file belongs to whoever writes it.
base::Result<void> write_private_output(const std::filesystem::path& path, std::string_view text);

/// Replaces a file whole, by a temporary one beside it with mode 0644, so that a reader sees the old text or
/// the new one. A device or a pipe is written to.
base::Result<void> replace_output(const std::filesystem::path& path, std::string_view text);

}  // namespace rdmacfg::ctl
