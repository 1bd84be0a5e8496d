// SPDX-License-Identifier: Apache-2.0
// A document that is parsed once and then read for any number of hosts.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "config/check.hpp"
#include "config/document.hpp"
#include "config/host_data.hpp"

namespace rdmacfg::config {

class Parsed {
 public:
  explicit Parsed(std::vector<Text> texts, const Limits& limits = {});
  ~Parsed();
  Parsed(const Parsed&) = delete;  // trees point into the texts
  Parsed& operator=(const Parsed&) = delete;

  /// The document as parse_texts() gives it, but for Document::files.
  [[nodiscard]] Document on(std::string_view host, const Grammar& grammar) const;
  [[nodiscard]] const std::vector<Text>& texts() const { return texts_; }
  [[nodiscard]] const HostData& data() const { return *data_; }
  [[nodiscard]] std::vector<Text> take_texts() && { return std::move(texts_); }

 private:
  std::vector<Text> texts_;
  Limits limits_;
  std::unique_ptr<HostData> data_;
  std::vector<std::pair<const Text*, Tree>> trees_;
  model::Diagnostics diagnostics_;
  bool whole_ = true;
};

}  // namespace rdmacfg::config
