// SPDX-License-Identifier: Apache-2.0
#include "foreign/import/importer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "config/guard.hpp"
#include "config/other_tools.hpp"
#include "foreign/import/called_scripts.hpp"
#include "foreign/import/first_names.hpp"
#include "foreign/import/templates.hpp"
#include "foreign/import/unread_files.hpp"
#include "foreign/keys.hpp"
#include "model/limits.hpp"

namespace rdmacfg::foreign {

namespace {

class Collector {
 public:
  Collector(system::Files& files, Claims& claims) : files_(files), claims_(claims) {}

  /// The files at the format's own places; of those with one name the first folder counts.
  std::vector<File> at_places(std::span<const Where> places) {
    std::vector<File> out;
    std::set<std::string> masked;
    own_ = true;
    for (const auto& place : places) {
      for (const auto& folder : folders_of(place.folder)) {
        for (const auto& name : names_in(folder, place.pattern, Unreadable::kReported)) {
          if (place.masking == Masking::kByName && !masked.insert(name).second) continue;
          // A file of RHEL's, and SUSE's folder; maps of automount, and auto.master.d.
          const bool may_be_folder = place.pattern == "network" || place.pattern == "auto.*";
          if (may_be_folder && files_.list(fmt::format("{}/{}", folder, name))) continue;
          if (place.links == Links::kLeftOut && !is_plain(fmt::format("{}/{}", folder, name))) continue;
          read(fmt::format("{}/{}", folder, name), out);
          drop_ins(name, folders_with(name, places), out);
        }
      }
    }
    own_ = false;
    const auto base = [](const File& file) { return file.path.substr(file.path.rfind('/') + 1); };
    std::stable_sort(out.begin(), out.end(), [&](const File& a, const File& b) { return base(a) < base(b); });
    return out;
  }

  /// A file as it is, or the files of a folder that look like the format's.
  void at_path(const std::string& path, std::span<const Where> places, std::vector<File>& out) {
    std::set<std::string> names;
    for (const auto& place : places) {
      // Records of iSCSI have any name, and only their folders tell what they are.
      if (place.links == Links::kLeftOut && place.pattern == "*") continue;
      for (const auto& name : names_in(path, place.pattern, Unreadable::kPassedOver)) names.insert(name);
    }
    if (!is_folder_) {
      const auto slash = path.rfind('/');
      read(path, out);
      drop_ins(path.substr(slash + 1), {path.substr(0, slash)}, out);
      return;
    }
    for (const auto& name : names) {
      read(fmt::format("{}/{}", path, name), out);
      drop_ins(name, {path}, out);
    }
  }

 private:
  /// Whether it is a file that can be read, not a link to one.
  bool is_plain(const std::string& path) {
    const auto text = files_.read(path);
    return text ? text->has_value() : text.error().sys_errno == EACCES;
  }

  /// A folder that cannot be listed.
  enum class Unreadable { kReported, kPassedOver };

  /// A folder, or those that the patterns in its last parts fit.
  std::vector<std::string> folders_of(std::string_view folder) {
    const auto slash = folder.rfind('/');
    const auto last = folder.substr(slash + 1);
    if (!is_pattern(last)) return {std::string(folder)};
    std::vector<std::string> out;
    for (const auto& parent : folders_of(folder.substr(0, slash))) {
      const auto names = files_.list(parent);
      if (!names) continue;
      for (const auto& name : *names) {
        if (base::matches_glob(last, name)) out.push_back(fmt::format("{}/{}", parent, name));
      }
    }
    return out;
  }

  /// The folders among the places in which a file of this name would be read.
  static std::vector<std::string> folders_with(const std::string& name, std::span<const Where> places) {
    std::vector<std::string> out;
    for (const auto& place : places) {
      if (base::matches_glob(place.pattern, name)) out.emplace_back(place.folder);
    }
    return out;
  }

  /// NAME.d/*.conf of a file of systemd's that was read; of those with one name the first folder counts.
  void drop_ins(const std::string& name, const std::vector<std::string>& folders, std::vector<File>& out) {
    const bool has_them = name.ends_with(".network") || name.ends_with(".netdev") || name.ends_with(".link");
    // A file that is masked, or empty, which is the same, has none.
    if (!has_them || out.empty() || !out.back().path.ends_with('/' + name) || out.back().text.empty()) return;
    std::map<std::string, std::string> paths;
    for (const auto& folder : folders) {
      const auto beside = fmt::format("{}/{}.d", folder, name);
      for (const auto& fragment : names_in(beside, "*.conf", Unreadable::kPassedOver))
        paths.try_emplace(fragment, fmt::format("{}/{}", beside, fragment));
    }
    for (const auto& [fragment, path] : paths) read(path, out);
  }

