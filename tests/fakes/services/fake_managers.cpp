// SPDX-License-Identifier: Apache-2.0
#include "fakes/services/fake_managers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>

#include "base/digest.hpp"
#include "base/text.hpp"

namespace rdmacfg::fakes {

using base::fail_errno;
using base::Result;

namespace {
constexpr const char* kFolder = "/etc/NetworkManager/system-connections";
constexpr std::chrono::seconds kActivation(44);  // as slow as it may be
constexpr const char* kIfcfg = "/etc/sysconfig/network-scripts/ifcfg-";

/// An ifcfg file of a P_Key interface as its plugin ifcfg-rh has it: a keyfile. Without a UUID it makes one
/// of the path, without a NAME one of the file's.
std::string of_ifcfg(const std::string& path, const std::string& text) {
  std::map<std::string, std::string> keys;
  for (const auto line : base::split(text, '\n')) {
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    std::string value(line.substr(equals + 1));
    std::erase(value, '"');
    keys[std::string(line.substr(0, equals))] = std::move(value);
  }
  if (keys["UUID"].empty()) keys["UUID"] = base::uuid_of(path);
  if (keys["NAME"].empty()) keys["NAME"] = "System " + path.substr(std::string_view(kIfcfg).size());
  return fmt::format(
      "[connection]\nid={}\nuuid={}\ntype=infiniband\n\n[infiniband]\np-key={}\nparent={}\n\n"
      "[ipv4]\naddress1={}/{}\n",
      keys["NAME"], keys["UUID"], base::parse_number(keys["PKEY_ID"]).value_or(0) | 0x8000U, keys["PHYSDEV"],
      keys["IPADDR"], keys["PREFIX"]);
}

/// A domain without "~" and final dot, in lower case.
std::string bare_domain(std::string_view domain) {
  auto out = base::lower(domain.substr(domain.starts_with('~') ? 1 : 0));
  if (out.size() > 1 && out.ends_with('.')) out.pop_back();
  return out;
}

/// bus_link_method_set_domains(): one that is there already keeps its spelling, and goes to the end.
std::vector<std::string> kept_domains(std::vector<std::string> now, const std::vector<std::string>& wanted) {
  std::vector<std::string> out;
  for (const auto& domain : wanted) {
    const auto same = [&](const std::string& other) { return bare_domain(other) == bare_domain(domain); };
    auto& from = std::any_of(out.begin(), out.end(), same) ? out : now;
    const auto at = std::find_if(from.begin(), from.end(), same);
    auto name = at == from.end() ? domain : *at;
    if (at != from.end()) from.erase(at);
    if (name.starts_with('~')) name.erase(0, 1);
    if (name.size() > 1 && name.ends_with('.')) name.pop_back();
    out.push_back((domain.starts_with('~') ? "~" : "") + name);
  }
  return out;
}

}  // namespace

std::string FakeResolver::dump() const {
  std::string out;
  for (const auto& [index, dns] : links) {
    const Interface* link = machine_.find(index);
    if (link == nullptr || dns == system::LinkDns{}) continue;
    out += "dns " + link->name;
    for (const auto& server : dns.servers) out += " " + server.text();
    for (const auto& domain : dns.search) out += " " + domain;
    out += "\n";
  }
  return out;
}

Result<std::optional<system::LinkDns>> FakeResolver::observe_dns(int index) {
  if (!running) return std::optional<system::LinkDns>{};
  const auto at = links.find(index);
  return std::optional(at == links.end() ? system::LinkDns{} : at->second);
}

Result<void> FakeResolver::set_dns(int index, const system::LinkDns& dns) {
  const auto what = fmt::format("resolved: set name servers of {}",
                                machine_.find(index) == nullptr ? "?" : machine_.find(index)->name);
  const int err = faults_.call(what, [&] {
    if (!running || machine_.find(index) == nullptr) return ENODEV;
    if (std::find(dns.search.begin(), dns.search.end(), ".") != dns.search.end()) return EINVAL;
    links[index] = {dns.servers, kept_domains(links[index].search, dns.search)};
    return 0;
  });
  if (err != 0) return fail_errno(err, what);
  return {};
}

FakeNetworkManager::Profile FakeNetworkManager::parse(const std::string& text) {
  Profile out;
  std::string section;
  for (const auto line : base::split(text, '\n')) {
    if (line.starts_with('[')) section = line.substr(1, line.size() - 2);
    const auto equals = line.find('=');
    if (!line.starts_with('#') && equals != std::string_view::npos)
      out[section + "." + std::string(line.substr(0, equals))] = std::string(line.substr(equals + 1));
  }
  return out;
}

std::pair<std::string, FakeNetworkManager::Profile> FakeNetworkManager::profile(
    const std::string& uuid) const {
  for (const auto& [file, text] : loaded) {
    auto parsed = parse(text);
    if (parsed["connection.uuid"] == uuid) return {file, std::move(parsed)};
  }
  return {};
}

Interface* FakeNetworkManager::interface_of(const Profile& profile) {
  const auto value = [&](const std::string& key) {
    const auto at = profile.find("infiniband." + key);
    return at == profile.end() ? std::string() : at->second;
  };
  if (value("p-key").empty()) {
    const auto address = value("mac-address");
    for (auto& link : machine_.links) {
      if (link.is_ipoib() && link.parent == 0 &&
          base::lower(address).ends_with(model::Guid{link.guid}.text()))
        return &link;
    }
    return nullptr;
  }
  Interface* parent = machine_.find(value("parent"));
  if (parent == nullptr) return nullptr;
  const auto key = static_cast<std::uint16_t>(base::parse_number(value("p-key")).value_or(0));
  const auto name = fmt::format("{}.{:04x}", parent->name, key).substr(0, 15);
  if (Interface* link = machine_.find(name); link != nullptr) return link;
  if (machine_.create_netlink({parent->index, name, *model::Pkey::make(key)}) != 0) return nullptr;
  made_.insert(machine_.links.back().index);
  return &machine_.links.back();
}

void FakeNetworkManager::configure(Interface& link, const Profile& profile) {
  link.items.clear();
  for (const auto& [key, value] : profile) {
    const auto words = base::split(value, ',');
    const bool address = key.starts_with("ipv4.address") || key.starts_with("ipv6.address");
    if (address) link.items.push_back(fmt::format("addr{} {}", key[3], words[0]));
    if (address && words.size() > 1)
      link.items.push_back(fmt::format("route default via {} metric 150", words[1]));
    if (!key.starts_with("ipv4.route") && !key.starts_with("ipv6.route")) continue;
    if (key.ends_with("_options")) continue;
    auto route = fmt::format("route {}", words[0]);
    if (words.size() > 1 && words[1] != "0.0.0.0" && words[1] != "::")
      route += fmt::format(" via {}", words[1]);
    route += fmt::format(" metric {}", words.size() > 2 ? words[2] : "150");
    const auto options = profile.find(key + "_options");
    if (options != profile.end()) route += " table " + options->second.substr(options->second.find('=') + 1);
    link.items.push_back(std::move(route));
  }
}

void FakeNetworkManager::set_mode(Interface& link, bool connected) {
  if (link.connected == connected) return;
  link.connected = connected;
  const auto mtu = connected ? model::kMtuConnectedMax : std::min(link.mcast_mtu, link.mtu);
  (void)machine_.set({.index = link.index, .mtu = mtu});
}

void FakeNetworkManager::set_mtu(const Interface& link, const Profile& profile) {
  const auto mtu = profile.find("infiniband.mtu");
  if (mtu == profile.end()) return;
  first_mtu_.try_emplace(link.index, link.mtu);
  (void)machine_.set(
      {.index = link.index, .mtu = static_cast<std::int64_t>(base::parse_number(mtu->second).value_or(0))});
}

void FakeNetworkManager::give_mtu_back(int index) {
  if (const auto mtu = first_mtu_.extract(index); !mtu.empty())
    (void)machine_.set({.index = index, .mtu = mtu.mapped()});
}

int FakeNetworkManager::bring_up(const Profile& profile) {
  Interface* link = interface_of(profile);
  if (link == nullptr) return ENODEV;
  if (unmanaged.contains(link->guid)) return EACCES;  // "strictly unmanaged"
  ++activations;
  give_mtu_back(link->index);  // what was up on it goes down first
  const auto mode = profile.find("infiniband.transport-mode");
  set_mode(*link, mode != profile.end() && mode->second == "connected");
  (void)machine_.set({.index = link->index, .up = true});
  set_mtu(*link, profile);
  const auto id = profile.find("connection.id");
  if (id != profile.end() && fails.contains(id->second)) return EIO;
  configure(*link, profile);
  active[profile.at("connection.uuid")] = link->index;
  return 0;
}

void FakeNetworkManager::take_down(const std::string& uuid) {
  const auto at = active.find(uuid);
  if (at == active.end()) return;
  const int index = at->second;
  active.erase(at);
  if (Interface* link = machine_.find(index); link != nullptr) link->items.clear();
  give_mtu_back(index);
  if (made_.erase(index) != 0) (void)machine_.remove(index);
}

void FakeNetworkManager::notice() {
  for (const auto& [uuid, index] : std::map(active)) {
    if (machine_.find(index) != nullptr) continue;
    auto settings = profile(uuid).second;
    if (!settings.contains("infiniband.p-key") || settings["connection.autoconnect"] == "false") continue;
    active.erase(uuid);
    made_.erase(index);
    (void)bring_up(settings);
  }
}

void FakeNetworkManager::start() {
  running = true;
  loaded.clear();
  active.clear();
  unmanaged = configured();
  for (const auto& [path, text] : files_.content) {
    if (path.starts_with(kFolder)) loaded[path] = text;
    if (path.starts_with(kIfcfg) && text.find("PKEY_ID=") != std::string::npos)
      loaded[path] = of_ifcfg(path, text);
  }
  for (const bool child : {false, true}) {
    for (const auto& [path, text] : loaded) {
      auto settings = parse(text);
      if (settings.contains("infiniband.p-key") == child && settings["connection.autoconnect"] != "false")
        (void)bring_up(settings);
    }
  }
}

std::string FakeNetworkManager::dump() const {
  std::string out;
  for (const auto& [file, text] : loaded) {
    auto settings = parse(text);
    const auto at = active.find(settings["connection.uuid"]);
    const Interface* link = at == active.end() ? nullptr : machine_.find(at->second);
    out += fmt::format("profile {} {}\n", settings["connection.id"],
                       link == nullptr ? "inactive" : "on " + link->name);
  }
  return out;
}

Result<std::optional<system::NmState>> FakeNetworkManager::observe() {
  if (!running) return std::optional<system::NmState>{};
  ++readings;
  notice();
  system::NmState out;
  out.version = version;
  for (const auto& [file, text] : loaded) out.files.push_back(file);
  for (const auto& link : machine_.links) {
    system::NmDevice device{link.name, !unmanaged.contains(link.guid), {}};
    for (const auto& [uuid, index] : active) {
      if (index == link.index) device.active = uuid;
    }
    out.devices.push_back(std::move(device));
  }
  for (const auto& [uuid, index] : active) {
    if (machine_.find(index) != nullptr)
      out.active.push_back({uuid, profile(uuid).second["connection.id"], !in_transition.contains(uuid)});
  }
  return std::optional(std::move(out));
}

std::set<std::uint64_t> FakeNetworkManager::configured() const {
  constexpr std::string_view kSnippets = "/etc/NetworkManager/conf.d/", kKey = "unmanaged-devices";
  std::set<std::uint64_t> out;
  for (const auto& [path, text] : files_.content) {
    if (!path.starts_with(kSnippets) || !path.ends_with(".conf")) continue;
    for (auto line : base::split(text, '\n')) {
      if (!line.starts_with(kKey)) continue;
      line.remove_prefix(kKey.size());
      if (line.starts_with('=')) out.clear();
      for (const auto spec : base::split(line.substr(line.find('=') + 1), ';')) {
        constexpr std::size_t kGuidText = 23, kAddressText = 59;
        const auto guid =
            model::Guid::parse(spec.size() < kGuidText ? spec : spec.substr(spec.size() - kGuidText));
        if (spec.size() == kAddressText && guid) out.insert(guid->number);
      }
    }
  }
  return out;
}

void FakeNetworkManager::let_go(int index) {
  for (const auto& [uuid, up_on] : std::map(active)) {
    if (up_on == index) take_down(uuid);
  }
  const Interface* link = machine_.find(index);
  if (link != nullptr && link->items.empty()) (void)machine_.set({.index = index, .up = false});
}

void FakeNetworkManager::take(int index) {
  Interface* link = machine_.find(index);
  if (link == nullptr) return;
  link->items.clear();
  (void)machine_.set({.index = index, .up = true});
}

Result<void> FakeNetworkManager::reread() {
  const std::string what = "NetworkManager: read the configuration";
  if (!running) return fail_errno(ESRCH, what);
  const auto before = unmanaged, after = configured();
  if (before == after) return {};
  const int err = faults_.call(what, [&] {
    unmanaged = after;
    std::vector<std::pair<int, std::uint64_t>> ports;
    for (const auto& link : machine_.links) {
      if (link.is_ipoib()) ports.emplace_back(link.index, link.guid);
    }
    for (const auto& [index, guid] : ports) {
      if (after.contains(guid) && !before.contains(guid)) let_go(index);
      if (!after.contains(guid) && before.contains(guid)) take(index);
    }
    return 0;
  });
  if (err != 0) return fail_errno(err, what);
  return {};
}

Result<void> FakeNetworkManager::load(std::span<const std::string> files) {
  const auto what = fmt::format("NetworkManager: load {}", fmt::join(files, " "));
  const int err = faults_.call(what, [&] {
    for (const auto& file : files) {
      const auto at = files_.content.find(file);
      if (at == files_.content.end()) {
        loaded.erase(file);
      } else {
        loaded[file] = at->second;
      }
    }
    return 0;
  });
  if (err != 0) return fail_errno(err, what);
  return {};
}

Result<void> FakeNetworkManager::remove(const std::string& uuid) {
  const auto what = "NetworkManager: remove " + uuid;
  const int err = faults_.call(what, [&] {
    take_down(uuid);
    if (const auto file = profile(uuid).first; !file.empty()) {
      loaded.erase(file);
      files_.content.erase(file);
    }
    return 0;
  });
  if (err != 0) return fail_errno(err, what);
  return {};
}

Result<void> FakeNetworkManager::activate(const std::string& uuid, const std::string& interface,
                                          std::chrono::milliseconds /*deadline*/) {
  const auto what = "NetworkManager: activate " + uuid;
  const int err = faults_.call(what, [&] {
    auto found = profile(uuid);
    if (found.first.empty()) return ENOENT;
    // nm_device_check_connection_compatible(): "mismatching interface name"
    const auto& name = found.second["connection.interface-name"];
    if (!interface.empty() && !name.empty() && name != interface) return EINVAL;
    clock_ += kActivation;
    in_transition.erase(uuid);
    return bring_up(found.second);
  });
  if (err != 0) return fail_errno(err, what);
  return {};
}

Result<void> FakeNetworkManager::deactivate(const std::string& uuid) {
  const auto what = "NetworkManager: deactivate " + uuid;
  const int err = faults_.call(what, [&] {
    take_down(uuid);
    return 0;
  });
  if (err != 0) return fail_errno(err, what);
  return {};
}

Result<std::string> FakeNetworkManager::active_on(const std::string& interface) {
  if (!running) return std::string();
  notice();
  for (const auto& [uuid, index] : active) {
    const Interface* link = machine_.find(index);
    if (link != nullptr && link->name == interface) return uuid;
  }
  return std::string();
}

Result<void> FakeNetworkManager::reapply(const std::string& interface) {
  const auto what = "NetworkManager: reapply " + interface;
  const int err = faults_.call(what, [&] {
    for (const auto& [uuid, index] : active) {
      Interface* link = machine_.find(index);
      if (link == nullptr || link->name != interface) continue;
      ++reapplies;
      auto settings = profile(uuid).second;
      set_mtu(*link, settings);
      configure(*link, settings);
      return 0;
    }
    return ENODEV;
  });
  if (err != 0) return fail_errno(err, what);
  return {};
}

Result<std::string> FakeNetworkManager::create_checkpoint(std::span<const std::string> /*interfaces*/,
                                                          std::chrono::seconds timeout) {
  const auto name = fmt::format("checkpoint-{}", ++checkpoints_made_);
  checkpoints_[name] = clock_ + timeout;
  return name;
}

Result<void> FakeNetworkManager::checkpoint_there(const std::string& checkpoint) {
  std::erase_if(checkpoints_, [this](const auto& kept) { return kept.second < clock_; });
  if (checkpoint.empty() || checkpoints_.contains(checkpoint)) return {};
  return base::fail(base::Code::kNotFound, fmt::format("checkpoint {} does not exist", checkpoint));
}

Result<void> FakeNetworkManager::extend_checkpoint(const std::string& checkpoint,
                                                   std::chrono::seconds timeout) {
  auto there = checkpoint_there(checkpoint);
  if (there && !checkpoint.empty()) checkpoints_[checkpoint] = clock_ + timeout;
  return there;
}

Result<void> FakeNetworkManager::destroy_checkpoint(const std::string& checkpoint) {
  auto there = checkpoint_there(checkpoint);
  checkpoints_.erase(checkpoint);
  return there;
}

Result<void> FakeNetworkManager::rollback(const std::string& checkpoint) {
  return destroy_checkpoint(checkpoint);
}

}  // namespace rdmacfg::fakes
