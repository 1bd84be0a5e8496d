// SPDX-License-Identifier: Apache-2.0
// The daemon's file of metrics in the folder that [daemon] metrics names.
#pragma once

#include <string>
#include <utility>

#include "metrics/metrics.hpp"
#include "system/files.hpp"

namespace rdmacfg::daemon {

class MetricsFile {
 public:
  /// `note`: keeps the path of the file from one daemon to the next, on a file system that does not outlive a
  /// boot. `mounts`: proc_pid_mountinfo(5).
  MetricsFile(system::Files& files, std::string note, std::string mounts = "/proc/self/mountinfo")
      : files_(files), note_(std::move(note)), mounts_(std::move(mounts)) {}

  /// Makes the file say `facts`; writes nothing where it says so already. Empty `folder`: no metrics are
  /// wanted, and the file in the previous folder is removed. This blocks the main loop, so it never touches a
  /// file system that may not answer.
  /// @return why it failed; empty on success
  std::string keep(const std::string& folder, const metrics::Facts& facts);

  /// For a daemon that was killed: its file says that it does not run. Nothing is written through a symbolic
  /// link in place of the file, nor on a file system that may not answer.
  /// @return why it failed; empty on success
  std::string say_ended();

 private:
  void read_note();
  void clear_leftovers(const std::string& folder);
  std::string remove_former(const std::string& path);

  system::Files& files_;
  std::string note_, mounts_;
  std::string path_;      ///< of the file that was written; empty: none
  bool noted_ = false;    ///< the note was read
  bool cleared_ = false;  ///< the folder has nothing of a killed write any more
  std::string written_;   ///< content
};

}  // namespace rdmacfg::daemon
