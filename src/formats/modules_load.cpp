// SPDX-License-Identifier: Apache-2.0
#include "formats/modules_load.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "model/types/module_types.hpp"

namespace rdmacfg::kinds {

using base::Result;

namespace {

constexpr std::string_view kModulesHead =
    "# Kernel modules to load at boot. Written by rdma-configd from its configuration: changes made here are "
    "lost.\n";

// Users of RDMA devices in the kernel (drivers/infiniband/ulp, drivers/infiniband/core, net/rds,
// net/sunrpc/xprtrdma, drivers/nvme, drivers/block/rnbd).
constexpr std::array<std::string_view, 23> kUpperLayers{
    "ib_ipoib",    "ib_iser",     "ib_isert", "ib_srp",      "ib_srpt",     "ib_ucm",
    "ib_umad",     "ib_uverbs",   "iw_cm",    "nvme_rdma",   "nvmet_rdma",  "opa_vnic",
    "rdma_cm",     "rdma_ucm",    "rds_rdma", "rnbd_client", "rnbd_server", "rpcrdma",
    "rtrs_client", "rtrs_server", "smc",      "svcrdma",     "xprtrdma"};

bool has_rdma_core(system::Files& files) {
  for (const auto* path : {"/usr/lib/systemd/system/rdma-load-modules@.service",
                           "/lib/systemd/system/rdma-load-modules@.service"}) {
    const auto text = files.read(path);
    if (text && *text) return true;
  }
  return false;
}

}  // namespace

std::string_view load_file_of(std::string_view module, system::Files& files) {
  const bool upper = std::find(kUpperLayers.begin(), kUpperLayers.end(), module) != kUpperLayers.end();
  return upper && has_rdma_core(files) ? kRdmaModulesFile : kModulesLoadFile;
}

Result<std::set<std::string>> read_load_file(system::Files& files, std::string_view path) {
  auto text = files.read(std::string(path));
  if (!text) return base::fail(text.error());
  std::set<std::string> modules;
  const auto content = text->value_or(std::string());
  for (const auto line : base::split(content, '\n')) {
    const auto word = base::trim(line);
    if (word.empty() || word.starts_with('#') || word.starts_with(';')) continue;
    if (const auto name = model::ModuleName::parse(word)) modules.insert(name->text);
  }
  return modules;
}

Result<void> write_load_file(system::Files& files, std::string_view path,
                             const std::set<std::string>& modules) {
  if (modules.empty()) return files.remove(std::string(path));
  std::string text(kModulesHead);
  for (const auto& module : modules) text += module + "\n";
  return files.write(std::string(path), text);
}

}  // namespace rdmacfg::kinds
