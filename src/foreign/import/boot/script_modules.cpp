// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/boot/script_modules.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "foreign/import/formats.hpp"

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

}  // namespace rdmacfg::foreign
