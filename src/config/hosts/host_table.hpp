// SPDX-License-Identifier: Apache-2.0
// A table of values for hosts as inventories export it: CSV (RFC 4180) in UTF-8. The first line names the
// columns, the first of which is "host"; every other line has a host and its values. An empty field gives no
// value. Lines that begin with '#' and empty ones do not count, nor those of commas alone that spreadsheets
// write for empty rows, nor blanks around a field. Quoted fields end on their line.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "config/document.hpp"

namespace rdmacfg::config {

/// One value and where it stands.
struct TableCell {
  std::string text;
  int column = 0;  ///< in characters, from 1; 0: the line ends before it
  int length = 1;
};

class HostTable {
 public:
  struct Row {
    int line = 0;
    std::vector<TableCell> cells;  ///< one for each column, that of the host first
  };

  /// Reads a whole table. A line that is wrong goes to `diagnostics` and is left out, and so is a host's
  /// second line; after limits.errors of them, and after a wrong first line, reading ends.
  /// @param example  a first line, for hints
  static HostTable parse(const Text& text, const Limits& limits, model::Diagnostics& diagnostics,
                         std::string_view example = "host,ib0,ib1");

  /// The row of a host, by its full name or else by the part before the first dot, in either case; null when
  /// it has none.
  [[nodiscard]] const Row* find(std::string_view host) const;
  /// For a name without a domain: the first row of a name that is the same but for a domain; null without
  /// one. It is not the host's own: another domain may be another host.
  [[nodiscard]] const Row* find_with_domain(std::string_view host) const;
  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  /// Whether something was wrong with it, so that what is missing may be in it.
  [[nodiscard]] bool broken() const { return broken_; }
  /// Names of all hosts in the order of the table.
  [[nodiscard]] std::vector<std::string> hosts() const;

 private:
  /// Takes the row of a host. @return the earlier row of the same host, beside which `row` stays as it is;
  /// null when it was taken.
  const Row* add(Row& row);
  void index_domains();

  std::string file_;
  bool broken_ = false;
  std::vector<std::string> columns_;
  std::vector<Row> rows_;
  std::unordered_map<std::string, std::size_t> by_host_;
  std::unordered_map<std::string, std::size_t> without_domain_;  ///< of names that have one
};

/// The table with the lines of other hosts empty, so that places stay as they are; the text itself when it is
/// no sound table. A host keeps its own part of it only.
std::string rows_of_host(const Text& table, std::string_view host, const Limits& limits);

/// Whether `name` can be that of a value: letters, digits, '-' and '_', beginning with a letter.
bool is_value_name(std::string_view name);

}  // namespace rdmacfg::config
