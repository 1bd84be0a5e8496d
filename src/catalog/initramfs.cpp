// SPDX-License-Identifier: Apache-2.0
#include "catalog/initramfs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "catalog/all.hpp"
#include "catalog/owned_files.hpp"
#include "formats/dracut_conf.hpp"
#include "formats/udev/udev_netdev_names.hpp"
#include "kinds/abilities.hpp"
#include "kinds/entry.hpp"
#include "kinds/host/initramfs_stamp.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Observed;

namespace {

constexpr std::string_view kInitramfsKind = "initramfs";
constexpr std::string_view kId = "image";
constexpr std::string_view kStale = "stale";
constexpr std::string_view kPolicy = "policy";
constexpr std::string_view kFilesBefore = "files ";

/// How the image that boots this host compares with our files.
enum class ImageAge { kOlder, kNewer, kUnknown };

ImageAge age_of_image(system::Host& host) {
  if (const auto stamp = read_stamp(host.files); stamp && stamp->starts_with(kUndatedStamp)) {
    if (host.initramfs.unseen()) return ImageAge::kUnknown;
    const bool same = host.initramfs.is_marked(stamp->substr(kUndatedStamp.size()));
    return same ? ImageAge::kOlder : ImageAge::kNewer;
  }
  const std::vector<std::string> paths(kInitramfsFiles.begin(), kInitramfsFiles.end());
  if (host.initramfs.newer_than(paths)) return ImageAge::kNewer;
  return host.initramfs.unseen() ? ImageAge::kUnknown : ImageAge::kOlder;
}

/// Whether it is known to be older; of one that nobody sees nothing is made up for.
bool is_older(system::Host& host) { return age_of_image(host) == ImageAge::kOlder; }

/// Whether an image may hold what no entry means any more: one that we made, or one that somebody else made
/// while our options were there, or our names where images have those.
bool may_hold_dropped(const std::string& stamp, system::Host& host) {
  const bool names = has_rdma_in_image(host);
  const auto contents = contents_now(host);
  const bool options = contents && std::any_of(contents->begin(), contents->end(), [&](const auto& file) {
                         return names || file.first != kRuleFile;
                       });
  if (options) return !stamp.empty() || can_rebuild(host);
  return stamp == kDroppedStamp ? is_older(host) : !stamp.empty();
}

std::string image_of(const model::Attributes& attributes) {
  return model::from_attributes<InitramfsImage>(attributes).image.value_or(std::string());
}

/// The setting `image`: the input of the newest image, or how it compares with our files.
std::string image_now(const std::string& stamp, const std::string& digest) {
  return stamp == digest || stamp == kUnfinishedStamp ? stamp : std::string(kStale);
}

bool is_in_image(const OwnedFile& file, system::Host& host) {
  return file.text_after != nullptr && (file.path != kMlx4File || has_rdma_in_image(host));
}

/// Whether it writes what an initramfs contains.
bool concerns_us(std::string_view name, system::Host& host) {
  const auto* kind = find(name);
  if (kind == nullptr) return false;
  const auto files = kind->files();
  return std::any_of(files.begin(), files.end(), [&](const auto& file) { return is_in_image(file, host); });
}

/// Our files as they will be when all that is desired is done.
Contents contents_after(const std::vector<Desired>& desired, const std::vector<Observed>& observed,
                        system::Host& host) {
  Contents out;
  for (const auto* file : initramfs_files()) {
    if (!is_in_image(*file, host)) continue;
    if (auto text = file->text_after(desired, observed)) out.emplace(file->path, std::move(*text));
  }
  return out;
}

/// dracut itself copies /etc/modprobe.d and /etc/udev/rules.d into images for this host only; our module of
/// dracut, where it is installed, puts our files into all of them.
void warn_of_generic_image(const model::Location& where, const Contents& contents, system::Host& host,
                           Diagnostics& diagnostics) {
  if (contents.empty() || !made_by_dracut(host) || has_dracut_module(host.files, "rdma-configd")) return;
  const auto conf = read_dracut_conf(host.files);
  if (!conf.generic) return;
  std::string lacking;
  for (const auto& [path, text] : contents) {
    // rdma-core's module takes that of ConnectX-3 in any case.
    if (path != kMlx4File && !conf.installed_files.contains(path)) lacking.append(" ").append(path);
  }
  if (lacking.empty()) return;
  diagnostics.push_back(
      {model::Severity::kWarning,
       where,
       fmt::format("[[initramfs]]: {}:{} makes dracut leave our files out of images (hostonly=no): drivers "
                   "that an image loads get neither our options nor our names",
                   conf.generic->file, conf.generic->line),
       fmt::format("write install_items+=\"{} \" to /etc/dracut.conf.d/rdma.conf, or hostonly=\"yes\"",
                   lacking),
       {}});
}

constexpr std::array kInitramfsRecords{
    OwnedFile{.path = kInitramfsStamp,
              .what = "Digest of our files that the initramfs was made with.",
              .extent = OwnedFile::Extent::kRecord}};

/// The command, with the names of our files where the tool takes only files that it is told.
std::string command_for(system::Host& host, const std::string& tool) {
  std::string command = tool;
  if (!tool.starts_with("rpm-ostree")) return command;
  for (const auto path : kInitramfsFiles) {
    if (is_there(host.files, path)) command += fmt::format(" --track={}", path);
  }
  return command;
}

/// Resources with changes that the image is to have. Only changes: parts that need each other fail together
/// at boot, which is not for all names.
std::vector<model::Key> changes_in_image(const std::vector<Desired>& desired,
                                         const std::vector<Observed>& observed, system::Host& host) {
  std::vector<model::Key> out;
  const model::Attributes nothing;
  std::map<model::Key, const Observed*> there;
  for (const auto& resource : observed) there.emplace(resource.key, &resource);
  for (const auto& resource : desired) {
    const auto found = there.find(resource.key);
    const auto& now_set = found == there.end() ? nothing : found->second->settings;
    const auto differs = [&](const auto& setting) {
      return setting.second != model::value_of(now_set, setting.first);
    };
    if (concerns_us(resource.key.kind, host) &&
        std::any_of(resource.settings.begin(), resource.settings.end(), differs))
      out.push_back(resource.key);
    there.erase(resource.key);
  }
  for (const auto& [key, leftover] : there) {
    if (concerns_us(key.kind, host) && leftover->ours_by_nature) out.push_back(key);
  }
  return out;
}

class InitramfsKind final : public Kind, public ClearsAway {
 public:
  InitramfsKind()
      : Kind({.name = kInitramfsKind,
              .fields = model::specs<InitramfsImage>(),
              .traits = {.works_offline = true,
                         .waits_for_confirmation = true,
                         .listed_when_foreign = false,
                         .rests_on_files = true},
              .files = kInitramfsRecords}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& /*diagnostics*/) const override {
    const model::Section* origin = nullptr;
    for (const auto* section : bound.of("module")) {
      if (origin == nullptr && section->find("options") != nullptr) origin = section;
    }
    for (const auto* section : bound.of("pfc")) {
      if (origin == nullptr && section->find("driver") != nullptr) origin = section;
    }
    for (const auto* section : bound.of("rdma_system")) {
      if (origin == nullptr && section->find("netns") != nullptr) origin = section;
    }
    const auto own = bound.of(kInitramfsKind);
    if (!own.empty()) origin = own.front();
    if (origin == nullptr) return;
    const model::Key key{std::string(kInitramfsKind), std::string(kId)};
    auto desired = own.empty() ? Desired{} : desired_of(*origin, fields(), key, std::string(kInitramfsKind));
    desired.key = key;
    desired.label = kInitramfsKind;
    desired.where = origin->where;
    desired.origins.emplace("image", origin->where);
    out.push_back(std::move(desired));
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    std::vector<Observed> out;
    auto& files = world.host().files;
    const auto stamp = read_stamp(files);
    if (!stamp) return base::fail(stamp.error());
    const auto digest = digest_now(world.host());
    if (!digest) return base::fail(digest.error());
    if (stamp->empty() && digest->empty()) return out;
    Observed observed;
    observed.key = {std::string(kInitramfsKind), std::string(kId)};
    observed.label = kInitramfsKind;
    InitramfsImage settings, facts;
    settings.image = image_now(*stamp, *digest);
    if (!stamp->empty() && *stamp != kDroppedStamp && !stamp->starts_with(kUndatedStamp))
      facts.built = *stamp;
    observed.settings = model::to_attributes(settings);
    observed.facts = model::to_attributes(facts);
    out.push_back(std::move(observed));
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& observed, World& world,
             Diagnostics& diagnostics) const override {
    const auto stamp = read_stamp(world.host().files);
    if (!stamp) return;  // observe() has failed for it
    const auto mine = std::find_if(observed.begin(), observed.end(),
                                   [](const auto& resource) { return resource.key.kind == kInitramfsKind; });
    auto at = std::find_if(desired.begin(), desired.end(),
                           [](const auto& resource) { return resource.key.kind == kInitramfsKind; });
    if (at == desired.end()) {
      // Settings that the document drops must leave the image, too.
      const bool dropped = mine != observed.end() && may_hold_dropped(*stamp, world.host());
      const bool for_rdma = std::any_of(desired.begin(), desired.end(), [](const auto& resource) {
        return resource.key.kind == "link_name" || resource.key.kind == "mlx4_port";
      });
      if (!dropped && !(for_rdma && has_rdma_in_image(world.host()))) return;
      Desired rest;
      rest.key = {std::string(kInitramfsKind), std::string(kId)};
      rest.label = kInitramfsKind;
      desired.push_back(std::move(rest));
      at = std::prev(desired.end());
    }
    auto& image = *at;
    warn_of_generic_image(image.where, contents_after(desired, observed, world.host()), world.host(),
                          diagnostics);
    if ((!rebuilds_here(image.policy, world.host()) && !world.offline()) || !can_rebuild(world.host()))
      return;
    const auto wanted = digest_of(contents_after(desired, observed, world.host()));
    const auto now = digest_now(world.host());
    if (world.offline()) {
      // No systemd answers there that could run the tool, so it stays with the administrator.
      const bool as_it_is = now && *now == wanted;
      if (as_it_is && (*stamp == wanted || !is_older(world.host()))) return;
      image.pending = fmt::format("initramfs stale: run {} in that root",
                                  world.host().initramfs.tool().value_or("the tool that builds it"));
      return;
    }
    // A rebuild by hand has saved us the work, or may have.
    if (now && *now == wanted && (!wanted.empty() || *stamp == kDroppedStamp) && mine != observed.end() &&
        image_of(mine->settings) == kStale && !is_older(world.host()))
      return;
    image.settings["image"] = wanted.empty() ? model::Value{} : model::Value{wanted};
    for (auto& key : changes_in_image(desired, observed, world.host())) image.needs.push_back(std::move(key));
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    const auto digest = digest_now(world.host());
    if (!digest) return base::fail(digest.error());
    for (auto* change : changes) {
      change->carried = {std::string(kFilesBefore) + *digest};
      change->interrupts.push_back(
          fmt::format("{} runs, which can take minutes", world.host().initramfs.tool().value_or("a tool")));
    }
    return {};
  }

