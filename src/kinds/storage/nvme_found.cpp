// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/nvme_found.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace rdmacfg::kinds {

using base::Result;

std::string found_text(const system::NvmeController& controller, const std::string& address) {
  return fmt::format("{} {} {}", address, controller.name, controller.subsystem);
}

Result<std::set<std::string>> read_nvme_found(system::Host& host) {
  const auto text = host.files.read(std::string(kNvmeFoundFile));
  if (!text) return base::fail(text.error());
  std::set<std::string> out;
  const auto boot = host.boot_id + " ";
  const auto content = text->value_or("");
  for (const auto line : base::split(content, '\n')) {
    if (line.starts_with(boot)) out.emplace(line.substr(boot.size()));
  }
  return out;
}

Result<void> write_nvme_found(const std::set<std::string>& found, system::Host& host) {
  const std::string path(kNvmeFoundFile);
  if (found.empty()) return host.files.remove(path);
  std::string text = "# NVMe controllers that were connected by others: boot, address, name, subsystem.\n";
  for (const auto& one : found) text += fmt::format("{} {}\n", host.boot_id, one);
  return host.files.write(path, text);
}

}  // namespace rdmacfg::kinds
