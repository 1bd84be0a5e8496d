// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "formats/opensm/opensm_conf.hpp"
#include "kinds/kind.hpp"
#include "kinds/opensm/opensm_own.hpp"
#include "model/resource.hpp"
#include "model/section.hpp"
#include "model/types/host_types.hpp"

namespace rdmacfg::kinds {

/// An option of opensm.conf.
struct OpensmOption {
  std::optional<std::string> key;
  std::optional<model::SysctlValue> value;

  static constexpr auto kFields =
      std::tuple{model::field("key", &OpensmOption::key, model::Role::kIdentity,
                              "An option as `opensm --create-config` lists them: \"max_wire_smps\".", "-"),
                 model::field("value", &OpensmOption::value, model::Role::kSetting,
                              "Its value as OpenSM writes it: 16, \"TRUE\", \"updn,ftree\".")};
};

/// opensm.conf: lines "key value", of which the last one for a key counts (OpenSM, osm_subnet.c). Ours stand
/// between two marks at its end; lines of others stay.
struct OpensmOptions {
  std::map<std::string, std::string> ours;
  std::map<std::string, std::string> theirs;
  std::map<std::string, std::string> below;  ///< those of theirs that stand below ours, and so count
  std::string others;                        ///< the text without our part
  bool was_missing = false;                  ///< there was no file before we had the first one
  std::optional<Damage> damage;              ///< then the file is not to be written
};

OpensmOptions parse_opensm_options(std::string_view text);
std::string render_opensm_options(const OpensmOptions& options);
/// `folder`: of observe_opensm_folder().
std::string opensm_options_path(const std::string& folder);

/// The value of an option for OpenSM: of the document, else of the last line of the file by others; without a
/// document, of the last line. Nothing: OpenSM's own.
std::optional<std::string> opensm_option_value(std::span<const model::Desired> desired, system::Files& files,
                                               const std::string& folder, std::string_view option);

/// The same of an option of one port's own file, which the document has as a whole.
std::optional<std::string> own_option_value(std::span<const model::Desired> desired,
                                            const OpensmOwner& owner);

model::SectionSpec opensm_option_section();

const Kind& opensm_option();

}  // namespace rdmacfg::kinds
