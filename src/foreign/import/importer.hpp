// SPDX-License-Identifier: Apache-2.0
// Reads the files of other tools and makes one document of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "foreign/document.hpp"
#include "foreign/import/formats.hpp"
#include "system/files.hpp"

namespace rdmacfg::foreign {

/// The files to read.
struct Request {
  std::vector<const Format*> formats;
  /// Files and folders in place of the formats' own places, absolute; of one format only.
  std::vector<std::string> paths;
};

/// Reads the files and understands what it can. Nothing is written. Files that cannot be read, that are too
/// large or no text are reported in Claims::missed, as are paths whose names say nothing to the format.
/// @return how many files were read.
std::size_t gather(const Request& request, system::Files& files, Claims& claims);

/// The claims as a document that `check` has no errors in.
base::Result<std::string> make_document(
    Claims& claims, const std::function<model::Diagnostics(const std::string& text)>& check);

}  // namespace rdmacfg::foreign
