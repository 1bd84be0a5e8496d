// SPDX-License-Identifier: Apache-2.0
// /etc/rdma/mlx4.conf as a value: the lines between our marks, and those of others.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "formats/managed_block.hpp"
#include "formats/mlx4_conf.hpp"
#include "model/types/port_types.hpp"
#include "system/files.hpp"

namespace rdmacfg::kinds {

using Mlx4Lines = std::map<std::string, model::PortTypes>;  ///< by PCI address

/// The address and types of a line, whoever wrote it; nothing of a comment or another line.
std::optional<std::pair<std::string, model::PortTypes>> parse_mlx4_line(std::string_view line);

std::string render_mlx4_lines(const Mlx4Lines& lines);

/// /etc/rdma/mlx4.conf, of which only a block is ours.
struct Mlx4File {
  std::string others;  ///< the text around our block, as it is
  Mlx4Lines lines;
  Mlx4Lines below;  ///< lines of others that stand below ours for the same adapter
  std::optional<Damage> damage;

  static base::Result<Mlx4File> read(system::Files& files);

  /// The types that an adapter of ours gets at boot.
  [[nodiscard]] const model::PortTypes& in_force(const std::string& pci) const;

  [[nodiscard]] base::Result<void> write(system::Files& files) const;
};

}  // namespace rdmacfg::kinds
