// SPDX-License-Identifier: Apache-2.0
// Reports for callers other than root (docs/SECURITY.md), without the parts that they could not read
// themselves.
#pragma once

#include <functional>

#include "core/commit/commit.hpp"

namespace rdmacfg::core {

/// Stands in place of a value that only root may read.
inline constexpr const char* kHidden = "hidden";

/// How a look may be shown.
struct Visibility {
  bool document = true;  ///< the caller may read the document: it is the caller's own, or everybody may
  bool records = true;   ///< everybody may read what rdma-configd remembers (state.json)
};

/// Takes out of a report of the public view (system::PublicView) what comes of a private document or private
/// records. Values that everybody sees on the host itself stay.
void conceal(model::Report& report, const Visibility& visibility);

/// Runs a change for a caller other than root. `change` is given the whole host; the values in its report are
/// replaced by what two looks through the public view show, one before and one after it.
/// @param wanted  what the change makes the host be; null where that is not known before
model::Report change_concealed(const config::Document* wanted, const Request& request, Context& context,
                               const std::function<model::Report()>& change);

/// A look for a caller other than root: `look` is given the public view of the host, and tells whether the
/// document it looked at is one that the caller may read.
model::Report look_concealed(Context& context,
                             const std::function<model::Report(Context& seen, bool& own_document)>& look);

/// Whether a file of the active generation is private; also where that cannot be told. While an apply waits
/// for its confirmation, of the generation before it as well: that is held and compared once it has expired,
/// whether or not its rollback could be recorded.
bool active_is_private(system::Files& files, const GenerationPaths& paths);

}  // namespace rdmacfg::core
