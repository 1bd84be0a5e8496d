// SPDX-License-Identifier: Apache-2.0
#include "fleet/inventory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "config/guard.hpp"

namespace rdmacfg::fleet {

namespace {

/// A tool's inventory, and the command that prints the hosts in it.
struct Inventory {
  std::string_view message, command;
};
constexpr Inventory kAnsible{"this is an Ansible inventory", "ansible -i FILE all --list-hosts | tail -n +2"};
constexpr Inventory kSlurm{"this is a Slurm configuration", "sinfo -Nh -o %N | sort -u"};
constexpr Inventory kClusterShell{"these are ClusterShell groups", "nodeset -e @GROUP"};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// "[gpu]", "[cluster:children]": a group, since a range of numbers has none but digits.
bool is_group_header(std::string_view line) {
  constexpr std::size_t kBrackets = 2;
  return line.size() > kBrackets && line.front() == '[' && line.back() == ']' && is_letter(line[1]) &&
         line.find_first_of(", \t") == std::string_view::npos;
}

/// Which inventory a line is of; nothing where a list of hosts may have it.
const Inventory* inventory_of(std::string_view line) {
  if (line.starts_with("NodeName=") || line.starts_with("ClusterName=")) return &kSlurm;
  if (line.front() == '{' || is_group_header(line) || line.find(" ansible_") != std::string_view::npos)
    return &kAnsible;
  const auto colon = line.find(':');
  const auto name = line.substr(0, std::min(colon, line.size()));
  const bool is_key = colon != std::string_view::npos && !name.empty() &&
                      name.find_first_of("[], \t") == std::string_view::npos;
  if (!is_key) return nullptr;
  if (colon + 1 == line.size()) return &kAnsible;  // YAML: "all:"
  return line[colon + 1] == ' ' ? &kClusterShell : nullptr;
}

}  // namespace

std::optional<model::Diagnostic> recognize_inventory(const config::Text& text) {
  int number = 0;
  for (const auto raw : base::split(config::without_mark(text.text), '\n')) {
    ++number;
    const auto line = base::trim(raw);
    if (line.empty() || line.front() == '#' || line.front() == ';' || line == "---") continue;
    const auto* inventory = inventory_of(line);
    if (inventory == nullptr) return std::nullopt;  // the first line shows what the others are
    const auto column = static_cast<int>(line.data() - raw.data()) + 1;
    return model::Diagnostic{
        model::Severity::kError,
        {text.name, number, column, static_cast<int>(line.size())},
        fmt::format("{}, not a list of hosts", inventory->message),
        fmt::format("`{}` prints its hosts; give these as --hosts -", inventory->command),
        {}};
  }
  return std::nullopt;
}

}  // namespace rdmacfg::fleet
