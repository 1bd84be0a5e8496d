// SPDX-License-Identifier: Apache-2.0
#include "formats/storage/nfs_conf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <filesystem>

#include "base/text.hpp"
#include "formats/managed_block.hpp"

namespace rdmacfg::kinds {

using base::Result;

namespace {

constexpr std::string_view kFolder = "/etc/nfs.conf.d";
constexpr std::int64_t kStandardPort = 20049;  // "nfsrdma" of services(5)

/// conf_get_bool() of nfs-utils.
std::optional<bool> truth_of(std::string_view word) {
  const auto lower = base::lower(word);
  constexpr std::array<std::string_view, 5> kYes{"1", "t", "true", "y", "yes"};
  constexpr std::array<std::string_view, 5> kNo{"0", "f", "false", "n", "no"};
  if (lower == "on" || std::find(kYes.begin(), kYes.end(), lower) != kYes.end()) return true;
  if (lower == "off" || std::find(kNo.begin(), kNo.end(), lower) != kNo.end()) return false;
  return std::nullopt;
}

std::optional<std::int64_t> port_of(std::string_view value) {
  const auto port = base::parse_number(value);
  if (port && *port <= 65535) return static_cast<std::int64_t>(*port);
  return value == "nfsrdma" ? std::optional(kStandardPort) : std::nullopt;
}

struct NfsConfLine {
  int number = 0;  ///< of the first of those that a backslash joins
  std::string text;
};

/// nfs-utils passes over what stands behind the last line break (conf_parse()).
std::vector<NfsConfLine> nfs_conf_lines(std::string_view text) {
  std::vector<NfsConfLine> out;
  std::string joined;
  int number = 0, first = 0;
  const auto parts = base::split(text, '\n');
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    ++number;
    if (joined.empty()) first = number;
    const auto part = parts[i];
    if (part.ends_with('\\')) {
      joined.append(part.substr(0, part.size() - 1)).append("  ");
      continue;
    }
    joined.append(part);
    out.push_back({first, joined});
    joined.clear();
  }
  return out;
}

/// Of the text behind "=": the text within quotes, else up to a comment. Nothing where a quote
/// has no end, and without a value: nfs-utils passes over both.
std::optional<std::string_view> nfs_conf_value(std::string_view raw) {
  auto value = base::trim(raw);
  if (value.starts_with('"') || value.starts_with('\'')) {
    const auto end = value.find(value.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    value = value.substr(1, end - 1);
  } else {
    value = base::trim(value.substr(0, value.find_first_of("#;")));
  }
  return value.empty() ? std::nullopt : std::optional(value);
}

/// Visits the assignments of a text: (line, section, key, value), section and key in lower case. `section`:
/// that of the first lines.
template <class Visit>
void each_nfs_assignment(std::string_view text, std::string section, const Visit& visit) {
  for (const auto& entry : nfs_conf_lines(text)) {
    const auto line = base::trim(entry.text);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[') {
      const auto end = line.find(']');
      section =
          end == std::string_view::npos ? std::string() : base::lower(base::trim(line.substr(1, end - 1)));
      continue;
    }
    const auto equals = line.find('=');
    if (section.empty() || equals == std::string_view::npos) continue;
    const auto value = nfs_conf_value(line.substr(equals + 1));
    if (value) visit(entry.number, section, base::lower(base::trim(line.substr(0, equals))), *value);
  }
}

void take_nfsd_line(int number, std::string_view section, std::string_view key, std::string_view value,
                    NfsdRdma& out) {
  if (section != "nfsd") return;
  if (key == "rdma") {
    out.rdma = truth_of(value);
    // rpc.nfsd(8) still takes the port here.
    if (const auto port = out.rdma ? std::nullopt : port_of(value)) {
      out.rdma = true;
      out.port = port;
    }
    out.line = number;
  } else if (key == "rdma-port") {
    out.port = port_of(value);
    out.line = number;
  }
}

/// The lines of files of others in the order in which nfs-utils takes them: those of a file that is included
/// stand where the line "include=" does, and begin in its section.
class NfsConfReader {
 public:
  /// Of a file, in the order in which rpc.nfsd reads them.
  enum class Rank { kBeforeOurs, kAfterOurs };

  NfsConfReader(system::Files& files, std::vector<ForeignNfsConf>& out) : files_(files), out_(out) {}

  void read(const std::string& path, Rank rank) { read_file(path, {}, rank, 0); }

 private:
  // nfs-utils has no limits, and ends at a file that includes itself.
  static constexpr int kDepthMost = 8, kFilesMost = 100;

  void read_file(const std::string& path, const std::string& section, Rank rank, int depth) {
    if (path == kNfsServerFile || depth > kDepthMost || ++read_ > kFilesMost) return;
    const auto text = files_.read_linked(path);
    if (!text || !*text) return;  // nfs-utils passes over what it cannot read, too
    ForeignNfsConf found{path, {}, rank == Rank::kAfterOurs};
    const auto put = [&] {
      if (found.says.line != 0) out_.push_back(found);
      found.says = {};
    };
    each_nfs_assignment(
        **text, section,
        [&](int number, const std::string& within, const std::string& key, std::string_view value) {
          if (key != "include") {
            take_nfsd_line(number, within, key, value, found.says);
            return;
          }
          put();
          if (value.starts_with('-')) value.remove_prefix(1);  // it need not be there
          if (value.empty()) return;
          const auto named = std::filesystem::path(path).parent_path() / value;
          read_file(named.lexically_normal().string(), within, rank, depth + 1);
        });
    put();
  }

  system::Files& files_;
  std::vector<ForeignNfsConf>& out_;
  int read_ = 0;
};

}  // namespace

NfsdRdma parse_nfs_conf(std::string_view text) {
  NfsdRdma out;
  each_nfs_assignment(
      text, {}, [&](int number, const std::string& section, const std::string& key, std::string_view value) {
        take_nfsd_line(number, section, key, value, out);
      });
  return out;
}

std::optional<std::int64_t> parse_nfs_server(std::string_view text) {
  const auto says = parse_nfs_conf(text);
  return says.rdma == true ? says.port : std::nullopt;
}

std::string render_nfs_server(std::int64_t port) {
  return fmt::format("{}\n[nfsd]\nrdma=y\nrdma-port={}\n", kOurFirstLine, port);
}

Result<std::vector<ForeignNfsConf>> read_foreign_nfs_conf(system::Files& files) {
  const std::string own_name(kNfsServerFile.substr(kNfsServerFile.rfind('/') + 1));
  std::vector<ForeignNfsConf> out;
  NfsConfReader reader(files, out);
  for (const std::string etc : {"/usr/etc", "/etc"}) {
    reader.read(etc + "/nfs.conf", NfsConfReader::Rank::kBeforeOurs);
    const auto folder = etc + "/nfs.conf.d";
    auto names = files.list(folder);
    if (!names) return base::fail(names.error());
    // versionsort(3): "9-site.conf" comes before "10-site.conf".
    std::sort(names->begin(), names->end(), [](const std::string& a, const std::string& b) {
      return strverscmp(a.c_str(), b.c_str()) < 0;
    });
    for (const auto& name : *names) {
      if (!name.ends_with(".conf") || name.starts_with('.')) continue;
      const bool wins = folder == kFolder && strverscmp(name.c_str(), own_name.c_str()) > 0;
      reader.read(folder + "/" + name,
                  wins ? NfsConfReader::Rank::kAfterOurs : NfsConfReader::Rank::kBeforeOurs);
    }
  }
  return out;
}

std::optional<std::int64_t> foreign_rdma_port(const std::vector<ForeignNfsConf>& others) {
  bool rdma = false;
  auto port = kStandardPort;
  for (const auto& file : others) {
    rdma = file.says.rdma.value_or(rdma);
    port = file.says.port.value_or(port);
  }
  return rdma ? std::optional(port) : std::nullopt;
}

}  // namespace rdmacfg::kinds
