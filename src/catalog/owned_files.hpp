// SPDX-License-Identifier: Apache-2.0
// The files that rdma-configd writes, from the declarations of all kinds (kinds/owned_file.hpp).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "kinds/owned_file.hpp"
#include "system/files.hpp"
#include "system/host.hpp"

namespace rdmacfg::kinds {

/// The declarations of all kinds, by path.
const std::vector<const OwnedFile*>& owned_files();

/// The declaration of a path: of the very path, else of a pattern that it matches; nullptr when it is none of
/// ours.
const OwnedFile* owned_file(std::string_view path);

/// Whether a path is that of a declaration, or matches its pattern.
bool matches(std::string_view pattern, std::string_view path);

/// The files of a declaration that may be there, sorted: for a pattern, those that the folders list. A file
/// that another declaration names without a pattern is not among them.
base::Result<std::vector<std::string>> files_of(const OwnedFile& file, system::Files& files);

/// Those of owned_files() that an initramfs contains.
std::vector<const OwnedFile*> initramfs_files();

/// Does what a declaration says for after a write, for `paths` of it.
base::Result<void> after_write(OwnedFile::AfterWrite step, std::span<const std::string> paths,
                               system::Host& host);

/// Whether a file below /etc is ours, or somebody else's in which settings are ours
/// ("/etc/opensm/partitions.conf"). The records in /var and /run are not among them.
bool is_managed_file(std::string_view path);

/// The folders of owned files and of our records, those of units' drop-ins as far as they are there.
std::vector<std::string> managed_folders(system::Files& files);

/// After a run that was killed: its renames and removals may not be on disk, and no later run writes a file
/// that is there already.
void sync_managed_folders(system::Files& files);

/// Removes what a run that was killed while it wrote a file has left beside it, also beside the document.
void clear_temporaries(system::Files& files);

/// For the documents and the package, as `rdma-configctl reference` prints them: rows of a table in Markdown,
/// entries of a manual page (man(7)), and lists for the shell of the script that purges.
std::string owned_files_as_markdown();
std::string owned_files_as_man();
std::string owned_files_as_shell();

}  // namespace rdmacfg::kinds
