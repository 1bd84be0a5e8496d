// SPDX-License-Identifier: Apache-2.0
// A document that is parsed once and then read for any number of hosts. Not for several threads at once.
#pragma once

#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "config/check.hpp"
#include "config/document.hpp"
#include "config/hosts/host_data.hpp"

namespace rdmacfg::config {

class HostValues;

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
  std::vector<bool> mentions_;  ///< of each of them, whether it mentions the host
  model::Diagnostics diagnostics_;
  bool whole_ = true;

  /// The check of a file that comes out the same on all hosts; made when it is first asked for.
  struct Once {
    CheckedFile file;
    model::Diagnostics diagnostics;
  };
  mutable std::map<std::pair<std::size_t, bool>, std::unique_ptr<Once>> once_;  ///< by tree, and skipped
  mutable const Grammar* grammar_ = nullptr;                                    ///< of once_

  [[nodiscard]] CheckedFile checked(std::size_t at, std::string_view host, const Grammar& grammar,
                                    const HostValues& values, Document& document) const;
};

}  // namespace rdmacfg::config
