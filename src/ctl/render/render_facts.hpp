// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ctl/host_facts.hpp"
#include "ctl/render/terminal.hpp"

namespace rdmacfg::ctl {

/// Flow control, limits, modules and services as tables; those without a row are left out.
std::string render_facts(const HostFacts& facts, const Terminal& terminal, bool* left_out = nullptr);

}  // namespace rdmacfg::ctl
