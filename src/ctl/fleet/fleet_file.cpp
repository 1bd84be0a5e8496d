// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>

#include "base/text.hpp"
#include "base/unique_fd.hpp"
#include "config/guard.hpp"
#include "ctl/fleet/fleet_commands.hpp"

namespace rdmacfg::ctl {

namespace {

base::Failure too_large(const std::string& path, std::size_t most) {
  return base::fail(base::Code::kInvalid,
                    fmt::format("{}: has more than the {} bytes that are allowed", path, most));
}

/// Whether a word looks like the name of a file. No domain of the first level is called like these.
bool is_named_as_file(std::string_view word) {
  constexpr std::array<std::string_view, 12> kEndings{".txt", ".list", ".lst", ".csv",  ".tsv",  ".conf",
                                                      ".cfg", ".ini",  ".yml", ".yaml", ".json", ".toml"};
  return word.find_first_of(", \t\n[]") == std::string_view::npos &&
         std::any_of(kEndings.begin(), kEndings.end(),
                     [&](const auto ending) { return base::lower(word).ends_with(ending); });
}

/// Whether a word has a slash that is not the step of a range: gpu[1-9/2] is a list of hosts.
bool is_path(std::string_view word) {
  bool inside = false;
  for (const char c : word) {
    if (c == '[') inside = true;
    if (c == ']') inside = false;
    if (c == '/' && !inside) return true;
  }
  return false;
}

/// A field of a line of a table at its place, without quotes: blanks stand for the fields before it.
std::string table_field(std::string_view line, std::size_t column) {
  std::string out;
  std::size_t at = 0;
  bool quoted = false;
  for (const char c : line) {
    const bool ends = c == ',' && !quoted;
    if (ends && at == column) break;
    if (c == '"') quoted = !quoted;
    if (at == column) {
      out += c == '"' ? ' ' : c;
    } else if ((static_cast<unsigned char>(c) & 0xc0U) != 0x80U) {  // of a character one blank
      out += ' ';
    }
    if (ends) ++at;
  }
  return out;
}

/// The column that the first line of a table calls "host"; nothing of a text that is not such a table.
std::optional<std::size_t> host_column(std::string_view header) {
  const auto columns = static_cast<std::size_t>(std::count(header.begin(), header.end(), ',')) + 1;
  for (std::size_t column = 0; column < std::min(columns, config::Limits{}.table_columns); ++column) {
    if (base::trim(table_field(header, column)) == "host") return column;
  }
  return std::nullopt;
}

/// The hosts of a table: the fields below "host", at their places. Any other text stays.
std::string hosts_of_table(std::string text) {
  std::string out;
  std::optional<std::size_t> column;
  for (const auto line : base::split(config::without_mark(text), '\n')) {
    const auto first = base::trim(line);
    if (column) {
      if (!first.starts_with('#')) out += table_field(line, *column);
    } else if (!first.empty() && !first.starts_with('#')) {
      column = host_column(line);
      if (!column) return text;
    }
    out += '\n';
  }
  return out;
}

}  // namespace

base::Result<config::Text> read_fleet_file(const Context& context, const std::string& path,
                                           std::size_t most) {
  config::Text out{path, {}};
  if (path == "-") {
    out.name = "<standard input>";
    out.text.resize(most + 1);
    context.environment.in.read(out.text.data(), static_cast<std::streamsize>(out.text.size()));
    out.text.resize(static_cast<std::size_t>(context.environment.in.gcount()));
    if (out.text.size() > most) return too_large(out.name, most);
    return out;
  }
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return base::fail_errno(errno, path);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return base::fail_errno(errno, path);
  if (!S_ISREG(status.st_mode)) return base::fail(base::Code::kInvalid, path + ": is not a regular file");
  if (static_cast<std::size_t>(status.st_size) > most) return too_large(path, most);
  out.text.resize(static_cast<std::size_t>(status.st_size) + 1);  // one more shows whether it grew
  std::size_t size = 0;
  for (;;) {
    const auto got = ::read(fd.get(), out.text.data() + size, out.text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::fail_errno(errno, path);
    size += static_cast<std::size_t>(got);
    if (size > most) return too_large(path, most);
    if (got == 0) break;
    if (size == out.text.size()) out.text.resize(2 * size);
  }
  out.text.resize(size);
  return out;
}

base::Result<config::Text> list_of_hosts(const Context& context) {
  const auto& word = context.arguments.fleet.hosts;
  std::error_code error;
  const bool file =
      word == "-" || is_path(word) || is_named_as_file(word) || std::filesystem::is_regular_file(word, error);
  if (!file) return config::Text{"--hosts", word};
  auto text = read_fleet_file(context, word);
  if (!text && text.error().sys_errno == ENOENT)
    return base::fail({text.error().code,
                       fmt::format("{} does not exist; write the path of a file with hosts, or the hosts "
                                   "themselves: 'gpu[001-512],login1'",
                                   word),
                       ENOENT});
  if (text && base::lower(word).ends_with(".csv")) text->text = hosts_of_table(std::move(text->text));
  return text;
}

}  // namespace rdmacfg::ctl
