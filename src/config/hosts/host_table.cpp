// SPDX-License-Identifier: Apache-2.0
#include "config/hosts/host_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "config/guard.hpp"

namespace rdmacfg::config {

namespace {

/// Something wrong in a line.
struct Fault {
  int column = 1;
  int length = 1;
  std::string message;
  std::string hint;
};

int characters(std::string_view text) {
  return static_cast<int>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

/// Splits one line into its fields, and ends with the first one beyond the limit. Blanks around a field do
/// not count.
std::optional<Fault> split_line(std::string_view line, std::vector<TableCell>& cells, const Limits& limits) {
  const auto place = [&](std::size_t at) { return characters(line.substr(0, at)) + 1; };
  const auto skip_blanks = [&](std::size_t at) {
    return std::min(line.find_first_not_of(" \t", at), line.size());
  };
  std::size_t at = 0;
  for (;;) {
    TableCell cell;
    auto from = at, end = at;
    if (const auto quote = skip_blanks(at); quote < line.size() && line[quote] == '"') {
      from = at = quote;
      for (++at;; ++at) {
        if (at >= line.size())
          return Fault{place(from), 1, "a quoted field does not end on its line",
                       "close it with \", and write \"\" for a quote inside"};
        if (line[at] == '"' && (at + 1 >= line.size() || line[at + 1] != '"')) break;
        if (line[at] == '"') ++at;
        cell.text += line[at];
      }
      end = ++at;
      at = skip_blanks(at);
      if (at < line.size() && line[at] != ',')
        return Fault{place(at), 1, "a comma must follow the quoted field",
                     "write \"\" for a quote inside the quotes"};
    } else {
      end = std::min(line.find(',', at), line.size());
      const auto field = line.substr(at, end - at);
      if (const auto inside = field.find('"'); inside != std::string_view::npos)
        return Fault{place(at + inside), 1, "a quote inside an unquoted field",
                     "put the whole field in quotes, and write \"\" for the quote"};
      cell.text = base::trim(field);
      at = end;
    }
    cell.column = place(from);
    cell.length = std::max(characters(line.substr(from, end - from)), 1);
    cells.push_back(std::move(cell));
    if (at >= line.size() || cells.size() > limits.table_columns) return std::nullopt;
    ++at;
  }
}

/// The fault of a first line with another separator, which spreadsheets write in some languages.
std::optional<Fault> check_separator(std::string_view line) {
  for (const std::string_view name : {"host", "\"host\""}) {
    const auto at = line.find_first_not_of(' ', std::min(name.size(), line.size()));
    if (!line.starts_with(name) || at == std::string_view::npos) continue;
    const bool tabs = line[at] == '\t' && line.find(',') == std::string_view::npos;  // not blanks at a comma
    if (line[at] != ';' && !tabs) continue;
    return Fault{
        static_cast<int>(at) + 1, 1,
        fmt::format("fields are separated by {}; must be separated by commas", tabs ? "tabs" : "semicolons"),
        "save the table with commas: the separator that spreadsheets write depends on the locale"};
  }
  return std::nullopt;
}

std::optional<Fault> check_header(const std::vector<TableCell>& cells, const Limits& limits,
                                  std::string_view example) {
  const auto& first = cells.front();
  if (first.text != "host")
    return Fault{first.column, first.length,
                 fmt::format("the first column is called \"{}\"; must be \"host\"", first.text),
                 fmt::format("the first line names the columns, separated by commas: {}", example)};
  if (cells.size() > limits.table_columns)
    return Fault{cells.back().column, cells.back().length,
                 fmt::format("has more than the {} columns allowed", limits.table_columns), ""};
  for (auto cell = cells.begin() + 1; cell != cells.end(); ++cell) {
    if (cell->text.empty())
      return Fault{cell->column, 1, "a column has no name", "name the column, or remove it from all lines"};
    if (!is_value_name(cell->text))
      return Fault{cell->column, cell->length,
                   fmt::format("\"{}\" cannot be the name of a column", cell->text),
                   "a name begins with a letter and has letters, digits, - and _"};
    if (std::any_of(cells.begin(), cell, [&](const auto& other) { return other.text == cell->text; }))
      return Fault{cell->column, cell->length, fmt::format("there are two columns \"{}\"", cell->text), ""};
  }
  return std::nullopt;
}

/// The complaint about a text that cannot be a table.
std::optional<model::Diagnostic> check_table(const Text& text, Limits limits) {
  limits.file_bytes = limits.table_bytes;
  auto wrong = check_text(text, limits);
  if (wrong && text.text.size() > limits.file_bytes)
    wrong->hint = "remove hosts or columns that no document uses";
  return wrong;
}

/// The fault of a line with the fields of a host.
std::optional<Fault> check_row(const std::vector<TableCell>& cells, const std::vector<std::string>& columns,
                               const Limits& limits) {
  const auto& host = cells.front();
  if (cells.size() != columns.size())
    return Fault{
        host.column, host.length,
        fmt::format("has {} field{}{}, but the table has {} column{}", cells.size(),
                    cells.size() == 1 ? "" : "s", cells.size() > limits.table_columns ? " or more" : "",
                    columns.size(), columns.size() == 1 ? "" : "s"),
        fmt::format("the columns are {}; leave the field of a missing value empty",
                    base::join(columns, ", "))};
  if (base::trim(host.text).empty()) return Fault{host.column, host.length, "the host is missing", ""};
  for (const auto& cell : cells) {
    if (cell.text.size() > limits.string_bytes)
      return Fault{cell.column, 1,
                   fmt::format("a field has {} bytes, more than the {} allowed", cell.text.size(),
                               limits.string_bytes),
                   ""};
  }
  if (host.text.find_first_of("[]*?") != std::string::npos)
    return Fault{host.column, host.length,
                 fmt::format("\"{}\" is a pattern, but a line of a table is about one host", host.text),
                 "write a line for each host"};
  return std::nullopt;
}

/// Calls `each(number, line)` with every line that counts, until it returns false.
template <class Each>
void each_line(std::string_view text, Each each) {
  text = without_mark(text);
  for (int number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (base::trim(line).find_first_not_of(", \t") == std::string_view::npos || line.starts_with('#'))
      continue;
    if (!each(number, line)) return;
  }
}

}  // namespace

bool is_value_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !name.empty() && name.size() <= 64 && letter(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-'; });
}

HostTable HostTable::parse(const Text& text, const Limits& limits, model::Diagnostics& diagnostics,
                           std::string_view example) {
  HostTable out;
  out.file_ = text.name;
  if (auto wrong = check_table(text, limits)) {
    diagnostics.push_back(std::move(*wrong));
    out.broken_ = true;
    return out;
  }
  std::size_t faults = 0;
  const auto report = [&](int line, Fault fault, std::vector<model::Diagnostic::Related> related = {}) {
    out.broken_ = true;
    ++faults;
    diagnostics.push_back({model::Severity::kError,
                           {text.name, line, fault.column, fault.length},
                           std::move(fault.message),
                           std::move(fault.hint),
                           std::move(related)});
  };
  each_line(text.text, [&](int number, std::string_view line) {
    Row row{number, {}};
    row.cells.reserve(out.columns_.size());
    auto fault = out.columns_.empty() ? check_separator(line) : std::nullopt;
    if (!fault) fault = split_line(line, row.cells, limits);
    if (out.columns_.empty()) {
      if (!fault) fault = check_header(row.cells, limits, example);
      if (fault) {
        report(number, std::move(*fault));
        return false;
      }
      for (auto& cell : row.cells) out.columns_.push_back(std::move(cell.text));
      return true;
    }
    if (!fault && out.rows_.size() >= limits.table_rows) {
      report(number,
             {1, 1, fmt::format("the table has more than the {} hosts allowed", limits.table_rows), ""});
      return false;
    }
    if (!fault) fault = check_row(row.cells, out.columns_, limits);
    if (fault) {
      report(number, std::move(*fault));
      return faults < limits.errors;
    }
    auto& host = row.cells.front();
    host.text = std::string(base::trim(host.text));  // which a field in quotes keeps
    const auto* first = out.add(row);
    if (first == nullptr) return true;
    const auto& there = first->cells.front();
    report(number,
           {host.column, host.length, fmt::format("host {} is in the table twice", host.text), "remove one"},
           {{{text.name, first->line, there.column, there.length}, "first defined here"}});
    return faults < limits.errors;
  });
  if (out.columns_.empty() && faults == 0)
    report(0, {1, 1, "is empty", fmt::format("its first line names the columns: {}", example)});
  out.index_domains();
  return out;
}

const HostTable::Row* HostTable::add(Row& row) {
  const auto [at, added] = by_host_.try_emplace(base::lower(row.cells.front().text), rows_.size());
  if (!added) return &rows_[at->second];
  rows_.push_back(std::move(row));
  return nullptr;
}

void HostTable::index_domains() {
  for (std::size_t at = 0; at < rows_.size(); ++at) {
    const auto name = base::lower(rows_[at].cells.front().text);
    if (const auto dot = name.find('.'); dot != std::string::npos)
      without_domain_.try_emplace(name.substr(0, dot), at);
  }
}

const HostTable::Row* HostTable::find(std::string_view host) const {
  const auto name = base::lower(host);
  auto at = by_host_.find(name);
  if (at == by_host_.end()) at = by_host_.find(name.substr(0, name.find('.')));
  return at == by_host_.end() ? nullptr : &rows_[at->second];
}

const HostTable::Row* HostTable::find_with_domain(std::string_view host) const {
  const auto at = without_domain_.find(base::lower(host));
  return at == without_domain_.end() ? nullptr : &rows_[at->second];
}

std::vector<std::string> HostTable::hosts() const {
  std::vector<std::string> out;
  out.reserve(rows_.size());
  for (const auto& row : rows_) out.push_back(row.cells.front().text);
  return out;
}

std::string rows_of_host(const Text& table, std::string_view host, const Limits& limits) {
  model::Diagnostics wrong;
  const auto parsed = HostTable::parse(table, limits, wrong);
  if (!wrong.empty()) return table.text;
  const auto* row = parsed.find(host);
  std::string out;
  int lines = 1;
  bool header = true;
  each_line(table.text, [&](int number, std::string_view line) {
    if (!header && (row == nullptr || number != row->line)) return true;
    for (; lines < number; ++lines) out += '\n';
    out += line;
    const bool more = header;
    header = false;
    return more || number < row->line;
  });
  return out + '\n';
}

}  // namespace rdmacfg::config
