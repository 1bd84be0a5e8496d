// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/boot/script_interfaces.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "base/text.hpp"
#include "foreign/syntax/shell_line.hpp"

namespace rdmacfg::foreign {

std::string_view without_substitution(std::string_view command) {
  const auto from = command.find("$(");
  const bool whole = from == 0 || (from != std::string_view::npos && command[from - 1] == '=' &&
                                   command.substr(0, from).find_first_of(" \t") == std::string_view::npos);
  if (!whole || !command.ends_with(')')) return command;
  const auto inner = base::trim(command.substr(from + 2, command.size() - from - 3));
  const auto words = inner.find_first_of("()") == std::string_view::npos ? shell_words(inner, "")
                                                                         : std::vector<std::string>();
  const bool sets = !words.empty() && (words[0] == "ip" || words[0] == "ifconfig" || words[0] == "modprobe");
  return sets ? inner : command;
}

std::string set_interface(const std::vector<std::string>& words, const Claims& claims,
                          const InterfaceVariables& variables) {
  const auto has = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (words.empty()) return {};
  const auto& command = words.front();
  // Questions have other options (ethtool(8)), and of those in upper case three: -P, -S and -T.
  const bool tunes =
      command == "ethtool" && std::any_of(words.begin() + 1, words.end(), [](const auto& word) {
        constexpr std::string_view kSetting = "sACEGKLNUWX";
        return word.starts_with("--set") ||
               (word.size() == 2 && word[0] == '-' && kSetting.find(word[1]) != std::string_view::npos);
      });
  // "ifconfig ib0" shows it, wherever the answer goes.
  const bool configures =
      command == "ifconfig" && words.size() > 2 && words[2].find('>') == std::string::npos;
  const bool sets = tunes || configures || command == "dhclient" || command == "dhcpcd" ||
                    command == "udhcpc" || command == "ifenslave" || (command == "arp" && has("-s")) ||
                    (command == "brctl" && has("addif")) || (command == "ovs-vsctl" && has("add-port")) ||
                    ((command == "ip" || command == "tc" || command == "route") &&
                     (has("set") || has("add") || has("replace") || has("change") || has("append")));
  if (!sets) return {};
  const auto at = std::find_if(words.begin() + 1, words.end(), [&](const std::string& word) {
    return claims.knows(word) || may_be_ipoib(word, variables);
  });
  return at == words.end() ? std::string() : *at;
}

bool only_reads(std::string_view command) {
  constexpr auto kReaders = std::to_array<std::string_view>(
      {"cat", "grep", "egrep", "fgrep", "head", "ls", "stat", "wc", "test", "[", "[["});
  const auto words = words_of(command);
  if (words.empty() || std::find(kReaders.begin(), kReaders.end(), words.front()) == kReaders.end())
    return false;
  const auto into = command.find('>');
  return into == std::string_view::npos || command.find("/sys/", into) == std::string_view::npos;
}

bool has_known_name(std::string_view text, const Claims& claims) {
  constexpr std::string_view kOfName = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  for (std::size_t at = text.find_first_of(kOfName); at != std::string_view::npos;) {
    const auto end = std::min(text.find_first_not_of(kOfName, at), text.size());
    const auto word = text.substr(at, end - at);
    if (!word.starts_with("ib") && claims.knows(word)) return true;
    at = text.find_first_of(kOfName, end);
  }
  return false;
}

std::string echoed_interface(const std::vector<std::string>& words) {
  if (words.size() != 4 || words[0] != "echo" || words[2] != ">") return {};
  const auto parts = base::split(words[3], '/');
  return parts.size() == 6 && parts[3] == "net" ? std::string(parts[4]) : std::string();
}

std::optional<model::IpAddress> gateway_of_route(const std::vector<std::string>& words) {
  const auto has = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (words.empty() || has("dev")) return std::nullopt;
  const bool of_net_tools = words.front() == "route" && has("add");
  const auto object = ip_object(words);
  const bool of_ip = object < words.size() && words[object] == "route" &&
                     (has("add") || has("replace") || has("change") || has("append"));
  if (!of_net_tools && !of_ip) return std::nullopt;
  const auto via = std::find(words.begin(), words.end(), of_net_tools ? "gw" : "via");
  if (words.end() - via < 2) return std::nullopt;
  const auto gateway = model::IpAddress::parse(*(via + 1));
  return gateway ? std::optional(*gateway) : std::nullopt;
}

std::optional<model::IpAddress> source_of_rule(const std::vector<std::string>& words) {
  const auto place = [&](std::string_view word) { return std::find(words.begin(), words.end(), word); };
  const auto from = place("from");
  const bool adds = !words.empty() && words.front() == "ip" && place("rule") < place("add") &&
                    place("add") != words.end() && words.end() - from > 1;
  if (!adds) return std::nullopt;
  const std::string_view source = *(from + 1);
  const auto address = model::IpAddress::parse(source.substr(0, source.find('/')));
  return address ? std::optional(*address) : std::nullopt;
}

bool has_in_network(const Interface& interface, const model::IpAddress& gateway) {
  const auto& addresses = interface.inet(gateway.family).addresses;
  return std::any_of(addresses.begin(), addresses.end(),
                     [&](const model::IpPrefix& prefix) { return prefix.contains(gateway); });
}

}  // namespace rdmacfg::foreign
