// SPDX-License-Identifier: Apache-2.0
#include "fakes/bus/systemd.hpp"

#include <fnmatch.h>

#include <cstdlib>
#include <memory>

namespace rdmacfg::fakes::bus {

namespace {

constexpr const char* kUnitPrefix = "/org/freedesktop/systemd1/unit";
constexpr const char* kJobPrefix = "/org/freedesktop/systemd1/job/";
constexpr const char* kUnitList = "(ssssssouso)";

using Text = std::unique_ptr<char, void (*)(void*)>;

std::string path_of_unit(const std::string& id) {
  char* raw = nullptr;
  if (sd_bus_path_encode(kUnitPrefix, id.c_str(), &raw) < 0) return "/";
  const Text text(raw, &::free);
  return raw;
}

int no_such_unit(sd_bus_message* call, const std::string& unit) {
  return sd_bus_reply_method_errorf(call, "org.freedesktop.systemd1.NoSuchUnit", "Unit %s not found.",
                                    unit.c_str());
}

}  // namespace

Systemd::Systemd() {
  peer_.on("ListUnitsByNames", [this](auto* call) { return list_by_names(call); });
  peer_.on("ListUnitsByPatterns", [this](auto* call) { return list_by_patterns(call); });
  peer_.on("Get", [this](auto* call) { return get_property(call); });
  peer_.on("GetUnitFileState", [this](auto* call) { return get_unit_file_state(call); });
  peer_.on("EnableUnitFiles", [this](auto* call) { return enable(call, true); });
  peer_.on("DisableUnitFiles", [this](auto* call) { return enable(call, false); });
  peer_.on("StartTransientUnit", [this](auto* call) { return start_transient(call); });
  peer_.on("KillUnit", [this](auto* call) { return kill_unit(call); });
  for (const std::string method : {"StartUnit", "StopUnit", "RestartUnit", "ReloadUnit"})
    peer_.on(method, [this, method](auto* call) { return run_job(call, method); });
  peer_.on("Reload", [this](auto* call) {
    log.emplace_back("Reload");
    for (auto& [name, unit] : units) unit.needs_reload = false;
    return sd_bus_reply_method_return(call, nullptr);
  });
  peer_.on("Subscribe", [this](auto* call) {
    if (!subscribers_.insert(sd_bus_message_get_sender(call)).second)
      return sd_bus_reply_method_errorf(call, "org.freedesktop.systemd1.AlreadySubscribed", "%s",
                                        "Client is already subscribed.");
    return sd_bus_reply_method_return(call, nullptr);
  });
  peer_.start();
}

std::string Systemd::id_of(const std::string& name) const {
  const auto alias = aliases.find(name);
  return alias == aliases.end() ? name : alias->second;
}

void Systemd::put_unit(Writer& out, const std::string& name) {
  const auto id = id_of(name);
  const auto at = units.find(id);
  Unit unit;
  unit.load = "not-found";
  if (at != units.end()) unit = at->second;
  const bool has_job = !job_.empty() && unit_of_job_ == id;
  out.put(kUnitList, id.c_str(), "A unit", unit.load.c_str(), unit.active.c_str(), unit.sub.c_str(), "",
          path_of_unit(id).c_str(), has_job ? jobs_ : 0U, has_job ? "start" : "",
          has_job ? job_.c_str() : "/");
}

int Systemd::list_by_names(sd_bus_message* call) {
  Writer out(call);
  out.open('a', kUnitList);
  for (const auto& name : read_texts(call)) put_unit(out, name);
  return out.close().send();
}

int Systemd::list_by_patterns(sd_bus_message* call) {
  (void)read_texts(call);  // states
  const auto patterns = read_texts(call);
  Writer out(call);
  out.open('a', kUnitList);
  for (const auto& [name, unit] : units) {
    for (const auto& pattern : patterns) {
      if (::fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0) put_unit(out, name);
    }
  }
  return out.close().send();
}

int Systemd::get_property(sd_bus_message* call) {
  const char *interface = nullptr, *property = nullptr;
  if (const int status = sd_bus_message_read(call, "ss", &interface, &property); status < 0) return status;
  const std::string path = sd_bus_message_get_path(call), name = property;
  const auto none = [&] {
    return sd_bus_reply_method_errorf(call, "org.freedesktop.DBus.Error.UnknownProperty",
                                      "Unknown property %s", name.c_str());
  };
  if (path.starts_with(kJobPrefix) && path == job_ && name == "State")
    return sd_bus_reply_method_return(call, "v", "s", job_state.c_str());
  char* raw = nullptr;
  if (sd_bus_path_decode(path.c_str(), kUnitPrefix, &raw) <= 0) return none();
  const Text id(raw, &::free);
  const auto at = units.find(raw);
  if (at == units.end() || at->second.missing.contains(name)) return none();
  const auto& unit = at->second;
  if (unit.wrong_type.contains(name)) return sd_bus_reply_method_return(call, "v", "t", std::uint64_t{1});
  if (name == "NeedDaemonReload")
    return sd_bus_reply_method_return(call, "v", "b", unit.needs_reload ? 1 : 0);
  if (name == "StopWhenUnneeded")
    return sd_bus_reply_method_return(call, "v", "b", unit.stops_unneeded ? 1 : 0);
  if (name == "RemainAfterExit") return sd_bus_reply_method_return(call, "v", "b", unit.remains ? 1 : 0);
  if (name == "Type") return sd_bus_reply_method_return(call, "v", "s", unit.type.c_str());
  if (name == "Conditions") {
    Writer out(call);
    out.open('v', "a(sbbsi)").open('a', "(sbbsi)");
    for (const auto& condition : unit.conditions)
      out.put("(sbbsi)", condition.name.c_str(), condition.is_choice ? 1 : 0, condition.negated ? 1 : 0,
              condition.value.c_str(), condition.state);
    return out.close().close().send();
  }
  if (name == "MainPID") return sd_bus_reply_method_return(call, "v", "u", unit.pid);
  if (name == "Names") return sd_bus_reply_method_return(call, "v", "as", 1, raw);
  if (name == "DropInPaths") return sd_bus_reply_method_return(call, "v", "as", 0);
  return none();
}

int Systemd::get_unit_file_state(sd_bus_message* call) {
  const char* name = nullptr;
  if (const int status = sd_bus_message_read(call, "s", &name); status < 0) return status;
  const auto at = units.find(id_of(name));
  if (at == units.end() || at->second.file.empty())
    return sd_bus_reply_method_errorf(call, "org.freedesktop.DBus.Error.FileNotFound", "%s",
                                      "No such file or directory");
  return sd_bus_reply_method_return(call, "s", at->second.file.c_str());
}

int Systemd::enable(sd_bus_message* call, bool enabled) {
  bool installable = true;
  for (const auto& name : read_texts(call)) {
    const auto at = units.find(id_of(name));
    if (at == units.end()) return no_such_unit(call, name);
    log.push_back((enabled ? "EnableUnitFiles " : "DisableUnitFiles ") + name);
    installable = at->second.installable;
    if (installable) at->second.file = enabled ? "enabled" : "disabled";
  }
  return enabled ? sd_bus_reply_method_return(call, "ba(sss)", installable ? 1 : 0, 0)
                 : sd_bus_reply_method_return(call, "a(sss)", 0);
}

int Systemd::run_job(sd_bus_message* call, const std::string& method) {
  const char *name = nullptr, *mode = nullptr;
  if (const int status = sd_bus_message_read(call, "ss", &name, &mode); status < 0) return status;
  const auto id = id_of(name);
  const auto at = units.find(id);
  if (at == units.end()) return no_such_unit(call, name);
  auto& unit = at->second;
  if (method == "ReloadUnit" && unit.active != "active")
    return sd_bus_reply_method_errorf(call, "org.freedesktop.systemd1.JobTypeNotApplicable",
                                      "Job type reload is not applicable for unit %s.", name);
  log.push_back(method + " " + id + " " + mode);
  job_ = next_job();
  ++jobs_;
  unit_of_job_ = id;
  job_caller_ = sd_bus_message_get_sender(call);
  const int status = sd_bus_reply_method_return(call, "o", job_.c_str());
  if (status < 0 || job_result.empty()) return status;
  if (job_result == "done") {
    unit.active = method == "StopUnit" ? "inactive" : "active";
    unit.sub = method == "StopUnit" ? "dead" : "running";
    if (method == "StopUnit" && id.ends_with(".timer")) units.erase(at);
  } else {
    unit.active = "failed";
  }
  return removed(sd_bus_message_get_bus(call), job_result);
}

int Systemd::removed(sd_bus* bus, const std::string& result) {
  const auto job = std::exchange(job_, "");
  if (!subscribers_.contains(job_caller_)) return 1;  // systemd sends no signals before it is asked to
  return sd_bus_emit_signal(bus, "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager",
                            "JobRemoved", "uoss", jobs_, job.c_str(), unit_of_job_.c_str(), result.c_str());
}

void Systemd::end_job(const std::string& result) {
  peer_.run([&](sd_bus* bus) { (void)removed(bus, result); });
}

std::string Systemd::next_job() const { return kJobPrefix + std::to_string(jobs_ + 1); }

int Systemd::start_transient(sd_bus_message* call) {
  const char *name = nullptr, *mode = nullptr;
  if (const int status = sd_bus_message_read(call, "ss", &name, &mode); status < 0) return status;
  if (units.contains(name))
    return sd_bus_reply_method_errorf(call, "org.freedesktop.systemd1.UnitExists", "Unit %s already exists.",
                                      name);
  log.push_back("StartTransientUnit " + std::string(name));
  units[name].active = "active";
  return sd_bus_reply_method_return(call, "o", "/org/freedesktop/systemd1/job/1");
}

int Systemd::kill_unit(sd_bus_message* call) {
  const char *name = nullptr, *who = nullptr;
  int number = 0;
  if (const int status = sd_bus_message_read(call, "ssi", &name, &who, &number); status < 0) return status;
  const auto at = units.find(id_of(name));
  if (at == units.end()) return no_such_unit(call, name);
  if (at->second.pid == 0 && std::string(who) == "main")
    return sd_bus_reply_method_errorf(call, "org.freedesktop.systemd1.NoSuchProcess", "%s",
                                      "No main process to kill");
  log.push_back("KillUnit " + std::string(name) + " " + who + " " + std::to_string(number));
  return sd_bus_reply_method_return(call, nullptr);
}

}  // namespace rdmacfg::fakes::bus
