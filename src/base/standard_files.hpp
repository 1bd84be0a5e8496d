// SPDX-License-Identifier: Apache-2.0
// The descriptors of stdin, stdout and stderr.
#pragma once

namespace rdmacfg::base {

/// Takes those of the three that the caller has closed (`>&-`), for the first thing in main(). Otherwise the
/// next file or socket that is opened gets the number, and what is printed goes into a lock, a configuration
/// file that is being written, or the kernel. Reading and writing go on to fail, as from a closed one: nobody
/// is told that the output has arrived. @return whether all three are taken
bool take_standard_files();

}  // namespace rdmacfg::base
