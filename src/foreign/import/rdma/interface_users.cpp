// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/rdma/interface_users.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace rdmacfg::foreign {

namespace {

/// Programs by a part of the paths of their files.
struct InterfaceUser {
  std::string_view path, program;
};
constexpr auto kInterfaceUsers = std::to_array<InterfaceUser>({{"/beegfs/", "BeeGFS"},
                                                               {"/nccl.conf", "NCCL"},
                                                               {"/ucx.conf", "UCX"},
                                                               {"/openmpi-mca-params.conf", "Open MPI"}});

/// "ib0", "ibp65s0" and names of interfaces that are there; not each word that begins with "ib".
bool is_interface_name(std::string_view word, const Claims& claims) {
  const auto name = word.substr(0, word.find('.'));
  if (claims.known.contains(word) || claims.known.contains(name)) return true;
  if (!name.starts_with("ib") || name.size() < 3) return false;
  const auto rest = name.substr(name.find_first_of("pso", 2) == 2 ? 3 : 2);
  return !rest.empty() && std::isdigit(static_cast<unsigned char>(rest.front())) != 0;
}

/// Words of letters, digits and what names of interfaces have besides.
template <class Each>
void each_name(std::string_view line, Each each) {
  constexpr std::string_view kInName = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  while (!line.empty()) {
    const auto from = line.find_first_of(kInName);
    if (from == std::string_view::npos) return;
    line.remove_prefix(from);
    const auto word = line.substr(0, line.find_first_not_of(kInName));
    each(word);
    line.remove_prefix(word.size());
  }
}

}  // namespace

bool tell_interface_users(const File& file, Claims& claims) {
  const auto* user =
      std::find_if(kInterfaceUsers.begin(), kInterfaceUsers.end(), [&](const InterfaceUser& candidate) {
        return candidate.path.ends_with('/') ? file.path.find(candidate.path) != std::string::npos
                                             : file.path.ends_with(candidate.path);
      });
  if (user == kInterfaceUsers.end()) return false;
  int number = 0;
  for (const auto raw : base::split(file.text, '\n')) {
    ++number;
    each_name(raw.substr(0, raw.find('#')), [&](std::string_view word) {
      if (is_interface_name(word, claims))
        claims.pass({file.path, number},
                    fmt::format("{} uses {} by its name: if the document gives the interface "
                                "another name, change this line too",
                                user->program, word));
    });
  }
  return true;
}

}  // namespace rdmacfg::foreign
