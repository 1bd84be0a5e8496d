// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/suspects.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <span>
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

std::set<std::string> running_in(const std::filesystem::path& proc) {
  const auto known = known_programs();
  std::set<std::string> found;
  std::error_code error;
  for (auto at = std::filesystem::directory_iterator(proc, error);
       !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const auto name = at->path().filename().native();
    if (name.empty() || name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream in(at->path() / "comm");
    std::string comm;
    if (std::getline(in, comm) && known.contains(comm)) found.insert(std::move(comm));
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
