// SPDX-License-Identifier: Apache-2.0
#include "kinds/opensm/opensm_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "formats/opensm/opensm_files.hpp"
#include "kinds/entry.hpp"
#include "kinds/host/package_table.hpp"
#include "kinds/opensm/opensm_option.hpp"
#include "kinds/opensm/opensm_own.hpp"
#include "kinds/opensm/opensm_rates.hpp"
#include "kinds/opensm/opensm_running.hpp"
#include "kinds/others_file.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::Change;
using model::Desired;
using model::Diagnostics;
using model::Observed;
using model::Severity;

namespace {

constexpr std::string_view kOpensmFileKind = "opensm_file";

constexpr std::array kOpensmSideFiles{OwnedFile{.path = "/etc/opensm/rdma-*.conf",
                                                .what = "Files that opensm.conf names (Debian, SUSE).",
                                                .ours = is_our_opensm_file},
                                      OwnedFile{.path = "/etc/rdma/rdma-*.conf",
                                                .what = "Files that opensm.conf names (RHEL, Fedora).",
                                                .ours = is_our_opensm_file}};

using Texts = std::vector<std::string>;

std::string_view key_of_content(const OpensmSideFile& file) { return file.guids ? "guids" : "lines"; }

Texts content_of(const model::Attributes& settings) {
  for (const auto* key : {"guids", "lines"}) {
    if (const auto* list = std::get_if<Texts>(&model::value_of(settings, key))) return *list;
  }
  return {};
}

class OpensmFileKind final : public Kind {
 public:
  OpensmFileKind()
      : Kind({.name = kOpensmFileKind,
              .fields = model::specs<OpensmFile>(),
              .traits = {.works_offline = true, .interrupts_services = true},
              .files = kOpensmSideFiles}) {}

  void parse(const Bound& bound, std::vector<Desired>& out, Diagnostics& diagnostics) const override {
    ByOption options;
    for (const auto* section : bound.of("opensm_option")) note_option(*section, options);
    for (const auto* section : bound.of(kOpensmFileKind))
      add(bound, *section, std::nullopt, options, out, diagnostics);
    for (const auto* opensm : bound.of("opensm")) {
      const auto port = port_with_own_conf(*opensm);
      if (!port) continue;
      ByOption own;
      for (const auto& child : opensm->children) {
        if (child.path == "opensm.option") note_option(child, own);
      }
      for (const auto& child : opensm->children) {
        if (child.path == "opensm.file") add(bound, child, port, own, out, diagnostics);
      }
    }
  }

  Result<std::vector<Observed>> observe(World& world) const override {
    std::vector<Observed> out;
    auto& files = world.host().files;
    const auto folder = observe_opensm_folder(files);
    if (!folder) return base::fail(folder.error());
    if (!*folder) return out;
    const auto names = files.list(**folder);
    if (!names) return base::fail(names.error());
    std::vector<OwnSideFile> own;
    for (const auto& name : *names) {
      if (const auto file = own_side_file(name)) own.push_back(*file);
    }
    for (const auto& file : opensm_side_files()) add_observed(files, **folder, file, std::nullopt, out);
    for (const auto& [file, port] : own) add_observed(files, **folder, *file, port, out);
    return out;
  }

  void check(std::vector<Desired>& desired, const std::vector<Observed>& /*observed*/, World& world,
             Diagnostics& diagnostics) const override {
    auto& files = world.host().files;
    const auto folder = observe_opensm_folder(files);
    if (!folder) return;  // observe() has failed for it
    for (auto& resource : desired) {
      if (resource.key.kind != kOpensmFileKind) continue;
      const auto owner = OpensmOwner::of(resource.key.id);
      const auto* file = opensm_side_file(owner.option);
      if (file == nullptr) continue;
      if (!*folder) {
        postpone(resource, without_opensm(files));
        continue;
      }
      if (owner.port && observe_opensm_layout(files) == OpensmLayout::kNone) {
        postpone(resource, kNoWayToStart);
        continue;
      }
      const auto path = path_of(**folder, *file, owner.port);
      if (auto why = why_not_writable(files, path); !why.empty()) {
        diagnostics.push_back({Severity::kError,
                               resource.where,
                               std::move(why),
                               "move it away; [[opensm_file]] writes it",
                               {}});
      }
      warn_unused(resource, *file, desired, files, **folder, diagnostics);
    }
    check_rates(desired, kOpensmFileKind, files, diagnostics);
  }

