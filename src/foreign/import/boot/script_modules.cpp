// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/boot/script_modules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/text.hpp"
#include "foreign/import/boot/script_sections.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/syntax/shell_line.hpp"

namespace rdmacfg::foreign {

bool is_module_of_rdma(std::string_view word) {
  const auto name = word.substr(word.rfind('/') + 1);
  return is_rdma_module(name.substr(0, name.find('.')));
}

ModprobeCall modprobe_call_of(const std::vector<std::string>& words) {
  bool unloads = false, asks = false, all = false;
  std::vector<std::string> names;
  for (const auto& word : std::span(words).subspan(1)) {
    const bool letters = word.starts_with('-') && !word.starts_with("--");
    const auto has = [&](std::string_view some) {
      return letters && word.find_first_of(some) != std::string::npos;
    };
    unloads = unloads || has("r") || word.starts_with("--remove");
    asks = asks || has("nDRcV") || word.starts_with("--show") || word == "--dry-run" ||
           word == "--resolve-alias" || word == "--version";
    all = all || has("a") || word == "--all";
    if (!word.starts_with('-')) names.push_back(word);
  }
  ModprobeCall out;
  if (asks || names.empty()) return out;
  const bool several = all || unloads;  // else what follows the name are its options
  const bool options = !several && names.size() > 1;
  if (options) names.resize(1);
  for (auto& module : names) {
    if (!is_rdma_module(module)) continue;
    std::replace(module.begin(), module.end(), '-', '_');
    out.modules.push_back(std::move(module));
  }
  if (unloads) {
    out.why = "the document does not unload modules";
  } else if (options) {
    out.why = "write [[module]], with its options";
  }
  return out;
}

ModprobeCall modprobe_calls_in(std::string_view command, const std::string& own) {
  ModprobeCall out;
  for (const auto& part : parts_of(command)) {
    const auto words = shell_words(part.text, own);
    if (words.empty() || words.front() != "modprobe") continue;
    auto call = modprobe_call_of(words);
    if (call.modules.empty()) continue;
    if (!call.why.empty()) {
      if (out.why.empty()) out.why = fmt::format("{}: {}", part.text, call.why);
      continue;
    }
    for (auto& module : call.modules) out.modules.push_back(std::move(module));
  }
  return out;
}

std::string modprobe_advice(std::string_view command) {
  if (const auto script = script_of_shell(command); !script.empty()) {
    for (const auto& part : parts_of(script)) {
      const auto text = without_block_word(part.text);
      const auto words = shell_words(text, "");
      const bool loads = !words.empty() && words.front() == "modprobe";
      if (auto advice = loads ? modprobe_advice(text) : std::string(); !advice.empty()) return advice;
    }
    return {};
  }
  const auto call = modprobe_calls_in(command, "");
  if (call.why.empty()) return call.modules.empty() ? "" : "write [[module]]";
  const auto whole = fmt::format("{}: ", base::trim(command));
  return call.why.starts_with(whole) ? call.why.substr(whole.size()) : call.why;
}

bool is_module_variable(std::string_view word, const ModuleVariables& variables) {
  return variables.contains(variable_of(word));
}

void note_modules(std::string_view line, ModuleVariables& variables) {
  constexpr std::string_view kAround = "\"'();";
  const auto bare = [&](std::string_view word) {
    const auto from = word.find_first_not_of(kAround);
    if (from == std::string_view::npos) return std::string_view();
    return word.substr(from, word.find_last_not_of(kAround) - from + 1);
  };
  const auto has = [&](std::string_view word) {
    return is_module_of_rdma(bare(word)) || is_module_variable(bare(word), variables);
  };
  const auto words = words_of(line);
  if (words.size() > 3 && words[0] == "for" && words[2] == "in") {
    if (std::any_of(words.begin() + 3, words.end(), has)) variables.emplace(words[1]);
    return;
  }
  // "KERN_MODS=\"${KERN_MODS} ib_srp\"", where the value goes on to the end of the line.
  for (std::size_t at = 0; at < words.size(); ++at) {
    const auto equals = words[at].find('=');
    if (equals == std::string_view::npos || !is_variable_name(words[at].substr(0, equals))) continue;
    const bool any = has(words[at].substr(equals + 1)) ||
                     std::any_of(words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end(), has);
    if (any) variables.emplace(words[at].substr(0, equals));
    return;
  }
}

}  // namespace rdmacfg::foreign
