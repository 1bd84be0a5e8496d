// SPDX-License-Identifier: Apache-2.0
// Debian's interfaces(5), with the commands by which people set up IPoIB there.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "foreign/formats.hpp"
#include "foreign/inet.hpp"

namespace rdmacfg::foreign {

using model::Family;
using model::InetMethod;

namespace {

struct Stanza {
  std::string name;
  std::string family;
  std::string method;
  Place where;
  std::vector<Item> lines;  ///< key: first word; value: the rest
};

std::string without_quotes(std::string_view text) {
  std::string out(text);
  std::erase(out, '"');
  std::erase(out, '\'');
  return out;
}

bool is_hook(std::string_view key) {
  return key == "pre-up" || key == "up" || key == "post-up" || key == "down" || key == "pre-down" ||
         key == "post-down";
}

class Interfaces {
 public:
  explicit Interfaces(Claims& claims) : claims_(claims) {}

  void read(const File& file) {
    int number = 0, first = 0;
    std::string joined;
    bool inside = false;
    for (const auto raw : base::split(file.text, '\n')) {
      ++number;
      if (joined.empty()) first = number;
      auto line = base::trim(raw);
      if (joined.empty() && (line.empty() || line.front() == '#')) continue;
      if (line.ends_with('\\')) {
        joined += std::string(line.substr(0, line.size() - 1)) + ' ';
        continue;
      }
      joined += line;
      const auto words = words_of(joined);
      if (!words.empty()) statement(file, first, words, joined, inside);
      joined.clear();
    }
  }

  void finish() {
    std::map<std::string, Interface> found;
    for (const auto& stanza : stanzas_) {
      if (!is_ipoib(stanza)) {
        claims_.pass(stanza.where, fmt::format("{} is not for InfiniBand", stanza.name));
        continue;
      }
      auto& out = found[stanza.name];
      if (out.name.empty()) {
        out.name = stanza.name;
        out.where = stanza.where;
        if (!started_.contains(stanza.name)) out.state = model::State::kDown;
      }
      claims_.took(stanza.where);
      take(stanza, out);
    }
    for (auto& [name, one] : found) {
      const auto dot = name.rfind('.');
      if (!one.pkey && dot != std::string::npos && name.size() - dot == 5) {
        if (const auto pkey = pkey_of("0x" + name.substr(dot + 1))) {
          one.pkey = *pkey;
          one.parent = name.substr(0, dot);
        }
      }
      place_search(one);
      settle(one);
      claims_.interfaces.push_back(std::move(one));
    }
  }

 private:
  void statement(const File& file, int line, const std::vector<std::string_view>& words,
                 std::string_view whole, bool& inside) {
    const Place where{file.path, line};
    const auto word = words.front();
    if (word == "auto" || word.starts_with("allow-")) {
      inside = false;
      for (std::size_t at = 1; at < words.size(); ++at) started_.emplace(words[at]);
      claims_.took(where);
    } else if (word == "iface") {
      inside = words.size() >= 4;
      if (inside) {
        stanzas_.push_back({std::string(words[1]), std::string(words[2]), std::string(words[3]), where, {}});
      } else {
        claims_.miss(where, "iface needs a name, a family and a method");
      }
    } else if (word == "source" || word == "source-directory") {
      inside = false;
      claims_.pass(where, "files of interfaces.d are read by themselves");
    } else if (inside && word != "mapping") {
      const auto trimmed = base::trim(whole);
      stanzas_.back().lines.push_back(
          {std::string(word), std::string(base::trim(trimmed.substr(word.size()))), line});
    } else {
      inside = false;
      claims_.miss(where, fmt::format("{}: is not understood", word));
    }
  }

  [[nodiscard]] bool is_ipoib(const Stanza& stanza) const {
    if (stanza.name.starts_with("ib") || claims_.known.contains(stanza.name)) return true;
    const auto of_rule = [&](const auto& name) { return name.second == stanza.name; };
    if (std::any_of(claims_.names.begin(), claims_.names.end(), of_rule)) return true;
    return std::any_of(stanza.lines.begin(), stanza.lines.end(), [](const Item& item) {
      return item.value.find("create_child") != std::string::npos ||
             item.value.find("type ipoib") != std::string::npos ||
             (item.value.find("/mode") != std::string::npos && item.value.find("echo") != std::string::npos);
    });
  }

