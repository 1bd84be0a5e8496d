// SPDX-License-Identifier: Apache-2.0
// The files that options of opensm.conf name, and the rules for their lines. Sources: opensm(8),
// torus-2QoS.conf(5), doc/QoS_management_in_OpenSM.txt, cl_nodenamemap.c, osm_subnet.c, osm_torus.c of
// OpenSM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "model/types.hpp"

namespace rdmacfg::kinds {

struct OpensmSideFile {
  std::string_view option;     ///< of opensm.conf: "root_guid_file"
  std::string_view name;       ///< of our file: "rdma-root-guids.conf"
  std::string_view what;       ///< for people: "GUIDs of the switches at the roots"
  bool guids = false;          ///< it is a list of GUIDs
  std::string_view engines{};  ///< routing engines of which one must read it, by commas; empty: any
  std::string_view needs{};    ///< an option that must be TRUE for it
  bool at_start = false;       ///< OpenSM reads it only when it starts, else at each heavy sweep
};

std::span<const OpensmSideFile> opensm_side_files();
/// nullptr when the option names no such file.
const OpensmSideFile* opensm_side_file(std::string_view option);

/// The name of the file for one port's subnet manager, "rdma-root-guids-0x0002c90300a0b001.conf"; without a
/// port of that for all.
std::string opensm_side_name(const OpensmSideFile& file, std::optional<model::Guid> port);

/// A file for one port by its name alone; nothing for any other.
struct OwnSideFile {
  const OpensmSideFile* file = nullptr;
  model::Guid port{};
};
std::optional<OwnSideFile> own_side_file(std::string_view name);

/// A line that OpenSM would not understand.
struct WrongLine {
  std::size_t number = 0;  ///< from 1 on; 0: the file as a whole
  std::string what;
  std::string hint;
  bool only_vain = false;  ///< OpenSM reads the file all the same: a warning
};

/// The lines as OpenSM reads them: GUIDs as 0x…, blanks that mean nothing left out, no comments.
struct CheckedLines {
  std::vector<std::string> lines;
  std::vector<WrongLine> wrong;
  /// Of a QoS policy: P_Keys whose IPoIB partitions must be there, or OpenSM ignores the whole policy.
  struct NeededPkeys {
    std::size_t number = 0;  ///< of the line
    std::uint16_t from = 0, to = 0;
  };
  std::vector<NeededPkeys> pkeys{};
};
CheckedLines check_opensm_lines(const OpensmSideFile& file, std::span<const std::string> lines);

/// A file of ours; empty text for no lines.
std::string render_opensm_file(std::span<const std::string> lines);
/// Whether the first line says that it is ours.
bool is_our_opensm_file(std::string_view text);
/// Whether we may write another text in its place: it is ours, or `withdraw` has left it.
bool may_replace_opensm_file(std::string_view text);
/// Its lines without comments and empty ones.
std::vector<std::string> parse_opensm_file(std::string_view text);

}  // namespace rdmacfg::kinds
