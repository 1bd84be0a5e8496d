// SPDX-License-Identifier: Apache-2.0
#include "formats/managed_block.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rdmacfg::kinds {

namespace {

Damage unclosed(int line, const Marks& marks) {
  return {line, fmt::format("the managed block that begins here has no end line \"{}\"", marks.end),
          "write that line below them, or remove the line that begins them"};
}

/// In our part: the line before it had no line break at its end.
constexpr std::string_view kUnended = "# before: what stands above had no line break at its end";

}  // namespace

MarkedText parse_marked(std::string_view text, const Marks& marks) {
  MarkedText out;
  int begun = 0;  // line of the begin mark that is open
  int number = 0;
  std::size_t unended = 0;
  for (std::size_t start = 0; start < text.size();) {
    const auto end = std::min(text.find('\n', start), text.size());
    const auto line = text.substr(start, end - start);
    const auto whole = text.substr(start, std::min(end + 1, text.size()) - start);
    start = end + 1;
    ++number;
    // A copy from another system may have CRLF, our lines too.
    const auto bare = line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
    if (bare == marks.begin || (!bare.empty() && bare == marks.former_begin)) {
      // One that follows an open one: whose the lines between them are is not known.
      if (begun != 0 && !out.damage) out.damage = unclosed(begun, marks);
      begun = number;
    } else if (begun != 0 && bare == marks.end) {
      begun = 0;
    } else {
      if (begun == 0) out.others += whole;
      if (begun != 0 && bare == kUnended) unended = out.others.size();
      out.lines.push_back({bare, number, begun != 0});
    }
  }
  // Text that somebody has written below our part needs it.
  if (unended > 0 && unended == out.others.size()) out.others.pop_back();
  if (begun != 0 && !out.damage) out.damage = unclosed(begun, marks);
  return out;
}

std::string begin_marked(std::string others, const Marks& marks) {
  const bool unended = !others.empty() && !others.ends_with('\n');
  if (unended) others += '\n';
  others += fmt::format("{}\n", marks.begin);
  if (unended) others += fmt::format("{}\n", kUnended);
  return others;
}

base::Result<MarkedFile> read_marked(system::Files& files, const std::string& path) {
  auto text = files.read(path);
  if (text) return MarkedFile{std::move(*text), std::nullopt};
  if (!system::is_unusable(text.error())) return base::fail(text.error());
  return MarkedFile{std::nullopt, Damage{0, text.error().message, "make it a file, or leave the entry out"}};
}

base::Error error_of(const Damage& damage, std::string_view path) {
  if (damage.line == 0) return {base::Code::kInvalid, damage.what, 0};
  return {base::Code::kInvalid, fmt::format("{}:{}: {}", path, damage.line, damage.what), 0};
}

void report_damage(const std::optional<Damage>& damage, std::string_view path, std::string_view kind,
                   std::span<const model::Desired> desired, OurLines ours, model::Diagnostics& diagnostics) {
  if (!damage) return;
  const auto first = std::find_if(desired.begin(), desired.end(),
                                  [&](const model::Desired& resource) { return resource.key.kind == kind; });
  const bool wanted = first != desired.end();
  if (!wanted && ours == OurLines::kNone) return;
  diagnostics.push_back({wanted ? model::Severity::kError : model::Severity::kWarning,
                         wanted ? first->where : model::Location{},
                         error_of(*damage, path).message,
                         damage->hint,
                         {}});
}

void hold_damaged(const std::optional<Damage>& damage, const std::string& path, std::string_view kind,
                  OurLines ours, std::vector<model::Desired>& desired) {
  const bool wanted = std::any_of(desired.begin(), desired.end(),
                                  [&](const model::Desired& resource) { return resource.key.kind == kind; });
  if (!damage || ours == OurLines::kNone || wanted) return;
  auto& held = desired.emplace_back();
  held.key = {std::string(kind), path};
  held.label = "our lines in " + path;
  held.pending = fmt::format("no longer in the document; they are removed when {} is repaired", path);
}

}  // namespace rdmacfg::kinds
