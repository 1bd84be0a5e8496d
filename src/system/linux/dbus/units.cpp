// SPDX-License-Identifier: Apache-2.0
// Source: org.freedesktop.systemd1(5).
#include "system/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "base/text.hpp"
#include "system/linux/dbus/systemd.hpp"
#include "system/linux/dbus/unit_files.hpp"
#include "system/linux/linux_host.hpp"
#include "system/linux/process.hpp"

namespace rdmacfg::system {

namespace {

using base::Code;
using base::fail;
using base::fail_errno;
using base::Result;
using detail::BusError;
using detail::BusMessage;
using detail::JobEnd;
using detail::kSystemd;
using detail::kSystemdManager;
using detail::kSystemdPath;

constexpr const char* kUnit = "org.freedesktop.systemd1.Unit";
constexpr std::string_view kDropIns = "/etc/systemd/system";
constexpr const char* kService = "org.freedesktop.systemd1.Service";

base::Error no_systemd(const std::string& what) {
  return {Code::kUnsupported, what + ": no systemd answers", 0};
}

/// The questions of one look at units, with one budget of time. After a question without an answer no other
/// is asked: silence is not "no", and each next one would wait as long.
class UnitQuestions {
 public:
  UnitQuestions(detail::Systemd& systemd, sd_bus* bus)
      : systemd_(systemd), bus_(bus), end_(now() + std::max(systemd.limits().look, systemd.patience())) {}

  /// `question`: (bus, error) -> the status of a call. @return whether systemd answered, and not with an
  /// error
  template <class Question>
  bool ask(Question question) {
    if (lost_ != 0) return false;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - now());
    if (left.count() <= 0) {
      lost_ = ETIMEDOUT;
      return false;
    }
    const auto call = systemd_.patience();
    sd_bus_set_method_call_timeout(bus_, detail::microseconds_of(std::min(call, left)));
    BusError ignored;
    const auto asked = [&](sd_bus_error* error) { return question(bus_, error); };
    // Slow answers may leave a budget too small to tell silence by.
    const int status = left >= call ? systemd_.ask(bus_, ignored, asked) : asked(&ignored.error);
    if (systemd_.patience() > call) end_ = std::max(end_, now() + systemd_.limits().look);
    if (status == -ETIMEDOUT || status == -ECONNRESET || status == -ENOTCONN || status == -EPIPE)
      lost_ = -status;
    return status >= 0;
  }
  /// The errno of the question that had no answer; 0: all had one.
  [[nodiscard]] int lost() const { return lost_; }

 private:
  [[nodiscard]] Silence::Clock::time_point now() const { return systemd_.limits().silences->systemd.now(); }

  detail::Systemd& systemd_;
  sd_bus* bus_;
  Silence::Clock::time_point end_;
  int lost_ = 0;
};

class SystemdUnits final : public Units {
 public:
  explicit SystemdUnits(BusLimits limits) : systemd_(std::move(limits)) {}

  Result<std::optional<std::vector<Unit>>> observe_units(std::span<const std::string> names) override {
    const std::string what = "querying the units of systemd";
    auto bus = systemd_.bus();
    if (!bus) return fail(bus.error());
    if (*bus == nullptr) return std::optional<std::vector<Unit>>{};
    std::vector<char*> list;
    std::vector<std::string> copies(names.begin(), names.end());
    list.reserve(copies.size() + 1);
    for (auto& name : copies) list.push_back(name.data());
    list.push_back(nullptr);

    UnitQuestions questions(systemd_, *bus);
    BusError error;
    sd_bus_message* raw_reply = nullptr;
    const int status = systemd_.ask(*bus, error, [&](sd_bus_error* told) {
      sd_bus_message* raw_call = nullptr;  // one that was sent keeps its timeout
      int made = sd_bus_message_new_method_call(*bus, &raw_call, kSystemd, kSystemdPath, kSystemdManager,
                                                "ListUnitsByNames");
      const BusMessage call(raw_call, sd_bus_message_unref);
      if (made >= 0) made = sd_bus_message_append_strv(call.get(), list.data());
      return made < 0 ? made : sd_bus_call(*bus, call.get(), 0, told, &raw_reply);
    });
    const BusMessage reply(raw_reply, sd_bus_message_unref);
    if (status < 0 && error.says_nobody()) return std::optional<std::vector<Unit>>{};
    if (status < 0) return fail(error.error_of(status, what));
    return read_units(questions, reply.get(), names, what, complete);
  }

