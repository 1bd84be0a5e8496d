// SPDX-License-Identifier: Apache-2.0
#include "foreign/syntax/shell_line.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "base/text.hpp"
#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

namespace {

/// How the command goes on at `at`, where no quotation is; empty within a simple command. A '&' of "2>&1" and
/// "&>file" joins nothing.
std::string_view joint_at(std::string_view line, std::size_t at) {
  const char c = line[at];
  const auto next = line.substr(at + 1, 1);
  if ((c == '&' || c == '|' || c == ';') && next.starts_with(c)) return line.substr(at, 2);
  if (c == ';' || c == '|') return line.substr(at, 1);
  const bool redirects = (at > 0 && (line[at - 1] == '>' || line[at - 1] == '<')) || next == ">";
  return c == '&' && !redirects ? line.substr(at, 1) : std::string_view();
}

/// A program that runs the command behind its options.
struct Runner {
  std::string_view name;
  std::string_view valued;   ///< its options with a value in the next word
  std::size_t operands = 0;  ///< words of its own in front of the command
};
constexpr auto kRunners = std::to_array<Runner>({{"sudo", "CDghpRrTtUu"},
                                                 {"doas", "Cu"},
                                                 {"nohup", ""},
                                                 {"exec", "a"},
                                                 {"setsid", ""},
                                                 {"time", ""},
                                                 {"nice", "n"},
                                                 {"ionice", "cn"},
                                                 {"env", "Cu"},
                                                 {"xargs", "adEILnPs"},
                                                 {"command", ""},
                                                 {"systemd-run", "EHMpu"},
                                                 {"stdbuf", "eio"},
                                                 {"chroot", "", 1},
                                                 {"flock", "wE", 1},
                                                 {"timeout", "ks", 1}});

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// "LANG=C" in front of a command; not the output of another command.
bool is_assignment(std::string_view word) {
  const auto name = word.substr(0, word.find('='));
  return name.size() < word.size() && is_variable_name(name) && word.find("$(") == std::string_view::npos &&
         word.find('`') == std::string_view::npos;
}

/// Characters that divide a command, and what stands for each within a value until the words are made.
constexpr std::string_view kDividers = " \t>";
constexpr std::string_view kStandIns = "\x01\x02\x03";

void exchange(char& c, std::string_view from, std::string_view to) {
  if (const auto at = from.find(c); at != std::string_view::npos) c = to[at];
}

/// The text with `to` in place of each `from`.
std::string with_each(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  std::size_t copied = 0;
  for (auto at = text.find(from); at != std::string_view::npos; at = text.find(from, copied)) {
    out += text.substr(copied, at - copied);
    out += to;
    copied = at + from.size();
  }
  out += text.substr(copied);
  return out;
}

/// Hides what would divide the value of an assignment, which is text and no command: NAME="a b", NAME=(a b).
std::string hide_values(std::string_view command) {
  std::string out(command);
  char quote = 0;
  bool assigns = false;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < out.size(); ++at) {
    const char c = out[at];
    if (c == '\\' && quote != '\'') {
      if (++at < out.size() && assigns) exchange(out[at], kDividers, kStandIns);
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else if (assigns) {
        exchange(out[at], kDividers, kStandIns);
      }
    } else if (c == ' ' || c == '\t') {
      assigns = false;
      begin = at + 1;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '=' && !assigns) {
      assigns = is_variable_name(command.substr(begin, at - begin));
      if (assigns && command.substr(at + 1, 1) == "(") quote = ')';
    }
  }
  return out;
}

