// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/managers/ifupdown_hooks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "foreign/import/managers/ifupdown_commands.hpp"
#include "foreign/inet.hpp"
#include "foreign/syntax/shell_blocks.hpp"
#include "foreign/syntax/shell_line.hpp"

namespace rdmacfg::foreign {

namespace {

constexpr std::string_view kNot = "the command is not supported";

using Found = std::map<std::string, Interface, std::less<>>;

class HookParser {
 public:
  HookParser(const Hook& hook, Found& found)
      : hook_(hook), found_(found), words_(shell_words(hook.command, hook.own)) {
    if (auto route = ip_route_of(words_); !route.empty()) words_ = std::move(route);
  }

  std::string take() {
    if (words_.empty() || sets_nothing(words_)) return {};
    if (const auto echo = sysfs_write_of(words_)) return take_sysfs_write(*echo);
    if (const auto there = elsewhere_of(words_))
      return fmt::format("acts in the network namespace {}, which the document does not describe",
                         there->name);
    if (is_ip_batch(words_)) return std::string(kNot);
    if (const auto add = ipoib_add_of(words_)) return take_add(*add);
    if (const auto object = ip_object(words_); object < words_.size() && words_[object] == "addr")
      return address();
    if (words_.front() == "ip" && has_word(words_, "route")) return route();
    if (words_.front() == "ip" && has_word(words_, "link") && has_word(words_, "set"))
      return set(std::find(words_.cbegin(), words_.cend(), "set") + 1, words_.cend());
    if (words_.front() == "ifconfig") return configure();
    return std::string(kNot);
  }

 private:
  /// Another interface has what its own stanza says; a command elsewhere may add to that.
  template <class T>
  std::string put(std::optional<T>& into, const T& value, const Interface& interface, std::string_view what) {
    if (interface.name != hook_.own && into && *into != value)
      return fmt::format("{}: {} sets another value", what, interface.where.text());
    into = value;
    return {};
  }

  static std::string unknown(std::string_view name) {
    return fmt::format("it is for {}, which is not an InfiniBand interface of these files",
                       name.empty() ? "no interface" : name);
  }

  Interface* of(std::string_view name) {
    const auto at = found_.find(name);
    return at == found_.end() ? nullptr : &at->second;
  }

  /// The P_Key interface `name`, made when no stanza is its own.
  std::string make(const std::string& name, const std::string& parent, std::string_view key) {
    const auto pkey = pkey_of(key);
    if (!pkey) {
      if (auto* interface = of(name)) interface->broken = true;
      return pkey.error().message;
    }
    const auto [at, fresh] = found_.try_emplace(name);
    auto& interface = at->second;
    if (fresh) {
      interface.name = name;
      interface.where = hook_.where;
    }
    interface.pkey = *pkey;
    interface.parent = parent;
    return {};
  }

  std::string take_sysfs_write(const SysfsWrite& echo) {
    if (echo.file == "mode") {
      auto* interface = of(echo.interface);
      if (interface == nullptr) return unknown(echo.interface);
      const auto mode = model::parse_named_mode(echo.value);
      return mode ? put(interface->mode, *mode, *interface, "mode") : mode.error().message;
    }
    if (echo.file == "umcast" || echo.file == "mtu") {
      auto* interface = of(echo.interface);
      if (interface == nullptr) return unknown(echo.interface);
      return echo.file == "mtu" ? set_mtu(*interface, echo.value) : set_umcast(*interface, echo.value);
    }
    const auto pkey = pkey_of(echo.value);
    // The kernel names the child after its parent and the P_Key, as a full member.
    if (pkey) return make(child_name(echo.interface, *pkey), echo.interface, echo.value);
    if (auto* interface = of(hook_.own); interface != nullptr && hook_.own.starts_with(echo.interface + "."))
      interface->broken = true;
    return pkey.error().message;
  }