  Result<std::optional<std::vector<Unit>>> observe_instances(const std::string& unit) override {
    const auto what = fmt::format("querying systemd about instances of {}", unit);
    auto bus = systemd_.bus();
    if (!bus) return fail(bus.error());
    if (*bus == nullptr) return std::optional<std::vector<Unit>>{};
    UnitQuestions questions(systemd_, *bus);
    BusError error;
    sd_bus_message* raw_reply = nullptr;
    const int status = systemd_.ask(*bus, error, [&](sd_bus_error* told) {
      return sd_bus_call_method(*bus, kSystemd, kSystemdPath, kSystemdManager, "ListUnitsByPatterns", told,
                                &raw_reply, "asas", 0, 1, pattern_of(unit).c_str());
    });
    const BusMessage reply(raw_reply, sd_bus_message_unref);
    if (status < 0 && error.says_nobody()) return std::optional<std::vector<Unit>>{};
    if (status < 0) return fail(error.error_of(status, what));
    auto units = read_units(questions, reply.get(), {}, what, read_main_pid);
    if (units && *units) std::erase_if(**units, [](const Unit& instance) { return !runs(instance); });
    return units;
  }

  Result<void> set_enabled(const std::string& unit, bool enabled) override {
    const std::string what = fmt::format("{}: {}", unit, enabled ? "enable" : "disable");
    auto bus = systemd_.bus_for_reload();
    if (!bus) return fail(bus.error());
    if (*bus == nullptr) return fail(no_systemd(what));
    BusError error;
    sd_bus_message* raw_reply = nullptr;
    const int status =
        enabled ? sd_bus_call_method(*bus, kSystemd, kSystemdPath, kSystemdManager, "EnableUnitFiles",
                                     &error.error, &raw_reply, "asbb", 1, unit.c_str(), 0, 0)
                : sd_bus_call_method(*bus, kSystemd, kSystemdPath, kSystemdManager, "DisableUnitFiles",
                                     &error.error, &raw_reply, "asb", 1, unit.c_str(), 0);
    const BusMessage reply(raw_reply, sd_bus_message_unref);
    if (status < 0) return fail(error.error_of(status, what));
    if (enabled) {
      int installable = 0;
      if (const int got = sd_bus_message_read(reply.get(), "b", &installable); got < 0) {
        return fail_errno(-got, what);
      }
      if (installable == 0) {
        return fail(Code::kUnsupported,
                    what + ": its unit file has no [Install] section; other units start it as they need it");
      }
    }
    return reload_manager();
  }

  Result<void> act(UnitAction action, const std::string& unit) override {
    const std::string what = fmt::format("{}: {}", unit, text_of(action));
    auto end = systemd_.run_job(method_of(action), unit, what);
    if (!end) return fail(end.error());
    if (!*end) return fail(no_systemd(what));
    if (**end == JobEnd::kInvalid) {
      return fail(Code::kUnsupported,
                  fmt::format("{}: it cannot {} in its present state", unit, text_of(action)));
    }
    return {};
  }

