// SPDX-License-Identifier: Apache-2.0
// Words that say by their shape what they are: numbers, places on the PCI bus, predictable names of
// interfaces, boards, sizes. None of them says whose host it is.
#pragma once

#include <string_view>
#include <vector>

namespace rdmacfg::ctl {

inline constexpr std::string_view kHexDigits = "0123456789abcdefABCDEF";
inline constexpr std::string_view kDecimalDigits = "0123456789";

bool is_decimal(char c);
bool is_hex_text(std::string_view text);
bool all_digits(std::string_view text);

/// The beginning of `text` that consists of `characters`.
std::string_view leading(std::string_view text, std::string_view characters);

/// "0000:10:00.0", or without the function.
bool is_pci(const std::vector<std::string_view>& groups);

/// "enp23s0f1np1", "ibp16s0", "rocep0s17"; not those of a MAC address (enx…) or of a firmware's free text.
bool is_predictable(std::string_view name);

/// "MT_1090120019": which board it is, not which one of them.
bool is_board(std::string_view word);

/// "64M", "512MiB"
bool is_size(std::string_view word);

/// Numbers that people and kernels choose: short ones and round ones. Others are serial numbers.
bool is_plain_number(std::string_view digits);

}  // namespace rdmacfg::ctl
