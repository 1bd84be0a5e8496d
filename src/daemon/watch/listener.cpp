// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/listener.hpp"

#include <fmt/format.h>
#include <sys/syslog.h>

#include <algorithm>
#include <chrono>

#include "catalog/all.hpp"
#include "catalog/owned_files.hpp"
#include "daemon/bus/audit.hpp"
#include "daemon/journal.hpp"
#include "kinds/abilities.hpp"
#include "store/generations.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::daemon {

const std::string& ledger_path() {
  static const std::string kLedger = core::GenerationPaths{}.ledger;
  return kLedger;
}

bool says_applied(const std::string& path) { return path == ledger_path() || path == core::kAppliedMark; }

void Listener::start() {
  sources_.clear();
  watched_ = nullptr;
  unopened_.clear();
  const auto take = [this](auto source) {
    if (source) {
      auto handle = listen(**source);
      sources_.emplace_back(std::move(*source), std::move(handle));
    } else if (unopened_.empty()) {
      unopened_ = source.error().message;
    }
  };
  take(system::watch_links(links_));
  take(system::watch_devices());
  listen_to_files();
  listen_to_settings();
  report_if_incomplete();
}

bool Listener::listen_to_files() {
  if (watched_ != nullptr) return false;
  files_unopened_.clear();
  auto files = system::watch_files(kinds::managed_folders(files_), [](const std::string& path) {
    return says_applied(path) || kinds::is_managed_file(path);
  });
  if (!files) {
    files_unopened_ = files.error().message;
    return false;
  }
  watched_ = files->get();
  auto handle = listen(*watched_);
  sources_.emplace_back(std::move(*files), std::move(handle));
  return true;
}

void Listener::listen_to_settings() {
  if (setting_source_) return;
  settings_unopened_.clear();
  if (auto settings = system::watch_settings()) {
    setting_source_ = std::move(*settings);
    setting_handle_ = listen(*setting_source_);
  } else {
    settings_unopened_ = settings.error().message;
  }
}

std::string Listener::why_incomplete() const {
  for (const auto& why :
       {unopened_, files_unopened_, watched_ == nullptr ? std::string() : watched_->why_incomplete(),
        settings_unopened_, setting_source_ ? setting_source_->why_incomplete() : std::string()}) {
    if (!why.empty()) return why;
  }
  return {};
}

void Listener::report_if_incomplete() {
  const auto why = why_incomplete();
  // Once, and not again for each place that is reached first.
  if (why.empty() == said_.empty()) return;
  said_ = why;
  if (why.empty()) return log(LOG_INFO, Message::kTrouble, "change notifications are complete again");
  log(LOG_WARNING, Message::kTrouble,
      fmt::format("cannot listen for all changes, so the host is checked every {} s: {}",
                  std::chrono::duration_cast<std::chrono::seconds>(Audit::kIncomplete).count(), why));
}

Loop::Handle Listener::listen(system::EventSource& source) {
  return loop_.on_readable(source.fd(), [this, &source] {
    for (const auto& event : source.read()) sink_.came(event);
    sink_.read();
  });
}

bool Listener::widen(const std::vector<model::ResourceReport>& resources) {
  const bool all = std::any_of(resources.begin(), resources.end(), [](const auto& resource) {
    const auto* kind = kinds::find(resource.key.kind);
    return kind != nullptr && kind->traits().on_any_interface;
  });
  if (!all || links_ == system::WatchedLinks::kAll) return false;
  links_ = system::WatchedLinks::kAll;
  start();
  return true;
}

bool Listener::watch_again(const std::vector<model::ResourceReport>& resources) {
  if (watched_ != nullptr) watched_->watch(kinds::managed_folders(files_));
  if (!resources.empty()) {
    wanted_ = settings_of(resources);
    of_ports_ = any_of_ports(resources);
  }
  verbs_.want(of_ports_);
  const bool notified = rdma_.want(of_ports_);
  // Somebody may have raised the limit since.
  const bool opened = listen_to_files();
  listen_to_settings();
  const bool fresh = setting_source_ && setting_source_->watch(wanted_);
  report_if_incomplete();
  return opened || fresh || notified;
}

std::size_t Listener::handles_made() {
  if (!setting_source_) return 0;
  for (const auto& event : setting_source_->read()) sink_.came(event);
  return setting_source_->handles_made();
}

namespace {

bool is_wanted(const model::ResourceReport& resource) {
  return resource.status != model::Status::kForeign && resource.status != model::Status::kIgnored;
}

}  // namespace

bool any_of_ports(const std::vector<model::ResourceReport>& resources) {
  return std::any_of(resources.begin(), resources.end(), [](const auto& resource) {
    const auto* kind = kinds::find(resource.key.kind);
    return kind != nullptr && kind->traits().on_rdma_port && is_wanted(resource);
  });
}

system::Settings settings_of(const std::vector<model::ResourceReport>& resources) {
  system::Settings out;
  for (const auto& resource : resources) {
    if (!is_wanted(resource)) continue;
    if (const auto* watch = kinds::ability<kinds::NeedsWatching>(kinds::find(resource.key.kind)))
      watch->watched(resource, out);
  }
  return out;
}

}  // namespace rdmacfg::daemon
