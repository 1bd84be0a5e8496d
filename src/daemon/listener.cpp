// SPDX-License-Identifier: Apache-2.0
#include "daemon/listener.hpp"

#include <sys/syslog.h>

#include <algorithm>

#include "core/generations.hpp"
#include "core/leftovers.hpp"
#include "daemon/journal.hpp"
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
  const auto take = [this](auto source) {
    if (source) {
      add(std::move(*source));
    } else {
      log(LOG_WARNING, Message::kTrouble, "cannot listen for changes: " + source.error().message);
    }
  };
  take(system::watch_links(all_links_));
  take(system::watch_devices());
  auto files = system::watch_files(core::managed_folders(files_), [](const std::string& path) {
    return says_applied(path) || core::is_managed_file(path);
  });
  watched_ = files ? files->get() : nullptr;
  take(std::move(files));
}

void Listener::add(std::unique_ptr<system::EventSource> source) {
  auto* raw = source.get();
  auto handle = loop_.on_readable(raw->fd(), [this, raw] {
    for (const auto& event : raw->read()) came_(event);
    read_();
  });
  sources_.emplace_back(std::move(source), std::move(handle));
}

bool Listener::widen(const std::vector<model::ResourceReport>& resources) {
  const bool all = std::any_of(resources.begin(), resources.end(), [](const auto& one) {
    return std::find(kAnyInterface.begin(), kAnyInterface.end(), one.key.kind) != kAnyInterface.end();
  });
  if (!all || all_links_) return false;
  all_links_ = true;
  start();
  return true;
}

void Listener::watch_again() {
  if (watched_ != nullptr) watched_->watch(core::managed_folders(files_));
}

}  // namespace rdmacfg::daemon