  /// Undoing comes here twice: before our files are as they were, when it only notes that the image is not as
  /// it should be, and then again, which rebuilds it.
  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    for (const auto& change : changes) {
      const auto target = image_of(change.after);
      const auto stamp = read_stamp(host.files);
      if (!stamp) return base::fail(stamp.error());
      const auto digest = digest_now(host);
      if (!digest) return base::fail(digest.error());
      const bool outdated = target == kStale || target == kUnfinishedStamp;
      const auto expected = outdated ? files_before(change) : target;
      if (*digest != expected) {
        if (*stamp != *digest) continue;
        if (auto done = write_stamp(host.files, kUnfinishedStamp); !done) return done;
        continue;
      }
      if (*stamp == target || (outdated && *stamp != kUnfinishedStamp && *stamp != *digest)) continue;
      if (auto done = write_stamp(host.files, kUnfinishedStamp); !done) return done;
      if (auto done = host.initramfs.rebuild(); !done) {
        const auto code = done.error().code;  // of a tool that never ran: the image is what it was
        if (code == base::Code::kNotFound || code == base::Code::kUnsupported)
          (void)write_stamp(host.files, *stamp);
        return done;
      }
      if (auto done = write_stamp(host.files, target); !done) return done;
    }
    return {};
  }

  std::vector<std::string> clear_away(std::span<const Change> changes, system::Host& host) const override {
    const auto stamp = read_stamp(host.files);
    const auto digest = digest_now(host);
    for (const auto& change : changes) {
      if (stamp && digest && image_now(*stamp, *digest) == image_of(change.before)) continue;
      return {fmt::format("initramfs: an image may contain options and names that were rolled back; run {}",
                          host.initramfs.tool().value_or("the tool that builds it"))};
    }
    return {};
  }

