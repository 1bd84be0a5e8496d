// SPDX-License-Identifier: Apache-2.0
#include "kinds/ports/name_template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>

#include "base/text.hpp"

// GCC 12 takes the unused member of tl::expected for one that is read (GCC bug 105562 and its kin).
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace rdmacfg::kinds {

using base::Code;
using base::fail;
using base::Result;

namespace {

constexpr std::array<std::string_view, 7> kPlaceholders{"device",   "port",         "pci_domain", "pci_bus",
                                                        "pci_slot", "pci_function", "guid_tail"};

struct Pci {
  unsigned domain = 0, bus = 0, slot = 0, function = 0;
};

std::optional<Pci> parse_pci(const std::string& address) {
  Pci pci;
  int used = 0;
  if (std::sscanf(address.c_str(), "%x:%x:%x.%x%n", &pci.domain, &pci.bus, &pci.slot, &pci.function, &used) !=
          4 ||
      static_cast<std::size_t>(used) != address.size()) {
    return std::nullopt;
  }
  return pci;
}

Result<std::string> value_of(std::string_view placeholder, const PortRef& port) {
  if (placeholder == "device") return port.device->name;
  if (placeholder == "port") return std::to_string(port.port->number);
  if (placeholder == "guid_tail") return fmt::format("{:06x}", port.port->guid.number & 0xffffffU);
  const auto pci = parse_pci(port.device->pci);
  if (!pci) {
    return fail(Code::kInvalid,
                fmt::format("{{{}}} has no value: {} is not on a PCI bus", placeholder, port.device->name));
  }
  if (placeholder == "pci_domain") return std::to_string(pci->domain);
  if (placeholder == "pci_bus") return std::to_string(pci->bus);
  if (placeholder == "pci_slot") return std::to_string(pci->slot);
  return std::to_string(pci->function);
}

/// The shortest that any port gives; letters where there may be some, so that only what never can be is
/// refused.
std::string shortest_of(std::string_view placeholder) {
  if (placeholder == "device") return "x";
  if (placeholder == "guid_tail") return "aaaaaa";
  return "1";
}

Result<std::string> check(std::string name) {
  if (name.size() > 2 && name.starts_with("ib") &&
      std::all_of(name.begin() + 2, name.end(), [](unsigned char c) { return std::isdigit(c) != 0; })) {
    return fail(Code::kInvalid, fmt::format("\"{}\" is a name that the kernel assigns itself, to the first "
                                            "port that appears; use another name, such as \"mlx4_{}\"",
                                            name, name));
  }
  if (name == "lo")
    return fail(Code::kInvalid, "\"lo\" is the name of the loopback interface; use another name");
  return model::parse_interface_name(name);
}

}  // namespace

Result<std::optional<std::string>> expand(const model::NameTemplate& pattern,
                                          const std::optional<PortRef>& port) {
  std::string out;
  bool unknown = false;
  std::string_view rest = pattern.text;
  for (auto open = rest.find('{'); open != std::string_view::npos; open = rest.find('{')) {
    const auto close = rest.find('}', open);
    if (close == std::string_view::npos)
      return fail(Code::kInvalid, fmt::format("\"{}\" has a {{ without }}", pattern.text));
    out += rest.substr(0, open);
    const auto placeholder = rest.substr(open + 1, close - open - 1);
    rest = rest.substr(close + 1);
    if (std::find(kPlaceholders.begin(), kPlaceholders.end(), placeholder) == kPlaceholders.end()) {
      const std::vector<std::string> known(kPlaceholders.begin(), kPlaceholders.end());
      if (placeholder.starts_with("host"))
        return fail(Code::kInvalid,
                    fmt::format("unknown placeholder {{{}}}; the name of the host is {{host}}", placeholder));
      const auto near = base::nearest(placeholder, known);
      return fail(Code::kInvalid, fmt::format("unknown placeholder {{{}}}; {}", placeholder,
                                              near ? fmt::format("did you mean {{{}}}?", *near)
                                                   : "there are {" + base::join(known, "}, {") + "}"));
    }
    if (!port) {
      unknown = true;
      out += shortest_of(placeholder);
      continue;
    }
    auto value = value_of(placeholder, *port);
    if (!value) return fail(value.error());
    out += *value;
  }
  out += rest;
  auto name = check(std::move(out));
  if (!name && !pattern.fixed())
    return fail(Code::kInvalid, fmt::format("{} (made of \"{}\")", name.error().message, pattern.text));
  if (!name) return fail(name.error());
  if (unknown) return std::nullopt;
  return std::optional<std::string>(std::move(*name));
}

}  // namespace rdmacfg::kinds
