// SPDX-License-Identifier: Apache-2.0
#include "kinds/opensm/opensm_paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "formats/drop_ins.hpp"
#include "formats/opensm/opensm_options.hpp"
#include "kinds/entry.hpp"
#include "kinds/opensm/opensm_option_parse.hpp"
#include "kinds/opensm/opensm_own.hpp"

namespace rdmacfg::kinds {

using model::Desired;
using model::Diagnostics;
using model::Severity;

namespace {

constexpr std::string_view kLogOption = "log_file", kDumpOption = "dump_files_dir";

/// ProtectHome= and PrivateDevices= of the daemon, which sees these empty.
constexpr std::array<std::string_view, 4> kUnseenFolders{"/home/", "/root/", "/run/user/", "/dev/"};

constexpr const char* kOpensmTemplate = "opensm@.service";

/// A unit file or drop-in.
struct UnitText {
  std::string path, text;
};

UnitText opensm_unit_text(system::Files& files) {
  for (const auto folder : kUnitLoadPath) {
    auto path = fmt::format("{}/{}", folder, kOpensmTemplate);
    auto text = files.read_linked(path);
    if (text && *text) return {std::move(path), std::move(**text)};
  }
  return {};
}

/// OpenSM takes options of its command line after those of opensm.conf.
bool has_log_on_command_line(system::Files& files) {
  return opensm_unit_text(files).text.find("--log_file") != std::string::npos;
}

/// Whether a command line has OpenSM read another file of options (opensm(8), -F).
bool names_other_conf(std::string_view command) {
  const auto words = base::words_of(command);
  return std::any_of(words.begin(), words.end(), [](std::string_view word) {
    return word.starts_with("-F") || word.starts_with("--config");
  });
}

class WrittenPaths {
 public:
  WrittenPaths(system::Files& files, Diagnostics& diagnostics) : files_(files), diagnostics_(diagnostics) {}

  void check(Desired& resource, const OpensmOwner& owner) {
    const auto origin = resource.origins.find("value");
    const std::string path(opensm_value(model::text_at(resource.settings, "value")));
    // Words such as stdout, and relative paths, which are errors already.
    if (origin == resource.origins.end() || !path.starts_with('/')) return;
    where_ = &origin->second;
    is_new_ = seen_.insert(where_->text()).second;
    section_ = owner.port ? "opensm.option" : kOpensmOptionKind;
    if (owner.option == kLogOption) {
      check_log(path, resource);
    } else {
      check_dumps(path);
    }
  }

 private:
  void warn(std::string_view what, std::string hint) {
    if (!is_new_) return;
    diagnostics_.push_back(
        {Severity::kWarning, *where_, fmt::format("[[{}]] value: {}", section_, what), std::move(hint), {}});
  }

  void check_log(const std::string& path, Desired& resource) {
    if (has_log_on_command_line(files_)) {
      warn("log_file has no effect: opensm@.service starts OpenSM with --log_file",
           "leave log_file out; the log of a port is /var/log/opensm.GUID.log");
      return;
    }
    const auto missing = first_missing(files_, std::string_view(path).substr(0, path.rfind('/')));
    if (missing.empty()) return;
    // No error, as at boot the folder may come later.
    postpone(
        resource,
        fmt::format("the folder {} does not exist, and OpenSM exits when it cannot open its log", missing));
  }

  void check_dumps(const std::string& path) {
    const auto missing = first_missing(files_, path);
    if (missing.empty()) return;
    warn(fmt::format("the folder {} does not exist, and OpenSM writes no dumps", missing),
         "create the folder, or leave dump_files_dir out: OpenSM's default is /var/log");
  }

  system::Files& files_;
  Diagnostics& diagnostics_;
  /// Places: subnet managers with a file of their own have the common options, too.
  std::set<std::string> seen_;
  const model::Location* where_ = nullptr;  ///< of the one that is checked
  bool is_new_ = true;
  std::string_view section_;
};

}  // namespace

std::string first_missing(system::Files& files, std::string_view path) {
  const auto whole = std::string(path) + "/";
  for (const auto unseen : kUnseenFolders) {
    if (whole.starts_with(unseen)) return {};
  }
  std::string folder;
  for (const auto part : base::split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == "..") return {};
    const auto names = files.list(folder.empty() ? "/" : folder);
    if (!names) return {};
    auto below = fmt::format("{}/{}", folder, part);
    if (std::find(names->begin(), names->end(), part) == names->end()) return below;
    folder = std::move(below);
  }
  return {};
}

void check_written_paths(std::span<Desired> desired, system::Files& files, Diagnostics& diagnostics) {
  WrittenPaths paths(files, diagnostics);
  // Those of all first: they stand again among those of single ports.
  for (const bool own : {false, true}) {
    for (auto& resource : desired) {
      if (resource.key.kind != kOpensmOptionKind) continue;
      const auto owner = OpensmOwner::of(resource.key.id);
      const bool writes = owner.option == kLogOption || owner.option == kDumpOption;
      if (writes && owner.port.has_value() == own) paths.check(resource, owner);
    }
  }
}

void warn_of_other_conf(std::span<const Desired> desired, system::Files& files, Diagnostics& diagnostics) {
  const auto first = std::find_if(desired.begin(), desired.end(), [](const Desired& resource) {
    return resource.key.kind == kOpensmOptionKind && !OpensmOwner::of(resource.key.id).port;
  });
  if (first == desired.end()) return;
  // Of a service with one process the last ExecStart= counts; drop-ins reset it first.
  auto last = opensm_unit_text(files);
  auto commands = assigned_values(last.text, "ExecStart");
  for (auto& other : other_drop_ins(files, kOpensmTemplate, {})) {
    const auto text = files.read_linked(other.path);
    auto assigned = text && *text ? assigned_values(**text, "ExecStart") : std::vector<std::string>{};
    if (assigned.empty()) continue;
    commands = std::move(assigned);
    last.path = std::move(other.path);
  }
  if (commands.empty() || !names_other_conf(commands.back())) return;
  diagnostics.push_back(
      {Severity::kWarning,
       first->where,
       fmt::format(
           "[[opensm_option]]: {} makes OpenSM read another file of options, so these entries have no effect",
           last.path),
       "remove -F or --config from its ExecStart=",
       {}});
}

}  // namespace rdmacfg::kinds
