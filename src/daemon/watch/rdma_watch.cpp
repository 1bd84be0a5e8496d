// SPDX-License-Identifier: Apache-2.0
#include "daemon/watch/rdma_watch.hpp"

#include <sys/syslog.h>

#include <utility>

#include "daemon/journal.hpp"

namespace rdmacfg::daemon {

bool RdmaWatch::want(bool wanted) {
  const bool any = any_();
  if (!any) refused_ = false;
  if (!wanted || !any) {
    close();
    return false;
  }
  if (source_ || refused_) return false;
  auto opened = open_();
  if (!opened) {
    refused_ = opened.error().code == base::Code::kUnsupported;
    if (!std::exchange(said_, true)) {
      log(LOG_DEBUG, Message::kNoted,
          "only udev and rtnetlink report net devices of RDMA ports: " + opened.error().message);
    }
    return false;
  }
  source_ = std::move(*opened);
  handle_ = loop_.on_readable(source_->fd(), [this] { on_readable(); });
  return true;
}

void RdmaWatch::on_readable() {
  const auto events = source_->read();
  // At once, since ib_core is unloaded after the drivers.
  if (source_->ended()) close();
  sink_.take(events);
}

void RdmaWatch::close() {
  handle_.reset();
  source_.reset();
}

}  // namespace rdmacfg::daemon
