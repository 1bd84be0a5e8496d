// SPDX-License-Identifier: Apache-2.0
// An opensm.conf of one port's own: a subnet manager with [[opensm.option]] or [[opensm.file]] reads that in
// place of opensm.conf (ADR 0048). Source: opensm(8), --config; osm_subn_parse_conf_file() in osm_subnet.c.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "formats/opensm/opensm_conf.hpp"
#include "model/resource.hpp"
#include "model/section.hpp"
#include "model/types.hpp"
#include "system/host.hpp"

namespace rdmacfg::kinds {

/// Of which subnet managers an option or a file is: ids of the kinds opensm_option and opensm_file.
struct OpensmOwner {
  std::optional<model::Guid> port;  ///< nothing: of all that read opensm.conf
  std::string option;

  [[nodiscard]] std::string id() const;  ///< "qos", "00:02:c9:03:00:31:78:f2/qos"
  /// "opensm.conf qos", "opensm.conf qos of 00:02:c9:03:00:31:78:f2"
  [[nodiscard]] std::string label(std::string_view place) const;
  static OpensmOwner of(std::string_view id);
};

/// Of an option or a file of one port's own, where no unit of that port can be started.
inline constexpr const char* kNoWayToStart = "opensm@.service does not exist: no known way to start OpenSM";

/// Why a file of ours cannot be written: another's is there, or the path cannot be read. Empty: it can.
std::string why_not_writable(system::Files& files, const std::string& path);

/// The port of an [[opensm]] entry that has options or files of its own; nothing for others.
std::optional<model::Guid> port_with_own_conf(const model::Section& opensm);

/// Its options in its own file, which the subnet manager needs. Those of all are written together with them.
std::vector<model::Key> own_option_keys(const model::Section& opensm);

struct OwnConf {
  std::map<std::string, std::string> options;
  /// Debian: the drop-in of its port names it. Elsewhere: it names its port, and opensm-launch takes it by
  /// its name.
  bool is_read = false;
};
/// Those of ours in OpenSM's folder.
base::Result<std::map<model::Guid, OwnConf>> observe_own_confs(system::Files& files,
                                                               const std::string& folder);

/// The path of a port's own opensm.conf while that is there; else empty.
base::Result<std::string> own_conf_of(system::Files& files, model::Guid port);

/// Where such a file is in this layout.
std::string own_conf_path(OpensmLayout layout, const std::string& folder, model::Guid port);

/// Gives a port's own opensm.conf these options, and has its subnet manager read it at its next start;
/// without options both go. Whether anything was changed; systemd is not told. Where opensm-launch starts it,
/// the kind opensm has GUIDS emptied, without which the file does not count.
base::Result<bool> write_own_conf(system::Files& files, const std::string& folder, model::Guid port,
                                  const std::map<std::string, std::string>& options);

}  // namespace rdmacfg::kinds
