// SPDX-License-Identifier: Apache-2.0
#include "store/generations.hpp"

#include <fmt/format.h>

#include "base/digest.hpp"
#include "base/retry.hpp"
#include "catalog/all.hpp"
#include "model/limits.hpp"
#include "store/confined.hpp"
#include "store/damage.hpp"
#include "store/json_file.hpp"
#include "store/ledger_json.hpp"
#include "store/value_json.hpp"

namespace rdmacfg::core {

using base::Result;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kCopiedMost = model::limits::kFileBytes;  // of a text within another record

AppliedDocument remembered_from(const Json& json) {
  AppliedDocument remembered;
  for (const auto& file : json.at("files")) {
    remembered.files.push_back({.name = file.at("name").get<std::string>(),
                                .text = file.at("text").get<std::string>(),
                                .is_private = file.value("private", false)});
  }
  remembered.host = json.value("host", std::string());
  remembered.of_others = json.value("of_others", false);
  return remembered;
}

Json remembered_json(const std::vector<config::Text>& files, const std::string& host, bool of_others) {
  Json list = Json::array();
  for (const auto& file : files) {
    list.push_back({{"name", file.name}, {"text", file.text}});
    if (file.is_private) list.back()["private"] = true;
  }
  Json json{{"schema", kLedgerSchema}, {"files", std::move(list)}};
  if (!host.empty()) json["host"] = host;
  if (of_others) json["of_others"] = true;
  return json;
}

std::size_t size_of(const AppliedDocument& remembered) {
  std::size_t size = 0;
  for (const auto& file : remembered.files) size += file.name.size() + file.text.size();
  return size;
}

struct Backup {
  Ledger ledger;
  std::optional<AppliedDocument> text;  ///< of the active generation; nothing when it is too long
};

Result<std::optional<Backup>> load_backup(system::Files& files, const std::string& path) {
  return load_json<Backup>(files, path, kLedgerSchema, [](const Json& json) {
    Backup backup{ledger_from(json.at("ledger")), std::nullopt};
    if (const auto text = json.find("text"); text != json.end()) backup.text = remembered_from(*text);
    return backup;
  });
}

std::string path_of(const std::string& folder, std::uint64_t number) {
  return fmt::format("{}/{}.json", folder, number);
}

}  // namespace

std::string digest_of(const config::Document& document) {
  std::string all;
  // A document that has moved is the same one.
  for (const auto& file : document.files) {
    all += fmt::format("{}:", file.text.size());
    all += file.text;
  }
  if (!document.host.empty()) all += "host:" + document.host;
  return base::sha256(all);
}

Result<Ledger> load_ledger(system::Files& files, const std::string& path) {
  auto loaded = load_json<Ledger>(files, path, kLedgerSchema, ledger_from);
  if (!loaded) return base::fail(loaded.error());
  return loaded->value_or(Ledger{});
}

