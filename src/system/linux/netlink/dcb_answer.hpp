// SPDX-License-Identifier: Apache-2.0
// A driver's answer to a dcbnl request: its int, cut to a byte. Source: dcbnl_ieee_set() in
// net/dcb/dcbnl.c.
#pragma once

#include <cerrno>
#include <cstdint>

namespace rdmacfg::system::detail {

/// The errno that the byte stands for; 0: taken. Small positive numbers are words of the driver's own for
/// "taken, without a reset" (ICE_DCB_NO_HW_CHG, ICE_DCB_HW_CHG of ice). ENOTSUPP, which bnxt returns, is
/// outside of what errno has and of what a byte can hold: -524 is cut to -12.
constexpr int dcb_errno(std::uint8_t word) {
  constexpr int kByte = 0x100;
  constexpr int kLargest =
      0x80;  // errnos end at 133 (EHWPOISON); a driver returns none above EREMOTEIO (121)
  constexpr int kNotSupportedCut = 524 - 2 * kByte;
  if (word < kByte - kLargest) return 0;
  const int error = kByte - word;
  return error == kNotSupportedCut ? EOPNOTSUPP : error;
}

}  // namespace rdmacfg::system::detail
