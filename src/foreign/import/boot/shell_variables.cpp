// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/boot/shell_variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>

#include "base/text.hpp"
#include "foreign/import/boot/sysctl.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/syntax/kernel_words.hpp"

namespace rdmacfg::foreign {

namespace {

/// The text of an assignment, of which only the outer quotation marks matter here: without them and what
/// stands behind the second; \" is a quotation mark of the command line.
std::string_view shell_text(std::string_view text) {
  if (text.empty() || (text.front() != '"' && text.front() != '\'')) return text.substr(0, text.find(" #"));
  const char quote = text.front();
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '\\' && quote == '"') {
      ++at;
    } else if (text[at] == quote) {
      return text.substr(1, at - 1);
    }
  }
  return text.substr(1);
}

/// Variables of shell files that hold command lines: /etc/default/grub, dracut.conf.
bool is_command_line(std::string_view key) {
  return key == "kernel_cmdline" || key.starts_with("GRUB_CMDLINE_LINUX");
}

/// Whether a word of the command line is imported.
bool is_read(std::string_view word, Claims& claims) {
  if (word.starts_with(kSysctlWord)) return SysctlSettings(claims).is_ours(word.substr(kSysctlWord.size()));
  for (const std::string_view key : {"ip=", "ib.pkey=", "rd.route=", "ifname=", "nameserver="}) {
    if (word.starts_with(key)) return true;
  }
  const auto dot = word.find('.');
  return dot != std::string_view::npos && is_rdma_module(word.substr(0, dot));
}

}  // namespace

void ShellVariables::line(std::string_view text, const Place& where) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return;
  auto key = text.substr(0, equals);
  bool adds = key.ends_with('+');
  if (adds) key.remove_suffix(1);
  key = base::trim(key);
  if (key.starts_with("export ")) key = base::trim(key.substr(7));
  if (!is_command_line(key)) return tell_initramfs(key, text.substr(equals + 1), where);
  std::vector<PlacedWord> words;
  for (auto& word : kernel_words(shell_text(base::trim(text.substr(equals + 1))))) {
    if (word == fmt::format("${}", key) || word == fmt::format("${{{}}}", key)) {
      adds = true;
    } else {
      words.push_back({std::move(word), where});
    }
  }
  auto& value = values_[std::string(key)];
  if (!adds) {
    for (const auto& old : value) {
      if (is_read(old.text, claims_))
        claims_.pass(old.where, fmt::format("{}: {} sets it again", key, where.text()));
    }
    value.clear();
  }
  std::move(words.begin(), words.end(), std::back_inserter(value));
}

void ShellVariables::move_to(std::vector<PlacedWord>& words) {
  for (auto& [key, value] : values_) std::move(value.begin(), value.end(), std::back_inserter(words));
}

void ShellVariables::tell_initramfs(std::string_view key, std::string_view value, const Place& where) {
  constexpr auto kKeys = std::to_array<std::string_view>(
      {"drivers", "add_drivers", "force_drivers", "omit_drivers", "add_dracutmodules", "omit_dracutmodules",
       "dracutmodules", "force_add_dracutmodules"});
  if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) return;
  for (const auto& word : kernel_words(shell_text(base::trim(value)))) {
    const bool ours = key.ends_with("drivers") ? is_rdma_module(word) : word == "rdma" || word == "nvmf";
    if (!ours) continue;
    claims_.pass(where, fmt::format("{}: {} stays in force in the initramfs; keep this line", key, word));
    return;
  }
}

bool is_shell(const File& file) {
  return file.path.ends_with("/grub") || file.path.find("dracut.conf") != std::string::npos ||
         file.path.find("/default/grub.d/") != std::string::npos;
}

std::vector<const File*> in_order_of_shells(std::span<const File> files) {
  std::vector<const File*> out;
  out.reserve(files.size());
  for (const auto& file : files) out.push_back(&file);
  std::stable_partition(out.begin(), out.end(), [](const File* file) {
    return file->path.ends_with("/grub") || file->path.ends_with("/dracut.conf");
  });
  return out;
}

}  // namespace rdmacfg::foreign
