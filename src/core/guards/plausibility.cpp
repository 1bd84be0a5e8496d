// SPDX-License-Identifier: Apache-2.0
#include "core/guards/plausibility.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace rdmacfg::core {

namespace {

using config::Document;
using model::Section;
using model::Severity;

constexpr std::int64_t kDatagramMost = 4092;  // a 4096 byte InfiniBand link less the 4 bytes of IPoIB
constexpr std::int64_t kOpaMost = 10236;      // Omni-Path

std::string_view line_of(const Document& document, const std::string& file, int number) {
  const auto at = std::find_if(document.files.begin(), document.files.end(),
                               [&](const auto& text) { return text.name == file; });
  if (at == document.files.end() || number < 1) return {};
  std::string_view rest = at->text;
  for (int line = 1; line < number; ++line) {
    const auto end = rest.find('\n');
    if (end == std::string_view::npos) return {};
    rest.remove_prefix(end + 1);
  }
  return rest.substr(0, rest.find('\n'));
}

/// A number as it was written: the text behind the = of its line, without quotes.
std::string_view spelling_of(const Document& document, const model::Location& where) {
  const auto line = line_of(document, where.file, where.line);
  const auto from = static_cast<std::size_t>(std::max(where.column, 1)) - 1;
  if (from >= line.size()) return {};
  auto token = line.substr(from, static_cast<std::size_t>(std::max(where.length, 1)));
  while (!token.empty() && (token.front() == '"' || token.front() == '\'')) token.remove_prefix(1);
  while (!token.empty() && (token.back() == '"' || token.back() == '\'')) token.remove_suffix(1);
  return token;
}

void warn(Document& document, const model::Location& where, std::string message, std::string hint) {
  document.diagnostics.push_back({Severity::kWarning, where, std::move(message), std::move(hint), {}});
}

/// "8002", whose reader takes it for 0x8002: four digits of which the first has the membership bit.
void warn_of_pkey(Document& document, const Section& section, const model::Entry& entry) {
  const auto written = spelling_of(document, entry.where);
  const bool digits = !written.empty() && std::all_of(written.begin(), written.end(),
                                                      [](unsigned char c) { return std::isdigit(c) != 0; });
  if (!digits || written.size() != 4 || written.front() < '8') return;
  warn(document, entry.where,
       fmt::format("[[{}]] pkey: {} is decimal and means {}", section.path, written,
                   fmt::format("0x{:04x}", base::parse_number(written).value_or(0))),
       fmt::format("did you mean 0x{}?", written));
}

void warn_of_mtu(Document& document, const Section& section, const model::Entry& mtu) {
  const auto* mode = section.find("mode");
  const auto* value = std::get_if<std::int64_t>(&mtu.value);
  if (value == nullptr || mode == nullptr || model::text_of(mode->value) != "datagram") return;
  if (*value <= kDatagramMost || *value > kOpaMost) return;
  warn(document, mtu.where,
       fmt::format("[[{}]] mtu: no InfiniBand link can carry {} in datagram mode, only Omni-Path can; IPoIB "
                   "gets at most {} of 4096 bytes",
                   section.path, *value, kDatagramMost),
       *value == kDatagramMost + 4 ? "did you mean 4092?" : "did you mean 4092, or mode = \"connected\"?");
}

bool is_numbered(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || name.size() == prefix.size()) return false;
  const auto number = name.substr(prefix.size());
  return std::all_of(number.begin(), number.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

void warn_of_name(Document& document, const Section& section, const model::Entry& entry) {
  constexpr std::array<std::string_view, 4> kInterfaces{"eth", "wlan", "usb", "bond"};
  constexpr std::array<std::string_view, 14> kDevices{"mlx4_", "mlx5_",  "mthca", "bnxt_re", "irdma",
                                                      "i40iw", "cxgb4_", "qedr",  "ocrdma",  "hfi1_",
                                                      "qib",   "efa_",   "hns_",  "mana_"};
  const bool device = section.path == "rdma_device";
  if (!device && section.path != "ipoib" && section.path != "ipoib.pkey") return;
  const auto name = model::text_of(entry.value);
  const auto given = [&](std::string_view prefix) { return is_numbered(name, prefix); };
  if (device ? std::none_of(kDevices.begin(), kDevices.end(), given)
             : std::none_of(kInterfaces.begin(), kInterfaces.end(), given))
    return;
  warn(document, entry.where,
       fmt::format("[[{}]] name: the kernel assigns {} itself, to the first {} that appears", section.path,
                   name, device ? "device" : "interface"),
       fmt::format("choose a name that the kernel never assigns, such as {}",
                   device ? "\"rail0\"" : "\"ibrail0\""));
}

std::size_t indentation(std::string_view line) {
  return std::min(line.find_first_not_of(" \t"), line.size());
}

/// Whether the layout sets a key of [[ipoib.pkey]] apart from it: behind an empty line, or indented less.
bool set_apart(const Document& document, const Section& child, const model::Entry& key) {
  const auto* pkey = child.find("pkey");
  if (pkey == nullptr || pkey->where.file != key.where.file || key.where.line <= pkey->where.line)
    return false;
  const auto line = line_of(document, key.where.file, key.where.line);
  if (indentation(line) < indentation(line_of(document, pkey->where.file, pkey->where.line))) return true;
  for (int above = pkey->where.line + 1; above < key.where.line; ++above) {
    if (base::trim(line_of(document, key.where.file, above)).empty()) return true;
  }
  return false;
}

void warn_of_place(Document& document, const Section& parent, const Section& child) {
  for (const auto* name : {"name", "mode", "mtu", "umcast", "state", "on_unsupported"}) {
    const auto* key = child.find(name);
    if (key == nullptr || key->from_defaults || parent.find(name) != nullptr) continue;
    if (!set_apart(document, child, *key)) continue;
    warn(document, key->where,
         fmt::format("[[ipoib.pkey]] {}: belongs to this P_Key interface, not to [[ipoib]]", name),
         "keys of [[ipoib]] must precede its first [[ipoib.pkey]]; if the key belongs here, remove the empty "
         "line");
  }
}

void warn_of_sections(Document& document, const std::vector<Section>& sections, const Section* parent) {
  for (const auto& section : sections) {
    if (const auto* pkey = section.find("pkey")) warn_of_pkey(document, section, *pkey);
    if (const auto* mtu = section.find("mtu"); mtu != nullptr && section.path.starts_with("ipoib"))
      warn_of_mtu(document, section, *mtu);
    if (const auto* name = section.find("name")) warn_of_name(document, section, *name);
    if (parent != nullptr && section.path == "ipoib.pkey") warn_of_place(document, *parent, section);
    warn_of_sections(document, section.children, &section);
  }
}

/// Whether a table begins with it, after comments and empty lines. A misspelt one counts: it
/// is reported as a key that nobody knows.
bool says_version(std::string_view text) {
  const std::vector<std::string> known{"version"};
  for (const auto line : base::split(text, '\n')) {
    const auto word = base::trim(line);
    if (word.starts_with('[')) return false;
    if (word.starts_with('#')) continue;
    const auto key = base::trim(word.substr(0, word.find('=')));
    if (word.find('=') != std::string_view::npos && base::nearest(base::lower(key), known)) return true;
    if (!word.starts_with("version") && !word.starts_with("\"version\"")) continue;
    const auto rest = base::trim(word.substr(word.find("version") + 7));
    if (rest.starts_with('=') || rest.starts_with("\"")) return true;
  }
  return false;
}

bool is_drop_in(const std::string& name) {
  return std::filesystem::path(name).parent_path().filename() == "conf.d";
}

}  // namespace

void warn_of_implausible(Document& document) {
  const auto before = document.diagnostics.size();
  warn_of_sections(document, document.sections, nullptr);
  if (document.diagnostics.size() > before) config::arrange(document.diagnostics, document);
}

void require_version(Document& document) {
  if (document.files.empty() || is_drop_in(document.files.front().name)) return;
  const auto& main = document.files.front();
  // Of a file that could not be read nobody knows what is missing.
  if (!document.whole &&
      std::any_of(document.diagnostics.begin(), document.diagnostics.end(), [&](const auto& diagnostic) {
        return diagnostic.severity == Severity::kError && diagnostic.where.file == main.name;
      }))
    return;
  if (says_version(main.text)) return;
  // A version below a section is there, and its error says where it belongs.
  document.whole = false;
  if (std::any_of(document.diagnostics.begin(), document.diagnostics.end(), [&](const auto& diagnostic) {
        return diagnostic.where.file == main.name && diagnostic.topic == model::Topic::kMisplacedVersion;
      }))
    return;
  const bool empty = base::trim(main.text).empty();
  document.diagnostics.insert(
      document.diagnostics.begin(),
      {Severity::kError,
       {main.name, empty ? 0 : 1, 1, 1},
       empty ? "the file is empty" : "version is missing: the file is truncated, or not for rdma-configd",
       empty ? "an empty document would remove all configuration; if that is intended, write only version = 1"
             : "write version = 1 in front of the first section",
       {}});
}

}  // namespace rdmacfg::core
