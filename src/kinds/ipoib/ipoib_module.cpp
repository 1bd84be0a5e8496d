// SPDX-License-Identifier: Apache-2.0
#include "kinds/ipoib/ipoib_module.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "formats/modprobe_conf.hpp"
#include "formats/modules_load.hpp"
#include "kinds/host/module.hpp"

namespace rdmacfg::kinds {

using model::Desired;

namespace {

constexpr std::string_view kIpoibModule = "ib_ipoib";
constexpr std::string_view kRdmaCoreList = "/etc/rdma/modules/infiniband.conf";

bool is_ipoib_built_in(World& world) {
  if (world.offline()) return false;
  const auto info = world.host().modules.info(std::string(kIpoibModule));
  return info && *info && (*info)->builtin;
}

bool is_loaded_by_document(const std::vector<Desired>& desired) {
  return std::any_of(desired.begin(), desired.end(), [](const Desired& resource) {
    return resource.key.kind == kModuleKind && resource.key.id == kIpoibModule &&
           model::value_of(resource.settings, "at_boot") == model::Value{true};
  });
}

/// Whether rdma-core's list is there and leaves the module out, and nothing else is known to load it: the
/// openibd of NVIDIA's drivers reads a file of its own.
bool is_left_out(const std::vector<Desired>& desired, system::Files& files) {
  const auto list = files.read_linked(std::string(kRdmaCoreList));
  if (!list || !*list || is_loaded_by_document(desired) || is_listed_for_boot(kIpoibModule, files))
    return false;
  const auto openibd = files.read_linked("/etc/infiniband/openib.conf");
  return openibd && !*openibd;
}

}  // namespace

void warn_of_module_at_boot(const std::vector<Desired>& desired, World& world,
                            model::Diagnostics& diagnostics) {
  const auto first = std::find_if(desired.begin(), desired.end(), [](const Desired& resource) {
    return resource.key.kind == "ipoib" && !resource.ignore;
  });
  if (first == desired.end() || is_ipoib_built_in(world)) return;
  const auto warn = [&](std::string what, std::string hint) {
    diagnostics.push_back({model::Severity::kWarning, first->where, std::move(what), std::move(hint), {}});
  };
  const std::string module(kIpoibModule);
  auto& host = world.host();
  bool kept_out = false;
  for (const auto& line : read_foreign_lines(host)) {
    if (line.module != module || !line.keeps_out()) continue;
    kept_out = true;
    warn(fmt::format("[[ipoib]]: {}: IPoIB interfaces are gone after a reboot",
                     kept_out_by(line, "loaded at boot")),
         remedy_of_keeping_out(line));
  }
  const auto settings = next_boot_settings(host);
  if (const auto at = settings.find(module); at != settings.end())
    warn_of_blacklist_at_next_boot("[[ipoib]]", module, first->where, at->second, diagnostics);
  if (kept_out || !is_left_out(desired, host.files)) return;
  warn(fmt::format("[[ipoib]]: {} leaves {} out, and no other list of modules names it: IPoIB interfaces are "
                   "gone after a reboot",
                   kRdmaCoreList, module),
       fmt::format("add a line {0} there, or write [[module]] name = \"{0}\"", module));
}

}  // namespace rdmacfg::kinds
