// SPDX-License-Identifier: Apache-2.0
#include "ctl/render/render_table.hpp"

#include <algorithm>
#include <numeric>

namespace rdmacfg::ctl {

namespace {

constexpr int kGap = 2;
constexpr int kLeastWrapped = 24;  // narrower than this, a wrapped sentence cannot be read

struct Shown {
  std::size_t index = 0;
  int natural = 0;  ///< as wide as its content
  int width = 0;
};

int total(const std::vector<Shown>& shown) {
  return std::accumulate(shown.begin(), shown.end(), -kGap,
                         [](int sum, const Shown& s) { return sum + s.width + kGap; });
}

/// The columns that have content, as wide as it is.
std::vector<Shown> natural(const Table& table, const Terminal& terminal) {
  std::vector<Shown> shown;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    int width = 0;
    for (const auto& row : table.rows)
      width = std::max(width, display_width(clean(row[i].text, terminal.utf8)));
    width = width == 0 ? 0 : std::max(width, display_width(table.columns[i].title));
    if (width > 0) shown.push_back({i, width, width});
  }
  return shown;
}

/// Narrows the last wrapping column as far as it takes and as it stays readable.
void narrow(std::vector<Shown>& shown, const Table& table, int width) {
  for (auto s = shown.rbegin(); s != shown.rend(); ++s) {
    if (!table.columns[s->index].wraps) continue;
    const int room = width - (total(shown) - s->width);
    s->width = std::min(s->natural, std::max(room, kLeastWrapped));
    return;
  }
}

std::vector<Shown> fit(const Table& table, const Terminal& terminal, bool* left_out) {
  auto shown = natural(table, terminal);
  if (terminal.width <= 0) return shown;
  narrow(shown, table, terminal.width);
  while (total(shown) > terminal.width) {
    const auto victim = std::max_element(shown.begin(), shown.end(), [&](const Shown& a, const Shown& b) {
      return table.columns[a.index].spare < table.columns[b.index].spare;
    });
    if (victim == shown.end() || table.columns[victim->index].spare == 0) break;
    shown.erase(victim);
    narrow(shown, table, terminal.width);
    if (left_out != nullptr) *left_out = true;
  }
  return shown;
}

void put(std::string& line, std::string_view text, Style style, int width, const Terminal& terminal) {
  line += terminal.paint(text, style);
  line.append(static_cast<std::size_t>(std::max(0, width - display_width(text))) + kGap, ' ');
}

void end(std::string& out, std::string& line) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + '\n';
  line.clear();
}

}  // namespace

std::string render_table(const Table& table, const Terminal& terminal, bool* left_out) {
  const auto shown = fit(table, terminal, left_out);
  std::string out;
  std::string line;
  if (std::any_of(shown.begin(), shown.end(),
                  [&](const Shown& s) { return !table.columns[s.index].title.empty(); })) {
    for (const auto& s : shown) put(line, table.columns[s.index].title, Style::kDim, s.width, terminal);
    end(out, line);
  }
  for (const auto& row : table.rows) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    for (const auto& s : shown) {
      const auto text = clean(row[s.index].text, terminal.utf8);
      cells.push_back(table.columns[s.index].wraps ? wrap(text, s.width) : std::vector<std::string>{text});
      height = std::max(height, cells.back().size());
    }
    for (std::size_t h = 0; h < height; ++h) {
      for (std::size_t i = 0; i < shown.size(); ++i) {
        put(line, h < cells[i].size() ? cells[i][h] : "", row[shown[i].index].style, shown[i].width,
            terminal);
      }
      end(out, line);
    }
  }
  return out;
}

}  // namespace rdmacfg::ctl
