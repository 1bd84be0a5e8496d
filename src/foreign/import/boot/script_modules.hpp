// SPDX-License-Identifier: Apache-2.0
// Commands of scripts that load modules: modprobe(8) and insmod(8) of kmod.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rdmacfg::foreign {

/// "ib_srp", and "/lib/modules/…/ib_srp.ko.xz" as insmod(8) has it.
bool is_module_of_rdma(std::string_view word);

/// A modprobe, as far as it is about RDMA.
struct ModprobeCall {
  std::vector<std::string> modules;  ///< of RDMA, with '_' for '-'; none where it concerns no such module
  std::string why;                   ///< why it cannot become [[module]] entries; empty when it can
};

/// @param words  of the command, as shell_words() has them
ModprobeCall modprobe_call_of(const std::vector<std::string>& words);

}  // namespace rdmacfg::foreign
