// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "ctl/bundle/host_report.hpp"
#include "ctl/bundle/taped_host.hpp"
#include "ctl/environment.hpp"

namespace rdmacfg::ctl {

/// The host of a report, as long as it lives.
class Replay {
 public:
  explicit Replay(HostReport report);

  [[nodiscard]] const HostReport& report() const { return report_; }
  [[nodiscard]] const Tape& tape() const { return tape_; }
  [[nodiscard]] system::Host& host() { return host_.host(); }

 private:
  HostReport report_;
  Tape tape_;
  TapedHost host_;
};

/// The world of `environment` with the host of a report in place of this one: its name, its document, and
/// what its administrator could see. It has no daemon, and nothing on it can be tested or changed.
Environment environment_of(const Environment& environment, const std::shared_ptr<Replay>& replay);

}  // namespace rdmacfg::ctl
