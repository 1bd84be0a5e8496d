// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/rdma/opensm_sorts.hpp"

#include <string_view>

#include "base/text.hpp"

namespace rdmacfg::foreign {

bool has_rules(const File& file) {
  for (const auto raw : base::split(file.text, '\n')) {
    if (raw.substr(0, raw.find('#')).find(';') != std::string_view::npos) return true;
  }
  return false;
}

bool is_port_list(const File& file, NamedAs named) {
  bool has_options = false;
  for (const auto raw : base::split(file.text, '\n')) {
    const auto line = base::trim(raw.substr(0, raw.find('#')));
    const auto first = line.substr(0, line.find_first_of(" \t"));
    const auto equals = first.find('=');
    const auto name = first.substr(0, equals);
    if (first == "export") return true;
    if (equals != std::string_view::npos && !name.empty() &&
        name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == std::string_view::npos)
      return true;
    if (first != line &&
        first.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == std::string_view::npos)
      has_options = true;
  }
  return named == NamedAs::kPortList && !has_options;
}

bool is_copy_of(const File& file, std::string_view path) {
  if (file.path.ends_with(path)) return true;
  const auto base = [](std::string_view of) { return of.substr(of.rfind('/') + 1); };
  const bool usual = file.path == "/etc/opensm/partitions.conf" || file.path == "/etc/rdma/partitions.conf";
  return !usual && base(file.path) == base(path);
}

}  // namespace rdmacfg::foreign
