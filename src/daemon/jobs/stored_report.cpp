// SPDX-License-Identifier: Apache-2.0
#include "daemon/jobs/stored_report.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "model/limits.hpp"

namespace rdmacfg::daemon {

StoredReport::StoredReport(base::UniqueFd file, std::string text) {
  struct stat status {};
  if (file && ::fstat(file.get(), &status) == 0 && status.st_size > 0) {
    bytes_ = std::min(static_cast<std::size_t>(status.st_size), model::limits::kReportBytes);
    file_ = std::make_shared<const base::UniqueFd>(std::move(file));
  } else {
    text_ = std::move(text);
  }
}

std::string StoredReport::read() const {
  if (!file_) return text_;
  std::string text(bytes_, '\0');
  for (std::size_t done = 0; done < bytes_;) {
    const auto count = ::pread(file_->get(), text.data() + done, bytes_ - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return {};
    done += static_cast<std::size_t>(count);
  }
  return text;
}

}  // namespace rdmacfg::daemon
