// SPDX-License-Identifier: Apache-2.0
// Words of the kernel's command line and of a module's options. Source: next_arg() in lib/cmdline.c.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rdmacfg::foreign {

/// A blank inside quotation marks is part of its word; the marks themselves are not.
std::vector<std::string> kernel_words(std::string_view line);

}  // namespace rdmacfg::foreign
