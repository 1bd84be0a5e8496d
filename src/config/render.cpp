// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/characters.hpp"
#include "config/document.hpp"
#include "config/guard.hpp"

namespace rdmacfg::config {

namespace {

constexpr std::size_t kWidth = 100;  ///< characters of an excerpt
constexpr std::size_t kLead = 40;    ///< of these, in front of the caret when the line is cut

/// A line by characters; control characters but tabs and malformed UTF-8 come as U+FFFD.
std::vector<std::string_view> characters_of(std::string_view text) {
  std::vector<std::string_view> out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto length = utf8_length(text);
    const auto character = text.substr(0, std::max<std::size_t>(length, 1));
    const bool shown = length > 0 && (character == "\t" || !base::is_control(base::code_point(character)));
    out.push_back(shown ? character : "\xef\xbf\xbd");
    text.remove_prefix(character.size());
  }
  return out;
}

/// Colours as ls and gcc have them, or none.
class Painter {
 public:
  explicit Painter(Colouring colouring) : colouring_(colouring) {}
  [[nodiscard]] std::string bold(std::string_view text) const { return paint("1", text); }
  [[nodiscard]] std::string red(std::string_view text) const { return paint("1;31", text); }
  [[nodiscard]] std::string yellow(std::string_view text) const { return paint("1;35", text); }
  [[nodiscard]] std::string cyan(std::string_view text) const { return paint("1;36", text); }

 private:
  [[nodiscard]] std::string paint(std::string_view code, std::string_view text) const {
    return colouring_ == Colouring::kAnsi ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
  }
  Colouring colouring_;
};

using Characters = std::vector<std::string_view>;

/// The lines of a document's files by characters. Each is looked for and split once, however many diagnostics
/// are about it.
class Lines {
 public:
  explicit Lines(const Document& document) : document_(document) {}

  /// Empty when there is no such line.
  const Characters& at(const model::Location& where) {
    const auto [found, fresh] = split_.try_emplace({where.file, where.line});
    if (fresh) found->second = characters_of(text_of(where));
    return found->second;
  }

 private:
  using Starts = std::vector<std::size_t>;

  std::string_view text_of(const model::Location& where) {
    const auto file = std::find_if(document_.files.begin(), document_.files.end(),
                                   [&](const Text& text) { return text.name == where.file; });
    if (file == document_.files.end() || where.line < 1) return {};
    const auto& starts = starts_of(*file);
    if (static_cast<std::size_t>(where.line) > starts.size()) return {};
    auto line = std::string_view(file->text).substr(starts[static_cast<std::size_t>(where.line) - 1]);
    line = line.substr(0, line.find('\n'));
    if (line.ends_with('\r')) line.remove_suffix(1);
    return where.line == 1 ? without_mark(line) : line;
  }

  const Starts& starts_of(const Text& file) {
    const auto [found, fresh] = starts_.try_emplace(file.name);
    if (!fresh) return found->second;
    for (std::size_t at = 0;; ++at) {
      found->second.push_back(at);
      at = file.text.find('\n', at);
      if (at == std::string::npos) return found->second;
    }
  }

  const Document& document_;
  std::map<std::string, Starts> starts_;  ///< by file
  std::map<std::pair<std::string, int>, Characters> split_;
};

/// The line with a caret below the place.
std::string excerpt(Lines& lines, const model::Location& where, const Painter& paint) {
  const auto& line = lines.at(where);
  if (line.empty()) return {};
  const auto caret = std::min(static_cast<std::size_t>(std::max(where.column, 1)) - 1, line.size());
  const std::size_t from = line.size() > kWidth && caret > kLead ? caret - kLead : 0;
  const auto to = std::min(line.size(), from + kWidth);

  std::string shown, below;
  if (from > 0) {
    shown += "…";
    below += ' ';
  }
  for (auto at = from; at < to; ++at) {
    shown += line[at];
    if (at < caret) below += line[at] == "\t" ? '\t' : ' ';
  }
  if (to < line.size()) shown += "…";
  const auto room = std::max<std::size_t>(to - std::min(caret, to), 1);
  const auto length = std::clamp<std::size_t>(static_cast<std::size_t>(std::max(where.length, 1)), 1, room);
  const auto mark = paint.red("^" + std::string(length - 1, '~'));
  const auto number = std::to_string(where.line);
  const auto width = std::max<std::size_t>(number.size(), 4);
  return fmt::format(" {:>{}} | {}\n {:>{}} | {}{}\n", number, width, shown, "", width, below, mark);
}

std::string head(const model::Location& where, std::string_view word, std::string_view message,
                 const Painter& paint) {
  const auto place = harmless(where.text());
  const auto front = place.empty() ? std::string() : paint.bold(place + ": ");
  return fmt::format("{}{} {}\n", front, word, harmless(message));
}

}  // namespace

std::string render_diagnostics(const Document& document, const model::Diagnostics& diagnostics,
                               Colouring colouring) {
  const Painter paint(colouring);
  Lines lines(document);
  std::string out;
  for (const auto& diagnostic : diagnostics) {
    const bool error = diagnostic.severity == model::Severity::kError;
    out += head(diagnostic.where, error ? paint.red("error:") : paint.yellow("warning:"), diagnostic.message,
                paint);
    out += excerpt(lines, diagnostic.where, paint);
    if (!diagnostic.hint.empty())
      out += fmt::format("  {} {}\n", paint.cyan("hint:"), harmless(diagnostic.hint));
    for (const auto& related : diagnostic.related) {
      out += head(related.where, paint.cyan("note:"), related.note, paint);
      out += excerpt(lines, related.where, paint);
    }
  }
  return out;
}

}  // namespace rdmacfg::config