  Result<void> prepare(std::span<Change*> changes, World& world) const override {
    if (world.offline()) return {};
    auto& host = world.host();
    const auto folder = observe_opensm_folder(host.files);
    if (!folder) return base::fail(folder.error());
    const bool restarts = observe_opensm_layout(host.files) != OpensmLayout::kDebian;
    RunningByPort running(host);
    for (auto* change : changes) {
      const auto owner = OpensmOwner::of(change->key.id);
      const auto* file = opensm_side_file(owner.option);
      if (file == nullptr || !*folder || content_of(change->after).empty() ||
          !is_named(host.files, **folder, *file, owner.port))
        continue;
      const auto units = running.of(owner.port, readers_of(owner.port));
      if (!units) return base::fail(units.error());
      for (const auto& unit : *units) {
        change->carried.push_back(carried_unit(unit));
        change->interrupts.push_back(unit + (restarts || file->at_start
                                                 ? " is restarted"
                                                 : " sweeps the fabric, and its routes may change"));
      }
    }
    return {};
  }

  Result<void> apply(std::span<const Change> changes, system::Host& host) const override {
    const auto readers = write_files(changes, host.files);
    if (!readers) return base::fail(readers.error());
    return host.offline ? Result<void>{}
                        : tell_opensm(host, readers->restart, readers->reread, units_that_ran(changes));
  }

  /// A run that ended between a file and the signal leaves that to be sent. Where OpenSM ends at a file, it
  /// runs again with the former one, and the plan that follows fails with its own, as any does.
  Result<void> recover(std::span<const Change> changes, system::Host& host) const override {
    if (host.offline) return {};
    Readers readers;
    for (const auto& change : changes) {
      const auto owner = OpensmOwner::of(change.key.id);
      if (const auto* file = opensm_side_file(owner.option)) readers.add(owner.port, *file);
    }
    const auto ran = units_that_ran(changes);
    auto done = tell_opensm(host, readers.restart, readers.reread, ran);
    if (done) return done;
    std::vector<Change> back(changes.begin(), changes.end());
    for (auto& change : back) std::swap(change.before, change.after);
    if (const auto written = write_files(back, host.files); !written) return base::fail(written.error());
    return tell_opensm(host, readers.restart, readers.reread, ran);
  }

 private:
  using ByOption = std::map<std::string, const model::Section*>;

  /// Subnet managers that files concern: those that read them when they start, and those that read them
  /// again.
  struct Readers {
    OpensmReaders restart, reread;

    void add(std::optional<model::Guid> port, const OpensmSideFile& file) {
      add_readers(port, file.at_start ? restart : reread);
    }
  };

  /// @return whom that concerns
  static Result<Readers> write_files(std::span<const Change> changes, system::Files& files) {
    const auto found = observe_opensm_folder(files);
    if (!found) return base::fail(found.error());
    const auto folder = found->value_or("/etc/opensm");
    Readers readers;
    for (const auto& change : changes) {
      const auto owner = OpensmOwner::of(change.key.id);
      const auto* file = opensm_side_file(owner.option);
      if (file == nullptr) continue;
      const auto path = path_of(folder, *file, owner.port);
      const auto before = files.read(path);
      if (!before) return base::fail(before.error());
      const auto text = render_opensm_file(content_of(change.after));
      if (text == before->value_or("")) continue;
      if (text.empty()) {
        // The option goes, too, with a restart. Others' files are not ours to remove.
        if (!is_our_opensm_file(**before)) continue;
        if (auto done = files.remove(path); !done) return base::fail(done.error());
        continue;
      }
      if (auto done = refuse_others_file(*before, path, may_replace_opensm_file); !done)
        return base::fail(done.error());
      if (auto done = files.write(path, text); !done) return base::fail(done.error());
      if (is_named(files, folder, *file, owner.port)) readers.add(owner.port, *file);
    }
    return readers;
  }

  static std::string path_of(const std::string& folder, const OpensmSideFile& file,
                             std::optional<model::Guid> port) {
    return fmt::format("{}/{}", folder, opensm_side_name(file, port));
  }

  /// One of all may be named by the own files of ports, too.
  static void add_readers(std::optional<model::Guid> port, OpensmReaders& out) {
    out.all = out.all || !port;
    if (port) out.own.insert(*port);
  }

  static OpensmReaders readers_of(std::optional<model::Guid> port) {
    OpensmReaders out;
    add_readers(port, out);
    return out;
  }

  static void note_option(const model::Section& section, ByOption& out) {
    if (const auto* key = section.find("key")) out.emplace(model::text_of(key->value), &section);
  }

