// SPDX-License-Identifier: Apache-2.0
// The stamp that says with which of our files the initramfs was made last.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "formats/mlx4_conf.hpp"
#include "formats/modprobe_conf.hpp"
#include "formats/udev/udev_netdev_names.hpp"
#include "system/host.hpp"

namespace rdmacfg::kinds {

/// Our files that an initramfs contains. Their kinds declare them so (OwnedFile::text_after), and a test
/// compares; kinds that write one of them need the list, and know no other kind.
inline constexpr std::array<std::string_view, 5> kInitramfsFiles{kModuleOptionsFile, kPfcOptionsFile,
                                                                 kNetnsOptionsFile, kRuleFile, kMlx4File};

/// Whether dracut makes the images, under whatever command.
bool made_by_dracut(system::Host& host);

/// Whether dracut has a module of this name ("50rdma" is "rdma"), and its configuration does not omit it.
bool has_dracut_module(system::Files& files, std::string_view module);

/// Whether images hold rdma-core's module for dracut, which dracut adds by itself ("05rdma", "50rdma") unless
/// its configuration omits the module. Such an image loads ib_ipoib, so that interfaces get their names from
/// the rules in it, and takes the port types of ConnectX-3 from its copy of kMlx4File. Elsewhere neither
/// needs a rebuild.
bool has_rdma_in_image(system::Host& host);

/// Digest of our files that the initramfs was last rebuilt with.
inline constexpr std::string_view kInitramfsStamp = "/var/lib/rdma-configd/initramfs";

/// The stamp while a rebuild was begun, or must be done again.
inline constexpr std::string_view kUnfinishedStamp = "unfinished";
/// The stamp while an image of somebody else's may hold options that the document dropped.
inline constexpr std::string_view kDroppedStamp = "dropped";

/// The stamp while times do not tell whether an image was made since one of our files was written: followed
/// by the marks of the images that were there (system::Initramfs).
inline constexpr std::string_view kUndatedStamp = "undated ";

/// Content by path, of those files that are there; of a file of others only our lines.
using Contents = std::map<std::string_view, std::string>;

/// Of this host's images.
base::Result<Contents> contents_now(system::Host& host);

/// 64-bit FNV-1a in hexadecimal; nothing for no file. It tells changes apart, and is not cryptographic.
std::string digest_of(const Contents& contents);
base::Result<std::string> digest_now(system::Host& host);

/// The content of kInitramfsStamp; empty without one, and an empty one removes it.
base::Result<std::string> read_stamp(system::Files& files);
base::Result<void> write_stamp(system::Files& files, std::string_view stamp);

bool is_there(system::Files& files, std::string_view path);

/// Whether there is an image, and a tool that makes one.
bool can_rebuild(system::Host& host);

/// Calls `write`, which writes one of kInitramfsFiles. If the clock is behind the image, as on a host whose
/// clock has no battery, the stamp becomes kUndatedStamp first; otherwise that stamp is replaced. If our
/// files do not change, neither does the stamp.
base::Result<void> write_for_image(system::Host& host, const std::function<base::Result<void>()>& write);

/// A file of our options: it goes with the last of them.
enum class OptionsFile { kStays, kGoes };

/// Before a file of our options is written without what the document dropped: where it goes, an image that
/// somebody else made may go on holding it, which nothing else would tell. Where it stays or comes back that
/// is taken back: it tells by itself.
base::Result<void> note_dropped_options(system::Host& host, std::string_view path, OptionsFile file);

}  // namespace rdmacfg::kinds
