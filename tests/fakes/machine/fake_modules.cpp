// SPDX-License-Identifier: Apache-2.0
#include "fakes/machine/fake_modules.hpp"

#include <fmt/format.h>

#include <cerrno>

#include "base/text.hpp"

namespace rdmacfg::fakes {

using base::fail_errno;
using base::Result;

void FakeModules::start(const std::string& name) {
  auto& module = modules.at(name);
  if (module.loaded) return;
  module.loaded = true;
  module.values = module.parameters;
  module.files = files_.content;
  for (const auto& [path, value] : module.brings) setting_(path, value);
  for (const auto& [path, text] : files_.content) {  // sorted, as modprobe reads them
    if (!path.starts_with("/etc/modprobe.d/") || !path.ends_with(".conf")) continue;
    for (const auto line : base::split(text, '\n')) {
      const auto words = base::split(line, ' ');
      if (words.size() < 3 || words[0] != "options" || words[1] != name) continue;
      for (std::size_t i = 2; i < words.size(); ++i) {
        const auto equals = words[i].find('=');
        if (equals == std::string_view::npos) continue;
        const std::string key(words[i].substr(0, equals));
        if (!module.values.contains(key)) continue;
        const auto made = module.makes.find(key);
        module.values[key] = made != module.makes.end() ? made->second : words[i].substr(equals + 1);
      }
    }
  }
}

void FakeModules::reboot() {
  for (auto& [name, module] : modules) {
    if (module.builtin) continue;
    const bool was = module.loaded;
    module.loaded = false;
    if (was) start(name);
  }
  for (const auto& [path, text] : files_.content) {
    if (!path.starts_with("/etc/modules-load.d/")) continue;
    for (const auto line : base::split(text, '\n')) {
      if (modules.contains(std::string(line))) start(std::string(line));
    }
  }
}

std::string FakeModules::dump() const {
  std::string out;
  for (const auto& [name, module] : modules) {
    if (!module.loaded) continue;
    out += "module " + name;
    for (const auto& [key, value] : module.values) out += fmt::format(" {}={}", key, value);
    out += "\n";
  }
  return out;
}

Result<std::vector<std::string>> FakeModules::observe_loaded() {
  std::vector<std::string> out;
  for (const auto& [name, module] : modules) {
    if (module.loaded) out.push_back(name);
  }
  return out;
}

std::optional<std::string> FakeModules::parameter(const std::string& module, const std::string& name) {
  const auto at = modules.find(module);
  if (at == modules.end() || !at->second.loaded || at->second.hidden.contains(name)) return std::nullopt;
  const auto value = at->second.values.find(name);
  return value == at->second.values.end() ? std::nullopt : std::optional(value->second);
}

bool FakeModules::loaded_after(const std::string& module, const std::string& path) {
  const auto at = modules.find(module);
  if (at == modules.end() || !at->second.loaded) return false;
  const auto then = at->second.files.find(path);
  const auto now = files_.content.find(path);
  return then != at->second.files.end() && now != files_.content.end() && then->second == now->second;
}

Result<std::optional<system::ModuleInfo>> FakeModules::info(const std::string& module) {
  const auto at = modules.find(module);
  if (at == modules.end()) return std::optional<system::ModuleInfo>();
  system::ModuleInfo info{at->second.builtin, {}};
  for (const auto& [key, value] : at->second.parameters) info.parameters.push_back(key);
  return std::optional(std::move(info));
}

std::vector<std::string> FakeModules::known() {
  std::vector<std::string> out;
  for (const auto& [name, module] : modules) out.push_back(name);
  return out;
}

Result<void> FakeModules::load(const std::string& module) {
  const int err = faults_.call("load module " + module, [&] {
    if (!modules.contains(module)) return ENOENT;
    start(module);
    return 0;
  });
  if (err != 0) return fail_errno(err, "loading the module " + module);
  return {};
}

Result<void> FakeModules::unload(const std::string& module) {
  const int err = faults_.call("unload module " + module, [&] {
    auto& target = modules.at(module);
    if (target.in_use) return EBUSY;
    target.loaded = false;
    for (const auto& [path, value] : target.brings) setting_(path, std::nullopt);
    return 0;
  });
  if (err != 0) return fail_errno(err, "unloading the module " + module);
  return {};
}

}  // namespace rdmacfg::fakes