  std::vector<std::string> names_in(const std::string& folder, std::string_view pattern,
                                    Unreadable unreadable) {
    auto names = files_.list(folder);
    is_folder_ = names.has_value() && !names->empty();
    if (!names) {
      // One tool's folder is another one's file: /etc/sysconfig/network.
      const bool reported = unreadable == Unreadable::kReported && names.error().sys_errno != ENOTDIR;
      if (reported) claims_.miss_file(folder, names.error());
      return {};
    }
    std::erase_if(*names, [&](const std::string& name) {
      return name.starts_with('.') || !base::matches_glob(pattern, name);
    });
    std::erase_if(*names, [&](const std::string& name) {
      if (!is_leftover(name)) return false;
      claims_.pass({fmt::format("{}/{}", folder, name), 0},
                   "is a backup file of an editor or a package manager");
      return true;
    });
    if (names->size() > model::limits::kImportFiles) {
      claims_.miss({folder, 0}, fmt::format("has {} files; the first {} are read", names->size(),
                                            model::limits::kImportFiles));
      names->resize(model::limits::kImportFiles);
    }
    return *names;
  }

  void read(const std::string& path, std::vector<File>& out) {
    if (files_.masks(path)) {
      claims_.pass({path, 0}, "is a link to /dev/null, which masks files of this name");
      return;
    }
    // The tools follow a symbolic link to its content; of paths that are given nobody has said so.
    auto text = own_ ? files_.read_linked(path) : files_.read(path);
    if (!text) {
      claims_.miss_file(path, text.error());
      return;
    }
    if (!*text) {
      claims_.miss({path, 0}, "does not exist");
      return;
    }
    if (const auto wrong = config::check_text({path, **text}, config::Limits{})) {
      claims_.miss({path, wrong->where.line}, wrong->message);
      return;
    }
    if (static_cast<std::size_t>(std::count((*text)->begin(), (*text)->end(), '\n')) >
        model::limits::kImportLines) {
      claims_.miss({path, 0}, fmt::format("has more than {} lines", model::limits::kImportLines));
      return;
    }
    // A file without a line that counts is understood, too.
    claims_.understood.try_emplace(path, 0);
    out.push_back({path, std::string(config::without_mark(**text)), files_.open_to_others(path)});
  }

  system::Files& files_;
  Claims& claims_;
  bool is_folder_ = false;
  bool own_ = false;  ///< reading the format's own places
};

/// Files that say nothing of whether a host has anything to import: RHEL has the first without any interface.
bool is_on_every_host(std::string_view path) {
  constexpr auto kFolders = std::to_array<std::string_view>(
      {"/etc/NetworkManager/conf.d/", "/run/NetworkManager/conf.d/", "/usr/lib/NetworkManager/conf.d/",
       "/etc/tmpfiles.d/", "/run/tmpfiles.d/", "/usr/local/lib/tmpfiles.d/", "/etc/tuned/", "/etc/beegfs/",
       "/etc/ucx/", "/etc/openmpi", "/etc/ceph/", "/etc/environment", "/etc/profile.d/"});
  if (std::any_of(kFolders.begin(), kFolders.end(),
                  [&](std::string_view folder) { return path.starts_with(folder); }))
    return true;
  return path == "/etc/sysconfig/network" || path == "/etc/fstab" || path == "/etc/lnet.conf" ||
         path == "/etc/nccl.conf" || path == "/etc/nfs.conf" ||
         path == "/etc/NetworkManager/NetworkManager.conf" || path.starts_with("/etc/auto.") ||
         is_crontab(path) ||
         (path.starts_with("/etc/systemd/system/") &&
          (path.ends_with(".service") || path.ends_with(".mount")));
}

bool is_names(const File& file) {
  return file.path.ends_with(".rules") || file.path.ends_with(".link") ||
         unit_of(file.path).ends_with(".link");
}

/// Names of the files that a format reads: "ifcfg-*", "route-*".
std::vector<std::string> names_of(const Format& format) {
  std::vector<std::string> out;
  for (const auto& place : format.places) {
    // The folders of iSCSI's records tell what they are, not their names.
    if (place.pattern != "*" && std::find(out.begin(), out.end(), place.pattern) == out.end())
      out.emplace_back(place.pattern);
  }
  return out;
}

/// Whether files of two formats look alike: ifcfg files of RHEL and SUSE, YAML that netplan and cloud-init
/// take.
bool are_alike(std::string_view format, std::string_view other) {
  constexpr auto kAlike = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"ifcfg", "wicked"}, {"netplan", "cloud-init"}, {"limits", "scripts"}, {"openib", "rdma-conf"}});
  return format == other || std::any_of(kAlike.begin(), kAlike.end(), [&](const auto& alike) {
           return alike == std::pair(format, other) || alike == std::pair(other, format);
         });
}