  /// Where an option that names no file of this kind belongs.
  static std::string elsewhere(const std::string& option, std::optional<model::Guid> port,
                               const Texts& known) {
    if (option == "partition_config_file") {
      return port ? "write that file yourself, and name it in [[opensm.option]]"
                  : "[[partition]] writes that file";
    }
    if (const auto near = base::nearest(option, known)) return fmt::format("did you mean \"{}\"?", *near);
    return "one of " + base::join(known, ", ");
  }

  /// `options`: those beside it, of which none may be that of the file.
  void add(const Bound& bound, const model::Section& section, std::optional<model::Guid> port,
           const ByOption& options, std::vector<Desired>& out, Diagnostics& diagnostics) const {
    const auto* option = section.find("option");
    if (option == nullptr) return;  // reported already, by the grammar
    const OpensmOwner owner{port, model::text_of(option->value)};
    const auto* file = opensm_side_file(owner.option);
    if (file == nullptr) {
      Texts known;
      for (const auto& side_file : opensm_side_files()) known.emplace_back(side_file.option);
      diagnostics.push_back(
          {Severity::kError,
           option->where,
           fmt::format("[[{}]] option: {} does not name an OpenSM file", section.path, owner.option),
           elsewhere(owner.option, port, known),
           {}});
      return;
    }
    if (const auto at = options.find(owner.option); at != options.end()) {
      auto& d = diagnostics.emplace_back(model::Diagnostic{
          Severity::kError,
          option->where,
          fmt::format("[[{}]] option: [[{}]] sets {}, too", section.path, at->second->path, owner.option),
          "this entry writes a separate file and sets the option to it; remove the other",
          {}});
      d.related.push_back({at->second->where, "the option"});
    }
    auto desired =
        desired_of(section, fields(), {std::string(kOpensmFileKind), owner.id()}, owner.label("opensm's"));
    const auto checked = complete(section, *file, desired, diagnostics);
    warn_without_partition(bound, section, checked, diagnostics);
    out.push_back(std::move(desired));
  }

  static void add_observed(system::Files& files, const std::string& folder, const OpensmSideFile& file,
                           std::optional<model::Guid> port, std::vector<Observed>& out) {
    const auto text = files.read(path_of(folder, file, port));
    if (!text || !*text || !is_our_opensm_file(**text)) return;  // check() says so where it matters
    const OpensmOwner owner{port, std::string(file.option)};
    out.push_back(observed_in_own_file({std::string(kOpensmFileKind), owner.id()}, owner.label("opensm's"),
                                       {{std::string(key_of_content(file)), parse_opensm_file(**text)}}));
  }

  /// The content as OpenSM reads it, with every mistake at its place.
  static CheckedLines complete(const model::Section& section, const OpensmSideFile& file, Desired& desired,
                               Diagnostics& diagnostics) {
    const auto wanted = key_of_content(file);
    const auto other = file.guids ? std::string_view("lines") : std::string_view("guids");
    const auto wrong = [&](const model::Location& where, std::string_view key, std::string what,
                           std::string hint, Severity severity = Severity::kError) {
      diagnostics.push_back(
          {severity, where, fmt::format("[[{}]] {}: {}", section.path, key, what), std::move(hint), {}});
    };
    if (const auto* entry = section.find(other))
      wrong(entry->where, other, fmt::format("{} takes {}, not {}", file.option, wanted, other),
            std::string(file.what));
    desired.settings.erase(std::string(other));
    const auto* entry = section.find(wanted);
    if (entry == nullptr) {
      if (section.find(other) == nullptr)
        wrong(section.where, wanted, "is missing", fmt::format("{} = [ … ]: {}", wanted, file.what));
      return {};
    }
    const auto* list = std::get_if<Texts>(&entry->value);
    if (list == nullptr) return {};  // reported already, by the grammar
    // A control character stands so in a text that was reported already.
    constexpr std::string_view kReplaced = "\xef\xbf\xbd";
    const bool reported = std::any_of(list->begin(), list->end(), [&](const std::string& line) {
      return line.find(kReplaced) != std::string::npos;
    });
    if (reported) return {};
    auto checked = check_opensm_lines(file, *list);
    constexpr std::size_t kShown = 10;
    // Errors first: none of them may be beyond those that are shown.
    std::stable_sort(checked.wrong.begin(), checked.wrong.end(),
                     [](const auto& a, const auto& b) { return !a.only_vain && b.only_vain; });
    for (std::size_t i = 0; i < std::min(checked.wrong.size(), kShown); ++i) {
      auto& mistake = checked.wrong[i];
      wrong(mistake.number == 0 ? entry->where : entry->place_of(mistake.number - 1), wanted,
            mistake.number == 0 ? std::move(mistake.what)
                                : fmt::format("element {}: {}", mistake.number, mistake.what),
            std::move(mistake.hint), mistake.only_vain ? Severity::kWarning : Severity::kError);
    }
    if (checked.lines.empty() && checked.wrong.empty())
      wrong(entry->where, wanted, "is empty", "leave the entry out to have no such file");
    desired.settings[std::string(wanted)] = checked.lines;
    return checked;
  }

