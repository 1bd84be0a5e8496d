// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/boot/udev_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "foreign/import/boot/script_sections.hpp"

namespace rdmacfg::foreign {

namespace {

constexpr std::array<std::string_view, 3> kDeviceKeys{"ATTR{node_guid}", "ATTRS{node_guid}", "KERNELS"};

}  // namespace

std::string advice_on_wanted(const UdevTerm& term, const Claims& claims) {
  if (term.key != "ENV{SYSTEMD_WANTS}" || !term.adds()) return {};
  std::vector<std::string> words{"systemctl", "enable"};
  for (const auto unit : words_of(term.value)) words.emplace_back(unit);
  return script_advice(words, fmt::format("systemctl enable {}", term.value), claims);
}

void tell_wanted(const UdevTerms& terms, const Place& where, Claims& claims) {
  for (const auto& term : terms) {
    if (const auto advice = advice_on_wanted(term, claims); !advice.empty())
      claims.miss(where, fmt::format("{}=\"{}\": {}", term.key, term.value, advice));
  }
}

void tell_device_settings(const UdevTerms& terms, const Place& where, Claims& claims) {
  if (!udev_condition(terms, UdevSubject::kDevice, claims)) return;
  for (const auto& term : terms) {
    if (!term.adds()) continue;
    if (term.key.starts_with("ATTR{") || term.key.starts_with("SYSCTL{")) {
      claims.pass(where, fmt::format("{}: the document does not support such settings of RDMA devices; keep "
                                     "this rule",
                                     term.key));
    } else if (term.key == "ENV{SYSTEMD_WANTS}" && advice_on_wanted(term, claims).empty()) {
      claims.miss(where, fmt::format("{}=\"{}\": cannot be expressed in the document; keep this rule",
                                     term.key, term.value));
    }
  }
}

std::vector<std::string_view> rename_words(const UdevTerm& term) {
  auto words = words_of(term.value);
  const auto at = std::find_if(words.begin(), words.end(), [](std::string_view word) {
    return word == "rdma_rename" || word.ends_with("/rdma_rename");
  });
  words.erase(words.begin(), at);
  return words;
}

bool renames_device(const UdevTerms& terms) {
  return std::any_of(terms.begin(), terms.end(),
                     [](const UdevTerm& term) { return !rename_words(term).empty(); });
}

void parse_device(const UdevTerms& terms, const Place& where, std::string_view skipped, Claims& claims) {
  const auto program = std::find_if(terms.begin(), terms.end(),
                                    [](const UdevTerm& term) { return !rename_words(term).empty(); });
  if (program == terms.end()) return;
  if (program->key != "PROGRAM")
    return claims.miss(where, fmt::format("rdma_rename in {}: is not supported", program->key));
  const auto condition = udev_condition(terms, UdevSubject::kDevice, claims);
  if (!condition) return;
  if (!skipped.empty() || !condition->empty())
    return claims.miss(where, skipped.empty() ? *condition : std::string(skipped));
  const auto subsystem = matched_value(terms, "SUBSYSTEM");
  if (!subsystem.empty() && subsystem != "infiniband")
    return claims.miss(where, fmt::format("rdma_rename for devices of the subsystem {}", subsystem));
  const auto words = rename_words(*program);
  const auto fixed = std::find(words.begin(), words.end(), "NAME_FIXED");
  if (fixed == words.end() || fixed + 1 == words.end()) {
    // Names by policy; that of rdma-core's own rule holds without it.
    const auto policy = words.size() < 3 ? std::string_view() : words[2];
    if (policy == "NAME_FALLBACK") return claims.pass(where, "NAME_FALLBACK is rdma-core's default");
    if (fixed != words.end()) return claims.miss(where, "NAME_FIXED: no name follows");
    return claims.miss(where,
                       fmt::format("{}: the document does not support naming policies; name each device",
                                   policy.empty() ? "rdma_rename" : policy));
  }
  if (asks_for_upper_case(terms, kDeviceKeys)) return claims.miss(where, std::string(kUpperCase));
  model::Attributes identity;
  auto node = matched_value(terms, "ATTR{node_guid}");
  if (node.empty()) node = matched_value(terms, "ATTRS{node_guid}");
  auto slot = matched_value(terms, "KERNELS");
  if (slot.empty()) slot = matched_value(terms, "ENV{ID_PATH}");
  if (slot.starts_with("pci-")) slot.erase(0, 4);
  if (const auto guid = model::Guid::parse(node)) {
    identity["node_guid"] = guid->text();
  } else if (const auto pci = model::PciAddress::parse(slot)) {
    identity["pci"] = pci->text;
  } else {
    claims.miss(where, "does not name the device by node GUID or PCI address");
    return;
  }
  const std::string name(*(fixed + 1));
  if (name.find_first_of("$%") != std::string::npos)
    return claims.miss(where, fmt::format("NAME_FIXED {}: udev computes the name", name));
  claims.took(where);
  claims.entry("rdma_device", identity, where).values["name"] = name;
}

}  // namespace rdmacfg::foreign
