// SPDX-License-Identifier: Apache-2.0
#include "formats/modprobe_conf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "system/host.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::ModuleName;
using model::ModuleOption;

namespace {

// In the order of their precedence: a file masks those of its name in later folders.
constexpr std::array<std::string_view, 5> kFolders{"/etc/modprobe.d", "/run/modprobe.d",
                                                   "/usr/local/lib/modprobe.d", "/usr/lib/modprobe.d",
                                                   "/lib/modprobe.d"};
constexpr std::string_view kCommandLine = "/proc/cmdline";
constexpr std::string_view kHead =
    "# Options of kernel modules. Written by rdma-configd from its configuration: changes made here are "
    "lost.\n";

/// A line of a file after continued ones were joined, without comments.
struct Line {
  int number = 0;
  std::vector<std::string> words;
};

/// Words of a line; blanks within double quotes do not separate.
std::vector<std::string> tokens_of(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false, quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    const bool blank = !quoted && (c == ' ' || c == '\t' || c == '\r');
    if (blank) {
      inside = false;
    } else {
      if (!inside) words.emplace_back();
      inside = true;
      if (c != '"') words.back() += c;
    }
  }
  return words;
}

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> out;
  int number = 0, first = 0;
  std::string joined;
  for (const auto part : base::split(text, '\n')) {
    ++number;
    if (joined.empty()) first = number;
    if (part.ends_with('\\')) {
      joined += part.substr(0, part.size() - 1);
      continue;
    }
    joined += part;
    if (!base::trim(joined).starts_with('#')) {
      if (auto words = tokens_of(joined); !words.empty()) out.push_back({first, std::move(words)});
    }
    joined.clear();
  }
  return out;
}

std::string without_comments(std::string_view text) {
  std::string out;
  for (const auto line : base::split(text, '\n')) {
    if (!base::trim(line).starts_with('#')) out += fmt::format("{}\n", line);
  }
  return out;
}

std::string quoted(const ModuleOption& option) {
  if (option.value.find(' ') == std::string::npos) return option.text();
  return fmt::format("{}=\"{}\"", option.name, option.value);
}

void read_lines(const std::string& path, const std::string& name, std::string_view text,
                std::vector<ForeignLine>& out) {
  static const std::string kOurs(kModuleOptionsFile.substr(kModuleOptionsFile.rfind('/') + 1));
  for (const auto& line : lines_of(text)) {
    if (line.words.size() < 2) continue;
    const auto module = ModuleName::parse(line.words[1]);
    if (!module) continue;
    ForeignLine found{.file = path, .line = line.number, .module = module->text, .later = name > kOurs};
    if (line.words[0] == "blacklist") {
      found.sort = ForeignLine::Sort::kBlacklist;
      out.push_back(std::move(found));
    } else if (line.words[0] == "install") {
      found.sort = ForeignLine::Sort::kInstall;
      found.command = base::join(std::span(line.words).subspan(2), " ");
      out.push_back(std::move(found));
    } else if (line.words[0] == "options") {
      for (std::size_t i = 2; i < line.words.size(); ++i) {
        auto option = ModuleOption::parse(line.words[i]);
        if (!option) continue;
        found.option = std::move(*option);
        out.push_back(found);
      }
    }
  }
}

/// Words of the kernel command line, with their quotes; blanks within these do not separate. A word whose
/// last quote has no end is left out.
std::vector<std::string_view> command_line_words(std::string_view text) {
  constexpr std::string_view kBlanks = " \n\t\v\f\r";
  std::vector<std::string_view> words;
  bool quoted = false;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '"') quoted = !quoted;
    if (i < text.size() && (quoted || kBlanks.find(text[i]) == std::string_view::npos)) continue;
    if (i > start && !quoted) words.push_back(text.substr(start, i - start));
    start = i + 1;
  }
  return words;
}

/// "MODULE.PARAMETER" in front of a value. Before that kmod takes one dot, and a quote only as the first
/// letter. Empty for other words.
std::string_view module_key(std::string_view word) {
  if (word.starts_with('"')) word.remove_prefix(1);
  const auto key = word.substr(0, word.find('='));
  const auto dot = key.find('.');
  const bool good = dot != std::string_view::npos && key.find('.', dot + 1) == std::string_view::npos &&
                    key.find_first_of("\" \n\t\v\f\r") == std::string_view::npos;
  return good ? key : std::string_view();
}

/// Both lists are compared with the names of modules as they are: "-" does not stand for "_" there.
void add_blacklist(const ForeignLine& any, std::string_view names, std::vector<ForeignLine>& out) {
  for (const auto name : base::split(names, ',')) {
    const auto module = ModuleName::parse(name);
    if (!module || module->text != name) continue;
    auto found = any;
    found.sort = ForeignLine::Sort::kBlacklist;
    found.module = module->text;
    out.push_back(std::move(found));
  }
}

/// Of /proc/cmdline, or what it will be, all of which kmod reads after all files (kmod_config_new(),
/// kmod_config_parse_kcmdline()), and module_blacklist=, which the kernel keeps to itself: up to "--", and
/// the last one (kernel/params.c, parse_args(); kernel/module/main.c, blacklisted()).
void read_command_line(std::string_view text, const ForeignLine& any, std::vector<ForeignLine>& out) {
  bool kernels = true;
  std::string refused;
  for (const auto word : command_line_words(text)) {
    kernels = kernels && word != "--";
    std::string plain(word);
    std::erase(plain, '"');
    const auto equals = plain.find('=');
    const auto value = equals == std::string::npos ? std::string() : plain.substr(equals + 1);
    const auto name = plain.substr(0, equals);
    if (kernels && (name == "module_blacklist" || name == "module-blacklist")) refused = value;
    const auto key = module_key(word);
    if (key.empty()) continue;
    if (key == "modprobe.blacklist") {
      // Quotes are a part of the names then.
      if (plain.size() == word.size()) add_blacklist(any, value, out);
      continue;
    }
    const auto dot = key.find('.');
    const auto module = ModuleName::parse(key.substr(0, dot));
    auto option = ModuleOption::parse(std::string_view(plain).substr(dot + 1));
    if (!module || !option) continue;
    auto found = any;
    found.module = module->text;
    found.option = std::move(*option);
    out.push_back(std::move(found));
  }
  auto of_kernel = any;
  of_kernel.by_kernel = true;
  add_blacklist(of_kernel, refused, out);
}