Result<void> save_ledger(system::Files& files, const std::string& path, const Ledger& ledger) {
  return files.write_private(path,
                             ledger_json(ledger).dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

Result<LedgerNow> look_up_ledger(system::Files& files, const GenerationPaths& paths) {
  auto loaded =
      base::load_twice([&] { return load_json<Ledger>(files, paths.ledger, kLedgerSchema, ledger_from); });
  if (!loaded && !is_damage(loaded.error())) return base::fail(loaded.error());
  const auto backup = loaded && *loaded ? Result<std::optional<Backup>>() : load_backup(files, paths.backup);
  auto record = base::load_twice([&] { return load_rollback_record(files, paths.rollback_record); });
  const bool copied = backup && *backup;
  const bool waits = record && *record && (*record)->ledger;
  LedgerNow out;
  if (loaded && *loaded) {
    out.committed = **loaded;
  } else if (copied) {
    out.committed = (*backup)->ledger;
  }
  if (!loaded) {
    out.damage = loaded.error();
  } else if (!*loaded && (copied || !backup || (waits && (*record)->ledger->transaction > 1))) {
    out.damage = base::Error{base::Code::kNotFound, paths.ledger + ": missing", 0};
  }
  out.lost = out.damage && !copied;
  out.ledger = out.committed;
  if (!waits || !(is_interrupted(**record, out.committed))) return out;
  // Without a ledger nobody knows whether it was committed; to take it back is safe.
  out.ledger = *(*record)->ledger;
  out.ledger.unconfirmed->complete = false;
  return out;
}

Result<Ledger> read_ledger(system::Files& files, const GenerationPaths& paths) {
  auto now = look_up_ledger(files, paths);
  if (!now) return base::fail(now.error());
  return std::move(now->ledger);
}

Result<AppliedDocument> load_texts(system::Files& files, const std::string& folder, std::uint64_t number) {
  const auto path = path_of(folder, number);
  auto loaded = load_json<AppliedDocument>(files, path, kLedgerSchema, remembered_from);
  if (!loaded) return base::fail(loaded.error());
  if (!*loaded) {
    return base::fail(base::Code::kNotFound, fmt::format("{}: generation {} does not exist", path, number));
  }
  return std::move(**loaded);
}

Result<AppliedDocument> read_texts(system::Files& files, const GenerationPaths& paths, std::uint64_t number) {
  auto texts = load_texts(files, paths.texts, number);
  if (texts) return texts;
  const bool lost = is_damage(texts.error()) || texts.error().code == base::Code::kNotFound;
  auto backup = lost ? load_backup(files, paths.backup) : Result<std::optional<Backup>>(std::nullopt);
  if (backup && *backup && (*backup)->text && (*backup)->ledger.active == number)
    return std::move(*(*backup)->text);
  const auto record =
      lost ? load_rollback_record(files, paths.rollback_record) : Result<std::optional<RollbackRecord>>();
  if (record && *record && (*record)->previous && (*record)->ledger && (*record)->ledger->unconfirmed &&
      (*record)->ledger->unconfirmed->previous == number)
    return *(*record)->previous;
  return texts;
}

Result<void> save_texts(system::Files& files, const std::string& folder, std::uint64_t number,
                        const config::Document& document, bool of_others) {
  const auto json = remembered_json(document.files, document.host, of_others);
  return files.write_private(path_of(folder, number),
                             json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::vector<std::string> narrow(system::Files& files, const GenerationPaths& paths) {
  std::vector<std::string> all{paths.ledger, paths.backup, paths.rollback_record, paths.suspended}, open;
  if (const auto names = files.list(paths.texts)) {
    for (const auto& name : *names) all.push_back(paths.texts + '/' + name);
  }
  for (const auto& path : all) {
    if (files.hidden(path)) continue;
    const auto text = files.read(path);
    if (!text && system::is_unusable(text.error())) continue;  // nothing of ours is in it
    if (text && !*text) continue;
    const auto done = text ? files.write_private(path, **text) : Result<void>(base::fail(text.error()));
    if (!done)
      open.push_back(fmt::format("{}: is world-readable, and its mode could not be changed: {}", path,
                                 done.error().message));
  }
  return open;
}

Result<void> save_backup(system::Files& files, const GenerationPaths& paths, const Ledger& ledger) {
  Json json{{"schema", kLedgerSchema}, {"ledger", ledger_json(ledger)}};
  if (ledger.active != 0) {
    auto text = read_texts(files, paths, ledger.active);
    if (!text) {
      // The text is unreadable just now, and may be damaged later: the existing copy of it stays.
      auto earlier = load_backup(files, paths.backup);
      if (earlier && *earlier && (*earlier)->text && (*earlier)->ledger.active == ledger.active)
        text = std::move(*(*earlier)->text);
    }
    if (text && size_of(*text) <= kCopiedMost)
      json["text"] = remembered_json(text->files, text->host, text->of_others);
  }
  make_way(files, paths.backup);
  return files.write_private(paths.backup, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

bool is_interrupted(const RollbackRecord& record, const Ledger& ledger) {
  return record.ledger && record.ledger->transaction > ledger.transaction;
}

config::Document parse_again(AppliedDocument remembered, std::string_view host) {
  const auto name = remembered.host.empty() ? std::string(host) : std::move(remembered.host);
  if (remembered.of_others) {
    auto document = parse_confined(remembered.files, name, confine_of_others());
    if (document) return std::move(*document);
    config::Document none;
    const auto file = remembered.files.empty() ? std::string() : remembered.files.front().name;
    none.diagnostics.push_back(
        {model::Severity::kError,
         {file, 0, 0, 0},
         document.error().message,
         "it was sent by a user other than root, so it is parsed only without privileges",
         {}});
    none.whole = false;
    none.host = remembered.host;
    none.files = std::move(remembered.files);
    return none;
  }
  return config::parse_texts(std::move(remembered.files), name, kinds::grammar());
}

std::vector<std::string> remove_texts(system::Files& files, const GenerationPaths& paths,
                                      const std::vector<std::uint64_t>& numbers) {
  std::vector<std::string> left;
  for (const auto number : numbers) {
    if (const auto done = files.remove(path_of(paths.texts, number)); !done)
      left.push_back(fmt::format("the text of the discarded generation {} could not be removed: {}", number,
                                 done.error().message));
  }
  return left;
}

Result<std::optional<RollbackRecord>> load_rollback_record(system::Files& files, const std::string& path) {
  return load_json<RollbackRecord>(files, path, kLedgerSchema, [](const Json& json) {
    std::vector<std::string> dropped;
    RollbackRecord out{.boot_id = json.at("boot_id").get<std::string>(),
                       .plan = plan_from(json.at("changes"), &dropped),
                       .before = state_from(json.at("before"), nullptr),
                       .in_two_runs = json.value("in_two_runs", false)};
    out.partial = !dropped.empty();
    if (const auto ledger = json.find("ledger"); ledger != json.end()) {
      out.ledger = ledger_from(*ledger);
      if (!out.ledger->unconfirmed) reject_record("nothing waits for confirmation");
    }
    if (const auto text = json.find("previous"); text != json.end()) out.previous = remembered_from(*text);
    return out;
  });
}

Result<void> save_rollback_record(system::Files& files, const std::string& path,
                                  const RollbackRecord& rollback_record) {
  Json json{{"schema", kLedgerSchema},
            {"boot_id", rollback_record.boot_id},
            {"changes", kept_json(rollback_record.plan)},
            {"before", state_json(rollback_record.before)},
            {"in_two_runs", rollback_record.in_two_runs}};
  if (rollback_record.ledger) json["ledger"] = ledger_json(*rollback_record.ledger);
  if (rollback_record.previous && size_of(*rollback_record.previous) <= kCopiedMost)
    json["previous"] = remembered_json(rollback_record.previous->files, rollback_record.previous->host,
                                       rollback_record.previous->of_others);
  return files.write_private(path, json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace rdmacfg::core
