// SPDX-License-Identifier: Apache-2.0
// The parts of ours that go on working without us: our files as the administrator's, and scripts for settings
// that only a running rdma-configd makes.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "formats/udev/udev_backend.hpp"
#include "kinds/owned_file.hpp"
#include "model/resource.hpp"

namespace rdmacfg::kinds {

/// The rules that a withdrawal adds; they call the scripts of render_setup().
inline constexpr std::string_view kSetupRules = "/etc/udev/rules.d/90-rdma-admin-setup.rules";

/// The name of a file of ours after the withdrawal: "rdma-configd" becomes "rdma-admin", which sorts between
/// the same neighbours, and before ours should these come back. Nothing for a name without it.
std::optional<std::string> plain_name(std::string_view file_name);

/// The text of a whole file of ours without our mark; nothing when its first line does not say that it is
/// ours.
std::optional<std::string> plain_text(std::string_view text);

/// Whether a text is that of a file that an earlier withdrawal left.
bool was_left(std::string_view text);

/// A file with a block of ours, as a file without marks that says the same; nothing without such a block.
std::optional<std::string> without_marks(std::string_view text, const OwnedFile& file);

/// A file that the withdrawal adds.
struct SetupFile {
  std::string path;
  std::string content;
  std::string what;  ///< "mode, MTU, P_Key interfaces and addresses of mlx4_ib0"
  bool operator==(const SetupFile&) const = default;
};

/// The script that udev runs instead of us when the interface of a port appears: one for each port that no
/// NetworkManager profile sets up, and the rule that calls them. Sources: udev(7) RUN, ip-link(8).
std::vector<SetupFile> render_setup(std::span<const model::Desired> desired, const BackendRules& backends);

/// Settings that nothing makes any more after the next boot: one sentence for each kind of resource.
std::vector<std::string> not_handed_over(std::span<const model::Desired> desired);

}  // namespace rdmacfg::kinds
