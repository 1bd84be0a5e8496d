// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/suspects.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "catalog/all.hpp"

namespace rdmacfg::daemon {

namespace {

/// They write files and restart services, and have no part in what is only in the kernel.
constexpr auto kConfigurationManagers =
    std::to_array<std::string_view>({"puppet", "chef-client", "salt-minion", "ansible-pull", "cf-agent"});

std::set<std::string_view> known_programs() {
  std::set<std::string_view> out(kConfigurationManagers.begin(), kConfigurationManagers.end());
  for (const auto* kind : kinds::all_kinds())
    out.insert(kind->competitors().begin(), kind->competitors().end());
  return out;
}

/// The name of a process of root or of a system account, by proc_pid_status(5); empty: it is another's, or
/// has ended. Every user may give a process any name. The real user ID counts: the effective one is root's in
/// programs such as su(1), which a user may start by a link of any name, and so is the owner of files in
/// /proc of processes that cannot be dumped.
std::string system_program_of(const std::filesystem::path& status) {
  constexpr std::uint64_t kMostOfSystem = 999;  // SYS_UID_MAX of login.defs(5)
  constexpr std::string_view kNameLine = "Name:\t", kUidLine = "Uid:\t";
  std::ifstream in(status);
  std::string name;
  for (std::string line; std::getline(in, line);) {
    const std::string_view text(line);
    if (text.starts_with(kNameLine)) name = text.substr(kNameLine.size());
    if (!text.starts_with(kUidLine)) continue;
    const auto real = text.substr(kUidLine.size(), text.find('\t', kUidLine.size()) - kUidLine.size());
    const auto uid = base::parse_number(real);
    return uid && *uid <= kMostOfSystem ? name : std::string();
  }
  return {};
}

std::set<std::string> running_in(const std::filesystem::path& proc) {
  const auto known = known_programs();
  std::set<std::string> found;
  std::error_code error;
  for (auto at = std::filesystem::directory_iterator(proc, error);
       !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const auto name = at->path().filename().native();
    if (name.empty() || name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (auto program = system_program_of(at->path() / "status"); known.contains(program))
      found.insert(std::move(program));
  }
  return found;
}

bool rests_on_files(const kinds::Kind& kind) {
  if (kind.traits().rests_on_files) return true;
  const auto files = kind.files();
  return std::any_of(files.begin(), files.end(),
                     [](const auto& file) { return file.extent != kinds::OwnedFile::Extent::kRecord; });
}

}  // namespace

std::string Suspects::of(std::string_view kind) {
  const auto* own = kinds::find(kind);
  if (own == nullptr) return {};
  if (!running_) running_ = running_in(proc_);
  std::vector<std::string> out;
  const auto add = [&](std::span<const std::string_view> programs) {
    for (const auto program : programs) {
      if (running_->contains(std::string(program))) out.emplace_back(program);
    }
  };
  add(own->competitors());
  if (rests_on_files(*own)) add(kConfigurationManagers);
  return base::join(out, ", ");
}

}  // namespace rdmacfg::daemon
