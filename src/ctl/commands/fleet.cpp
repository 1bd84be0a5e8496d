// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ctl/command.hpp"
#include "ctl/fleet/fleet_commands.hpp"

namespace rdmacfg::ctl {

int fleet(const Context& context) {
  const auto no = [&](const char* why) { return refuse(context, {base::Code::kInvalid, why, 0}); };
  const auto& arguments = context.arguments;
  if (arguments.words.front() == "validate") {
    if (arguments.fleet.hosts.empty())
      return no("fleet validate: --hosts is missing, such as --hosts 'gpu[001-512]'");
    if (!arguments.fleet.by.empty()) return no("--by is valid only with fleet report");
    const auto& files = arguments.config;
    if (arguments.fleet.hosts == "-" && std::find(files.begin(), files.end(), "-") != files.end())
      return no("fleet validate: standard input cannot be both the hosts and a document");
    return validate_fleet(context);
  }
  if (arguments.words.size() < 2)
    return no("fleet report: DIR is missing: the folder with the JSON output of the hosts");
  return report_fleet(context);
}

}  // namespace rdmacfg::ctl