/// Leaves out what only runs the command behind it; a runner or an assignment without one stays.
void drop_runners(std::vector<std::string>& words) {
  std::size_t at = 0;
  for (;;) {
    auto next = at;
    while (next < words.size() && is_assignment(words[next])) ++next;
    if (next >= words.size()) break;
    at = next;
    const auto* runner = std::find_if(kRunners.begin(), kRunners.end(), [&](const Runner& known) {
      return known.name == base_name(words[at]);
    });
    // "command -v opensm" only checks that the program exists.
    const bool asks =
        next + 1 < words.size() && base_name(words[at]) == "command" && base::lower(words[next + 1]) == "-v";
    if (runner == kRunners.end() || asks) break;
    for (++next; next < words.size() && words[next].starts_with('-'); ++next) {
      if (words[next].size() == 2 && runner->valued.find(words[next][1]) != std::string_view::npos) ++next;
    }
    next += runner->operands;
    if (next >= words.size()) break;
    at = next;
  }
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at));
}

/// The first of the words that begins with `text`, as matches() of iproute2 has it; `text` itself without
/// one.
std::string in_full(const std::string& text, std::span<const std::string_view> words) {
  const auto at = std::find_if(words.begin(), words.end(), [&](std::string_view word) {
    return !text.empty() && word.starts_with(text);
  });
  return at == words.end() ? text : std::string(*at);
}

/// Whether a word is an option of ip(8), which may be cut short and may have two dashes.
bool is_ip_option(std::string_view word, std::string_view option) {
  if (word.starts_with("--")) word.remove_prefix(1);
  return word.size() > 1 && option.starts_with(word);
}

/// "ip a a", "ip l s" and "ip r a" as "ip addr add", "ip link set" and "ip route add".
void spell_out_ip(std::vector<std::string>& words) {
  // In iproute2's order; of words that read, only that they are none of the others matters.
  constexpr std::array<std::string_view, 5> kObjects{"address", "route", "rule", "neighbour", "link"};
  constexpr std::array<std::string_view, 4> kOfLink{"add", "set", "replace", "delete"};
  constexpr std::array<std::string_view, 7> kOfOthers{"add",  "change", "replace", "delete",
                                                      "show", "append", "prepend"};
  const auto at = ip_object(words);
  if (at >= words.size()) return;
  auto& object = words[at];
  object = in_full(object, kObjects);
  if (object == "address") object = "addr";
  if (at + 1 >= words.size()) return;
  auto& verb = words[at + 1];
  if (verb == "del") return;
  verb = object == "link" ? in_full(verb, kOfLink) : in_full(verb, kOfOthers);
}

/// "echo -n connected", "printf connected\n" and "printf %s\n connected" as "echo connected", of files of
/// the kernel, to which the end of the line does not matter; ">>" is ">" there.
void spell_out_echo(std::vector<std::string>& words) {
  if (words.size() < 2 || (words[0] != "echo" && words[0] != "printf")) return;
  const auto end = static_cast<std::size_t>(std::find(words.begin(), words.end(), ">") - words.begin());
  std::size_t value = 1;
  if (words[0] == "echo") {
    while (value < end && words[value].size() > 1 && words[value][0] == '-' &&
           words[value].find_first_not_of("neE", 1) == std::string::npos)
      ++value;
  } else if (words[1] == "--") {
    ++value;
  }
  const bool formatted = words[0] == "printf";
  if (formatted && value < end && (words[value] == "%s" || words[value] == "%s\\n")) ++value;
  if (value + 1 != end) return;
  auto& word = words[value];
  if (formatted && word.ends_with("\\n")) word.resize(word.size() - 2);
  if (word.find_first_of("%\\") != std::string::npos) return;
  words[0] = "echo";
  words.erase(words.begin() + 1, words.begin() + static_cast<std::ptrdiff_t>(value));
  if (words.size() > 4 && words[3] == ">") words.erase(words.begin() + 3);
}

/// The place behind "-c" of "/bin/sh -c", whatever runs the shell; npos where those words do not stand so.
std::size_t behind_option(std::string_view command, std::string_view shell, std::string_view option) {
  const auto words = words_of(command);
  for (std::size_t at = 0; at + 1 < words.size(); ++at) {
    if (base_name(words[at]) == shell && words[at + 1] == option)
      return static_cast<std::size_t>(words[at + 1].data() - command.data()) + option.size();
  }
  return std::string_view::npos;
}

