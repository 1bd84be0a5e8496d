// SPDX-License-Identifier: Apache-2.0
#include "store/damage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "store/json_file.hpp"

namespace rdmacfg::core {

using base::Result;
using Json = nlohmann::ordered_json;

namespace {

constexpr int kDegradedSchema = 1;
constexpr std::size_t kReasonsMost = 8;
constexpr int kDamagedTried = 32;

std::string damaged_name(const std::string& path, int number) {
  return fmt::format("{}.damaged-{}", path, number);
}

std::vector<std::string> reasons_in(system::Files& files, const std::string& path) {
  const auto loaded = load_json<std::vector<std::string>>(files, path, kDegradedSchema, [](const Json& json) {
    return json.at("reasons").get<std::vector<std::string>>();
  });
  if (!loaded && loaded.error().code == base::Code::kDenied) return {};  // it is not known
  if (!loaded) return {loaded.error().message};
  return loaded->value_or(std::vector<std::string>());
}

void add_once(const std::vector<std::string>& reasons, std::vector<std::string>& out) {
  for (const auto& reason : reasons) {
    if (std::find(out.begin(), out.end(), reason) == out.end()) out.push_back(reason);
  }
}

/// Without those of records that only wait for /var.
std::vector<std::string> of_damage(system::Files& files) {
  auto out = reasons_in(files, kDegradedFile);
  add_once(reasons_in(files, kDegradedInRun), out);
  return out;
}

std::string degraded_text(std::vector<std::string> reasons) {
  if (reasons.size() > kReasonsMost)
    reasons.erase(reasons.begin(), reasons.end() - static_cast<std::ptrdiff_t>(kReasonsMost));
  const Json json{{"schema", kDegradedSchema}, {"reasons", reasons}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

bool is_damage(const base::Error& error) {
  if (error.code == base::Code::kInvalid || system::is_unusable(error)) return true;
  // A file is in the place of the folder of records.
  if (error.sys_errno == ENOTDIR) return true;
  // The medium has lost it.
  return error.sys_errno == EIO || error.sys_errno == EUCLEAN || error.sys_errno == EBADMSG;
}

std::string put_aside(system::Files& files, const std::string& path, const base::Error& why,
                      const std::function<Result<void>()>& instead) {
  for (int number = kDamagedKept; number > 1; --number)
    (void)files.rename(damaged_name(path, number - 1), damaged_name(path, number));
  auto aside = damaged_name(path, 1);
  const auto text = instead ? files.read(path) : Result<std::optional<std::string>>();
  Result<void> done;
  if (text && *text && files.write_private(aside, **text)) {
    done = instead();
  } else {
    done = files.rename(path, aside);
    // A folder that was set aside earlier may keep all of these names.
    for (int number = kDamagedKept + 1; !done && number <= kDamagedTried; ++number) {
      aside = damaged_name(path, number);
      done = files.rename(path, aside);
    }
    if (done && instead) done = instead();
  }
  if (done) return fmt::format("{}; it was set aside as {}", why.message, aside);
  return fmt::format("{}; it could not be set aside: {}", why.message, done.error().message);
}

void make_way(system::Files& files, const std::string& path) {
  const auto there = files.read(path);
  if (!there && system::is_unusable(there.error())) (void)put_aside(files, path, there.error());
}

void remove_put_aside(system::Files& files, const std::string& path) {
  for (int number = 1; number <= kDamagedKept; ++number) (void)files.remove(damaged_name(path, number));
}

std::vector<std::string> degraded(system::Files& files) {
  auto out = of_damage(files);
  add_once(reasons_in(files, kUnwrittenFile), out);
  return out;
}

std::vector<std::string> degrade(system::Files& files, std::vector<std::string> reasons) {
  if (reasons.empty()) return reasons;
  auto all = of_damage(files);
  add_once(reasons, all);
  const auto text = degraded_text(std::move(all));
  make_way(files, kDegradedFile);
  const auto done = files.write(kDegradedFile, text);
  if (!done && !files.write(kDegradedInRun, text))
    reasons.push_back("this could not be recorded for the next run: " + done.error().message);
  return reasons;
}

void tell_damage(system::Files& files, std::vector<std::string> reasons, model::Report& report) {
  const auto notes = model::notes_about(model::Note::Sort::kDamage, degrade(files, std::move(reasons)));
  report.notes.insert(report.notes.end(), notes.begin(), notes.end());
}

void tell_unwritten(system::Files& files, const std::string& reason, model::Report& report) {
  std::vector<std::string> told{reason};
  auto all = reasons_in(files, kUnwrittenFile);
  add_once(told, all);
  make_way(files, kUnwrittenFile);
  if (auto done = files.write(kUnwrittenFile, degraded_text(std::move(all))); !done)
    told.push_back("this could not be recorded for the next run: " + done.error().message);
  const auto notes = model::notes_about(model::Note::Sort::kDamage, std::move(told));
  report.notes.insert(report.notes.end(), notes.begin(), notes.end());
}

std::string until_written(const base::Error& why) {
  switch (why.sys_errno) {
    case EROFS:
      // A service keeps the mounts as it found them (ADR 0056).
      return "remount /var writable and restart rdma-configd, which then records it";
    case ENOSPC:
    case EDQUOT:
      return "free space on /var; the daemon then records it";
    default:
      return "repair /var; the daemon then records it (if you remounted /var, restart the daemon)";
  }
}

bool has_unwritten(system::Files& files) {
  const auto there = files.read(kUnwrittenFile);
  return !there || there->has_value();
}

std::vector<std::string> unwritten(system::Files& files) { return reasons_in(files, kUnwrittenFile); }

Result<void> clear_unwritten(system::Files& files) {
  return has_unwritten(files) ? replace_by_nothing(files, kUnwrittenFile) : Result<void>();
}

Result<void> clear_degraded(system::Files& files) {
  auto done = replace_by_nothing(files, kDegradedFile);
  auto in_run = replace_by_nothing(files, kDegradedInRun);
  return done ? in_run : done;
}

Result<void> replace_by_nothing(system::Files& files, const std::string& path) {
  auto done = files.remove(path);
  if (done || !system::is_unusable(done.error())) return done;
  (void)put_aside(files, path, done.error());
  const auto there = files.read(path);
  return there && !*there ? Result<void>() : done;
}

}  // namespace rdmacfg::core
