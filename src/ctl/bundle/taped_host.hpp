// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "ctl/bundle/tape.hpp"
#include "system/host.hpp"

namespace rdmacfg::ctl {

/// The ports of a host over a tape: of a real one, whose answers they record, or of one that is only on the
/// tape. Read-only in both cases: changes fail with EROFS, and waits return
/// at once. The carried state of interfaces (addresses, routes, rules as raw messages) is neither read nor
/// recorded.
class TapedHost {
 public:
  /// Records. Both outlive it.
  TapedHost(Tape& tape, system::Host& real);
  /// Replays.
  TapedHost(Tape& tape, std::string boot_id);
  ~TapedHost();
  TapedHost(const TapedHost&) = delete;
  TapedHost& operator=(const TapedHost&) = delete;

  [[nodiscard]] system::Host& host();

 private:
  struct Ports;
  std::unique_ptr<Ports> ports_;
};

}  // namespace rdmacfg::ctl
