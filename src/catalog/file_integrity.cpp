// SPDX-License-Identifier: Apache-2.0
#include "catalog/file_integrity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "catalog/all.hpp"
#include "catalog/owned_files.hpp"
#include "formats/tmpfiles_conf.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Observed;

namespace {

constexpr std::string_view kFileKind = "file";
constexpr std::size_t kMostLines = 6;
constexpr std::size_t kLongest = 400;

/// Control characters would reach a terminal, and invalid UTF-8 would reach JSON.
std::string printable(std::string_view line) {
  std::string out;
  for (const char c : line.substr(0, kLongest)) out += c >= ' ' && c <= '~' ? c : '?';
  return line.size() > kLongest ? out + "..." : out;
}

system::Readers readers_of(const OwnedFile* file) {
  return file != nullptr && file->access == OwnedFile::Access::kPrivate ? system::Readers::kRoot
                                                                        : system::Readers::kEverybody;
}

/// A path without a declaration comes from the journal of another release.
std::string rendered(const OwnedFile* file, const std::string& text) {
  return file == nullptr || file->rendered == nullptr ? text : file->rendered(text);
}

Result<void> write(const std::string& path, const std::string& text, system::Files& files) {
  if (readers_of(owned_file(path)) == system::Readers::kRoot) return files.write_private(path, text);
  return text.empty() ? files.remove(path) : files.write(path, text);
}

class FileIntegrityKind final : public Kind {
 public:
  FileIntegrityKind()
      : Kind({.name = kFileKind,
              .fields = model::specs<FileIntegrity>(),
              .traits = {.works_offline = true,
                         .only_repairs = true,
                         .listed_when_foreign = false,
                         .rests_on_files = true}}) {}

  void parse(const Bound& /*bound*/, std::vector<Desired>& /*out*/,
             Diagnostics& /*diagnostics*/) const override {}

  Result<std::vector<Observed>> observe(World& world) const override {
    auto& files = world.host().files;
    std::vector<Observed> out;
    for (const auto* file : owned_files()) {
      if (file->extent != OwnedFile::Extent::kWhole) continue;
      const auto paths = files_of(*file, files);
      if (!paths) return base::fail(paths.error());
      for (const auto& path : *paths) {
        auto now = integrity_of(path, *file, files);
        if (!now) return base::fail(now.error());
        if (*now) out.push_back(std::move(**now));
      }
    }
    return out;
  }

  /// Nobody has to ask for it.
  void check(std::vector<Desired>& desired, const std::vector<Observed>& observed, World& world,
             Diagnostics& diagnostics) const override {
    warn_of_tmpfiles(desired, world.host().files, diagnostics);
    for (const auto& resource : observed) {
      if (resource.key.kind != kFileKind || resource.settings.empty()) continue;
      Desired repaired;
      repaired.key = resource.key;
      repaired.label = resource.label;
      repaired.where.file = resource.key.id;
      for (const auto& [field, value] : resource.settings) repaired.settings[field] = model::Value{};
      desired.push_back(std::move(repaired));
    }
  }

  /// An undone apply brings back what was in the file, whoever wrote it.
  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    for (auto* change : changes) {
      if (!change->before.contains("edited")) continue;
      const auto text = world.host().files.read(change->key.id);
      if (!text) return base::fail(text.error());
      if (*text) change->carried = {**text};
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    for (const auto& change : changes) {
      const auto& path = change.key.id;
      const auto text = host.files.read(path);
      if (!text) return base::fail(text.error());
      const bool back = change.after.contains("edited") &&
                        model::value_of(change.after, "edited") != model::Value{} && !change.carried.empty();
      if (!*text && !back) continue;
      const auto* file = owned_file(path);
      const auto wanted = back ? change.carried.front() : rendered(file, **text);
      if (*text == wanted && host.files.odd_access(path, readers_of(file)).empty()) continue;
      if (auto done = write(path, wanted, host.files); !done) return done;
      if (auto done = tell(path, host); !done) return done;
    }
    return {};
  }

  /// A killed run may have written a file without recording it.
  Result<void> recover(std::span<const Change> changes, system::Host& host) const override {
    for (const auto& change : changes) {
      if (auto done = tell(change.key.id, host); !done) return done;
    }
    return {};
  }

