// SPDX-License-Identifier: Apache-2.0
#include "store/held_record.hpp"

#include <utility>
#include <vector>

#include "base/retry.hpp"
#include "store/damage.hpp"
#include "store/json_file.hpp"
#include "store/value_json.hpp"

namespace rdmacfg::core {

using base::Result;
using Json = nlohmann::ordered_json;

namespace {

constexpr int kHeldSchema = 1;

/// Empty when it is damaged or only partly understood: a run would set it aside.
Result<State> read_whole_state(system::Files& files, const Paths& paths) {
  std::vector<std::string> dropped;
  auto state = load_state(files, paths.state, &dropped);
  if (state && !dropped.empty()) return State();
  return state;
}

}  // namespace

Result<std::optional<HeldRecord>> load_held_record(system::Files& files, const Paths& paths,
                                                   const std::string& boot_id) {
  const auto decode = [](const Json& json) {
    HeldRecord record;
    record.journal.boot_id = json.at("boot_id").get<std::string>();
    record.over = json.at("over").get<bool>();
    record.journal.plan = plan_from(json.at("changes"));
    record.journal.before = state_from(json.at("before"));
    record.on_disk = state_from(json.at("on_disk"));
    return record;
  };
  auto loaded =
      base::load_twice([&] { return load_json<HeldRecord>(files, paths.held, kHeldSchema, decode); });
  if (loaded && *loaded && (*loaded)->journal.boot_id != boot_id) loaded->reset();
  return loaded;
}

Result<void> save_held_record(system::Files& files, const Paths& paths, HeldRecord record) {
  record.on_disk = read_whole_state(files, paths).value_or(State());
  const Json json{{"schema", kHeldSchema},
                  {"boot_id", record.journal.boot_id},
                  {"over", record.over},
                  {"changes", kept_json(record.journal.plan)},
                  {"before", state_json(record.journal.before)},
                  {"on_disk", state_json(record.on_disk)}};
  return files.write_private(paths.held, json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::optional<State> load_undamaged_state(system::Files& files, const Paths& paths,
                                          const std::string& boot_id) {
  auto state = base::load_twice([&] { return load_state(files, paths.state); });
  auto held = load_held_record(files, paths, boot_id);
  if (held && *held && (!state || (*held)->on_disk == *state)) return std::move((*held)->journal.before);
  if (state) return std::move(*state);
  return is_damage(state.error()) ? load_state_before_run(files, paths) : std::nullopt;
}

std::optional<State> load_state_before_run(system::Files& files, const Paths& paths) {
  auto journal = base::load_twice([&] { return load_journal(files, paths.journal); });
  if (!journal || !*journal) return std::nullopt;
  return std::move((*journal)->before);
}

Result<State> load_known_state(system::Files& files, const Paths& paths, const std::string& boot_id) {
  auto state = load_state(files, paths.state);
  if (!state) return state;
  auto held = load_held_record(files, paths, boot_id);
  if (!held) return base::fail(held.error());
  if (*held && (*held)->on_disk == *state) return std::move((*held)->journal.before);
  return state;
}

Result<std::optional<Journal>> load_open_journal(system::Files& files, const Paths& paths,
                                                 const std::string& boot_id) {
  auto held = load_held_record(files, paths, boot_id);
  if (!held) return base::fail(held.error());
  if (!*held) return base::load_twice([&] { return load_journal(files, paths.journal); });
  if ((*held)->over) return std::optional<Journal>();
  return std::optional<Journal>(std::move((*held)->journal));
}

}  // namespace rdmacfg::core
