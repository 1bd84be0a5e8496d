// SPDX-License-Identifier: Apache-2.0
// A whole report as the main process keeps it: bytes in a file that it does not read before a client asks.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/unique_fd.hpp"

namespace rdmacfg::daemon {

class StoredReport {
 public:
  StoredReport() = default;
  explicit StoredReport(std::string text) : text_(std::move(text)) {}
  /// `file`: a worker's output, from its start on. Empty or missing: `text` stands for it.
  StoredReport(base::UniqueFd file, std::string text);

  [[nodiscard]] std::size_t size() const { return file_ ? bytes_ : text_.size(); }
  /// The report, at most limits::kReportBytes of it; empty when the file cannot be read.
  [[nodiscard]] std::string read() const;

 private:
  std::string text_;
  std::shared_ptr<const base::UniqueFd> file_;
  std::size_t bytes_ = 0;
};

}  // namespace rdmacfg::daemon
