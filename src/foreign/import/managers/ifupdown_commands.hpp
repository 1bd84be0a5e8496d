// SPDX-License-Identifier: Apache-2.0
// The commands in hooks of interfaces(5) that set IPoIB up, recognised by their words as shell_words() has
// them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rdmacfg::foreign {

using ShellWords = std::vector<std::string>;

bool has_word(const ShellWords& words, std::string_view word);
/// The word behind another one; empty where there is none.
std::string_view word_after(const ShellWords& words, std::string_view word);

/// echo VALUE > /sys/class/net/INTERFACE/FILE, of mode, create_child, umcast and mtu
struct SysfsWrite {
  std::string value, interface, file;
};

std::optional<SysfsWrite> sysfs_write_of(const ShellWords& words);
/// An echo into a file that only IPoIB interfaces have.
std::optional<SysfsWrite> ipoib_echo_of(const ShellWords& words);

/// ip link add [link PARENT] [name] NAME type ipoib [pkey KEY] [mode MODE] [umcast FLAG]
struct IpoibAdd {
  std::string parent, name;
  std::string_view pkey, mode, umcast;
  std::string_view rest;  ///< a word that is none of these
};

std::optional<IpoibAdd> ipoib_add_of(const ShellWords& words);

/// `route add` for IPv4 (net-tools' inet_sr.c) as ip(8) has it. Empty if the command has other options, or
/// leaves the prefix length to the address class.
ShellWords ip_route_of(const ShellWords& words);

/// Commands that set nothing: those that wait, and those that test whether the interface is there before it
/// is set up.
bool sets_nothing(const ShellWords& words);

}  // namespace rdmacfg::foreign
