// SPDX-License-Identifier: Apache-2.0
// Configuration files to sections. The only folder that knows TOML.
#pragma once

#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "model/diagnostic.hpp"
#include "model/limits.hpp"
#include "model/section.hpp"

namespace rdmacfg::config {

/// Bounds on what is read, checked before a parser sees it.
struct Limits {
  std::size_t file_bytes = model::limits::kFileBytes;          ///< of one file
  std::size_t document_bytes = model::limits::kDocumentBytes;  ///< of all files together
  std::size_t files = model::limits::kDocumentFiles;           ///< main file and drop-ins
  int nesting = model::limits::kNesting;                       ///< of arrays, inline tables and dotted keys
  std::size_t errors = model::limits::kErrors;    ///< reported of one document; the rest is counted
  std::size_t entries = model::limits::kEntries;  ///< sections of the document in all
  std::size_t entries_of_kind = model::limits::kEntriesOfKind;  ///< sections of one path
  std::size_t list_items = model::limits::kListItems;
  std::size_t string_bytes = model::limits::kStringBytes;
  std::size_t table_bytes = model::limits::kTableBytes;  ///< of one table of values for hosts, or /etc/hosts
  std::size_t table_rows = model::limits::kTableRows;
  std::size_t table_columns = model::limits::kTableColumns;
  std::size_t tables = model::limits::kTables;
};

/// Every error is reported: for programs, which mend all of them in one go.
inline Limits all_errors() {
  Limits limits;
  limits.errors = std::numeric_limits<std::size_t>::max();
  return limits;
}

/// Where a document is.
struct Source {
  std::filesystem::path root = "/";  ///< --root: prefix of everything below
  /// --config FILE: exactly this file, no drop-ins (relative to the working directory, not to root); "-":
  /// standard input. Empty: the system's own, /etc/rdma-configd/config.toml with conf.d/*.toml of /usr/lib,
  /// /run and /etc.
  std::filesystem::path file;
  std::string host;         ///< for [match]; the node name, without a domain too. Empty: not known (yet)
  bool every_host = false;  ///< tables are read whole, not only the lines that are for `host`
};

/// The name of a text that was read from standard input ("-").
inline constexpr const char* kStandardInput = "<standard input>";

/// One file as text.
struct Text {
  std::string name;  ///< as diagnostics show it
  std::string text;
  /// How others than root can write to it: "/etc/x.toml belongs to user 1000". Empty: they cannot.
  std::string written_by_others{};
  bool is_private = false;  ///< not everybody may read it; so nor what is made of it
};

/// A file that does not apply to this host, and why: "applies to hosts gpu*, not to login1".
struct SkippedFile {
  std::string name;
  std::string why;
  [[nodiscard]] std::string text() const { return name + ": " + why; }
  bool operator==(const SkippedFile&) const = default;
};

/// A value that was filled in: where it is from, for people.
struct FilledValue : model::Diagnostic::Related {
  std::size_t item = 0;  ///< of the list whose text mentions the value
};

/// A document: every section that applies to this host, merged; or what is wrong with it.
struct Document {
  std::vector<model::Section> sections;
  model::Diagnostics diagnostics;  ///< errors (then `sections` is what could be understood) and warnings
  std::vector<Text> files;         ///< in the order of merging, for excerpts and for a digest
  std::vector<SkippedFile> skipped;
  std::string host;   ///< that [match] was held against; empty when no file has one
  bool whole = true;  ///< every file could be held against the grammar
  /// The starts of sections that were not understood completely (their `where`): other complaints about
  /// wrong with them may follow from that alone.
  std::set<model::Location> faulty;
  std::size_t not_shown = 0;  ///< errors beyond Limits::errors; the last of `diagnostics` counts them
  /// Values that were filled in for `host`, by the place of the text that mentions them.
  std::map<model::Location, std::vector<FilledValue>> filled{};
};

/// Finds and reads the files: main file first, then drop-ins sorted by file name over all three directories,
/// where /etc masks /run masks /usr/lib of the same name, and an empty file or a link to /dev/null masks
/// without replacing (systemd.unit(5)). Hidden files and names without ".toml" are passed over.
/// Behind them come the tables and the /etc/hosts that [host] sections name (host_data.hpp), cut down to the
/// lines for Source::host. One that is not there is left out: parse_texts() says so where it is named.
/// @return texts in merging order, or an error that names the file: no configuration at all (it says what to
///         write where), unreadable, a link to nothing, a directory, a device, a FIFO, too large, a table in
///         place of a document. Never blocks, but for standard input.
base::Result<std::vector<Text>> read_files(const Source& source, const Limits& limits = {});

/// Files in the folders of drop-ins that read_files() passes over although they are named like settings:
/// "10-ib.conf", "10-ib.TOML". Copies such as "10-ib.toml.bak" are not meant.
std::vector<std::string> misnamed_drop_ins(const std::filesystem::path& root);

/// Parses, checks and merges texts in order against the grammar. Never fails on content: mistakes go to
/// Document::diagnostics, by file and line, all of it at once. A file with errors of TOML itself is not held
/// against the grammar; one for other hosts is, and then left out. `version`, `match` and `defaults` at the
/// top are the language's own, so no section of the grammar may have such a name.
Document parse_texts(std::vector<Text> texts, std::string_view host,
                     const std::vector<model::SectionSpec>& grammar, const Limits& limits = {});

/// For what is applied without anybody asking: a file that others than root can write to is an error, as sudo
/// and sshd have it, and no longer a warning.
void require_trusted_files(Document& document);

/// Reads what the [host] sections of texts name, in place of what there was. For texts that changed since
/// read_files().
base::Result<void> add_host_data(std::vector<Text>& texts, const Source& source, const Limits& limits = {});

/// Whether one of the files of a document is private.
bool is_private(const Document& document);

/// Names the host at the end of a message, for values that are the host's own.
void append_host(model::Diagnostic& diagnostic, std::string_view host);
/// Names the host, and the values that it has there, in diagnostics about texts that mention the host.
void name_host(model::Diagnostics& diagnostics, const Document& document);

/// Brings diagnostics, among them those of the document, in order: by file as they merge, then by line and
/// column. Errors beyond Limits::errors are counted by one last.
void arrange(model::Diagnostics& diagnostics, const Document& document, const Limits& limits = {});

enum class Colouring {
  kNone,
  kAnsi,  ///< escape sequences of a terminal
};

/// Renders diagnostics for people: place, message, excerpt with a caret, hint, related places. Nothing of the
/// document can act on a terminal.
std::string render_diagnostics(const Document& document, const model::Diagnostics& diagnostics,
                               Colouring colouring = Colouring::kNone);

}  // namespace rdmacfg::config
