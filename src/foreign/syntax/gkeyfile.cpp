// SPDX-License-Identifier: Apache-2.0
#include "foreign/syntax/gkeyfile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.hpp"

namespace rdmacfg::foreign {

namespace {

/// g_key_file_parse_value_as_string(); nothing where it fails.
std::optional<std::string> without_escapes(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\') {
      out += text[at];
      continue;
    }
    if (++at == text.size()) return std::nullopt;
    switch (text[at]) {
      case 's':
        out += ' ';
        break;
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'r':
        out += '\r';
        break;
      case '\\':
        out += '\\';
        break;
      case ';':
        out += "\\;";
        break;
      default:
        return std::nullopt;
    }
  }
  return out;
}

/// Without blanks in front; GLib keeps those behind a value, but not the carriage return of a line.
std::string_view without_indent(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line.substr(std::min(line.find_first_not_of(" \t\r\f\v"), line.size()));
}

/// "id[de]", which matters to programs that ask for a language only.
bool is_translation(std::string_view key) {
  const auto open = key.find('[');
  return open != std::string_view::npos && open > 0 && key.ends_with(']');
}

}  // namespace

GKeyFile parse_gkeyfile(const File& file) {
  GKeyFile out;
  int number = 0;
  for (const auto raw : base::split(file.text, '\n')) {
    const Place where{file.path, ++number};
    const auto line = without_indent(raw);
    if (line.empty() || line.front() == '#') continue;
    const auto close = line.find(']');
    const bool ends = close != std::string_view::npos && close > 1 &&
                      line.find_first_not_of(" \t", close + 1) == std::string_view::npos;
    if (line.front() == '[' && ends) {
      out.groups.push_back({std::string(line.substr(1, close - 1)), number, {}, file.path});
      continue;
    }
    const auto equals = line.find('=');
    const auto key = base::trim(line.substr(0, equals));
    if (equals == std::string_view::npos || key.empty()) {
      out.refused.push_back({where, "is neither a section nor a key with a value"});
    } else if (out.groups.empty()) {
      out.refused.push_back({where, "comes before the first section"});
    } else if (is_translation(key)) {
      out.ignored.push_back({where, fmt::format("{}: is a translation, which is not read", key)});
    } else if (key.find_first_of("[]") != std::string_view::npos) {
      out.refused.push_back({where, fmt::format("{}: is not the name of a key", key)});
    } else if (key.front() == ';') {
      out.ignored.push_back({where, fmt::format("{}: is an unknown key; a comment begins with #", key)});
    } else {
      const auto written = without_indent(line.substr(equals + 1));
      auto value = without_escapes(written);
      const std::string why(value ? "" : "has an escape that GLib does not know; the key has no value");
      out.groups.back().items.push_back({std::string(key), std::move(value).value_or(std::string()), number,
                                         file.path, why, written.find('\\') != std::string_view::npos});
    }
  }
  return out;
}

std::vector<std::string> gkeyfile_list(std::string_view value) {
  std::vector<std::string> out;
  std::string element;
  const auto end = [&] {
    if (const auto text = base::trim(element); !text.empty()) out.emplace_back(text);
    element.clear();
  };
  for (std::size_t at = 0; at < value.size(); ++at) {
    if (value.substr(at).starts_with("\\;")) {
      element += value[++at];
    } else if (value[at] == ';') {
      end();
    } else {
      element += value[at];
    }
  }
  end();
  return out;
}

}  // namespace rdmacfg::foreign