  /// Undoing gives nobody rights back that he is not to have.
  Verdict judge(const Desired& desired, const Observed* /*observed*/,
                const std::vector<std::string>& /*differing*/, World& /*world*/) const override {
    if (model::text_at(desired.settings, "access").empty()) return {};
    return {Verdict::Sort::kLimited, "it stays as it is written", {"access"}, {}};
  }

  [[nodiscard]] bool returns(std::string_view /*field*/, const model::Attributes& /*before*/,
                             const model::Attributes& /*then*/) const override {
    return false;
  }

 private:
  /// systemd-tmpfiles changes files at every boot, before anything of ours runs.
  static void warn_of_tmpfiles(const std::vector<Desired>& desired, system::Files& files,
                               Diagnostics& diagnostics) {
    std::map<std::string_view, const Desired*> first;  // of each kind
    for (const auto& resource : desired) first.try_emplace(resource.key.kind, &resource);
    std::vector<std::pair<const OwnedFile*, const Desired*>> written;
    for (const auto& [name, resource] : first) {
      const auto* kind = find(name);
      if (kind == nullptr) continue;
      for (const auto& file : kind->files()) {
        if (file.path.starts_with("/etc/")) written.emplace_back(&file, resource);
      }
    }
    if (written.empty()) return;
    for (const auto& line : tmpfiles_lines(files)) {
      const auto at = std::find_if(written.begin(), written.end(), [&](const auto& entry) {
        return line.concerns(entry.first->path) || matches(entry.first->path, line.path);
      });
      if (at == written.end()) continue;
      const auto* act = line.act == TmpfilesLine::Act::kWrite     ? "writes"
                        : line.act == TmpfilesLine::Act::kReplace ? "replaces"
                                                                  : "removes";
      diagnostics.push_back({model::Severity::kWarning,
                             at->second->where,
                             fmt::format("{}:{} {} {} at boot", line.file, line.line, act,
                                         line.below ? at->first->path : std::string_view(line.path)),
                             "systemd-tmpfiles changes what rdma-configd has written: remove the line there",
                             {}});
    }
  }

  /// Empty if the file does not exist.
  static Result<std::optional<Observed>> integrity_of(const std::string& path, const OwnedFile& file,
                                                      system::Files& files) {
    FileIntegrity now;
    // Where no line can be wrong a file is not read: it may be unreadable, which its own kind reports.
    if (file.rendered != nullptr || file.path == path) {
      const auto text = files.read(path);
      if (!text) return base::fail(text.error());
      if (!*text) return std::nullopt;
      auto edited = edits(**text, rendered(&file, **text));
      if (!edited.empty()) now.edited = std::move(edited);
    }
    if (auto access = files.odd_access(path, readers_of(&file)); !access.empty())
      now.access = std::move(access);
    Observed observed;
    observed.key = {std::string(kFileKind), path};
    observed.label = path;
    observed.settings = model::to_attributes(now);
    return observed;
  }

  static Result<void> tell(const std::string& path, system::Host& host) {
    const auto* file = owned_file(path);
    return file == nullptr ? Result<void>{} : after_write(file->after_write, {&path, 1}, host);
  }
};

}  // namespace

std::vector<std::string> edits(std::string_view text, std::string_view should) {
  if (text == should) return {};
  std::vector<std::string> out;
  const auto list = [&](char sign, std::string_view of, std::string_view without) {
    std::multiset<std::string_view> known;
    for (const auto line : base::split(without, '\n')) known.insert(base::trim(line));
    for (const auto whole : base::split(of, '\n')) {
      const auto line = base::trim(whole);
      if (const auto at = known.find(line); at != known.end()) {
        known.erase(at);
      } else if (!line.empty()) {
        out.push_back(fmt::format("{} {}", sign, printable(line)));
      }
    }
  };
  list('+', text, should);
  list('-', should, text);
  if (out.empty()) out.emplace_back("whitespace, line endings, or the order of lines");
  if (out.size() > kMostLines) {
    const auto rest = out.size() - kMostLines;
    out.resize(kMostLines);
    out.push_back(fmt::format("and {} more", rest));
  }
  return out;
}

const Kind& file_integrity() {
  static const FileIntegrityKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
