// SPDX-License-Identifier: Apache-2.0
// Shell scripts that set IPoIB interfaces up: rc.local, dispatchers of NetworkManager and networkd, hooks of
// ifupdown. Commands for an interface by its name are read; others that touch IPoIB are named.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/import/ifupdown_hooks.hpp"
#include "foreign/import/shell_line.hpp"
#include "foreign/inet.hpp"

namespace rdmacfg::foreign {

namespace {

/// Whether a command touches what only IPoIB interfaces have, whatever the rest of it is.
bool touches_ipoib(std::string_view text) {
  const bool attribute =
      text.find("/sys/class/net/") != std::string_view::npos &&
      (text.find("/mode") != std::string_view::npos || text.find("_child") != std::string_view::npos ||
       text.find("/umcast") != std::string_view::npos);
  return attribute || text.find("type ipoib") != std::string_view::npos;
}

/// The interface that a command of ip(8) or ifconfig(8) sets: a word of it that is one of ours.
std::string set_interface(const std::vector<std::string>& words, const Claims& claims) {
  const auto has = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (words.empty()) return {};
  const bool sets =
      words.front() == "ifconfig" || (words.front() == "ip" && (has("set") || has("add") || has("replace")));
  if (!sets) return {};
  const auto at = std::find_if(words.begin() + 1, words.end(),
                               [&](const std::string& word) { return claims.knows(word); });
  return at == words.end() ? std::string() : *at;
}

/// INTERFACE of "> /sys/class/net/INTERFACE/mode".
std::string echoed_interface(const std::vector<std::string>& words) {
  if (words.size() != 4 || words[0] != "echo" || words[2] != ">") return {};
  const auto parts = base::split(words[3], '/');
  return parts.size() == 6 && parts[3] == "net" ? std::string(parts[4]) : std::string();
}

class ImportedScript {
 public:
  explicit ImportedScript(Claims& claims) : claims_(claims) {}

  void line(std::string_view text, const Place& where) {
    for (const auto& part : parts_of(text)) command(part.text, where);
  }

  void finish() {
    for (auto& [name, one] : found_) {
      settle(one);
      claims_.interfaces.push_back(std::move(one));
    }
  }

 private:
  void command(std::string_view text, const Place& where) {
    // Words of the shell in front of a command: "if …; then echo …".
    for (const std::string_view word : {"then ", "do ", "else ", "{ ", "! "}) {
      if (text.starts_with(word)) text = base::trim(text.substr(word.size()));
    }
    const auto words = shell_words(text, "");
    auto name = echoed_interface(words);
    if (name.empty()) name = set_interface(words, claims_);
    const bool literal = !name.empty() && name.find_first_of("$`*?{") == std::string::npos;
    const bool ours = touches_ipoib(text) || (literal && claims_.knows(name));
    if (!ours) return;
    if (words.size() > 1 && words.front() == "ip" &&
        (words[1] == "addr" || words[1] == "address" || words[1] == "a"))
      return address(words, name, where);
    if (literal) make(name, where);
    const auto why = literal || text.find("type ipoib") != std::string_view::npos
                         ? take_hook({where, "up", std::string(text), name, model::Family::kIpv4}, found_)
                         : std::string("which interfaces are meant only the script knows");
    if (why.empty()) {
      claims_.took(where);
    } else {
      claims_.miss(where, fmt::format("{}: {}", text, why));
    }
  }

  /// ip addr add ADDRESS dev INTERFACE
  void address(const std::vector<std::string>& words, const std::string& name, const Place& where) {
    const auto verb = std::find_if(words.begin(), words.end(), [](const std::string& word) {
      return word == "add" || word == "replace";
    });
    if (verb == words.end() || verb + 1 == words.end()) return;
    auto& one = make(name, where);
    const auto why = add_address(one, *(verb + 1));
    if (why.empty()) {
      claims_.took(where);
    } else {
      claims_.miss(where, why);
    }
  }

  Interface& make(const std::string& name, const Place& where) {
    auto& one = found_[name];
    if (one.name.empty()) {
      one.name = name;
      one.where = where;
      one.passive = true;
    }
    return one;
  }

  Claims& claims_;
  std::map<std::string, Interface, std::less<>> found_;
};

}  // namespace

void parse_scripts(std::span<const File> files, Claims& claims) {
  ImportedScript script(claims);
  for (const auto& file : files) {
    int number = 0, first = 0;
    std::string joined;
    for (const auto raw : base::split(file.text, '\n')) {
      ++number;
      if (joined.empty()) first = number;
      const auto line = base::trim(raw);
      if (line.empty() || line.front() == '#') continue;
      if (line.ends_with('\\')) {
        joined += std::string(line.substr(0, line.size() - 1)) + ' ';
        continue;
      }
      joined += line;
      script.line(joined, {file.path, first});
      joined.clear();
    }
  }
  script.finish();
}

}  // namespace rdmacfg::foreign
