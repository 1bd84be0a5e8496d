// SPDX-License-Identifier: Apache-2.0
#include "kinds/others_file.hpp"

#include <fmt/format.h>

namespace rdmacfg::kinds {

base::Result<void> refuse_others_file(const std::optional<std::string>& text, std::string_view path,
                                      bool (*ours)(std::string_view text)) {
  if (!text || ours(*text)) return {};
  return base::fail(
      base::Code::kRefused,
      fmt::format("{} was not written by rdma-configd, and appeared during the apply: move it away", path));
}

}  // namespace rdmacfg::kinds
