// SPDX-License-Identifier: Apache-2.0
#include "formats/modules_load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "formats/boot_command_line.hpp"
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

constexpr std::array<std::string_view, 5> kListFolders{"/etc/rdma/modules", "/etc/modules-load.d",
                                                       "/run/modules-load.d", "/usr/local/lib/modules-load.d",
                                                       "/usr/lib/modules-load.d"};

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

bool is_listed_for_boot(std::string_view module, system::Files& files) {
  const std::string name(module);
  const auto command_line = running_command_line(files);
  for (const auto word : base::words_of(command_line, " \t\r\n")) {
    const auto equals = word.find('=');
    const auto key = word.substr(0, equals);
    if (equals == std::string_view::npos || (key != "modules_load" && key != "rd.modules_load")) continue;
    const auto names = base::split(word.substr(equals + 1), ',');
    if (std::find(names.begin(), names.end(), module) != names.end()) return true;
  }
  for (const auto folder : kListFolders) {
    const auto lists = files.list(std::string(folder));
    if (!lists) return true;
    for (const auto& list : *lists) {
      // /etc/modules-load.d/modules.conf of Debian is a link to /etc/modules.
      const auto text = files.read_linked(fmt::format("{}/{}", folder, list));
      if (list.ends_with(".conf") && text && *text && parse_load_list(**text).contains(name)) return true;
    }
  }
  return false;
}

Result<std::set<std::string>> read_load_file(system::Files& files, std::string_view path) {
  auto text = files.read(std::string(path));
  if (!text) return base::fail(text.error());
  return parse_load_list(text->value_or(std::string()));
}

std::set<std::string> parse_load_list(std::string_view text) {
  std::set<std::string> modules;
  for (const auto line : base::split(text, '\n')) {
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
