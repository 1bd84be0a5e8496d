// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace rdmacfg::ctl {

/// Whether a word says nothing about whose host it is on: a word of the document's grammar, of the files that
/// drivers, udev, systemd, NetworkManager and OpenSM read, of the kernel's answers, or of what rdma-configd
/// writes into files. Upper and lower case are told apart. A word that is missing here costs a reader of
/// reports a little; one too many may cost somebody a secret.
bool is_known_word(std::string_view word);

}  // namespace rdmacfg::ctl
