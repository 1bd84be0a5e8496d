// SPDX-License-Identifier: Apache-2.0
#include "base/host_name.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace rdmacfg::base {

std::string host_name_in(std::string_view text) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    const bool named = line != "(none)" && line != "localhost" && !line.starts_with("localhost.");
    return named ? std::string(line) : std::string();
  }
  return {};
}

}  // namespace rdmacfg::base
