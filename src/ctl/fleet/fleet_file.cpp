// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/regular_file.hpp"
#include "base/text.hpp"
#include "config/guard.hpp"
#include "ctl/fleet/fleet_commands.hpp"

namespace rdmacfg::ctl {

namespace {

base::Failure too_large(std::size_t most) {
  return base::fail(base::Code::kInvalid, fmt::format("has more than the {} bytes allowed", most));
}

/// Whether a word looks like the name of a file. No domain of the first level is called like these.
bool is_named_as_file(std::string_view word) {
  constexpr std::array<std::string_view, 12> kEndings{".txt", ".list", ".lst", ".csv",  ".tsv",  ".conf",
                                                      ".cfg", ".ini",  ".yml", ".yaml", ".json", ".toml"};
  return word.find_first_of(", \t\n[]") == std::string_view::npos &&
         std::any_of(kEndings.begin(), kEndings.end(),
                     [&](const auto ending) { return base::lower(word).ends_with(ending); });
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

/// A field of the first line of a table.
struct HeaderField {
  std::string text;        ///< without quotes and blanks
  std::size_t column = 1;  ///< in characters
};

std::vector<HeaderField> header_fields(std::string_view line, char separator) {
  const auto most = config::Limits{}.table_columns;
  std::vector<HeaderField> out(1);
  std::size_t column = 0;
  bool quoted = false;
  for (const char c : line) {
    if ((static_cast<unsigned char>(c) & 0xc0U) != 0x80U) ++column;
    if (c == '"') quoted = !quoted;
    if (c == separator && !quoted) {
      if (out.size() == most) break;
      out.push_back({{}, column + 1});
    } else if (c != '"') {
      out.back().text += c;
    }
  }
  for (auto& field : out) field.text = std::string(base::trim(field.text));
  return out;
}

/// The first field that is called "host", in whatever case.
std::optional<std::size_t> host_field(const std::vector<HeaderField>& fields) {
  const auto at = std::find_if(fields.begin(), fields.end(),
                               [](const HeaderField& field) { return base::lower(field.text) == "host"; });
  return at == fields.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - fields.begin()));
}

/// The column of the hosts in a table with this first line; nothing of a line without it.
base::Result<std::optional<std::size_t>> host_column(const std::string& place, std::string_view header) {
  const auto wrong = [&](std::size_t column, std::string_view what) {
    return base::fail(base::Code::kInvalid, fmt::format("{}:{}: {}", place, column, what));
  };
  const auto fields = header_fields(header, ',');
  const auto column = host_field(fields);
  if (!column) {
    for (const auto& [separator, name] : {std::pair(';', "semicolons"), std::pair('\t', "tabs")}) {
      const auto others = header_fields(header, separator);
      if (others.size() > 1 && host_field(others))
        return wrong(others[1].column - 1,
                     fmt::format("fields are separated by {}; must be separated by commas", name));
    }
    return std::optional<std::size_t>();
  }
  if (fields[*column].text != "host")
    return wrong(fields[*column].column,
                 fmt::format("the column is called \"{}\"; must be \"host\"", fields[*column].text));
  const auto again = std::find_if(fields.begin() + static_cast<std::ptrdiff_t>(*column) + 1, fields.end(),
                                  [](const HeaderField& field) { return field.text == "host"; });
  if (again != fields.end()) return wrong(again->column, "there are two columns \"host\"");
  return column;
}

/// Fields of a line; 0: a quoted field goes on behind it.
std::size_t count_of_fields(std::string_view line) {
  std::size_t out = 1;
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    if (c == ',' && !quoted) ++out;
  }
  return quoted ? 0 : out;
}

/// The hosts of a table: the fields below "host", at their places. A list of hosts stays as it is; lines with
/// as many fields each are a table without this column.
base::Result<std::string> hosts_of_table(const std::string& path, std::string text) {
  std::string out;
  std::optional<std::size_t> column;
  std::size_t number = 0, header = 0, fields = 0, alike = 0, others = 0;
  for (const auto line : base::split(config::without_mark(text), '\n')) {
    ++number;
    const auto first = base::trim(line);
    if (!first.empty() && !first.starts_with('#')) {
      if (header == 0) {
        auto found = host_column(fmt::format("{}:{}", path, number), line);
        if (!found) return base::fail(found.error());
        column = *found;
        header = number;
        fields = count_of_fields(line);
      } else if (column) {
        if (count_of_fields(line) == 0)
          return base::fail(base::Code::kInvalid,
                            fmt::format("{}:{}: a quoted field does not end on its line", path, number));
        out += table_field(line, *column);
      } else {
        ++(count_of_fields(line) == fields ? alike : others);
      }
    }
    out += '\n';
  }
  if (column) return out;
  if (fields > 1 && alike > 0 && others == 0)
    return base::fail(
        base::Code::kInvalid,
        fmt::format(
            "{}:{}: no column is called \"host\"; the first line of a table names its columns; write a "
            "list of hosts with one on each line",
            path, header));
  return text;
}

}  // namespace

bool has_folder(std::string_view word) {
  bool inside = false;
  for (const char c : word) {
    if (c == '[') inside = true;
    if (c == ']') inside = false;
    if (c == '/' && !inside) return true;
  }
  return false;
}

base::Result<config::Text> read_fleet_file(const Context& context, const std::string& path,
                                           std::size_t most) {
  auto text = read_fleet_text(context, path, most);
  if (!text) return base::fail(text.error().in(path == "-" ? config::kStandardInput : path));
  return text;
}

base::Result<config::Text> read_fleet_text(const Context& context, const std::string& path,
                                           std::size_t most) {
  config::Text out{path, {}};
  if (path == "-") {
    out.name = config::kStandardInput;
    out.text.resize(most + 1);
    context.environment.in.read(out.text.data(), static_cast<std::streamsize>(out.text.size()));
    out.text.resize(static_cast<std::size_t>(context.environment.in.gcount()));
    if (out.text.size() > most) return too_large(most);
    return out;
  }
  auto text = base::read_regular_file(path, most);
  if (!text) return base::fail(text.error());
  out.text = std::move(*text);
  return out;
}

base::Result<config::Text> list_of_hosts(const Context& context) {
  const auto& word = context.arguments.fleet.hosts;
  std::error_code error;
  const bool file = word == "-" || has_folder(word) || is_named_as_file(word) ||
                    std::filesystem::is_regular_file(word, error);
  if (!file) return config::Text{"--hosts", word};
  auto text = read_fleet_file(context, word);
  if (!text && text.error().sys_errno == ENOENT)
    return base::fail({text.error().code,
                       fmt::format("{} does not exist; write the path of a file with hosts, or the hosts "
                                   "themselves: 'gpu[001-512],login1'",
                                   word),
                       ENOENT});
  if (text && base::lower(word).ends_with(".csv")) {
    auto hosts = hosts_of_table(word, std::move(text->text));
    if (!hosts) return base::fail(hosts.error());
    text->text = std::move(*hosts);
  }
  return text;
}

}  // namespace rdmacfg::ctl
