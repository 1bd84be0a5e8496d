// SPDX-License-Identifier: Apache-2.0
#include "kinds/ports/pkey_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "kinds/kernel_release.hpp"

namespace rdmacfg::kinds {

using system::Link;

namespace detail {

std::optional<PkeyId> pkey_id(const model::Key& key) {
  const auto slash = key.id.rfind('/');
  if (slash == std::string::npos) return std::nullopt;
  const auto hash = key.id.find('#', slash);
  auto guid = model::Guid::parse(std::string_view(key.id).substr(0, slash));
  auto pkey = model::Pkey::parse(
      std::string_view(key.id).substr(slash + 1, hash == std::string::npos ? hash : hash - slash - 1));
  if (!guid || !pkey) return std::nullopt;
  return PkeyId{*guid, *pkey, hash == std::string::npos ? std::string() : key.id.substr(hash + 1)};
}

const std::vector<const Link*>& siblings_of(const PkeyId& id, const World& world) {
  static const std::vector<const Link*> kNone;
  const auto* parent = world.parent(id.guid);
  return parent == nullptr ? kNone : world.children(parent->index, id.pkey);
}

const Link* called(const std::vector<const Link*>& links, std::string_view name) {
  const auto at =
      std::find_if(links.begin(), links.end(), [&](const Link* link) { return link->name == name; });
  return at == links.end() ? nullptr : *at;
}

const Link* child_of(const PkeyId& id, const World& world, std::string_view name) {
  const auto& all = siblings_of(id, world);
  if (!id.name.empty()) return called(all, id.name);
  if (all.empty()) return nullptr;
  if (const auto* link = name.empty() ? nullptr : called(all, name); link != nullptr) return link;
  const auto& known_identity =
      world.known_identity({"pkey", fmt::format("{}/{}", id.guid.text(), id.pkey.text())});
  if (all.size() == 1 && known_identity.others.empty()) return all.front();
  std::vector<const Link*> left;
  for (const auto* link : all) {
    const auto instance = world.instance(*link);
    if (known_identity.others.contains(instance)) continue;
    if (known_identity.instance == instance) return link;
    left.push_back(link);
  }
  const auto at = std::find_if(left.begin(), left.end(),
                               [&](const Link* child) { return known_identity.names.contains(child->name); });
  if (at != left.end()) return *at;
  return left.empty() ? nullptr : left.front();
}

std::vector<std::string> first_names(std::string_view parent, model::Pkey pkey) {
  // Linux 6.10, and stable releases from June 2024 on, cut the parent's part; earlier ones cut the whole
  // name.
  constexpr std::size_t kParentPart = 10;
  std::vector<std::string> out{fmt::format("{}.{:04x}", parent.substr(0, kParentPart), pkey.full())};
  if (parent.size() > kParentPart)
    out.push_back(fmt::format("{}.{:04x}", parent, pkey.full()).substr(0, model::kInterfaceNameMax));
  return out;
}

std::vector<std::string> first_names(std::string_view parent, model::Pkey pkey, const World& world) {
  constexpr std::uint64_t kCutsParent = 610;
  const bool known = world.once("kernel cuts the parent's part of first names", [&] {
    const auto number = world.offline() ? std::nullopt : release_number(kernel_release(world));
    return number && *number >= kCutsParent;
  });
  auto out = first_names(parent, pkey);
  if (known) out.resize(1);
  return out;
}

}  // namespace detail

}  // namespace rdmacfg::kinds
