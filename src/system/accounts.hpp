// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"

namespace rdmacfg::system {

/// Users and groups as the host resolves them (nsswitch.conf(5)), wherever they are kept.
class Accounts {
 public:
  virtual ~Accounts() = default;

  virtual bool has_user(const std::string& name) = 0;
  virtual bool has_group(const std::string& name) = 0;

  /// Makes the groups and users that a file of sysusers.d(5) declares and that are not there.
  virtual base::Result<void> make_declared(const std::string& sysusers_file) = 0;
};

}  // namespace rdmacfg::system
