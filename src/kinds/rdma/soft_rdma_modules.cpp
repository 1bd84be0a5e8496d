// SPDX-License-Identifier: Apache-2.0
#include "kinds/rdma/soft_rdma_modules.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace rdmacfg::kinds {

using base::Result;

namespace {

constexpr std::string_view kLoadFor = "# for ";

}  // namespace

SoftRdmaModules parse_soft_rdma_modules(std::string_view text) {
  SoftRdmaModules modules;
  std::string id;
  for (const auto line : base::split(text, '\n')) {
    if (line.starts_with(kLoadFor)) {
      id = base::trim(line.substr(kLoadFor.size()));
    } else if (const auto module = base::trim(line);
               !module.empty() && !module.starts_with('#') && !id.empty()) {
      modules[id] = module;
      id.clear();
    }
  }
  return modules;
}

std::string render_soft_rdma_modules(const SoftRdmaModules& modules) {
  if (modules.empty()) return {};
  std::string out =
      "# Modules of software RDMA devices. Written by rdma-configd: changes made here are lost.\n";
  for (const auto& [id, module] : modules) out += fmt::format("{}{}\n{}\n", kLoadFor, id, module);
  return out;
}

Result<SoftRdmaModules> read_soft_rdma_modules(system::Files& files) {
  auto text = files.read(std::string(kSoftRdmaModulesFile));
  if (!text) return base::fail(text.error());
  return *text ? parse_soft_rdma_modules(**text) : SoftRdmaModules{};
}

Result<void> write_soft_rdma_modules(system::Files& files, const SoftRdmaModules& modules) {
  const auto text = render_soft_rdma_modules(modules);
  return text.empty() ? files.remove(std::string(kSoftRdmaModulesFile))
                      : files.write(std::string(kSoftRdmaModulesFile), text);
}

}  // namespace rdmacfg::kinds
