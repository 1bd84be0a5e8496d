// SPDX-License-Identifier: Apache-2.0
// Logins of the SRP initiator. Source: attributes of SCSI hosts in drivers/infiniband/ulp/srp/ib_srp.c.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "formats/storage/srp_rules.hpp"
#include "system/files.hpp"

namespace rdmacfg::kinds {

/// A target that ib_srp is logged in to.
struct SrpSession {
  model::SrpId id_ext{}, ioc_guid{}, service_id{};
  std::optional<model::PortGid> dgid{};  ///< as it was asked for: the target may have redirected the login
  std::uint16_t pkey = 0;
  std::string device{};  ///< of this host: "mlx4_0"
  std::string port{};    ///< of that device: "1"
};

/// All of this host, by SCSI host; without ib_srp there are none.
base::Result<std::vector<SrpSession>> observe_srp_sessions(system::Files& files);

/// Whether srp_daemon would have decided of it by this rule, if it was the only one.
bool matches(const SrpRule& rule, const SrpSession& session);

/// As `ibsrpdm -c` spells the target, and the port that leads there: "id_ext=200500a0b81146a1,
/// ioc_guid=00a0b80200402bef,dgid=fe800000000000000002c90200402bd5,pkey=ffff,service_id=200500a0b81146a1 over
/// mlx4_0/1".
std::string text_of(const SrpSession& session);

}  // namespace rdmacfg::kinds
