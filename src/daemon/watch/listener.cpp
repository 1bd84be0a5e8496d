// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/listener.hpp"

#include <sys/syslog.h>

#include <algorithm>

#include "catalog/all.hpp"
#include "catalog/owned_files.hpp"
#include "daemon/journal.hpp"
#include "kinds/abilities.hpp"
#include "store/generations.hpp"
#include "system/linux/linux_host.hpp"

namespace rdmacfg::daemon {

const std::string& ledger_path() {
  static const std::string kPath = core::GenerationPaths{}.ledger;
  return kPath;
}

bool says_applied(const std::string& path) { return path == ledger_path() || path == core::kAppliedMark; }

void Listener::start() {
  sources_.clear();
  watched_ = nullptr;
  const auto deaf = [](const base::Error& error) {
    log(LOG_WARNING, Message::kTrouble, "cannot listen for changes: " + error.message);
  };
  const auto take = [this, &deaf](auto source) {
    if (source) {
      auto handle = listen(**source);
      sources_.emplace_back(std::move(*source), std::move(handle));
    } else {
      deaf(source.error());
    }
  };
  take(system::watch_links(all_links_));
  take(system::watch_devices());
  auto files = system::watch_files(kinds::managed_folders(files_), [](const std::string& path) {
    return says_applied(path) || kinds::is_managed_file(path);
  });
  watched_ = files ? files->get() : nullptr;
  take(std::move(files));
  if (setting_source_) return;
  if (auto settings = system::watch_settings()) {
    setting_source_ = std::move(*settings);
    setting_handle_ = listen(*setting_source_);
  } else {
    deaf(settings.error());
  }
}

Loop::Handle Listener::listen(system::EventSource& source) {
  return loop_.on_readable(source.fd(), [this, &source] {
    for (const auto& event : source.read()) came_(event);
    read_();
  });
}

bool Listener::widen(const std::vector<model::ResourceReport>& resources) {
  const bool all = std::any_of(resources.begin(), resources.end(), [](const auto& one) {
    const auto* kind = kinds::find(one.key.kind);
    return kind != nullptr && kind->traits().on_any_interface;
  });
  if (!all || all_links_) return false;
  all_links_ = true;
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
  return setting_source_ && setting_source_->watch(wanted_);
}

std::size_t Listener::handles_made() {
  if (!setting_source_) return 0;
  for (const auto& event : setting_source_->read()) came_(event);
  return setting_source_->handles_made();
}

namespace {

bool is_wanted(const model::ResourceReport& resource) {
  return resource.status != model::Status::kForeign && resource.status != model::Status::kIgnored;
}

}  // namespace

bool any_of_ports(const std::vector<model::ResourceReport>& resources) {
  return std::any_of(resources.begin(), resources.end(), [](const auto& one) {
    const auto* kind = kinds::find(one.key.kind);
    return kind != nullptr && kind->traits().on_rdma_port && is_wanted(one);
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
