// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/nvme/nvme_found.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "kinds/boot_record.hpp"
#include "model/types/inet_types.hpp"

namespace rdmacfg::kinds {

using base::Result;
using system::NvmeController;

namespace {

/// Addresses among the texts of nvme-cli's JSON, however they are spelled.
std::set<std::string> addresses_in(std::string_view json) {
  std::set<std::string> out;
  for (auto start = json.find('"'); start != std::string_view::npos;) {
    const auto end = json.find('"', start + 1);
    if (end == std::string_view::npos) break;
    if (const auto parsed = model::IpAddress::parse(json.substr(start + 1, end - start - 1)))
      out.insert(parsed->text());
    start = end;  // an escaped quote may lie in between, so each quote may begin a string
  }
  return out;
}

}  // namespace

std::string found_text(const system::NvmeController& controller, const std::string& address) {
  return fmt::format("{} {} {}", address, controller.name, controller.subsystem);
}

Result<std::set<std::string>> read_nvme_found(system::Host& host) {
  const auto text = read_boot_record(host.files, kNvmeFoundFile);
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
  if (found.empty()) return write_boot_record(host.files, kNvmeFoundFile, std::nullopt);
  std::string text = "# NVMe controllers that were connected by others: boot, address, name, subsystem.\n";
  for (const auto& controller : found) text += fmt::format("{} {}\n", host.boot_id, controller);
  return write_boot_record(host.files, kNvmeFoundFile, text);
}

Result<NvmeControllers> observe_nvme_controllers(system::Host& host) {
  const auto all = host.nvme_host.observe();
  if (!all) return base::fail(all.error());
  NvmeControllers out;
  for (const auto& controller : *all) {
    if (controller.transport != "rdma" || controller.subsystem == "nqn.2014-08.org.nvmexpress.discovery")
      continue;
    if (controller.state == "deleting" || controller.state == "dead") continue;
    const auto address = model::IpAddress::parse(controller.address);
    out.emplace(address ? address->text() : controller.address, controller);
  }
  return out;
}

Result<std::vector<std::string>> NvmeOwners::ours_at(const std::string& address, const DiscoveryConf& conf,
                                                     const NvmeControllers& controllers) {
  std::vector<std::string> out;
  const auto [begin, end] = controllers.equal_range(address);
  if (begin == end || conf.others_lead.contains(address)) return out;
  if (!config_) {
    const auto theirs = host_.files.read_linked(std::string(kNvmeConfigFile));
    if (!theirs) return base::fail(theirs.error());
    config_ = addresses_in(theirs->value_or(""));
  }
  if (config_->contains(address)) return out;
  if (!found_) {
    auto found = read_nvme_found(host_);
    if (!found) return base::fail(found.error());
    found_ = std::move(*found);
  }
  for (auto at = begin; at != end; ++at) {
    if (!found_->contains(found_text(at->second, address))) out.push_back(at->second.name);
  }
  return out;
}

Result<std::vector<std::string>> NvmeOwners::ours_at_ports(const std::string& address,
                                                           const std::set<std::string>& ports,
                                                           const DiscoveryConf& conf,
                                                           const NvmeControllers& controllers) {
  NvmeControllers there;
  for (auto [at, end] = controllers.equal_range(address); at != end; ++at) {
    if (ports.contains(at->second.service)) there.emplace(address, at->second);
  }
  return ours_at(address, conf, there);
}

}  // namespace rdmacfg::kinds