  Verdict judge(const Desired& desired, const Observed* observed, const std::vector<std::string>& differing,
                World& world) const override {
    if (observed == nullptr || !differing.empty()) return {};
    const auto image = image_of(observed->settings);
    if (image != kStale && image != kUnfinishedStamp) return {};
    auto& host = world.host();
    const auto tool = host.initramfs.tool();
    Verdict verdict;
    const auto reason = host.initramfs.by_hand();
    if (tool && !host.initramfs.has_image()) {
      verdict.warnings.push_back(
          reason
              ? fmt::format("{}; to include our module options and naming rules, run {}", *reason,
                            command_for(host, *tool))
              : "/boot has no initramfs to rebuild; an image elsewhere that this host boots lacks our module "
                "options and naming rules");
    } else if (!tool) {
      verdict.warnings.emplace_back(
          "no tool to rebuild an initramfs is installed (update-initramfs, dracut); if this host boots from "
          "an initramfs, it lacks our module options and naming rules");
    } else if (const auto folder = host.initramfs.unseen(); folder && image == kStale) {
      verdict.warnings.push_back(
          fmt::format("{} is an automount that is not mounted, so it is unknown whether the initramfs there "
                      "has our module options and naming rules; run {}, or look into {}",
                      *folder, command_for(host, *tool), *folder));
    } else if (!rebuilds_here(desired.policy, host) && age_of_image(host) != ImageAge::kNewer) {
      verdict.sort = Verdict::Sort::kPending;
      verdict.reason = fmt::format("initramfs stale: run {}", command_for(host, *tool));
      if (reason) verdict.reason += fmt::format(" ({})", *reason);
    }
    return verdict;
  }

