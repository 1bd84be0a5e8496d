// SPDX-License-Identifier: Apache-2.0
// The kernel's messages about an interface's DCB. Sources: linux/dcbnl.h, net/dcb/dcbnl.c.
#pragma once

#include <linux/dcbnl.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "system/dcb.hpp"
#include "system/linux/netlink/netlink_message.hpp"

namespace rdmacfg::system::detail {

// Of Linux 6.2, which the headers of Debian 12 do not have yet: enum ieee_attrs and enum ieee_attrs_app of
// include/uapi/linux/dcbnl.h.
constexpr int kDcbAttrTrustTable = DCB_ATTR_DCB_BUFFER + 1;  ///< DCB_ATTR_DCB_APP_TRUST_TABLE
constexpr int kDcbAttrIeeeApp = DCB_ATTR_IEEE_APP;
constexpr int kDcbAttrDcbApp = DCB_ATTR_IEEE_APP + 1;  ///< DCB_ATTR_DCB_APP: selectors beyond IEEE's
static_assert(kDcbAttrTrustTable == 11 && kDcbAttrDcbApp == 2);

/// The attribute in which a selector stands (dcbnl_app_attr_type_get()); 0: there is no such selector.
int dcb_app_attribute(std::uint8_t selector);

/// The answer to DCB_CMD_IEEE_GET; nothing when it is too short for its header.
std::optional<DcbState> parse_dcb(const nlmsghdr& header);

/// The request that sets the order of trust. Without selectors the table is there and empty.
Message trust_request(const std::string& interface, std::span<const std::uint8_t> selectors);

}  // namespace rdmacfg::system::detail
