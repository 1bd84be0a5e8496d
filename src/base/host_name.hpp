// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace rdmacfg::base {

/// The name in a text as /etc/hostname has it (hostname(5): one line, comments begin with '#'). Empty without
/// one, and for what the kernel and systemd call a host that nobody has named: "(none)", "localhost".
std::string host_name_in(std::string_view text);

}  // namespace rdmacfg::base
