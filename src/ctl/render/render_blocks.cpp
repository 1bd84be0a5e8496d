// SPDX-License-Identifier: Apache-2.0
#include "ctl/render/render_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/text.hpp"

namespace rdmacfg::ctl {

using model::Operation;

namespace {

constexpr int kIndent = 6;

struct OperationMark {
  char symbol;
  Style style;
};

OperationMark mark_of(Operation operation) {
  switch (operation) {
    case Operation::kCreate:
      return {'+', Style::kGood};
    case Operation::kDelete:
      return {'-', Style::kBad};
    case Operation::kUpdate:
      break;
  }
  return {'~', Style::kNotice};
}

/// Shortens places to the file's name where no two files share it.
class Places {
 public:
  explicit Places(const std::vector<Block>& blocks) {
    for (const auto& block : blocks) {
      for (const auto& line : block.lines) {
        if (line.origin) files_[name_of(line.origin->file)].insert(line.origin->file);
      }
    }
  }
  [[nodiscard]] std::string text(const model::Location& where) const {
    const auto name = name_of(where.file);
    const auto at = files_.find(name);
    const bool alone = at != files_.end() && at->second.size() == 1;
    return where.line == 0 ? where.file : fmt::format("{}:{}", alone ? name : where.file, where.line);
  }

 private:
  static std::string name_of(const std::string& file) {
    return std::filesystem::path(file).filename().string();
  }
  std::map<std::string, std::set<std::string>> files_;
};

std::string pad(const std::string& text, int width) {
  return text + std::string(static_cast<std::size_t>(std::max(0, width - display_width(text))), ' ');
}

struct Widths {
  int name = 0, now = 0, wanted = 0;
};

Widths widths_of(const std::vector<Block>& blocks, const Terminal& terminal) {
  constexpr int kWidest = 24;  // a longer list pushes only its own line
  Widths w;
  const auto widen = [&](int& width, const std::string& text) {
    width = std::max(width, std::min(kWidest, display_width(clean(text, terminal.utf8))));
  };
  for (const auto& block : blocks) {
    for (const auto& line : block.lines) {
      widen(w.name, line.name);
      widen(w.wanted, value_text(line.wanted, line.unit));
      if (block.operation != Operation::kCreate) widen(w.now, value_text(line.now, line.unit));
    }
  }
  return w;
}

std::string render_line(const BlockLine& line, const Block& block, const Widths& w, const Terminal& terminal,
                        const Places* places) {
  const auto name = pad(clean(line.name, terminal.utf8), w.name);
  const auto wanted = clean(value_text(line.wanted, line.unit), terminal.utf8);
  std::string out = std::string(kIndent, ' ') + name + "  ";
  if (block.operation != Operation::kCreate) {
    const bool missing = line.now.index() == 0;
    out += terminal.paint(pad(clean(value_text(line.now, line.unit), terminal.utf8), w.now),
                          missing ? Style::kDim : Style::kPlain);
    out += fmt::format(" {} ", terminal.arrow());
  }
  out += terminal.paint(wanted, mark_of(block.operation).style);
  std::string rest;
  if (line.effect != model::Effect::kNow) rest += fmt::format("  after {}", model::text_of(line.effect));
  if (places != nullptr) {
    // A value without a place is a default, or goes back to the value before it was written.
    const auto origin = line.origin                             ? places->text(*line.origin)
                        : block.operation == Operation::kCreate ? "default"
                                                                : "not in the document";
    rest += "  " + terminal.paint(clean(origin, terminal.utf8), Style::kDim);
  }
  if (!rest.empty())
    out += std::string(static_cast<std::size_t>(std::max(0, w.wanted - display_width(wanted))), ' ') + rest;
  return out + '\n';
}

std::string render_block(const Block& block, const Widths& w, const Terminal& terminal,
                         const Places* places) {
  const auto mark = mark_of(block.operation);
  std::string out =
      terminal.paint(fmt::format("  {} {}", mark.symbol, clean(block.title, terminal.utf8)), mark.style);
  if (!block.note.empty())
    out += "  " + terminal.paint("(" + clean(block.note, terminal.utf8) + ")", Style::kDim);
  out += "\n";
  for (const auto& line : block.lines) out += render_line(line, block, w, terminal, places);
  if (!block.interrupts.empty()) {
    out += hanging_paragraph("interrupts", Style::kNotice, base::join(block.interrupts, "; "), terminal,
                             kIndent);
  }
  if (!block.interrupts_later.empty()) {
    out += hanging_paragraph("interrupts later", Style::kNotice, base::join(block.interrupts_later, "; "),
                             terminal, kIndent);
  }
  return out;
}

}  // namespace

std::string render_blocks(const std::vector<Block>& blocks, const Terminal& terminal, Origins origins) {
  const auto widths = widths_of(blocks, terminal);
  const Places places(blocks);
  std::string out;
  for (const auto& block : blocks)
    out += render_block(block, widths, terminal, origins == Origins::kShown ? &places : nullptr);
  return out;
}

}  // namespace rdmacfg::ctl
