// SPDX-License-Identifier: Apache-2.0
#include "withdraw/withdraw.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "catalog/all.hpp"
#include "catalog/bind.hpp"
#include "catalog/owned_files.hpp"
#include "core/guards/concealed.hpp"
#include "core/observation.hpp"
#include "kinds/boot_record.hpp"
#include "kinds/host/initramfs_stamp.hpp"
#include "metrics/metrics.hpp"
#include "store/damage.hpp"
#include "store/held_record.hpp"
#include "store/ledger_seen.hpp"
#include "store/state.hpp"

namespace rdmacfg::core {

using base::Code;
using base::Result;

namespace {

Result<void> check_idle(Context& context) {
  auto& files = context.host.files;
  const auto now = look_up_ledger(files, context.paths);
  if (!now) return base::fail(now.error());
  if (!context.host.offline && is_written_by_another(files, now->committed, context.host.boot_id))
    return base::fail(written_by_another(context.paths.ledger));
  if (now->ledger.unconfirmed) {
    return base::fail(Code::kBusy,
                      "an apply waits for its confirmation: run `rdma-configctl confirm` or `rdma-configctl "
                      "rollback` first");
  }
  const auto journal = load_open_journal(files, context.options.paths, context.host.boot_id);
  if (!journal && !is_damage(journal.error())) return base::fail(journal.error());
  if (!journal || *journal)
    return base::fail(Code::kBusy, "an apply was interrupted: finish it with `rdma-configctl apply` first");
  return {};
}

Result<void> refuse_errors(const model::Diagnostics& diagnostics) {
  for (const auto& diagnostic : diagnostics) {
    if (diagnostic.severity != model::Severity::kError) continue;
    return base::fail(Code::kInvalid, fmt::format("{}: {}", diagnostic.where.text(), diagnostic.message));
  }
  return {};
}

/// Below --root there is no kernel to look at: the entries of a document that name ports by their GUIDs, also
/// of kinds that an apply leaves to the boot.
Result<std::vector<model::Desired>> wanted_of_image(const config::Document& document, system::Host& host) {
  const auto world = kinds::World::observe(host);
  if (!world) return base::fail(world.error());
  model::Diagnostics diagnostics;
  const auto bound = kinds::bind(document.sections, *world, diagnostics);
  std::vector<model::Desired> desired;
  for (const auto* kind : kinds::all_kinds()) kind->parse(bound, desired, diagnostics);
  if (auto done = refuse_errors(diagnostics); !done) return base::fail(done.error());
  return desired;
}

/// The active generation's demands on this host; nothing without one.
Result<std::vector<model::Desired>> wanted(const std::string& host_name, Context& context,
                                           const config::Document* image) {
  auto& host = context.host;
  const auto ledger = read_ledger(host.files, context.paths);
  if (!ledger) return base::fail(ledger.error());
  if (ledger->active == 0 && image != nullptr) return wanted_of_image(*image, host);
  if (ledger->active == 0) return std::vector<model::Desired>{};
  auto texts = read_texts(host.files, context.paths, ledger->active);
  if (!texts) return base::fail(texts.error());
  const auto document = parse_again(std::move(*texts), host_name);
  if (!document.whole) {
    if (auto done = refuse_errors(document.diagnostics); !done) return base::fail(done.error());
  }
  if (host.offline) return wanted_of_image(document, host);
  auto observation = observe_host(document, host, {}, ObserveOptions{});
  if (!observation) return base::fail(observation.error());
  return std::move(observation->desired);
}

/// Nobody else's file is written over.
Result<void> check_free(const std::string& path, system::Files& files) {
  const auto there = files.read(path);
  if (!there) return base::fail(there.error());
  if (!*there || kinds::was_left(**there)) return {};
  return base::fail(
      Code::kInvalid,
      fmt::format("{}: exists already and was not made by an earlier withdrawal; move it away first", path));
}

Result<void> keep_whole(const std::string& path, system::Files& files, Withdrawal& plan) {
  const auto slash = path.rfind('/');
  const auto name = path.substr(slash + 1);
  // A mount unit keeps its name, and is told by its first line alone.
  const auto plain = kinds::plain_name(name).value_or(name);
  const auto text = files.read(path);
  if (!text) return base::fail(text.error());
  auto content = *text ? kinds::plain_text(**text) : std::nullopt;
  if (!content) return {};
  auto to = fmt::format("{}/{}", path.substr(0, slash), plain);
  if (to != path) {
    if (auto free = check_free(to, files); !free) return free;
  }
  plan.kept.push_back({path, std::move(to), std::move(*content)});
  return {};
}

Result<void> keep_block(const kinds::OwnedFile& file, const std::string& path, system::Files& files,
                        Withdrawal& plan) {
  const auto text = files.read(path);
  if (!text) return base::fail(text.error());
  auto content = *text ? kinds::without_marks(**text, file) : std::nullopt;
  if (content) plan.kept.push_back({path, path, std::move(*content)});
  return {};
}

Result<void> find_files(kinds::OwnedFile::Extent extent, system::Files& files, Withdrawal& plan) {
  for (const auto* file : kinds::owned_files()) {
    if (file->extent != extent) continue;
    const auto paths = kinds::files_of(*file, files);
    if (!paths) return base::fail(paths.error());
    for (const auto& path : *paths) {
      auto done = extent == kinds::OwnedFile::Extent::kWhole ? keep_whole(path, files, plan)
                                                             : keep_block(*file, path, files, plan);
      if (!done) return done;
    }
  }
  return {};
}

/// The last metrics of the daemon, which would say for ever that it does not run.
void remove_metrics(system::Files& files) {
  const auto note = files.read(metrics::kNote);
  if (!note || !*note) return;
  const std::string path(base::trim(**note));
  if (path.ends_with(std::string("/") + metrics::kFileName)) (void)files.remove(path);
  (void)files.remove(metrics::kNote);
}

Result<void> forget(Context& context) {
  auto& files = context.host.files;
  remove_metrics(files);
  // The copy of the ledger goes first: it would be taken for the ledger.
  for (const auto& path :
       {context.paths.rollback_record, context.paths.backup, context.paths.ledger, context.paths.suspended,
        context.options.paths.state, context.options.paths.journal, context.options.paths.held,
        std::string(kDegradedFile), std::string(kDegradedInRun), std::string(kUnwrittenFile),
        std::string(kLedgerSeen), std::string(kAppliedMark)}) {
    if (auto done = replace_by_nothing(files, path); !done) return done;
  }
  for (const auto* file : kinds::owned_files()) {
    if (file->extent != kinds::OwnedFile::Extent::kRecord) continue;
    for (const auto& path : {kinds::boot_record_in_run(file->path), std::string(file->path)}) {
      if (auto done = replace_by_nothing(files, path); !done) return done;
    }
  }
  for (const auto& path :
       {context.paths.rollback_record, context.paths.backup, context.paths.ledger, context.paths.suspended,
        context.options.paths.state, context.options.paths.journal, context.options.paths.held,
        std::string(kDegradedFile)})
    remove_put_aside(files, path);
  const std::string texts = context.paths.texts;
  const auto numbers = files.list(texts);
  if (!numbers) return {};
  for (const auto& name : *numbers) {
    auto done = files.remove(fmt::format("{}/{}", texts, name));
    if (!done && !system::is_unusable(done.error()))
      return done;  // a folder stays: it holds none of our texts
  }
  return {};
}

}  // namespace

Result<Withdrawal> plan_withdrawal(const std::string& host_name, Context& context,
                                   const config::Document* image) {
  auto& files = context.host.files;
  if (auto idle = check_idle(context); !idle) return base::fail(idle.error());
  const auto desired = wanted(host_name, context, image);
  if (!desired) return base::fail(desired.error());
  Withdrawal plan;
  if (auto done = find_files(kinds::OwnedFile::Extent::kWhole, files, plan); !done)
    return base::fail(done.error());
  if (auto done = find_files(kinds::OwnedFile::Extent::kBlock, files, plan); !done)
    return base::fail(done.error());
  const auto backends = kinds::read_backend_rules(files);
  if (!backends) return base::fail(backends.error());
  plan.setup = kinds::render_setup(*desired, *backends);
  for (const auto& file : plan.setup) {
    if (auto free = check_free(file.path, files); !free) return base::fail(free.error());
  }
  plan.lost = kinds::not_handed_over(*desired);
  const auto stamp = files.read(std::string(kinds::kInitramfsStamp));
  if (stamp && *stamp) {
    const auto tool = context.host.offline ? std::nullopt : context.host.initramfs.tool();
    plan.notes.push_back(
        fmt::format("the initramfs has copies under the old names; run {} when rdma-configd is removed",
                    tool.value_or("the tool that builds it")));
  }
  return plan;
}

namespace {

/// Whether a file was closed to others, as those of a private document are. Files below /etc/systemd are
/// shown to everybody, and read by others than root.
bool is_closed(const std::string& path, system::Files& files) {
  return files.hidden(path) && !path.starts_with("/etc/systemd/");
}

Result<void> write_files(const Withdrawal& plan, system::Host& host, std::vector<std::string>& profiles) {
  for (const auto& file : plan.setup) {
    if (auto done = host.files.write(file.path, file.content); !done) return done;
  }
  for (const auto& kept : plan.kept) {
    const auto* file = kinds::owned_file(kept.from);
    const bool is_private = (file != nullptr && file->access == kinds::OwnedFile::Access::kPrivate) ||
                            (kept.from != kept.to && is_closed(kept.from, host.files));
    const bool of_others = file != nullptr && file->extent == kinds::OwnedFile::Extent::kBlock;
    auto done = is_private  ? host.files.write_private(kept.to, kept.content)
                : of_others ? host.files.edit(kept.to, kept.content)
                            : host.files.write(kept.to, kept.content);
    if (!done) return done;
    if (file != nullptr && file->after_write == kinds::OwnedFile::AfterWrite::kLoadProfile)
      profiles.insert(profiles.end(), {kept.from, kept.to});
  }
  return {};
}

}  // namespace

Result<void> withdraw(const Withdrawal& plan, Context& context) {
  auto& host = context.host;
  std::vector<std::string> profiles;
  host.files.keep_private(active_is_private(host.files, context.paths));
  auto written = write_files(plan, host, profiles);
  host.files.keep_private(false);
  if (!written) return written;
  // Called again after this, only renaming is left to do: the scripts are there, and who set up which port is
  // not known any more.
  if (auto done = forget(context); !done) return done;
  for (const auto& kept : plan.kept) {
    if (kept.from == kept.to) continue;
    if (auto done = host.files.remove(kept.from); !done) return done;
  }
  if (host.offline) return {};
  // Their readers are told; a reader that does not run reads them when it starts.
  (void)host.udev.reload_rules();
  (void)host.units.reload_manager();
  if (!profiles.empty()) (void)host.network_manager.load(profiles);
  return {};
}

}  // namespace rdmacfg::core
