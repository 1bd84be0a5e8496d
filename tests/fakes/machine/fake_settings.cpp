// SPDX-License-Identifier: Apache-2.0
#include "fakes/machine/fake_settings.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <set>

#include "base/text.hpp"

namespace rdmacfg::fakes {

using base::fail_errno;
using base::Result;

std::string FakeSysctl::key_of(const std::string& path) const {
  const auto parts = base::split(path, '/');
  const bool of_interface = parts.size() == 5 && parts[0] == "net" &&
                            (parts[2] == "conf" || parts[2] == "neigh") && parts[3] != "all" &&
                            parts[3] != "default";
  if (!of_interface) return path;
  const auto* link = machine_.find(std::string(parts[3]));
  if (link == nullptr) return {};
  return fmt::format("net/{}/{}/#{}/{}", parts[1], parts[2], link->index, parts[4]);
}

namespace {

/// As proc_get_long() of kernel/sysctl.c reads it; nothing when it refuses it.
std::optional<long long> number_of(std::string_view text) {
  const std::string word(text);
  const auto digits = word.starts_with('-') ? 1U : 0U;
  if (word.size() <= digits || std::isdigit(static_cast<unsigned char>(word[digits])) == 0)
    return std::nullopt;
  char* end = nullptr;
  const auto number = std::strtoll(word.c_str(), &end, 0);
  return *end == '\0' ? std::optional(number) : std::nullopt;
}

std::optional<std::string> numbers_of(std::string_view text) {
  std::string out;
  for (const auto word : base::split(text, ' ')) {
    const auto number = number_of(word);
    if (!number) return std::nullopt;
    out += (out.empty() ? "" : " ") + std::to_string(*number);
  }
  return out;
}

/// "1000,1001,1003" as proc_do_large_bitmap() shows it: "1000-1001,1003".
std::string ranges_of(std::string_view text) {
  std::set<long long> all;
  for (const auto part : base::split(text, ',')) {
    const auto dash = part.find('-');
    const auto first = number_of(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number_of(part.substr(dash + 1));
    for (auto number = first.value_or(1); number <= last.value_or(0); ++number) all.insert(number);
  }
  std::string out;
  for (auto at = all.begin(); at != all.end();) {
    const auto first = *at;
    auto last = first;
    while (++at != all.end() && *at == last + 1) last = *at;
    out += fmt::format("{}{}", out.empty() ? "" : ",", first);
    if (last != first) out += fmt::format("-{}", last);
  }
  return out;
}

}  // namespace

std::string FakeSysctl::dump() const {
  std::string out;
  for (const auto& [key, value] : values_) {
    const auto booted = booted_.find(key);
    const auto start = key.find('#');
    if (start == std::string::npos) {
      if (booted == booted_.end() || booted->second != value)
        out += fmt::format("sysctl {} = {}\n", key, value);
      continue;
    }
    const auto end = key.find('/', start);
    const auto* link = machine_.find(std::stoi(key.substr(start + 1, end - start - 1)));
    if (link == nullptr || value == "0") continue;
    out += fmt::format("sysctl {}{}{} = {}\n", key.substr(0, start), link->name, key.substr(end), value);
  }
  return out;
}

std::optional<std::string> FakeSysctl::read(const std::string& path) {
  const auto key = key_of(path);
  if (key.empty()) return std::nullopt;
  if (const auto at = values_.find(key); at != values_.end()) return at->second;
  if (key.find('#') != std::string::npos) return "0";
  return std::nullopt;
}

Result<void> FakeSysctl::write(const std::string& path, std::string_view value) {
  const auto what = fmt::format("/proc/sys/{}: write {}", path, value);
  if (!read(path)) return fail_errno(ENOENT, what);
  const int err = faults_.call(what, [&]() -> int {
    const auto key = key_of(path);
    if (key.empty()) return ENOENT;
    // Numeric settings take and show numbers; reserved ports are a set.
    if (path.ends_with("_reserved_ports")) {
      values_[key] = ranges_of(value);
    } else if (numbers_of(*read(path))) {
      const auto numbers = numbers_of(value);
      if (!numbers) return EINVAL;
      values_[key] = *numbers;
    } else {
      values_[key] = std::string(value);
    }
    return 0;
  });
  return err == 0 ? Result<void>() : fail_errno(err, what);
}

std::optional<bool> FakeRdmaSystem::observe_shared() {
  if (!loaded) return std::nullopt;
  return shared;
}

Result<void> FakePackages::install(std::span<const std::string> names) {
  const auto what = fmt::format("install {}", base::join({names.begin(), names.end()}, ", "));
  const int err = faults_.call(what, [&] {
    for (const auto& name : names) {
      if (!repositories.contains(name)) return ENOENT;
    }
    for (const auto& name : names) files_.content[repositories.at(name)] = "program";
    return 0;
  });
  return err == 0 ? Result<void>() : fail_errno(err, what);
}

Result<void> FakeRdmaSystem::set_shared(bool wanted) {
  const std::string what = wanted ? "rdma system: set netns shared" : "rdma system: set netns exclusive";
  const int err = faults_.call(what, [&] {
    if (other_namespaces) return EBUSY;
    shared = wanted;
    return 0;
  });
  return err == 0 ? Result<void>() : fail_errno(err, what);
}

}  // namespace rdmacfg::fakes
