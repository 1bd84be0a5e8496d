// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/nfs/nfs_mount_parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "formats/storage/mount_unit.hpp"
#include "model/limits.hpp"

namespace rdmacfg::kinds {

using model::Diagnostics;
using model::Location;
using model::Severity;

namespace {

/// Folders that the system itself runs from, or that systemd mounts; mount_point_is_api() of systemd has the
/// latter.
constexpr std::array<std::string_view, 14> kOfTheSystem{"/",     "/bin",   "/boot", "/dev",  "/etc",
                                                        "/lib",  "/lib64", "/proc", "/root", "/run",
                                                        "/sbin", "/sys",   "/usr",  "/var"};
constexpr std::array<std::string_view, 3> kOfTheKernel{"/dev/", "/proc/", "/sys/"};

struct ReplacedOption {
  std::string_view option, place;
};
constexpr std::array<ReplacedOption, 16> kReplacedOptions{
    {{"proto", "leave it out: [[nfs_mount]] always mounts over RDMA"},
     {"rdma", "leave it out: [[nfs_mount]] always mounts over RDMA"},
     {"tcp", "[[nfs_mount]] always mounts over RDMA; an entry of fstab can use TCP"},
     {"udp", "[[nfs_mount]] always mounts over RDMA; an entry of fstab can use UDP"},
     {"port", "write port = … in the entry"},
     {"_netdev", "leave it out: the mount unit waits for the network"},
     {"auto", "write mount = true"},
     {"noauto", "write mount = false"},
     {"nofail", "mount units do not block the boot"},
     {"user", "it has an effect in fstab only"},
     {"users", "it has an effect in fstab only"},
     {"owner", "it has an effect in fstab only"},
     {"remount", "it is for file systems that are mounted already"},
     {"bg", "a mount unit does not delay the boot"},
     {"fg", "leave it out: it is the default of nfs(5)"},
     {"bind", "NFS has no bind mounts"}}};

class EntryCheck {
 public:
  EntryCheck(const model::Section& section, Diagnostics& diagnostics)
      : section_(section), diagnostics_(diagnostics) {}

  void path(const Location& where, const std::string& path) {
    constexpr std::size_t kUnitNameLongest = 255;  // systemd.unit(5)
    const auto below = [&](auto folder) { return path.starts_with(folder); };
    if (std::find(kOfTheSystem.begin(), kOfTheSystem.end(), path) != kOfTheSystem.end() ||
        std::any_of(kOfTheKernel.begin(), kOfTheKernel.end(), below)) {
      wrong(where, "path", fmt::format("{} belongs to the system", path),
            "a folder such as /scratch or /data/home");
    } else if (mount_unit_name(path).size() > kUnitNameLongest) {
      wrong(where, "path", "the name of its unit would be longer than the 255 characters that systemd allows",
            "systemd writes each character but letters, digits, : _ and . as four");
    }
  }

  void missing(std::string_view key, std::string_view hint) {
    if (section_.find(key) == nullptr) wrong(section_.where, key, "is missing", std::string(hint));
  }

  void options(const model::Entry& entry, const std::vector<std::string>& options) {
    using model::limits::kMountOptions, model::limits::kMountOptionBytes;
    if (options.size() > kMountOptions) {
      wrong(entry.where, "options", fmt::format("{} options; {} are allowed", options.size(), kMountOptions),
            "");
      return;
    }
    for (std::size_t i = 0; i < options.size(); ++i) {
      const auto& option = options[i];
      const auto& where = entry.place_of(i);
      if (option.size() > kMountOptionBytes) {
        wrong(where, "options",
              fmt::format("an option of {} bytes; {} are allowed", option.size(), kMountOptionBytes), "");
      } else {
        check_option(where, option);
      }
    }
  }

 private:
  void wrong(const Location& where, std::string_view key, std::string what, std::string hint) {
    diagnostics_.push_back(
        {Severity::kError, where, fmt::format("[[nfs_mount]] {}: {}", key, what), std::move(hint), {}});
  }

  void check_option(const Location& where, const std::string& option) {
    constexpr std::string_view kAllowed =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:/@+=-";
    if (option.find_first_not_of(kAllowed) != std::string::npos) {
      wrong(where, "options", fmt::format("\"{}\" is not one option of nfs(5)", option),
            "one option per string: options = [\"vers=4.2\", \"hard\"]");
      return;
    }
    const auto key = option.substr(0, option.find('='));
    for (const auto& [name, place] : kReplacedOptions) {
      if (key == name)
        wrong(where, "options", fmt::format("{} does not belong in this list", option), std::string(place));
    }
    if (key.starts_with("x-")) {
      wrong(where, "options", fmt::format("{} is valid only in fstab", option),
            "set it in a drop-in of the unit: systemctl edit " +
                mount_unit_name(model::text_of(section_.find("path")->value)));
    }
    const auto equals = option.find('=');
    check_value(where, key, equals == std::string::npos ? std::string() : option.substr(equals + 1));
  }

  /// Values at which every kernel refuses the mount (nfs_fs_context_parse_param(),
  /// nfs_validate_transport_protocol() in fs/nfs/fs_context.c).
  void check_value(const Location& where, std::string_view key, const std::string& value) {
    constexpr std::array<std::string_view, 6> kVersions{"2", "3", "4", "4.0", "4.1", "4.2"};
    const bool is_version = key == "vers" || key == "nfsvers";
    if (is_version && std::find(kVersions.begin(), kVersions.end(), value) == kVersions.end()) {
      wrong(where, "options", fmt::format("{}: NFS has no version \"{}\"", key, value), "4.2, 4.1, 4 or 3");
    }
    // Kernels of vendors allow more than the 16 of others.
    if (key == "nconnect" && base::parse_number(value).value_or(0) == 0) {
      wrong(where, "options", fmt::format("nconnect: \"{}\" is not a number of connections", value),
            "1 to 16");
    }
    if (key == "xprtsec" && value != "none") {
      wrong(where, "options",
            fmt::format("xprtsec: {}: the kernel supports TLS only for NFS over TCP", value),
            "leave it out; sec=krb5p encrypts over RDMA, too");
    }
  }

  const model::Section& section_;
  Diagnostics& diagnostics_;
};

}  // namespace

void check_nfs_mount_entry(const model::Section& section, Diagnostics& diagnostics) {
  EntryCheck check(section, diagnostics);
  const auto* path = section.find("path");
  check.path(path->where, model::text_of(path->value));
  check.missing("server", "server = \"192.0.2.1\"");
  check.missing("export",
                "export = \"/export/scratch\", as `showmount -e` or exports(5) of the server has it");
  if (const auto* options = section.find("options")) {
    if (const auto* list = std::get_if<std::vector<std::string>>(&options->value))
      check.options(*options, *list);
  }
}

}  // namespace rdmacfg::kinds
