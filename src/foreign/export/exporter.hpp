// SPDX-License-Identifier: Apache-2.0
// A document in the languages of other tools.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/document.hpp"

namespace rdmacfg::foreign {

/// The result of an export.
struct Output {
  std::vector<File> files;    ///< paths as on the host; of `commands` one, without a path
  std::vector<Remark> notes;  ///< what the target cannot express
};

/// The vocabulary of a language.
struct FormatFeatures {
  std::string_view tool;      ///< "NetworkManager"
  bool needs_name = true;     ///< knows interfaces by their names only
  bool needs_mode = false;    ///< takes datagram where no mode is said
  bool needs_method = false;  ///< takes no addresses where nothing is said of them
  bool interfaces = true;     ///< says more than names
  bool umcast = false;
  bool pkeys = true;
  bool nameless_children = false;  ///< P_Key interfaces over a port that has no name
  bool child_names = false;        ///< P_Key interfaces may be called anything
  bool absent = false;
  bool servers = true;            ///< DNS for each interface
  bool search_by_family = false;  ///< else search domains are the interface's
  bool local_ipv4 = true;         ///< IPv4 link-local
};

/// The interfaces' remaining settings in that language; the rest is noted.
std::vector<ImportedHost::InterfaceTree> reduce_to_features(std::vector<ImportedHost::InterfaceTree> trees,
                                                            const FormatFeatures& features,
                                                            std::vector<Remark>& notes);

/// Values of the host for which files are made that its document does not have. Those that are not known stay
/// as they are, and what lacks without them is noted.
struct ExportHost {
  bool debian = false;       ///< Debian or one like it, whose rtslib keeps its file in another folder
  std::string machine_id{};  ///< text of /etc/machine-id
  std::map<model::Guid, std::string> gid_prefixes{};  ///< "fe80000000000000" by the GUID of a port
  /// The size of a file in bytes.
  std::function<std::optional<std::uint64_t>(const std::string& path)> file_size{};
};

/// A target of `export`: of interfaces (`render`), of one section alone (`render_section`), or of all as a
/// script (neither).
struct Target {
  std::string_view name;
  std::string_view doc;
  FormatFeatures features;
  void (*render)(const std::vector<ImportedHost::InterfaceTree>& trees, Output& out) = nullptr;
  std::string_view section = {};  ///< of render_section: "lio_target"
  void (*render_section)(const std::vector<const model::Section*>& sections, const ExportHost& host,
                         Output& out) = nullptr;
};

const std::vector<Target>& targets();
const Target* find_target(std::string_view name);

/// The sections of a valid document in the words of the target.
Output export_document(const std::vector<model::Section>& sections, const Target& target,
                       const ExportHost& host = {});

/// Whether the file belongs to root alone, as the tool that reads it insists on, or keeps it itself.
bool is_private(const File& file);
/// Whether its language has comments, which begin with '#'.
bool takes_comments(const File& file);

void render_nm(const std::vector<ImportedHost::InterfaceTree>& trees, Output& out);
void render_networkd(const std::vector<ImportedHost::InterfaceTree>& trees, Output& out);
void render_netplan(const std::vector<ImportedHost::InterfaceTree>& trees, Output& out);
void render_nmstate(const std::vector<ImportedHost::InterfaceTree>& trees, Output& out);
void render_ifcfg(const std::vector<ImportedHost::InterfaceTree>& trees, Output& out);

/// [[lio_target]] as targetcli's saveconfig.json, [[nvme_target]] as nvmetcli's config.json.
void render_targetcli(const std::vector<const model::Section*>& sections, const ExportHost& host,
                      Output& out);
void render_nvmetcli(const std::vector<const model::Section*>& sections, const ExportHost& host, Output& out);

/// The runbook: commands that make the interfaces and the other sections as the document says.
std::string render_commands(const std::vector<ImportedHost::InterfaceTree>& trees,
                            const std::vector<model::Section>& sections, std::vector<Remark>& notes);

/// Whether nothing is said of the addresses of the port and its P_Key interfaces: others may have given them
/// some.
bool leaves_addresses(const ImportedHost::InterfaceTree& tree);

/// udev rules that set mode and umcast of the ports: systemd-networkd 252 passes over [IPoIB] in a .network
/// file
/// ("Unknown section"), although systemd.network(5) has it.
void render_mode_rules(const std::vector<ImportedHost::InterfaceTree>& trees, Output& out);

/// "[[ipoib]]" or "[daemon]", as the section is written.
std::string label_of(const model::Section& section);

/// The first line of what is rendered.
std::string first_line(std::string_view target);

}  // namespace rdmacfg::foreign
