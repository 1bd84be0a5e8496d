// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "system/host.hpp"

namespace rdmacfg::system {

/// A host as somebody sees it who may read only what everybody may: files, kernel settings and module
/// parameters whose mode does not let others read them look as they do to such a user (EACCES, or not shown),
/// and so does the configuration space of PCI devices.
/// Nothing can be written through it. By the mode of what is read, not by a list of names.
class PublicView {
 public:
  /// Refers to `host`, which outlives it. Files below the folders `records` (our own, with a slash at the
  /// end) are read all the same: who shows what is in them decides about that.
  PublicView(Host& host, std::vector<std::string> records);
  ~PublicView();
  PublicView(const PublicView&) = delete;
  PublicView& operator=(const PublicView&) = delete;

  [[nodiscard]] Host& host();

 private:
  struct Ports;
  std::unique_ptr<Ports> ports_;
};

}  // namespace rdmacfg::system