  std::string take_add(const IpoibAdd& add) {
    const auto mode = add.mode.empty() ? base::Result<model::IpoibMode>(model::IpoibMode::kDatagram)
                                       : model::parse_named_mode(add.mode);
    if (!mode && of(add.name) == nullptr) return mode.error().message;
    auto why = make(add.name, add.parent, add.pkey);
    if (!why.empty()) return why;
    if (!mode) return mode.error().message;
    auto& interface = found_.find(add.name)->second;
    if (!add.mode.empty()) why = put(interface.mode, *mode, interface, "mode");
    if (!add.umcast.empty() && why.empty()) why = set_umcast(interface, add.umcast);
    if (!add.rest.empty() && why.empty()) why = fmt::format("{}: is not supported", add.rest);
    return why;
  }

  std::string set_umcast(Interface& interface, std::string_view value) {
    const auto umcast = yes_or_no(value);
    if (!umcast) return fmt::format("umcast {}: is neither 0 nor 1", value);
    return put(interface.umcast, *umcast, interface, "umcast");
  }

  std::string set_mtu(Interface& interface, std::string_view value) {
    const auto number = base::parse_number(value);
    if (!number || *number > static_cast<std::uint64_t>(model::kMtuConnectedMax))
      return fmt::format("{} is not a valid MTU", value);
    return put(interface.mtu, static_cast<std::int64_t>(*number), interface, "MTU");
  }

  std::string route() {
    const auto verb = std::find_if(words_.begin(), words_.end(),
                                   [](const auto& word) { return word == "add" || word == "replace"; });
    if (verb == words_.end()) return std::string(kNot);
    const auto device = word_after(words_, "dev");
    auto* interface = of(device.empty() ? std::string_view(hook_.own) : device);
    if (interface == nullptr) return unknown(device.empty() ? std::string_view(hook_.own) : device);
    const auto family = has_word(words_, "-6")   ? model::Family::kIpv6
                        : has_word(words_, "-4") ? model::Family::kIpv4
                                                 : hook_.family;
    return add_route_words(interface->inet(family), family,
                           base::join(ShellWords(verb + 1, words_.end()), " "));
  }

  /// ip addr add ADDRESS dev INTERFACE; without a prefix length, iproute2 assumes a host address
  /// (get_prefix()).
  std::string address() {
    const auto verb = std::find_if(words_.begin(), words_.end(), [](const auto& word) {
      return word == "add" || word == "replace" || word == "change";
    });
    if (verb == words_.end() || verb + 1 == words_.end() || has_word(words_, "peer"))
      return std::string(kNot);
    const auto device = word_after(words_, "dev");
    auto* interface = of(device);
    if (interface == nullptr) return unknown(device);
    const auto& text = *(verb + 1);
    return add_address(*interface, text, text.find(':') == std::string::npos ? 32 : 128);
  }

  /// ifconfig INTERFACE [ADDRESS[/LENGTH]] [netmask MASK] [broadcast ADDRESS] [mtu MTU] [up]
  std::string configure() {
    std::string text, mask;
    bool adds = false;
    ShellWords rest;
    for (auto at = words_.begin() + 1; at != words_.end(); ++at) {
      const bool keyed = *at == "netmask" || *at == "broadcast" || *at == "add";
      if (keyed && at + 1 == words_.end()) return fmt::format("nothing behind {}", *at);
      const bool first = text.empty() && !rest.empty();
      if (*at == "netmask") {
        mask = *++at;
      } else if (*at == "broadcast") {
        ++at;
      } else if (*at == "add" && first) {
        text = *++at;
        adds = true;
      } else if (first && model::IpAddress::parse(std::string_view(*at).substr(0, at->find('/')))) {
        text = *at;
      } else if (*at != "inet" && *at != "inet6") {
        rest.push_back(*at);
      }
    }
    const auto label = rest.empty() ? std::string::npos : rest.front().find(':');
    if (label != std::string::npos) rest.front().resize(label);  // of a further address
    adds = adds || label != std::string::npos;
    auto why = set(rest.cbegin(), rest.cend());
    if (!why.empty() || text.empty()) return why.empty() && !mask.empty() ? std::string(kNot) : why;
    const auto length = mask.empty() ? class_length(text) : prefix_of_netmask(mask);
    if (!mask.empty() && !length) return fmt::format("{} is not a netmask", mask);
    auto* interface = of(rest.front());
    if (interface == nullptr) return unknown(rest.front());
    return adds || text.find(':') != std::string::npos ? add_address(*interface, text, length)
                                                       : set_primary(interface->ipv4, text, length);
  }