 private:
  static bool rebuilds_here(const model::Attributes& policy, system::Host& host) {
    return model::value_of(policy, kPolicy) != model::Value{std::string("report")} &&
           !host.initramfs.by_hand();
  }

  static std::string files_before(const Change& change) {
    for (const auto& text : change.carried) {
      if (text.starts_with(kFilesBefore)) return text.substr(kFilesBefore.size());
    }
    return {};
  }
};

}  // namespace

std::optional<std::string> stale_initramfs(World& world) {
  auto& host = world.host();
  if (world.offline() || !host.initramfs.has_image()) return std::nullopt;
  const auto tool = host.initramfs.tool();
  const auto observed = initramfs().observe(world);
  if (!tool || !observed || observed->empty()) return std::nullopt;
  const auto image = image_of(observed->front().settings);
  if (image != kStale && image != kUnfinishedStamp) return std::nullopt;
  const auto age = age_of_image(host);
  // An unfinished image of ours is stale in any folder.
  if (age == ImageAge::kNewer || (age == ImageAge::kUnknown && image == kStale)) return std::nullopt;
  return command_for(host, *tool);
}

model::SectionSpec initramfs_section() {
  model::SectionSpec section{.name = kInitramfsKind,
                             .repeated = false,
                             .doc = "The initramfs that holds our module options and naming rules."};
  for (const auto& spec : model::specs<InitramfsImage>()) {
    if (spec.role == model::Role::kPolicy) section.fields.push_back(spec);
  }
  return section;
}

const Kind& initramfs() {
  static const InitramfsKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
