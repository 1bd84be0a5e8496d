// SPDX-License-Identifier: Apache-2.0
// Marks of ours: around our lines in files of others, and at the head of files that are ours.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "model/diagnostic.hpp"
#include "model/resource.hpp"
#include "system/files.hpp"

namespace rdmacfg::kinds {

/// Whole lines.
struct Marks {
  std::string_view begin, end;
  std::string_view former_begin{};  ///< written by earlier releases; empty: none
};

/// The first line of a file that is ours as a whole. The purge of the package and is_our_…() of `formats`
/// tell our files by it. Files of udev, modprobe, the managers and systemd's module list have first lines of
/// their own, which stay as they are: a new one would rewrite the file on each host, and make its initramfs
/// stale.
inline constexpr std::string_view kOurFirstLine = "# Written by rdma-configd; changes here are overwritten.";

/// Whether a text begins as that one, or as our files of the managers do.
inline constexpr std::string_view kOurBeginning = kOurFirstLine.substr(0, kOurFirstLine.find(';'));
constexpr bool begins_as_ours(std::string_view text) { return text.starts_with(kOurBeginning); }

inline constexpr Marks kOpensmMarks{
    "# rdma-configd: managed block; changes between these markers are overwritten.", "# rdma-configd: end",
    "# rdma-configd: what is between the two marks is lost when it is changed."};
inline constexpr Marks kMlx4Marks{
    "# Written by rdma-configd from its configuration:", "# end of rdma-configd's lines", ""};

/// Why a file of others cannot be rewritten: where our part ends, or what stands before it, is not clear.
struct Damage {
  int line = 0;      ///< 0: the file as a whole
  std::string what;  ///< "…, and no line \"# rdma-configd: end\" after it"
  std::string hint;
  bool operator==(const Damage&) const = default;
};

struct MarkedText {
  struct Line {
    std::string_view text;  ///< into the text that was parsed
    int number = 0;
    bool ours = false;
  };
  std::vector<Line> lines;       ///< without the marks
  std::string others;            ///< the text around our part, as it was before there was one
  std::optional<Damage> damage;  ///< a begin mark without an end mark; the lines after it count as ours
};

MarkedText parse_marked(std::string_view text, const Marks& marks);

/// `others` and the begin of our part after it. That their last line had no end is kept in it.
std::string begin_marked(std::string others, const Marks& marks);

/// A file for such a part. A path that cannot be one (a symbolic link, a folder) has no part of ours: it
/// is damage, which matters to entries of the kind alone.
struct MarkedFile {
  std::optional<std::string> text;  ///< nothing: there is none
  std::optional<Damage> damage;
};
base::Result<MarkedFile> read_marked(system::Files& files, const std::string& path);

/// "/etc/opensm/partitions.conf:3: …"
base::Error error_of(const Damage& damage, std::string_view path);

/// Whether some of our lines are in a file.
enum class OurLines { kNone, kSome };
template <class Lines>
OurLines our_lines(const Lines& lines) {
  return lines.empty() ? OurLines::kNone : OurLines::kSome;
}

/// An error where the document has entries of the kind; where it has none a warning, if some of our lines are
/// in the file: those stay until it is mended, and keep nothing else from being applied.
void report_damage(const std::optional<Damage>& damage, std::string_view path, std::string_view kind,
                   std::span<const model::Desired> desired, OurLines ours, model::Diagnostics& diagnostics);

/// Where some of our lines are in such a file and the document has no entry of the kind: adds one that waits
/// until the file is mended, as it is not known which of its lines are to go.
void hold_damaged(const std::optional<Damage>& damage, const std::string& path, std::string_view kind,
                  OurLines ours, std::vector<model::Desired>& desired);

}  // namespace rdmacfg::kinds