  /// SIOCSIFADDR of Linux: it replaces the first IPv4 address, and 0.0.0.0 only takes that away.
  static std::string set_primary(Inet& inet, const std::string& text, std::optional<int> length) {
    const auto alone = model::IpAddress::parse(std::string_view(text).substr(0, text.find('/')));
    const bool none = alone && alone->unspecified();
    if (inet.addresses.empty())
      return none ? std::string() : add_address(inet, model::Family::kIpv4, text, length);
    Inet wanted;
    if (!none) {
      if (auto why = add_address(wanted, model::Family::kIpv4, text, length); !why.empty()) return why;
    }
    const auto& first = inet.addresses.front();
    if (!none && wanted.addresses.front() == first) return {};
    return fmt::format("replaces {}", first.text());
  }

  /// The words behind `type ipoib` of `ip link set ib0 type ipoib mode connected umcast 1`
  /// (ipoib_changelink() of the kernel's ipoib_netlink.c).
  std::string set_ipoib(Interface& interface, ShellWords::const_iterator at,
                        const ShellWords::const_iterator end) {
    for (; at != end; at += 2) {
      if (at + 1 == end) return fmt::format("nothing behind {}", *at);
      const auto& value = *(at + 1);
      std::string why;
      if (*at == "mode") {
        const auto mode = model::parse_named_mode(value);
        why = mode ? put(interface.mode, *mode, interface, "mode") : mode.error().message;
      } else if (*at == "umcast") {
        why = set_umcast(interface, value);
      } else {
        why = fmt::format("{} {}: is not supported", *at, value);
      }
      if (!why.empty()) return why;
    }
    return {};
  }

  /// Arguments of `ip link set` and ifconfig: the interface with or without `dev`, in any place.
  std::string set(ShellWords::const_iterator at, const ShellWords::const_iterator last) {
    const auto type = std::find(at, last, "type");
    const bool ipoib = last - type > 1 && *(type + 1) == "ipoib";
    const auto end = ipoib ? type : last;
    std::string device, mtu, name, rest;
    for (; at != end; ++at) {
      const bool keyed = *at == "dev" || *at == "mtu" || *at == "name";
      if (keyed && at + 1 == end) return fmt::format("nothing behind {}", *at);
      if (*at == "dev") {
        device = *++at;
      } else if (*at == "mtu") {
        mtu = *++at;
      } else if (*at == "name") {
        name = *++at;
      } else if (*at != "up" && device.empty()) {
        device = *at;
      } else if (*at != "up") {
        rest += rest.empty() ? *at : ' ' + *at;
      }
    }
    auto* interface = of(device);
    if (interface == nullptr) return unknown(device);
    if (ipoib) {
      if (auto why = set_ipoib(*interface, type + 2, last); !why.empty()) return why;
    }
    if (!mtu.empty()) {
      if (auto why = set_mtu(*interface, mtu); !why.empty()) return why;
    }
    if (!name.empty()) return rename(device, name);
    return rest.empty() ? std::string() : fmt::format("{}: is not supported", rest);
  }

  /// A child of the kernel's name becomes the stanza's interface.
  std::string rename(const std::string& from, const std::string& to) {
    auto child = found_.extract(from);
    auto* interface = of(to);
    if (interface == nullptr || to != hook_.own || !child.mapped().pkey || interface->pkey) {
      found_.insert(std::move(child));
      return std::string(kNot);
    }
    interface->pkey = child.mapped().pkey;
    interface->parent = child.mapped().parent;
    if (!interface->mode) interface->mode = child.mapped().mode;
    if (!interface->mtu) interface->mtu = child.mapped().mtu;
    return {};
  }