  void take(const Stanza& stanza, Interface& out) {
    const bool six = stanza.family == "inet6";
    const auto family = six ? Family::kIpv6 : Family::kIpv4;
    auto& inet = out.inet(family);
    if (stanza.method == "dhcp" || (six && stanza.method == "auto")) {
      inet.method = InetMethod::kAuto;
    } else if (stanza.method != "static" && stanza.method != "manual") {
      claims_.miss(stanza.where, fmt::format("method {}: is not understood", stanza.method));
    }
    Keys keys(stanza.where.file, stanza.lines, claims_);
    const auto report = [&](const Item& item, const std::string& why) {
      if (!why.empty()) keys.wrong(item, why);
    };
    std::optional<int> length;
    if (const auto mask = keys.take("netmask")) {
      const auto bits = base::parse_number(mask->value);
      length = bits && *bits <= 128 ? std::optional(static_cast<int>(*bits)) : prefix_of_netmask(mask->value);
      if (!length) report(*mask, fmt::format("{} is no netmask", mask->value));
    }
    for (const auto& address : keys.take_all("address"))
      report(address, add_address(inet, family, address.value, length));
    if (const auto gateway = keys.take("gateway"))
      report(*gateway, set_gateway(inet, family, gateway->value));
    if (const auto mtu = keys.number("mtu", model::kMtuConnectedMax)) out.mtu = mtu;
    for (const auto& servers : keys.take_all("dns-nameservers")) {
      for (const auto server : words_of(servers.value)) report(servers, add_server(out, server));
    }
    for (const auto* key : {"dns-search", "dns-domain"}) {
      for (const auto& search : keys.take_all(key)) add_search(out, search.value);
    }
    for (const auto& key : keys.left()) {
      if (!is_hook(key)) continue;
      for (const auto& command : keys.take_all(key)) report(command, hook(key, command.value, out, family));
    }
    keys.pass({"network", "broadcast", "accept_ra", "autoconf", "dad-attempts", "privext"});
    keys.finish();
  }

  /// A command of a hook. @return why it is not understood.
  static std::string hook(std::string_view key, std::string_view command, Interface& out, Family family) {
    auto text = without_quotes(command);
    for (const auto* end : {"|| true", "|| :"}) {
      if (text.ends_with(end)) text.resize(text.size() - std::string_view(end).size());
    }
    for (std::size_t at = 0; (at = text.find('>', at)) != std::string::npos; at += 3)
      text.replace(at, 1, " > ");
    const auto words = words_of(text);
    if (words.empty()) return {};
    const auto program = words.front().substr(words.front().rfind('/') + 1);
    const auto is_own = [&](std::string_view name) {
      return name == "$IFACE" || name == "${IFACE}" || name == out.name;
    };
    if (key.ends_with("down") && key != "up") return {};  // what is taken away again
    if (program == "modprobe") return {};
    if (program == "echo" && words.size() == 4 && words[2] == ">") {
      const auto parts = base::split(words[3], '/');  // /sys/class/net/NAME/mode
      if (parts.size() != 6 || parts[3] != "net") return "the command is not understood";
      if (parts[5] == "mode" && is_own(parts[4])) {
        const auto mode = model::parse_ipoib_mode(words[1]);
        if (!mode) return mode.error().message;
        out.mode = *mode;
        return {};
      }
      if (parts[5] == "create_child") {
        const auto pkey = pkey_of(words[1]);
        if (!pkey) {
          out.broken = !is_own(parts[4]);
          return pkey.error().message;
        }
        if (is_own(parts[4])) return {};  // the child has a stanza of its own
        out.pkey = *pkey;
        out.parent = parts[4];
        return {};
      }
    }
    if (program == "ip" || program == "ifconfig") return ip(words, program == "ip", out, family);
    return "the command is not understood";
  }

  static std::string ip(const std::vector<std::string_view>& words, bool modern, Interface& out,
                        Family family) {
    const auto after = [&](std::string_view word) {
      const auto at = std::find(words.begin(), words.end(), word);
      return at == words.end() || at + 1 == words.end() ? std::string_view() : *(at + 1);
    };
    const auto has = [&](std::string_view word) {
      return std::find(words.begin(), words.end(), word) != words.end();
    };
    if (modern && has("add") && has("ipoib")) {
      const auto pkey = pkey_of(after("pkey"));
      out.broken = !pkey;
      if (!pkey) return pkey.error().message;
      out.pkey = *pkey;
      const auto add = std::find(words.begin(), words.end(), "add");  // ip link add link PARENT …
      const auto link = std::find(add, words.end(), "link");
      out.parent = link == words.end() || link + 1 == words.end() ? std::string_view() : *(link + 1);
      if (const auto mode = model::parse_ipoib_mode(after("mode"))) out.mode = *mode;
      return {};
    }
    if (modern && has("route") && (has("add") || has("replace"))) {
      std::string line;
      const auto at = std::find_if(words.begin(), words.end(),
                                   [](auto word) { return word == "add" || word == "replace"; });
      for (auto one = at + 1; one != words.end(); ++one) line += fmt::format("{} ", *one);
      return add_route_words(out.inet(family), family, line);
    }
    if (!after("mtu").empty()) {
      const auto mtu = base::parse_number(after("mtu"));
      if (!mtu || *mtu > static_cast<std::uint64_t>(model::kMtuConnectedMax)) return "the MTU is none";
      out.mtu = static_cast<std::int64_t>(*mtu);
      return {};
    }
    if (modern && has("link") && has("set") && has("up")) return {};
    return "the command is not understood";
  }

  Claims& claims_;
  std::vector<Stanza> stanzas_;
  std::set<std::string, std::less<>> started_;
};

}  // namespace

void parse_ifupdown(std::span<const File> files, Claims& claims) {
  Interfaces interfaces(claims);
  for (const auto& file : files) interfaces.read(file);
  interfaces.finish();
}

}  // namespace rdmacfg::foreign