  /// Where the document has partitions, it should have those of the policy: OpenSM ignores all of a policy
  /// with a rule for an IPoIB partition that is not there (__validate_pkeys() in osm_qos_parser_y.y).
  static void warn_without_partition(const Bound& bound, const model::Section& section,
                                     const CheckedLines& checked, Diagnostics& diagnostics) {
    std::set<std::uint16_t> known;
    for (const auto* partition : bound.of("partition")) {
      const auto* entry = partition->find("pkey");
      const auto pkey = model::Pkey::parse(entry == nullptr ? "" : model::text_of(entry->value));
      if (pkey) known.insert(pkey->partition());
    }
    if (known.empty()) return;
    known.insert(0x7fff);  // OpenSM always has it
    for (const auto& needed : checked.pkeys) {
      for (unsigned pkey = needed.from; pkey <= needed.to; ++pkey) {
        if (known.contains(pkey & 0x7fffU)) continue;
        diagnostics.push_back(
            {Severity::kWarning,
             section.find("lines")->place_of(needed.number - 1),
             fmt::format("[[{}]] lines: element {}: no [[partition]] has P_Key {:#06x}", section.path,
                         needed.number, pkey),
             "OpenSM ignores the whole policy unless another rule of partitions.conf has it, with two full "
             "members",
             {}});
        break;
      }
    }
  }

  /// Whether an opensm.conf names our file, so that a subnet manager which runs has read it.
  static bool is_named(system::Files& files, const std::string& folder, const OpensmSideFile& file,
                       std::optional<model::Guid> port) {
    const auto path = path_of(folder, file, port);
    if (!port) return opensm_option_value({}, files, folder, file.option) == path;
    const auto confs = observe_own_confs(files, folder);
    if (!confs) return false;
    const auto conf = confs->find(*port);
    if (conf == confs->end() || !conf->second.is_read) return false;
    const auto at = conf->second.options.find(std::string(file.option));
    return at != conf->second.options.end() && at->second == path;
  }

  static void warn_unused(const Desired& resource, const OpensmSideFile& file,
                          std::span<const Desired> desired, system::Files& files, const std::string& folder,
                          Diagnostics& diagnostics) {
    const auto port = OpensmOwner::of(resource.key.id).port;
    const std::string_view section = port ? "opensm.file" : "opensm_file";
    const std::string_view other = port ? "opensm.option" : "opensm_option";
    const auto warn = [&](std::string what, std::string hint) {
      diagnostics.push_back(
          {Severity::kWarning,
           resource.where,
           fmt::format("[[{}]] option: OpenSM does not read {} {}", section, file.option, what),
           std::move(hint),
           {}});
    };
    const auto value_of = [&](std::string_view option) {
      return port ? own_option_value(desired, {port, std::string(option)})
                  : opensm_option_value(desired, files, folder, option);
    };
    if (!file.needs.empty() && value_of(file.needs) != "TRUE") {
      warn(fmt::format("while {} is not TRUE", file.needs),
           fmt::format("add [[{}]] key = \"{}\", value = \"TRUE\"", other, file.needs));
    }
    if (file.engines.empty()) return;
    const auto engines = base::split(file.engines, ',');
    const auto used = value_of("routing_engine").value_or("");
    for (const auto engine : base::split(used, ',')) {
      if (std::find(engines.begin(), engines.end(), base::trim(engine)) != engines.end()) return;
    }
    warn(used.empty() ? "with its usual routing engine" : fmt::format("with routing_engine {}", used),
         fmt::format("[[{}]] key = \"routing_engine\" with one of {}", other, file.engines));
  }
};

}  // namespace

model::SectionSpec opensm_file_section() {
  model::SectionSpec section{
      .name = kOpensmFileKind,
      .doc =
          "The content of a file that an option of opensm.conf names, such as the roots of a tree or the "
          "QoS policy. Its option is set to it.",
      .identities = {{"option"}}};
  add_written(section.fields, model::specs<OpensmFile>());
  return section;
}

const Kind& opensm_file() {
  static const OpensmFileKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
