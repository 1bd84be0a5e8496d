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

struct Sign {
  char symbol;
  Style style;
};

Sign sign_of(Operation operation) {
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

Widths widths_of(const std::vector<Block>& blocks, const Look& look) {
  constexpr int kWidest = 24;  // a longer list pushes only its own line
  Widths w;
  const auto widen = [&](int& width, const std::string& text) {
    width = std::max(width, std::min(kWidest, display_width(clean(text, look.utf8))));
  };
  for (const auto& block : blocks) {
    for (const auto& line : block.lines) {
      widen(w.name, line.name);
      widen(w.wanted, value_text(line.wanted));
      if (block.operation != Operation::kCreate) widen(w.now, value_text(line.now));
    }
  }
  return w;
}

std::string render_line(const BlockLine& line, const Block& block, const Widths& w, const Look& look,
                        const Places* places) {
  const auto name = pad(clean(line.name, look.utf8), w.name);
  const auto wanted = clean(value_text(line.wanted), look.utf8);
  std::string out = std::string(kIndent, ' ') + name + "  ";
  if (block.operation != Operation::kCreate) {
    const bool missing = line.now.index() == 0;
    out +=
        look.paint(pad(clean(value_text(line.now), look.utf8), w.now), missing ? Style::kDim : Style::kPlain);
    out += fmt::format(" {} ", look.arrow());
  }
  out += look.paint(wanted, sign_of(block.operation).style);
  std::string rest;
  if (line.effect != model::Effect::kNow) rest += fmt::format("  after {}", model::text_of(line.effect));
  if (places != nullptr) {
    // A value without a place is a default, or goes back to the value before it was written.
    const auto origin = line.origin                             ? places->text(*line.origin)
                        : block.operation == Operation::kCreate ? "default"
                                                                : "not in the document";
    rest += "  " + look.paint(clean(origin, look.utf8), Style::kDim);
  }
  if (!rest.empty())
    out += std::string(static_cast<std::size_t>(std::max(0, w.wanted - display_width(wanted))), ' ') + rest;
  return out + '\n';
}

std::string render_block(const Block& block, const Widths& w, const Look& look, const Places* places) {
  const auto sign = sign_of(block.operation);
  std::string out =
      look.paint(fmt::format("  {} {}", sign.symbol, clean(block.title, look.utf8)), sign.style);
  if (!block.note.empty()) out += "  " + look.paint("(" + clean(block.note, look.utf8) + ")", Style::kDim);
  out += "\n";
  for (const auto& line : block.lines) out += render_line(line, block, w, look, places);
  if (!block.interrupts.empty()) {
    out += hang("interrupts", Style::kNotice, base::join(block.interrupts, "; "), look, kIndent);
  }
  return out;
}

}  // namespace

std::string render_blocks(const std::vector<Block>& blocks, const Look& look, bool explain) {
  const auto widths = widths_of(blocks, look);
  const Places places(blocks);
  std::string out;
  for (const auto& block : blocks) out += render_block(block, widths, look, explain ? &places : nullptr);
  return out;
}

}  // namespace rdmacfg::ctl
