// SPDX-License-Identifier: Apache-2.0
// The daemon's wake-up sources: interfaces, devices, files.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/loop.hpp"
#include "daemon/watch/event_sink.hpp"
#include "daemon/watch/rdma_watch.hpp"
#include "daemon/watch/verbs_watch.hpp"
#include "model/report.hpp"
#include "system/events.hpp"
#include "system/files.hpp"

namespace rdmacfg::daemon {

class Listener {
 public:
  /// `program`: VerbsWatch
  Listener(Loop& loop, system::Files& files, std::string program, EventSink sink)
      : loop_(loop),
        files_(files),
        sink_(std::move(sink)),
        verbs_(loop, std::move(program), sink_),
        rdma_(loop, sink_) {}

  void start();
  /// The holder of these needs events of other interfaces too. @return whether that is new: their earlier
  /// events were not told.
  bool widen(const std::vector<model::ResourceReport>& resources);
  /// A job's output may be in a folder that was not there before; and the settings of these resources,
  /// unless there are none: then those of before. @return whether some, or all files, were not watched:
  /// their earlier events were not told.
  bool watch_again(const std::vector<model::ResourceReport>& resources);
  /// The settings_of() these resources.
  [[nodiscard]] const system::Settings& settings() const { return wanted_; }
  /// Reads what there is of settings. @return system::SettingSource::handles_made
  std::size_t handles_made();
  /// Why changes of some things are not heard of; empty when all are. The journal has been told.
  [[nodiscard]] std::string why_incomplete() const;

 private:
  /// @return whether its source is a new one
  bool listen_to_files();
  void listen_to_settings();
  void report_if_incomplete();
  Loop::Handle listen(system::EventSource& source);

  Loop& loop_;
  system::Files& files_;
  EventSink sink_;
  std::vector<std::pair<std::unique_ptr<system::EventSource>, Loop::Handle>> sources_;
  system::FileSource* watched_ = nullptr;  ///< one of the sources
  std::unique_ptr<system::SettingSource> setting_source_;
  Loop::Handle setting_handle_;
  system::Settings wanted_;
  std::string unopened_, files_unopened_, settings_unopened_;  ///< why a source could not be opened
  std::string said_;                                           ///< to the journal, of why_incomplete()
  VerbsWatch verbs_;
  RdmaWatch rdma_;
  bool of_ports_ = false;  ///< any_of_ports of those seen last
  system::WatchedLinks links_ = system::WatchedLinks::kIpoib;
};

/// Whether something is wanted of any with Traits::on_rdma_port.
bool any_of_ports(const std::vector<model::ResourceReport>& resources);

/// The demands of NeedsWatching::watched() for resources that something is wanted of.
system::Settings settings_of(const std::vector<model::ResourceReport>& resources);

/// Written when a generation becomes the active one.
const std::string& ledger_path();

/// Whether somebody has applied something when this file is written.
bool says_applied(const std::string& path);

}  // namespace rdmacfg::daemon
