// SPDX-License-Identifier: Apache-2.0
// Where systemd is reached, and how long an answer of a manager is waited for. Tests have shorter times.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>

#include "system/linux/dbus/silence.hpp"

namespace rdmacfg::system {

struct BusLimits {
  /// Of one call: an idle manager answers in milliseconds, one on a host that boots in two seconds, and the
  /// bus may have to start it first.
  std::chrono::milliseconds call{25'000};
  /// Of the bus itself, which has to start nobody; at most `call`.
  std::chrono::milliseconds bus{5'000};
  /// Of systemd at its own socket, where the bus does not answer.
  std::chrono::milliseconds direct{10'000};
  /// Of all questions of one look at units: each has `call`, and a systemd that answers slowly gets no more
  /// than this for all of them.
  std::chrono::milliseconds look{60'000};
  /// Of a call that has systemd read unit files, which runs all generators: as long as systemctl(1) waits.
  /// Also of each question while systemd says that it reads them.
  static constexpr std::chrono::milliseconds kReload{180'000};
  std::chrono::milliseconds reload{kReload};
  /// Of a job of systemd, from the call to its end.
  std::chrono::milliseconds job{90'000};
  /// Of a job that waits for other jobs; then it is left to systemd: our own run may be what they wait for.
  std::chrono::milliseconds queued{5'000};
  /// Of a NetworkManager profile on its way down.
  std::chrono::milliseconds down{15'000};
  /// Of an installation by PackageKit.
  std::chrono::milliseconds install{20 * 60'000};
  /// Its folder `system` says that systemd runs (sd_booted(3)), its socket `private` leads root to systemd
  /// itself.
  std::filesystem::path systemd = "/run/systemd";
  /// Peers that have not answered; adapters with copies of these limits share it.
  std::shared_ptr<Silences> silences = std::make_shared<Silences>();
};

}  // namespace rdmacfg::system
