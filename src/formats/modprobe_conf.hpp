// SPDX-License-Identifier: Apache-2.0
// Our files below /etc/modprobe.d, and what other files there say about the same modules (modprobe.d(5)).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "model/types/module_types.hpp"
#include "system/files.hpp"

namespace rdmacfg::system {
struct Host;
}  // namespace rdmacfg::system

namespace rdmacfg::kinds {

inline constexpr std::string_view kModuleOptionsFile = "/etc/modprobe.d/rdma-configd.conf";
inline constexpr std::string_view kPfcOptionsFile = "/etc/modprobe.d/rdma-configd-pfc.conf";
inline constexpr std::string_view kNetnsOptionsFile = "/etc/modprobe.d/rdma-configd-netns.conf";

/// Options by module.
using OptionLines = std::map<std::string, model::ModuleOptions>;

/// "options" lines of a file of ours. Anything else in it is not ours and is lost with the next write.
OptionLines parse_option_lines(std::string_view text);
std::string render_option_lines(const OptionLines& lines);
/// The text of a file of ours without what is not ours; as it is where only comments are.
std::string canonical_option_lines(std::string_view text);

base::Result<OptionLines> read_option_lines(system::Files& files, std::string_view path);

/// Writes the file, or removes it when there is no line.
base::Result<void> write_option_lines(system::Files& files, std::string_view path, const OptionLines& lines);

/// A line of somebody else's modprobe.d file, or a word of the kernel command line.
struct ForeignLine {
  enum class Sort {
    kOption,     ///< sets a parameter
    kBlacklist,  ///< keeps a module from being loaded by its aliases, by systemd and by us
    kInstall,    ///< replaces the loading by a command
  };
  std::string file;
  int line = 0;
  Sort sort = Sort::kOption;
  std::string module;
  model::ModuleOption option{};  ///< of kOption
  std::string command{};         ///< of kInstall
  bool later = false;            ///< modprobe reads it after /etc/modprobe.d/rdma-configd.conf
  bool by_kernel = false;        ///< of kBlacklist: module_blacklist=, for every way of loading

  [[nodiscard]] bool of_command_line() const;
  /// Whether it replaces the loading by nothing: "install MODULE /bin/true".
  [[nodiscard]] bool refuses() const;
  /// Whether systemd and udev do not load the module because of it.
  [[nodiscard]] bool keeps_out() const { return sort == Sort::kBlacklist || refuses(); }
  /// Whether that also holds for modprobe without -b, which passes over a "blacklist" of the module that it
  /// is asked for by name (modprobe(8)).
  [[nodiscard]] bool stops_modprobe() const { return by_kernel || refuses(); }
  /// For messages: "/etc/modprobe.d/a.conf:3", "the kernel command line".
  [[nodiscard]] std::string place() const;
};

/// Whether the kernel command line is read, too: below another root that is not its own.
enum class KernelOptions { kLeftOut, kRead };

/// The settings of files that are not ours, in the order in which modprobe reads them, and last those of the
/// kernel command line. Unreadable files are passed over.
std::vector<ForeignLine> read_foreign_lines(system::Files& files, KernelOptions kernel);

/// The same, with the kernel command line of a running host.
std::vector<ForeignLine> read_foreign_lines(system::Host& host);

/// Settings of modules in the words of a kernel command line, for messages as of `file` and `line`.
std::vector<ForeignLine> command_line_settings(std::string_view words, const std::string& file, int line);

/// Whether a module's parameter, as /sys/module shows it, is what the option asks for: numbers by value,
/// booleans in every spelling of the kernel (kstrtobool()).
bool same_value(const model::ModuleOption& wanted, std::string_view running);

}  // namespace rdmacfg::kinds
