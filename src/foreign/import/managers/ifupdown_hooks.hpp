// SPDX-License-Identifier: Apache-2.0
// The commands in interfaces(5) by which people set up IPoIB: in pre-up, up and post-up.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

/// A command of a hook, in the stanza of an interface.
struct Hook {
  Place where;
  std::string key;  ///< "post-up"
  std::string command;
  std::string own;  ///< the stanza's interface
  model::Family family = model::Family::kIpv4;
};

bool is_hook(std::string_view key);

/// Whether the command is one for an IPoIB interface by itself: create_child, mode, ip link add … type ipoib.
bool is_of_ipoib(const Hook& hook);

/// Whether it is, and the interface that it sets up or makes a child of is the stanza's.
bool shows_ipoib(const Hook& hook);

/// Whether the commands of a stanza make a P_Key interface and give it the stanza's name.
bool renames_child(const std::vector<Hook>& hooks);

/// Names a command for going down that does more than undo what commands for coming up have set.
void tell_down(const Hook& hook, Claims& claims);

/// Understands a command: its settings are those of the interface that it names, of `found`, to which the
/// P_Key interfaces that it makes are added. @return why it is not understood, empty when it is.
std::string take_hook(const Hook& hook, std::map<std::string, Interface, std::less<>>& found);

}  // namespace rdmacfg::foreign
