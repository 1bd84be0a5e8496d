// SPDX-License-Identifier: Apache-2.0
#include "ctl/bundle/replay.hpp"

#include <cerrno>
#include <utility>

namespace rdmacfg::ctl {

Replay::Replay(HostReport report)
    : report_(std::move(report)), tape_(report_.observed), host_(tape_, report_.boot_id) {}

Environment environment_of(const Environment& environment, const std::shared_ptr<Replay>& replay) {
  Environment out = environment;
  out.host_name = replay->report().host_name;
  out.privileged = replay->report().privileged;
  out.document = replay->report().document;
  out.host = [replay](const std::filesystem::path&) {
    return std::shared_ptr<system::Host>(replay, &replay->host());
  };
  out.function_test = {};
  out.lock = [](const auto&, const auto&) -> base::Result<std::shared_ptr<void>> {
    return base::fail_errno(EROFS, "a host in a report cannot be changed");
  };
  out.service = [] { return std::unique_ptr<Service>(); };
  return out;
}

}  // namespace rdmacfg::ctl