/// Why nothing was understood of a file that the user named: it is one of another format, or its name says
/// nothing to the format; empty where neither is so.
std::string why_in_vain(const File& file, const Format& format, bool passed) {
  const auto names = names_of(format);
  const auto name = std::string_view(file.path).substr(file.path.rfind('/') + 1);
  const bool fits = std::any_of(names.begin(), names.end(), [&](const std::string& pattern) {
    return base::matches_glob(pattern, name);
  });
  if (format.by_name && fits) return {};
  // A script may assign to a variable of that name.
  if (format.name != "scripts" && config::is_own_document(file.text))
    return "is an rdma-configd document already: `rdma-configctl apply` applies it";
  const auto other = config::format_of_other_tool(file.text);
  if (!other.empty() && !are_alike(format.name, other))
    return fmt::format("looks like a file of another tool: run `rdma-configctl import {} {}`", other,
                       file.path);
  if (passed || !format.by_name) return {};
  return fmt::format("{} reads only files named {}: give a copy such a name", format.name,
                     base::join(names, ", "));
}

/// Reports files named by the user from which nothing was imported. @return those files.
std::set<std::string> tell_silent(std::span<const File> files, const Request& request, const Format& format,
                                  Claims& claims) {
  std::set<std::string> passed, missed, out;
  for (const auto& remark : claims.passed) passed.insert(remark.where.file);
  for (const auto& remark : claims.missed) missed.insert(remark.where.file);
  for (const auto& file : files) {
    if (claims.understood[file.path] > 0) continue;
    const bool given =
        std::find(request.paths.begin(), request.paths.end(), file.path) != request.paths.end();
    auto why = given ? why_in_vain(file, format, passed.contains(file.path)) : std::string();
    if (!why.empty()) {
      claims.miss({file.path, 0}, std::move(why));
      out.insert(file.path);
    } else if (!passed.contains(file.path) && !missed.contains(file.path)) {
      claims.pass({file.path, 0}, "has nothing to import");
    }
  }
  return out;
}

/// The files of a format at its own places, as far as the host's tools read them.
FilesOfFormat files_at_places(const Format& format, Collector& collector, system::Files& files,
                              Claims& claims) {
  FilesOfFormat out{.format = &format, .own = collector.at_places(format.places), .names = {}};
  leave_out_unread(format.name, out.own, files, claims);
  return out;
}

/// The files of the paths that the user named.
FilesOfFormat files_at_paths(const Format& format, const Request& request, Collector& collector) {
  const auto& udev = *find_format("udev");
  FilesOfFormat out{.format = &format, .own = {}, .names = {}};
  std::vector<Where> places(format.places.begin(), format.places.end());
  if (format.interfaces) places.insert(places.end(), udev.places.begin(), udev.places.end());
  for (const auto& path : request.paths) collector.at_path(path, places, out.own);
  if (!format.interfaces) return out;
  const auto first =
      std::stable_partition(out.own.begin(), out.own.end(), [](const File& file) { return !is_names(file); });
  out.names.assign(std::make_move_iterator(first), std::make_move_iterator(out.own.end()));
  out.own.erase(first, out.own.end());
  return out;
}

}  // namespace

std::size_t gather(const Request& request, system::Files& files, Claims& claims) {
  Collector collector(files, claims);
  const bool several = request.formats.size() > 1;
  std::size_t count = 0;
  std::vector<FilesOfFormat> gathered;
  for (const auto* format : request.formats) {
    if (format->alone && several) continue;
    auto found = request.paths.empty() ? files_at_places(*format, collector, files, claims)
                                       : files_at_paths(*format, request, collector);
    if (format->interfaces && !several && request.paths.empty())
      found.names = collector.at_places(find_format("udev")->places);
    leave_out_templates("udev", found.names, claims);
    count += leave_out_templates(format->name, found.own, claims);
    gathered.push_back(std::move(found));
  }
  learn_names_first(gathered, claims);
  for (const auto& [format, own, names] : gathered) {
    parse_udev(names, claims);
    format->parse(own, claims);
    claims.learn_names();
    if (format->name == "scripts") tell_called_scripts(own, files, claims);
    std::set<std::string> in_vain;
    if (!request.paths.empty()) in_vain = tell_silent(own, request, *format, claims);
    for (const auto& file : own)
      count += is_on_every_host(file.path) || in_vain.contains(file.path) ? 0U : 1U;
  }
  return count;
}

base::Result<std::string> make_document(
    Claims& claims, const std::function<model::Diagnostics(const std::string& text)>& check) {
  auto imported = assemble_host(claims);
  spread_default_mtu(imported, claims.entries);
  auto text = prune(render_document(imported, claims.entries), check, claims);
  std::sort(claims.missed.begin(), claims.missed.end(), [](const Remark& a, const Remark& b) {
    return std::tie(a.where, a.text) < std::tie(b.where, b.text);
  });
  claims.missed.erase(std::unique(claims.missed.begin(), claims.missed.end()), claims.missed.end());
  std::sort(claims.passed.begin(), claims.passed.end(), [](const Remark& a, const Remark& b) {
    return std::tie(a.where, a.text) < std::tie(b.where, b.text);
  });
  claims.passed.erase(std::unique(claims.passed.begin(), claims.passed.end()), claims.passed.end());
  return text;
}

}  // namespace rdmacfg::foreign
