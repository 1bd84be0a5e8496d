// SPDX-License-Identifier: Apache-2.0
// Our files that an initramfs holds, and the stamp that says with which of them it was made last.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "formats/udev_netdev_names.hpp"
#include "kinds/ethernet/pfc.hpp"
#include "kinds/host/initramfs.hpp"
#include "kinds/host/module.hpp"
#include "kinds/rdma/rdma_system.hpp"

namespace rdmacfg::kinds {

inline constexpr std::array<std::string_view, 4> kInitramfsFiles{kModuleOptionsFile, kPfcOptionsFile,
                                                                 kNetnsOptionsFile, kRuleFile};

/// Content by path, of those files that are there.
using Contents = std::map<std::string_view, std::string>;

/// 64-bit FNV-1a in hexadecimal; nothing for no file. It tells changes apart, and is not cryptographic.
std::string digest_of(const Contents& contents);
base::Result<std::string> digest_now(system::Files& files);

/// The content of kInitramfsStamp; empty without one, and an empty one removes it.
base::Result<std::string> read_stamp(system::Files& files);
base::Result<void> write_stamp(system::Files& files, std::string_view stamp);

bool is_there(system::Files& files, std::string_view path);

/// Our files as they will be when all that is desired is done.
Contents contents_after(const std::vector<model::Desired>& desired,
                        const std::vector<model::Observed>& observed);

}  // namespace rdmacfg::kinds
