// SPDX-License-Identifier: Apache-2.0
#include "fakes/services/fake_networkd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "base/text.hpp"

namespace rdmacfg::fakes {

using base::fail_errno;
using base::Result;
using system::NetworkdLink;

namespace {

constexpr const char* kNetworkFiles = "/etc/systemd/network/";

/// Properties that the rules give to an interface: ENV{NAME}="value" in lines with its GUID.
std::map<std::string, std::string> properties_of(const Interface& link, const MemoryFiles& files) {
  std::map<std::string, std::string> out;
  for (const auto& [path, text] : files.content) {
    if (!path.starts_with("/etc/udev/rules.d/")) continue;
    for (const auto line : base::split(text, '\n')) {
      if (line.find("==\"?*" + model::Guid{link.guid}.text() + "\"") == std::string_view::npos) continue;
      if (line.find("DRIVERS==") != std::string_view::npos && link.parent != 0) continue;
      for (auto at = line.find("ENV{"); at != std::string_view::npos; at = line.find("ENV{", at + 1)) {
        const auto name = line.substr(at + 4, line.find('}', at) - at - 4);
        const auto start = line.find('"', at) + 1;
        auto value = std::string(line.substr(start, line.find('"', start) - start));
        if (value == "$attr{broadcast}")
          value =
              fmt::format("00:ff:ff:ff:ff:12:40:1b:{:02x}:{:02x}:00:00:00:00:00:00:ff:ff:ff:ff",
                          static_cast<unsigned>(link.pkey) >> 8U, static_cast<unsigned>(link.pkey) & 0xffU);
        out[std::string(name)] = std::move(value);
      }
    }
  }
  return out;
}

std::string value_of(const std::string& text, const std::string& key) {
  for (const auto line : base::split(text, '\n')) {
    if (line.starts_with(key + "=")) return std::string(line.substr(key.size() + 1));
  }
  return {};
}

/// The settings of a file, as items of an interface.
std::vector<std::string> items_of(const std::string& text) {
  std::vector<std::string> out;
  std::string route;
  const auto flush = [&] {
    if (!route.empty()) out.push_back(route);
    route.clear();
  };
  for (const auto line : base::split(text, '\n')) {
    const auto equals = line.find('=');
    const auto key = line.substr(0, equals);
    const auto value =
        equals == std::string_view::npos ? std::string() : std::string(line.substr(equals + 1));
    if (line.starts_with('[')) flush();
    if (key == "Address") out.push_back((value.find(':') == std::string::npos ? "addr4 " : "addr6 ") + value);
    if (key == "Destination") route = "route " + (value.ends_with("/0") ? std::string("default") : value);
    if (key == "Gateway") route += " via " + value;
    if (key == "Metric" && value != "0") route += " metric " + value;
    if (key == "Table") route += " table " + value;
  }
  flush();
  return out;
}

}  // namespace

std::string FakeNetworkd::file_for(const Interface& link) const {
  if (!link.is_ipoib()) return {};
  const auto properties = properties_of(link, files_);
  for (const auto& [path, text] : loaded) {
    const auto name = value_of(text, "Name");
    const auto wanted = value_of(text, "Property");
    bool matches = !name.empty() ? name == link.name : !wanted.empty();
    for (const auto word : base::split(wanted, ' ')) {
      if (word.empty()) continue;
      const auto at = properties.find(std::string(word.substr(0, word.find('='))));
      matches = matches && at != properties.end() && at->second == word.substr(word.find('=') + 1);
    }
    if (matches) return path;
  }
  return {};
}

void FakeNetworkd::read_files() {
  loaded.clear();
  for (const auto& [path, text] : files_.content) {
    if (path.starts_with(kNetworkFiles) && path.ends_with(".network")) loaded[path] = text;
  }
}

void FakeNetworkd::configure(Interface& link) {
  const auto& [file, text] = used_[link.index];
  if (file.empty() || value_of(text, "Unmanaged") == "yes" || fails.contains(link.name)) return;
  if (value_of(text, "KeepConfiguration") != "static") link.items.clear();
  if (!link.up) (void)machine_.set({.index = link.index, .up = true});
  if (value_of(text, "DHCP") == "ipv4") link.items.emplace_back("addr4 198.51.100.77/24");
  for (auto& item : items_of(text)) {
    if (std::find(link.items.begin(), link.items.end(), item) == link.items.end())
      link.items.push_back(std::move(item));
  }
}

void FakeNetworkd::configure_each(Which which) {
  for (auto& link : machine_.links) {
    auto file = file_for(link);
    auto text = file.empty() ? std::string() : loaded.at(file);
    auto& used = used_[link.index];
    if (which == Which::kChanged && used.first == file && used.second == text) continue;
    used = {std::move(file), std::move(text)};
    configure(link);
  }
}

void FakeNetworkd::start() {
  running = true;
  used_.clear();
  read_files();
  configure_each(Which::kAll);
}

std::string FakeNetworkd::dump() const {
  std::string out;
  if (!running) return out;
  for (const auto& link : machine_.links) {
    const auto file = file_for(link);
    const auto used = used_.find(link.index);
    if (file.empty() || used == used_.end() || used->second.first != file) continue;
    out += fmt::format("networkd {} {}\n", link.name, file.substr(std::string(kNetworkFiles).size()));
  }
  return out;
}

Result<std::optional<std::vector<NetworkdLink>>> FakeNetworkd::observe(std::span<const int> indexes) {
  if (!running) return std::optional<std::vector<NetworkdLink>>{};
  std::vector<NetworkdLink> out;
  for (const int index : indexes) {
    auto* link = machine_.find(index);
    if (link == nullptr) continue;
    // An interface that has appeared was configured when udev announced it.
    if (const auto file = file_for(*link); !used_.contains(index) && !file.empty()) {
      used_[index] = {file, loaded.at(file)};
      configure(*link);
    }
    const auto& file = used_[index].first;
    const auto at_work = states.find(link->name);
    const std::string settled = file.empty() ? "unmanaged" : "configured";
    out.push_back({index, at_work == states.end() ? settled : at_work->second, file});
  }
  return std::optional(std::move(out));
}

Result<void> FakeNetworkd::reload() {
  const std::string what = "networkd: reload";
  const int err = faults_.call(what, [&] {
    if (!running) return ENOENT;
    ++reloads;
    read_files();
    configure_each(Which::kChanged);
    return 0;
  });
  if (err != 0) return fail_errno(err, what);
  return {};
}

Result<void> FakeNetworkd::reconfigure(int index) {
  auto* link = machine_.find(index);
  const auto what = fmt::format("networkd: reconfigure {}", link == nullptr ? "?" : link->name);
  const int err = faults_.call(what, [&] {
    if (!running || link == nullptr) return ENODEV;
    ++reconfigurations;
    const auto file = file_for(*link);
    used_[index] = {file, file.empty() ? std::string() : loaded.at(file)};
    configure(*link);
    return 0;
  });
  if (err != 0) return fail_errno(err, what);
  return {};
}

bool FakeNetworkd::pause(std::chrono::milliseconds /*duration*/) { return false; }

}  // namespace rdmacfg::fakes
