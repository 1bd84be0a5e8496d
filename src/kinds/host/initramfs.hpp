// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "kinds/kind.hpp"
#include "model/module_types.hpp"

namespace rdmacfg::kinds {

/// Kinds that write what an initramfs holds.
inline constexpr std::array<std::string_view, 4> kInitramfsKinds{"link_name", "module", "pfc", "rdma_system"};

/// Digest of our files that the initramfs was last rebuilt with.
inline constexpr std::string_view kInitramfsStamp = "/var/lib/rdma-configd/initramfs";

/// The initramfs: a driver that is loaded from it sees the module options and naming rules that it holds, not
/// those of the root file system.
struct InitramfsImage {
  std::optional<model::InitramfsPolicy> policy;
  std::optional<std::string> image;
  std::optional<std::string> built;

  static constexpr auto kFields = std::tuple{
      model::field("policy", &InitramfsImage::policy, model::Role::kPolicy,
                   "Action when the initramfs does not hold our module options and naming rules as they "
                   "are: rebuild, or report (it is pending, with the command to give).",
                   "rebuild, where [[module]] options, a [[pfc]] driver or netns of [rdma_system] are in the "
                   "document"),
      model::field("image", &InitramfsImage::image, model::Role::kDerived,
                   "Digest of our files if the initramfs holds them as they are; else \"stale\"."),
      model::field("built", &InitramfsImage::built, model::Role::kFact,
                   "Digest of our files when we rebuilt it last.", "-")};
};

model::SectionSpec initramfs_section();
const Kind& initramfs();

/// Before a file of our options is written without what the document dropped: where it `goes`, an image that
/// somebody else made may go on holding it, which nothing else would tell. Where it stays or comes back that
/// is taken back: it tells by itself.
base::Result<void> note_dropped_options(system::Host& host, std::string_view path, bool goes);

/// The command to give when the initramfs does not hold our files as they are; nothing when it does, or when
/// this host has none.
std::optional<std::string> stale_initramfs(World& world);

}  // namespace rdmacfg::kinds
