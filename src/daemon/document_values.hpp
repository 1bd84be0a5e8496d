// SPDX-License-Identifier: Apache-2.0
// Whether a text may have values of the document in it. Everybody reads what the bus tells; a document may be
// readable by root alone.
#pragma once

namespace rdmacfg::daemon {

enum class DocumentValues { kShown, kLeftOut };

}  // namespace rdmacfg::daemon