  std::string unmet_condition(const std::string& unit) override {
    const auto bus = systemd_.bus();
    if (!bus || *bus == nullptr) return {};
    char* raw_path = nullptr;
    if (sd_bus_path_encode("/org/freedesktop/systemd1/unit", unit.c_str(), &raw_path) < 0) return {};
    const std::unique_ptr<char, void (*)(void*)> path(raw_path, &::free);
    BusError ignored;
    sd_bus_message* raw_reply = nullptr;
    const int status = systemd_.noted(sd_bus_get_property(*bus, kSystemd, path.get(), kUnit, "Conditions",
                                                          &ignored.error, &raw_reply, "a(sbbsi)"));
    const BusMessage reply(raw_reply, sd_bus_message_unref);
    return status < 0 ? std::string() : unmet_of(reply.get());
  }

  Result<void> await_handler(const std::string& unit, int number) override {
    constexpr std::chrono::seconds kSetUp{5};
    const auto end = std::chrono::steady_clock::now() + kSetUp;
    while (true) {
      const auto units = observe_units(std::span(&unit, 1));
      if (!units) return fail(units.error());
      const auto pid = *units && !(*units)->empty() ? (*units)->front().main_pid : 0;
      if (pid <= 0 || detail::catches(pid, number))
        return {};  // without a process systemd says what is wrong
      if (std::chrono::steady_clock::now() >= end)
        return fail(Code::kTimeout, fmt::format("process {} does not handle it, and would be killed", pid));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  Result<void> signal(const std::string& unit, int number) override {
    const std::string what = fmt::format("{}: send signal {}", unit, number);
    if (auto ready = await_handler(unit, number); !ready) return fail(ready.error().in(what));
    auto bus = systemd_.bus();  // only now: waiting may have opened another connection
    if (!bus) return fail(bus.error());
    if (*bus == nullptr) return fail(no_systemd(what));
    BusError error;
    const int status =
        systemd_.noted(sd_bus_call_method(*bus, kSystemd, kSystemdPath, kSystemdManager, "KillUnit",
                                          &error.error, nullptr, "ssi", unit.c_str(), "main", number));
    if (status < 0) return fail(error.error_of(status, what));
    return {};
  }

  Result<void> kill(const std::string& unit) override {
    const std::string what = fmt::format("{}: kill", unit);
    auto bus = systemd_.bus();
    if (!bus) return fail(bus.error());
    if (*bus == nullptr) return fail(no_systemd(what));
    BusError error;
    const int status =
        systemd_.noted(sd_bus_call_method(*bus, kSystemd, kSystemdPath, kSystemdManager, "KillUnit",
                                          &error.error, nullptr, "ssi", unit.c_str(), "all", SIGKILL));
    if (status < 0 && sd_bus_error_has_name(&error.error, "org.freedesktop.systemd1.NoSuchProcess") != 0)
      return {};
    if (status < 0) return fail(error.error_of(status, what));
    return {};
  }

  std::optional<model::LockLimit> observe_memlock(std::int64_t pid) override {
    std::ifstream limits(fmt::format("/proc/{}/limits", pid));
    for (std::string line; std::getline(limits, line);) {
      constexpr std::string_view kName = "Max locked memory";
      if (!line.starts_with(kName)) continue;
      std::istringstream rest(line.substr(kName.size()));
      std::string soft;
      rest >> soft;
      if (soft == "unlimited") return model::LockLimit{};
      const auto bytes = base::parse_number(soft);
      if (bytes) return model::LockLimit{static_cast<std::int64_t>(*bytes / 1024)};
    }
    return std::nullopt;
  }

  Result<void> reload_manager() override {
    const std::string what = "asking systemd to reload its unit files";
    auto bus = systemd_.bus_for_reload();
    if (!bus) return fail(bus.error());
    if (*bus == nullptr) return fail(no_systemd(what));
    BusError error;
    const int status = sd_bus_call_method(*bus, kSystemd, kSystemdPath, kSystemdManager, "Reload",
                                          &error.error, nullptr, nullptr);
    if (status < 0) return fail(error.error_of(status, what));
    return {};
  }

 private:
  /// Of conditions with "|" one has to hold, of the others each.
  static std::string unmet_of(sd_bus_message* reply) {
    std::string first_choice;
    bool chosen = false;
    if (sd_bus_message_enter_container(reply, 'a', "(sbbsi)") < 0) return {};
    const char *name = nullptr, *value = nullptr;
    int is_choice = 0, negated = 0, state = 0;  // below 0: does not hold; 0: was not looked at
    while (sd_bus_message_read(reply, "(sbbsi)", &name, &is_choice, &negated, &value, &state) > 0) {
      chosen = chosen || (is_choice != 0 && state > 0);
      if (state >= 0) continue;
      auto text = fmt::format("{}={}{}", name, negated != 0 ? "!" : "", value);
      if (is_choice == 0) return text;
      if (first_choice.empty()) first_choice = std::move(text);
    }
    return chosen ? std::string() : first_choice;
  }

  static const char* method_of(UnitAction action) {
    switch (action) {
      case UnitAction::kStart:
        return "StartUnit";
      case UnitAction::kStop:
        return "StopUnit";
      case UnitAction::kRestart:
        return "RestartUnit";
      case UnitAction::kReload:
        return "ReloadUnit";
    }
    return "StartUnit";
  }

  static bool runs(const Unit& unit) { return unit.active != "inactive" && unit.active != "failed"; }

  /// "user@*.service". A backslash of an escaped name is a letter like others (FNM_NOESCAPE in
  /// src/core/dbus-manager.c), and a name has none of *, ? and [.
  static std::string pattern_of(const std::string& unit) {
    std::string pattern;
    for (const char c : unit) {
      pattern += c;
      if (c == '@') pattern += '*';
    }
    return pattern;
  }

  template <class Complete>
  static Result<std::optional<std::vector<Unit>>> read_units(UnitQuestions& questions, sd_bus_message* reply,
                                                             std::span<const std::string> names,
                                                             const std::string& what,
                                                             Complete complete_unit) {
    std::vector<Unit> found;
    std::vector<std::string> paths;
    int status = sd_bus_message_enter_container(reply, 'a', "(ssssssouso)");
    while (status >= 0) {
      const char *name = nullptr, *description = nullptr, *load = nullptr, *active = nullptr, *sub = nullptr,
                 *following = nullptr, *path = nullptr, *job = nullptr, *job_path = nullptr;
      std::uint32_t job_id = 0;
      status = sd_bus_message_read(reply, "(ssssssouso)", &name, &description, &load, &active, &sub,
                                   &following, &path, &job_id, &job, &job_path);
      if (status <= 0) break;
      Unit unit;
      unit.name = unit.id = name;
      unit.load = load;
      unit.active = active;
      unit.sub = sub;
      if (job_id != 0) unit.job = job;
      paths.emplace_back(path);
      found.push_back(std::move(unit));
    }
    if (status < 0) return fail_errno(-status, what);
    // An alias comes back under its unit's own name; then there is only the order to go by.
    const bool by_order = found.size() == names.size();
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto& asked = by_order ? names[i] : found[i].name;
      complete_unit(questions, paths[i], asked, found[i]);
      if (questions.lost() != 0) return fail_errno(questions.lost(), what);
      found[i].name = asked;
    }
    return std::optional(std::move(found));
  }

  /// Whether a drop-in of the administrator's folder is one that systemd has not read. NeedDaemonReload does
  /// not say so of the first one: systemd remembers which folders there are until it reads all files again.
  static bool has_unread_drop_in(UnitQuestions& questions, const std::string& path,
                                 std::set<std::string> names) {
    // systemd reads those of every name that the unit has.
    if (const auto all = read_strings(questions, path, "Names")) names.insert(all->begin(), all->end());
    if (detail::unread_drop_ins(kDropIns, names, {}).empty()) return false;
    const auto read = read_strings(questions, path, "DropInPaths");
    return read && !detail::unread_drop_ins(kDropIns, names, *read).empty();
  }

  static std::optional<std::vector<std::string>> read_strings(UnitQuestions& questions,
                                                              const std::string& path, const char* property) {
    char** raw = nullptr;
    const bool told = questions.ask([&](sd_bus* bus, sd_bus_error* error) {
      return sd_bus_get_property_strv(bus, kSystemd, path.c_str(), kUnit, property, error, &raw);
    });
    if (!told) return std::nullopt;
    std::vector<std::string> out;
    for (char** at = raw; at != nullptr && *at != nullptr; ++at) {
      out.emplace_back(*at);
      ::free(*at);
    }
    ::free(raw);
    return out;
  }

  /// A property of type 'b' or 'u'; `fallback` where it cannot be read.
  template <class T>
  static T read_plain(UnitQuestions& questions, const std::string& path, const char* interface,
                      const char* property, char type, T fallback) {
    T value{};
    const bool told = questions.ask([&](sd_bus* bus, sd_bus_error* error) {
      return sd_bus_get_property_trivial(bus, kSystemd, path.c_str(), interface, property, error, type,
                                         &value);
    });
    return told ? value : fallback;
  }
  static bool read_flag(UnitQuestions& questions, const std::string& path, const char* interface,
                        const char* property, bool fallback = false) {
    return read_plain<int>(questions, path, interface, property, 'b', fallback ? 1 : 0) != 0;
  }

  /// Properties that the list lacks. A property that cannot be read keeps its default. `asked`: the name that
  /// it was asked for by, which may be an alias.
  static void complete(UnitQuestions& questions, const std::string& path, const std::string& asked,
                       Unit& unit) {
    if (!unit.there()) return;
    sd_bus_message* raw_reply = nullptr;
    // The property UnitFileState is only as fresh as systemd's last look; this method looks.
    const bool told = questions.ask([&](sd_bus* bus, sd_bus_error* error) {
      return sd_bus_call_method(bus, kSystemd, kSystemdPath, kSystemdManager, "GetUnitFileState", error,
                                &raw_reply, "s", unit.name.c_str());
    });
    const BusMessage reply(raw_reply, sd_bus_message_unref);
    const char* state = nullptr;
    if (told && sd_bus_message_read(reply.get(), "s", &state) >= 0) unit.file = state;
    unit.needs_reload = read_flag(questions, path, kUnit, "NeedDaemonReload") ||
                        has_unread_drop_in(questions, path, {asked, unit.name});
    unit.stops_unneeded = read_flag(questions, path, kUnit, "StopWhenUnneeded");
    unit.ends_by_itself = ends_by_itself(questions, path, unit.id);
    read_main_pid(questions, path, asked, unit);
  }

  static bool ends_by_itself(UnitQuestions& questions, const std::string& path, const std::string& unit) {
    if (!unit.ends_with(".service")) return false;
    char* raw = nullptr;
    const bool told = questions.ask([&](sd_bus* bus, sd_bus_error* error) {
      return sd_bus_get_property_string(bus, kSystemd, path.c_str(), kService, "Type", error, &raw);
    });
    const std::unique_ptr<char, void (*)(void*)> type(raw, &::free);
    return told && std::string_view(raw) == "oneshot" &&
           !read_flag(questions, path, kService, "RemainAfterExit", true);
  }

  static void read_main_pid(UnitQuestions& questions, const std::string& path, const std::string& /*asked*/,
                            Unit& unit) {
    if (!unit.name.ends_with(".service") || !runs(unit)) return;
    unit.main_pid = read_plain<std::uint32_t>(questions, path, kService, "MainPID", 'u', 0);
  }

  detail::Systemd systemd_;
};

}  // namespace

std::unique_ptr<Units> make_linux_units(BusLimits limits) {
  return std::make_unique<SystemdUnits>(std::move(limits));
}

}  // namespace rdmacfg::system