/// As kstrtobool() reads it (lib/kstrtox.c): by the first letter, of "on" and "off" by the second.
std::optional<bool> switch_of(std::string_view text) {
  constexpr std::string_view kOn = "yY1tT", kOff = "nN0fF";
  if (text.empty()) return std::nullopt;
  if (text.size() > 1 && (text[0] == 'o' || text[0] == 'O')) {
    if (text[1] == 'n' || text[1] == 'N') return true;
    if (text[1] == 'f' || text[1] == 'F') return false;
  }
  if (kOn.find(text[0]) != std::string_view::npos) return true;
  if (kOff.find(text[0]) != std::string_view::npos) return false;
  return std::nullopt;
}

}  // namespace

OptionLines parse_option_lines(std::string_view text) {
  OptionLines out;
  for (const auto& line : lines_of(text)) {
    if (line.words.size() < 2 || line.words[0] != "options") continue;
    const auto module = ModuleName::parse(line.words[1]);
    if (!module) continue;
    auto& options = out[module->text];
    for (std::size_t i = 2; i < line.words.size(); ++i) {
      auto option = ModuleOption::parse(line.words[i]);
      if (!option) continue;
      std::erase_if(options.list, [&](const auto& other) { return other.name == option->name; });
      options.list.push_back(std::move(*option));
    }
  }
  return out;
}

std::string render_option_lines(const OptionLines& lines) {
  std::string out(kHead);
  for (const auto& [module, options] : lines) {
    out += "options " + module;
    for (const auto& option : options.list) out += " " + quoted(option);
    out += "\n";
  }
  return out;
}

std::string canonical_option_lines(std::string_view text) {
  const auto lines = parse_option_lines(text);
  auto rendered = lines.empty() ? std::string() : render_option_lines(lines);
  return without_comments(rendered) == without_comments(text) ? std::string(text) : rendered;
}

Result<OptionLines> read_option_lines(system::Files& files, std::string_view path) {
  auto text = files.read(std::string(path));
  if (!text) return base::fail(text.error());
  return *text ? parse_option_lines(**text) : OptionLines{};
}

Result<void> write_option_lines(system::Files& files, std::string_view path, const OptionLines& lines) {
  if (lines.empty()) return files.remove(std::string(path));
  return files.write(std::string(path), render_option_lines(lines));
}

bool ForeignLine::of_command_line() const { return file == kCommandLine; }

bool ForeignLine::refuses() const {
  if (sort != Sort::kInstall) return false;
  const auto words = base::words_of(command);
  const auto is_program = [](std::string_view word, std::string_view name) {
    return word.substr(word.rfind('/') + 1).substr(0, name.size()) == name;
  };
  const bool does_nothing =
      !words.empty() && (is_program(words.front(), "true") || is_program(words.front(), "false"));
  return does_nothing && std::none_of(words.begin(), words.end(),
                                      [&](const auto& word) { return is_program(word, "modprobe"); });
}

std::string ForeignLine::place() const {
  return of_command_line() ? "the kernel command line" : fmt::format("{}:{}", file, line);
}

std::vector<ForeignLine> read_foreign_lines(system::Host& host) {
  return read_foreign_lines(host.files, host.offline ? KernelOptions::kLeftOut : KernelOptions::kRead);
}

std::vector<ForeignLine> read_foreign_lines(system::Files& files, KernelOptions kernel) {
  std::map<std::string, std::string> paths;  // by name: that is the order in which modprobe reads them
  for (const auto folder : kFolders) {
    const auto names = files.list(std::string(folder));
    if (!names) continue;
    for (const auto& name : *names) {
      if (name.ends_with(".conf")) paths.try_emplace(name, fmt::format("{}/{}", folder, name));
    }
  }
  std::vector<ForeignLine> out;
  for (const auto& [name, path] : paths) {
    if (path == kModuleOptionsFile || path == kPfcOptionsFile || path == kNetnsOptionsFile) continue;
    if (const auto text = files.read_linked(path); text && *text) read_lines(path, name, **text, out);
  }
  if (kernel == KernelOptions::kLeftOut) return out;
  if (const auto text = files.read(std::string(kCommandLine)); text && *text) {
    auto settings = command_line_settings(**text, std::string(kCommandLine), 1);
    std::move(settings.begin(), settings.end(), std::back_inserter(out));
  }
  return out;
}

std::vector<ForeignLine> command_line_settings(std::string_view words, const std::string& file, int line) {
  std::vector<ForeignLine> out;
  read_command_line(words, {.file = file, .line = line, .module = {}, .later = true}, out);
  return out;
}

bool same_value(const ModuleOption& wanted, std::string_view running) {
  const std::string_view value = wanted.has_value ? std::string_view(wanted.value) : "Y";
  if (value == running) return true;
  const auto a = base::c_number(value), b = base::c_number(running);  // kstrtoint() with base 0
  if (a && b) return *a == *b;
  if (running != "Y" && running != "N") return false;
  const auto on = switch_of(value);
  return on && *on == (running == "Y");
}

}  // namespace rdmacfg::kinds
