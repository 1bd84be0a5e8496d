// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/rdma/interface_users.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "base/text.hpp"

namespace rdmacfg::foreign {

namespace {

enum class NamesOf { kBoth, kDevices };

/// Programs by a part of their files' paths, and the objects that the files name.
struct InterfaceUser {
  std::string_view path, program;
  NamesOf names = NamesOf::kBoth;
};
constexpr auto kInterfaceUsers = std::to_array<InterfaceUser>({{"/beegfs/", "BeeGFS"},
                                                               {".itf", "BeeGFS"},
                                                               {"/nccl.conf", "NCCL"},
                                                               {"/ucx.conf", "UCX"},
                                                               {"/openmpi-mca-params.conf", "Open MPI"},
                                                               {"/ceph/", "Ceph", NamesOf::kDevices},
                                                               {"/ceph.conf", "Ceph", NamesOf::kDevices},
                                                               {"/mmfs.cfg", "GPFS", NamesOf::kDevices}});

/// Programs by the prefixes of their environment variables.
struct VariableUser {
  std::string_view begin, program;
};
constexpr auto kVariableUsers = std::to_array<VariableUser>({{"NCCL_", "NCCL"},
                                                             {"RCCL_", "RCCL"},
                                                             {"UCX_", "UCX"},
                                                             {"OMPI_MCA_", "Open MPI"},
                                                             {"MV2_", "MVAPICH2"},
                                                             {"I_MPI_", "Intel MPI"},
                                                             {"FI_", "libfabric"},
                                                             {"GLOO_", "Gloo"},
                                                             {"TP_SOCKET_", "PyTorch"},
                                                             {"NVSHMEM_", "NVSHMEM"},
                                                             {"HCOLL_", "HCOLL"},
                                                             {"SHARP_", "SHARP"},
                                                             {"MXM_", "MXM"}});

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// "ib0", "ibp65s0" and names of interfaces that are there; not each word that begins with "ib".
bool is_interface_name(std::string_view word, const Claims& claims) {
  const auto name = word.substr(0, word.find('.'));
  if (claims.known.contains(word) || claims.known.contains(name)) return true;
  if (!name.starts_with("ib") || name.size() < 3) return false;
  const auto rest = name.substr(name.find_first_of("pso", 2) == 2 ? 3 : 2);
  return !rest.empty() && is_digit(rest.front());
}

/// "mlx5_0", "mlx5_bond_0", "rocep65s0f0": as the kernel's drivers and rdma-core name RDMA devices.
bool is_device_name(std::string_view word) {
  constexpr auto kDrivers = std::to_array<std::string_view>(
      {"mlx4",  "mlx5", "mthca", "bnxt_re", "irdma", "i40iw", "hfi1", "qib", "qedr",       "cxgb4",
       "erdma", "efa",  "hns",   "ocrdma",  "mana",  "ionic", "rxe",  "siw", "vmw_pvrdma", "usnic"});
  constexpr std::string_view kRoce = "roce";
  if (word.starts_with(kRoce) && word.size() > kRoce.size() + 1)
    return std::string_view("pPosx").find(word[kRoce.size()]) != std::string_view::npos;
  if (word.empty() || !is_digit(word.back())) return false;
  return std::any_of(kDrivers.begin(), kDrivers.end(), [&](std::string_view driver) {
    return word.starts_with(driver) && word.size() > driver.size() &&
           (word[driver.size()] == '_' || is_digit(word[driver.size()]));
  });
}

/// Whether the value of a key is a list of RDMA devices: "NCCL_IB_HCA", "verbsPorts", "ms async rdma device
/// name".
bool has_devices(std::string_view key) {
  auto name = base::lower(key);
  for (auto& c : name) {
    if (c == ' ' || c == '-' || c == '\t') c = '_';
  }
  constexpr auto kParts =
      std::to_array<std::string_view>({"ib_hca", "hca_list", "verbsports", "rdma_device", "main_ib", "ib_dev",
                                       "openib_if", "rdma_ports", "verbs_iface"});
  return std::any_of(kParts.begin(), kParts.end(),
                     [&](std::string_view part) { return name.find(part) != std::string::npos; });
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

/// A setting of a program: where, of what, and its value.
struct UsedNames {
  const Place& where;
  std::string_view program, key, value;
};

void tell_used_names(const UsedNames& used, Claims& claims) {
  const bool devices = has_devices(used.key);
  each_name(used.value, [&](std::string_view word) {
    // NCCL also accepts a prefix of a name.
    const bool of_device = is_device_name(word) || (devices && (word == "mlx4" || word == "mlx5"));
    const bool of_interface = is_interface_name(word, claims);
    if (of_device || (devices && of_interface)) {
      claims.pass(used.where, fmt::format("{} refers to {} by name: if the document renames the RDMA "
                                          "device, change this line too",
                                          used.program, word));
    } else if (of_interface) {
      claims.pass(used.where, fmt::format("{} refers to {} by name: if the document renames the "
                                          "interface, change this line too",
                                          used.program, word));
    }
  });
}

/// A file that sets environment variables: environment(5), environment.d(5) and scripts of a login shell.
bool is_of_environment(std::string_view path) {
  return path.ends_with("/environment") || path.find("/environment.d/") != std::string_view::npos ||
         path.ends_with(".sh") || path.ends_with(".csh");
}

/// A list of interfaces outside BeeGFS's folder: "connInterfacesFile = /srv/meta.itf".
void tell_list_elsewhere(const Place& where, std::string_view value, std::span<const File> files,
                         Claims& claims) {
  if (!value.starts_with('/')) return;
  const bool read =
      std::any_of(files.begin(), files.end(), [&](const File& file) { return file.path == value; });
  if (!read)
    claims.pass(where,
                fmt::format("BeeGFS refers to the interfaces in {} by name: if the document renames one, "
                            "change that file too",
                            value));
}

}  // namespace

void tell_variables_of_users(const Place& where, std::string_view line, Claims& claims) {
  std::string_view key, before;
  char quote = 0;  // around a value of several words
  const auto is_quote = [](char c) { return c == '"' || c == '\''; };
  for (const auto word : base::words_of(line, " \t\r;")) {
    const auto equals = word.find('=');
    auto name = word.substr(0, equals);
    name.remove_prefix(std::min(name.find_first_not_of("\"'"), name.size()));
    auto value = word;
    bool opens = false;
    const bool named = std::exchange(before, word) == "setenv";
    if (named) {
      key = word;
      value = {};
    } else if (quote == 0 && equals != std::string_view::npos && !name.empty() &&
               std::isupper(static_cast<unsigned char>(name.front())) != 0) {
      key = name;
      value = word.substr(equals + 1);
    }
    if (!named && !key.empty() && quote == 0) {
      if (is_quote(word.front())) {
        quote = word.front();
      } else if (!value.empty() && is_quote(value.front())) {
        quote = value.front();
        opens = value.size() == 1;
      }
    }
    const auto* user =
        std::find_if(kVariableUsers.begin(), kVariableUsers.end(),
                     [&](const VariableUser& candidate) { return key.starts_with(candidate.begin); });
    if (user != kVariableUsers.end()) tell_used_names({where, user->program, key, value}, claims);
    // The words behind a value are not its own.
    if (named || opens || (quote != 0 && !value.ends_with(quote))) continue;
    key = {};
    quote = 0;
  }
}

bool tell_interface_users(const File& file, std::span<const File> files, Claims& claims) {
  const bool environment = is_of_environment(file.path);
  const auto* user =
      std::find_if(kInterfaceUsers.begin(), kInterfaceUsers.end(), [&](const InterfaceUser& candidate) {
        return candidate.path.ends_with('/') ? file.path.find(candidate.path) != std::string::npos
                                             : file.path.ends_with(candidate.path);
      });
  if (!environment && user == kInterfaceUsers.end()) return false;
  int number = 0;
  for (const auto raw : base::split(file.text, '\n')) {
    const Place where{file.path, ++number};
    const auto line = base::trim(raw.substr(0, raw.find('#')));
    if (environment) {
      tell_variables_of_users(where, line, claims);
      continue;
    }
    if (line.starts_with(';')) continue;
    // mmfs.cfg has a blank between a key and its value; a list of interfaces has no keys.
    const auto equals = line.find(user->path == "/mmfs.cfg" ? ' ' : '=');
    const auto key = base::trim(line.substr(0, equals));
    const auto value = equals == std::string_view::npos ? line : base::trim(line.substr(equals + 1));
    if (user->names == NamesOf::kDevices && !has_devices(key)) continue;
    if (base::lower(key).ends_with("interfacesfile"))
      tell_list_elsewhere(where, value, files, claims);
    else
      tell_used_names({where, user->program, equals == std::string_view::npos ? "" : key, value}, claims);
  }
  return true;
}

std::string advice_for_device_users(const std::vector<std::string>& words) {
  if (words.empty() || !words.front().ends_with("mmchconfig")) return {};
  std::string names;
  for (const auto& word : words) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || !has_devices(std::string_view(word).substr(0, equals))) continue;
    each_name(std::string_view(word).substr(equals + 1), [&](std::string_view name) {
      if (std::isalpha(static_cast<unsigned char>(name.front())) == 0) return;
      names.append(names.empty() ? "" : ", ").append(name);
    });
  }
  if (names.empty()) return {};
  return fmt::format(
      "GPFS refers to {} by name: if the document renames an RDMA device, change this command too", names);
}

}  // namespace rdmacfg::foreign
