// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/first_names.hpp"

namespace rdmacfg::foreign {

void learn_names_first(std::span<const FilesOfFormat> gathered, Claims& claims) {
  const bool single = gathered.size() == 1 && gathered.front().names.empty();
  if (single) return;
  Claims aside;  // what it reports is reported again when the files are read for good
  aside.known = claims.known;
  aside.machine_id = claims.machine_id;
  aside.has_option = claims.has_option;
  for (const auto& [format, own, names] : gathered) {
    const bool has_names = format->interfaces || format->name == "udev";
    if (!has_names) continue;
    parse_udev(names, aside);
    format->parse(own, aside);
    aside.learn_names();
  }
  claims.learn_names_of(aside);
}

}  // namespace rdmacfg::foreign
