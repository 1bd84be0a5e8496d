// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/rdma/lustre.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"

namespace rdmacfg::foreign {

namespace {

/// "ib0" of "ib0[0,1]", which binds it to CPU partitions, and of "\"ib0\"".
std::string_view name_for_lnet(std::string_view word) {
  word = base::trim(word);
  word = word.substr(0, word.find('['));
  while (!word.empty() && (word.front() == '"' || word.front() == '\'')) word.remove_prefix(1);
  return word.substr(0, word.find_first_of("\"' #"));
}

void tell_name_of_lnet(const Place& where, std::string_view name, Claims& claims) {
  claims.pass(
      where,
      fmt::format("LNet refers to {} by name: if the document renames the interface, change this line too",
                  name));
}

/// The interfaces between the parentheses of "o2ib0(ib0,ib1),tcp1(eth0)"; commas in brackets separate CPUs.
std::vector<std::string_view> interfaces_of_networks(std::string_view text, const Claims& claims) {
  std::vector<std::string_view> out;
  auto open = text.find('(');
  while (open != std::string_view::npos) {
    const auto close = text.find(')', open);
    if (close == std::string_view::npos) break;
    const auto inside = text.substr(open + 1, close - open - 1);
    int depth = 0;
    std::size_t from = 0;
    for (std::size_t at = 0; at <= inside.size(); ++at) {
      const char c = at < inside.size() ? inside[at] : ',';
      if (c == '[') ++depth;
      if (c == ']') --depth;
      if (c != ',' || (depth > 0 && at < inside.size())) continue;
      const auto name = name_for_lnet(inside.substr(from, at - from));
      from = at + 1;
      if (!name.empty() && claims.knows(name)) out.push_back(name);
    }
    open = text.find('(', close);
  }
  return out;
}

/// Whether a network "o2ib" has no interface: LNet then takes the one that ko2iblnd's ipif_name names.
bool leaves_interface_open(std::string_view text) {
  for (auto at = text.find("o2ib"); at != std::string_view::npos; at = text.find("o2ib", at + 1)) {
    const auto end = text.find_first_not_of("0123456789", at + 4);
    if (end == std::string_view::npos || text[end] != '(') return true;
  }
  return false;
}

}  // namespace

bool tell_lnet_options(const Place& where, std::string_view module, std::string_view line, Claims& claims) {
  constexpr std::string_view kDefault = "ipif_name=";
  if (module == "ko2iblnd") {
    bool told = false;
    for (const auto word : words_of(line)) {
      const auto name =
          word.starts_with(kDefault) ? name_for_lnet(word.substr(kDefault.size())) : std::string_view();
      if (name.empty() || !claims.knows(name)) continue;
      tell_name_of_lnet(where, name, claims);
      told = true;
    }
    if (!told) claims.pass(where, "options ko2iblnd: LNet uses them over RDMA; keep this line");
    return true;
  }
  if (module != "lnet") return false;
  const auto names = interfaces_of_networks(line, claims);
  for (const auto name : names) tell_name_of_lnet(where, name, claims);
  if (line.find("networks=") != std::string_view::npos && names.empty() && leaves_interface_open(line))
    claims.pass(
        where,
        "LNet takes an IPoIB interface by its name, ib0 unless ko2iblnd has ipif_name: if the document "
        "gives that interface another name, write the name here");
  return true;
}

void tell_lnet_conf(const File& file, Claims& claims) {
  int number = 0;
  for (const auto raw : base::split(file.text, '\n')) {
    ++number;
    // "0: ib0" below "interfaces:".
    const auto line = base::trim(raw);
    const auto colon = line.find(':');
    if (colon == 0 || colon == std::string_view::npos ||
        line.substr(0, colon).find_first_not_of("0123456789") != std::string_view::npos)
      continue;
    const auto name = name_for_lnet(line.substr(colon + 1));
    if (!name.empty() && claims.knows(name)) tell_name_of_lnet({file.path, number}, name, claims);
  }
}

std::string_view interface_of_lnetctl(const std::vector<std::string>& words, const Claims& claims) {
  if (words.empty() || words.front() != "lnetctl" ||
      std::find(words.begin(), words.end(), "add") == words.end())
    return {};
  const auto at = std::find(words.begin(), words.end(), "--if");
  if (at == words.end() || at + 1 == words.end()) return {};
  for (const auto part : base::split(*(at + 1), ',')) {
    if (const auto name = name_for_lnet(part); !name.empty() && claims.knows(name)) return name;
  }
  return {};
}

}  // namespace rdmacfg::foreign
