// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "kinds/kind.hpp"
#include "model/section.hpp"
#include "model/types/module_types.hpp"

namespace rdmacfg::kinds {

/// The initramfs: a driver that is loaded from it sees the module options and naming rules that it holds, not
/// those of the root file system.
struct InitramfsImage {
  std::optional<model::InitramfsPolicy> policy;
  std::optional<std::string> image;
  std::optional<std::string> built;

  static constexpr auto kFields = std::tuple{
      model::field("policy", &InitramfsImage::policy, model::Role::kPolicy,
                   "Action when the initramfs lacks our current module options or naming rules: rebuild, or "
                   "report (pending, with the command to run).",
                   "rebuild, where [[module]] options, a [[pfc]] driver or netns of [rdma_system] are in the "
                   "document"),
      model::field("image", &InitramfsImage::image, model::Role::kDerived,
                   "Digest of our files if the initramfs contains their current versions; else \"stale\"."),
      model::field("built", &InitramfsImage::built, model::Role::kFact,
                   "Digest of our files when we rebuilt it last.", "-")};
};

model::SectionSpec initramfs_section();
const Kind& initramfs();

/// The command to give when the initramfs does not hold our files as they are; nothing when it does, or when
/// this host has none.
std::optional<std::string> stale_initramfs(World& world);

}  // namespace rdmacfg::kinds