  const Hook& hook_;
  Found& found_;
  ShellWords words_;
};

/// Whether a command of a hook for going down sets nothing, or takes away what one for coming up has set.
bool takes_away(const ShellWords& words) {
  if (words.empty() || sets_nothing(words)) return true;
  const auto& first = words.front();
  if (first == "echo") {
    const bool child = words.back().starts_with("/sys/class/net/") && words.back().ends_with("/delete_child");
    return !has_word(words, ">") || child || sysfs_write_of(words).has_value();
  }
  if (first == "ip" || first == "ifconfig" || first == "route")
    return has_word(words, "del") || has_word(words, "delete") || has_word(words, "flush") ||
           has_word(words, "down");
  return first == "rmmod" || first == "exit";
}

}  // namespace

bool is_hook(std::string_view key) {
  return key == "pre-up" || key == "up" || key == "post-up" || key == "down" || key == "pre-down" ||
         key == "post-down";
}

bool is_of_ipoib(const Hook& hook) {
  const auto parts = parts_of(hook.command);
  return std::any_of(parts.begin(), parts.end(), [&](const Part& part) {
    const auto words = shell_words(part.text, hook.own);
    return ipoib_echo_of(words) || ipoib_add_of(words);
  });
}

bool shows_ipoib(const Hook& hook) {
  const auto parts = parts_of(hook.command);
  return std::any_of(parts.begin(), parts.end(), [&](const Part& part) {
    const auto words = shell_words(part.text, hook.own);
    if (const auto add = ipoib_add_of(words)) return add->name == hook.own || add->parent == hook.own;
    const auto echo = ipoib_echo_of(words);
    if (!echo) return false;
    const auto pkey = pkey_of(echo->value);
    return echo->interface == hook.own ||
           (echo->file == "create_child" && pkey && child_name(echo->interface, *pkey) == hook.own);
  });
}

bool renames_child(const std::vector<Hook>& hooks) {
  std::set<std::string, std::less<>> made;
  for (const auto& hook : hooks) {
    for (const auto& part : parts_of(hook.command)) {
      const auto words = shell_words(part.text, hook.own);
      const auto echo = ipoib_echo_of(words);
      if (echo && echo->file == "create_child") {
        if (const auto pkey = pkey_of(echo->value)) made.insert(child_name(echo->interface, *pkey));
      }
      const bool renamed = has_word(words, "set") && word_after(words, "name") == hook.own;
      if (renamed &&
          std::any_of(words.begin(), words.end(), [&](const auto& word) { return made.contains(word); }))
        return true;
    }
  }
  return false;
}

void tell_down(const Hook& hook, Claims& claims) {
  if (!hook.key.ends_with("down")) return;
  ShellBlocks blocks([&](std::string_view value) { return value == hook.own; });
  for (const auto& part : parts_of(hook.command)) {
    const auto command = blocks.next(part, hook.where.line);
    if (command.decides || command.test || takes_away(shell_words(command.text, hook.own))) continue;
    return claims.pass(hook.where,
                       fmt::format("{}: {}: the document has no commands for an interface that goes down",
                                   hook.key, without_secrets(command.text)));
  }
}

std::string take_hook(const Hook& hook, std::map<std::string, Interface, std::less<>>& found) {
  if (hook.key.ends_with("down")) return {};  // what is taken away again needs no entry
  const auto parts = parts_of(hook.command);
  ShellBlocks blocks([&](std::string_view value) { return value == hook.own; });
  std::string first;
  bool runs = true;  // nobody knows it of what stands behind something that is not understood
  for (const auto& part : parts) {
    const auto command = blocks.next(part, hook.where.line);
    if (part.joint == "||" || part.joint == "|") {
      runs = false;
    } else if (part.joint != "&&") {
      runs = true;
    }
    const auto words = shell_words(command.text, hook.own);
    if (words.empty() || words.front() == "exit" || (!command.block.empty() && sets_nothing(words))) continue;
    auto inner = hook;
    inner.command = command.text;
    // The condition of an `if` that is not understood is told where something depends on it.
    const auto why = !command.block.empty() ? command.block
                     : runs                 ? HookParser(inner, found).take()
                                            : std::string(kNot);
    if (why.empty() || (command.decides && command.block.empty())) continue;
    runs = false;
    if (first.empty())
      first = parts.size() == 1 ? why : fmt::format("{}: {}", without_secrets(command.text), why);
  }
  return first;
}

}  // namespace rdmacfg::foreign
