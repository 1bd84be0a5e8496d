// SPDX-License-Identifier: Apache-2.0
#include "kinds/address/interface_file_names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/types.hpp"

namespace rdmacfg::kinds {

std::string InterfaceFileNames::name(std::string_view id) const {
  std::string inner(id);
  std::erase(inner, ':');
  std::replace(inner.begin(), inner.end(), '/', '-');
  return fmt::format("{}{}{}", prefix, inner, suffix);
}

std::optional<std::string> InterfaceFileNames::id(std::string_view file_name) const {
  if (!file_name.starts_with(prefix) || !file_name.ends_with(suffix)) return std::nullopt;
  const auto inner = file_name.substr(prefix.size(), file_name.size() - prefix.size() - suffix.size());
  const auto dash = inner.find('-');
  const auto guid = model::Guid::parse(inner.substr(0, dash));
  if (!guid) return std::nullopt;
  if (dash == std::string_view::npos) return guid->text();
  const auto pkey = model::Pkey::parse(inner.substr(dash + 1));
  if (!pkey) return std::nullopt;
  return fmt::format("{}/{}", guid->text(), pkey->text());
}

}  // namespace rdmacfg::kinds
