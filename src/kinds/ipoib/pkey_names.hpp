// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/diagnostic.hpp"

namespace rdmacfg::kinds {

/// Names that a document gives to interfaces of ports and of P_Keys: each once.
class PkeyNames {
 public:
  explicit PkeyNames(model::Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void claim(const std::string& name, const model::Location& where, std::string_view section);

  /// A connected interface over a port is made by sysfs: the kernel calls it `first` before it gets its
  /// `name`.
  void needs(const std::string& first, const std::string& name, const model::Location& where);

  /// Once all names are known: no interface may have the first name of another one, which could not be made
  /// (again) beside it.
  void check_first_names();

 private:
  struct Claim {
    model::Location where;
    std::string_view section;
  };

  model::Diagnostics& diagnostics_;
  std::map<std::string, Claim> names_;
  std::vector<std::pair<std::string, model::Location>> firsts_;
};

}  // namespace rdmacfg::kinds