/// Whether an option, or KEY of "KEY=VALUE", has a secret: "--dhchap-secret", "node.session.auth.password".
bool names_secret(std::string_view word) {
  const auto name = base::lower(word);
  constexpr auto kParts = std::to_array<std::string_view>({"secret", "passw", "_key", "-key"});
  return std::any_of(kParts.begin(), kParts.end(),
                     [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

/// Where a secret of NVMe begins that says itself what it is; npos where there is none.
std::size_t nvme_secret_in(std::string_view word) {
  return std::min(word.find("DHHC-1:"), word.find("NVMeTLSkey-1:"));
}

}  // namespace

bool is_name_character(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

bool is_variable_name(std::string_view name) {
  return !name.empty() && (name[0] < '0' || name[0] > '9') &&
         std::all_of(name.begin(), name.end(), is_name_character);
}

std::string without_secrets(std::string_view command) {
  std::string out;
  std::size_t copied = 0;
  bool named = false;  // by the words before: "--m_key 5", "-n node.session.auth.password -v abc"
  for (const auto word : words_of(command)) {
    const auto at = static_cast<std::size_t>(word.data() - command.data());
    if (at < copied) continue;  // of a value in quotation marks
    const auto equals = word.find('=');
    const bool has_value = equals != std::string_view::npos;
    const bool names = names_secret(word.substr(0, equals)), option = word.starts_with('-');
    auto from = nvme_secret_in(word);
    if (names && has_value) {
      from = equals + 1;
    } else if (named && !option) {
      from = 0;
    }
    named = from >= word.size() && ((names && !has_value) || (named && option));
    if (from >= word.size()) continue;
    auto end = at + word.size();
    if (const char quote = word[from]; quote == '"' || quote == '\'')
      end = std::min(command.find(quote, at + from + 1), command.size() - 1) + 1;
    out += command.substr(copied, at + from - copied);
    out += "…";
    copied = end;
  }
  return out + std::string(command.substr(copied));
}

std::size_t ip_object(const std::vector<std::string>& words) {
  if (words.empty() || words.front() != "ip") return words.size();
  std::size_t at = 1;
  while (at < words.size() && words[at].starts_with('-')) {
    const bool valued = is_ip_option(words[at], "-family") || is_ip_option(words[at], "-netns") ||
                        is_ip_option(words[at], "-loops") || is_ip_option(words[at], "-batch");
    at += valued ? 2 : 1;
  }
  return std::min(at, words.size());
}

std::vector<Part> parts_of(std::string_view line) {
  std::vector<Part> out;
  std::string_view joint;
  char quote = 0;
  std::size_t from = 0;
  const auto add = [&](std::size_t to) {
    const auto text = base::trim(line.substr(from, to - from));
    // "a || true" only hides that a failed.
    const bool hides = joint == "||" && (text == "true" || text == ":");
    if ((!text.empty() || joint == ";;") && !hides) out.push_back({joint, text});
  };
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (quote != 0 || c == '"' || c == '\'') {
      if (quote == 0) {
        quote = c;
      } else if (quote == c) {
        quote = 0;
      }
      continue;
    }
    if (c == '\\') {
      ++at;
      continue;
    }
    if (c == '#' && (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t')) {
      line = line.substr(0, at);  // a comment
      break;
    }
    const auto next = joint_at(line, at);
    if (next.empty()) continue;
    add(at);
    joint = next;
    at += next.size() - 1;
    from = at + 1;
  }
  add(line.size());
  return out;
}

std::vector<std::string> shell_words(std::string_view command, const std::string& own) {
  auto text = hide_values(command);
  std::erase(text, '"');
  std::erase(text, '\'');
  std::string_view kept = text;
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view end :
         {"2>&1", "2>/dev/null", "2> /dev/null", "&>/dev/null", ">/dev/null", "> /dev/null"}) {
      kept = base::trim(kept);
      if (!kept.ends_with(end)) continue;
      kept.remove_suffix(end.size());
      again = true;
    }
  }
  text = with_each(kept, ">", " > ");
  for (const std::string_view variable : {"${IFACE}", "$IFACE"}) text = with_each(text, variable, own);
  std::vector<std::string> out;
  for (const auto word : words_of(text)) out.emplace_back(word);
  drop_runners(out);
  for (auto& word : out) {
    for (auto& c : word) exchange(c, kStandIns, kDividers);
  }
  if (!out.empty() && !is_assignment(out.front())) out.front() = std::string(base_name(out.front()));
  spell_out_ip(out);
  spell_out_echo(out);
  return out;
}

bool is_ip_batch(const std::vector<std::string>& words) {
  if (words.empty() || words.front() != "ip") return false;
  const auto object = ip_object(words);
  return std::any_of(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(object),
                     [](const std::string& word) { return is_ip_option(word, "-batch"); });
}

std::string_view script_of_shell(std::string_view command) {
  const auto words = shell_words(command, "");
  constexpr auto kShells = std::to_array<std::string_view>({"sh", "bash", "dash", "ash", "ksh"});
  // A user name may precede the option of these; of `flock FILE -c` only the option is left.
  constexpr auto kOthers = std::to_array<std::string_view>({"su", "runuser", "-c"});
  const auto is_one_of = [&](const auto& names) {
    return !words.empty() && std::find(names.begin(), names.end(), words[0]) != names.end();
  };
  const auto has_script = [](const std::string& word) {
    return word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
  };
  if (!words.empty() && words[0] == "eval") {
    constexpr std::string_view kEval = "eval";
    const auto rest = base::trim(command.substr(command.find(kEval) + kEval.size()));
    const bool quoted =
        rest.size() > 1 && (rest.front() == '"' || rest.front() == '\'') && rest.back() == rest.front();
    return quoted ? base::trim(rest.substr(1, rest.size() - 2)) : rest;
  }
  std::size_t from = std::string_view::npos;
  if (is_one_of(kShells) && words.size() > 2 && has_script(words[1])) {
    from = command.find_first_of("\"'", behind_option(command, words[0], words[1]));
  } else if (is_one_of(kOthers)) {
    const auto option = std::find_if(words.begin(), words.end(), has_script);
    if (option != words.end()) from = command.find_first_of("\"'", command.find(' ' + *option + ' '));
  }
  if (from == std::string_view::npos) return {};
  const auto to = command.rfind(command[from]);
  return to > from ? base::trim(command.substr(from + 1, to - from - 1)) : std::string_view();
}

std::optional<Elsewhere> elsewhere_of(const std::vector<std::string>& words) {
  if (words.empty()) return std::nullopt;
  const auto from = [&](std::size_t at) {
    std::vector<std::string> out;
    for (; at < words.size(); ++at) out.push_back(words[at]);
    if (!out.empty()) out.front() = out.front().substr(out.front().rfind('/') + 1);
    spell_out_ip(out);
    return out;
  };
  if (words.front() == "nsenter") {
    bool network = false;
    std::size_t at = 1;
    for (; at < words.size() && words[at].starts_with('-'); ++at) {
      const auto& word = words[at];
      network =
          network || word == "-a" || word == "--all" || word.starts_with("-n") || word.starts_with("--net");
      at += word == "-t" || word == "--target" ? 1U : 0U;
    }
    if (!network) return std::nullopt;
    return Elsewhere{"of nsenter", from(at)};
  }
  if (words.front() != "ip") return std::nullopt;
  const auto object = ip_object(words);
  for (std::size_t at = 1; at + 1 < object; ++at) {
    if (!is_ip_option(words[at], "-netns")) continue;
    std::vector<std::string> rest{"ip"};
    for (auto more = object; more < words.size(); ++more) rest.push_back(words[more]);
    return Elsewhere{words[at + 1], std::move(rest)};
  }
  const bool exec = object + 2 < words.size() && words[object] == "netns" && words[object + 1] == "exec";
  if (!exec) return std::nullopt;
  return Elsewhere{words[object + 2], from(object + 3)};
}

}  // namespace rdmacfg::foreign
