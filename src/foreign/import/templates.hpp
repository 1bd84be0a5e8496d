// SPDX-License-Identifier: Apache-2.0
// Templates of Ansible, Jinja and the like in place of the files that they make.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

/// Removes and reports the files of a format that have "{{ … }}" or "{% … %}" outside comments, where the
/// format's own files have none.
/// @return how many
std::size_t leave_out_templates(std::string_view format, std::vector<File>& files, Claims& claims);

}  // namespace rdmacfg::foreign
