// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/error.hpp"

namespace rdmacfg::core {

/// Takes an exclusive flock(2) on `path`, a file or a folder, until the result is released; the file holds
/// the process id of who has it. Tells `waiting` once who holds it now. Fails with kTimeout after `deadline`,
/// with kRefused once `cancelled` says so while it waits, and when the file cannot be made. The file stays:
/// removing it would let two hold "it".
base::Result<std::shared_ptr<void>> take_lock(const std::filesystem::path& path,
                                              std::chrono::milliseconds deadline,
                                              const std::function<void(const std::string& holder)>& waiting,
                                              const std::function<bool()>& cancelled = {});

/// The lock for a change of the host below `root`: the folder itself, so that an image keeps no file of
/// it; of the running host, /run/rdma-configd.lock.
std::filesystem::path lock_of(const std::filesystem::path& root);

/// Of the running host's document, while it is read, changed and written; of another it is its folder.
inline constexpr const char* kDocumentLock = "/run/rdma-configd-document.lock";

/// The message of a process that waits: "process 1234 is applying; waiting until it has finished".
std::string waits_for(const std::string& holder);

}  // namespace rdmacfg::core
