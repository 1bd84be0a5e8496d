// SPDX-License-Identifier: Apache-2.0
// Profiles of NetworkManager as keyfiles. Sources: nm-settings-keyfile(5), libnm-core's nm-keyfile.c and
// nm-setting-infiniband.c (1.42).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "kinds/address/request.hpp"
#include "model/field.hpp"
#include "model/spelled.hpp"
#include "system/files.hpp"

namespace rdmacfg::kinds {

inline constexpr std::string_view kNmFolder = "/etc/NetworkManager/system-connections";
/// Profiles that are gone with the next boot.
inline constexpr std::string_view kNmRunFolder = "/run/NetworkManager/system-connections";
/// Profiles of the distribution or of an image, which NetworkManager never writes.
inline constexpr std::string_view kNmVendorFolder = "/usr/lib/NetworkManager/system-connections";
/// P_Key interfaces, as NetworkManager names them (fnmatch(3)). They have their port's GUID, and it would
/// take the port's profile for one that comes before the port is ready; a port's profile leaves them out
/// ([match], of 1.14).
inline constexpr std::string_view kNmChildren = "*.[0-9a-f][0-9a-f][0-9a-f][0-9a-f]";

/// A profile of ours. Addresses and what belongs to them are lines as NetworkManager spells them:
/// "method=manual", "address1=192.0.2.1/24,192.0.2.254".
struct NmProfile {
  std::optional<std::string> name;
  std::optional<std::string> parent;
  std::optional<model::Pkey> pkey;
  std::optional<model::IpoibMode> mode;
  std::optional<model::Mtu> mtu;
  std::optional<bool> autoconnect;
  std::optional<std::vector<std::string>> ipv4;
  std::optional<std::vector<std::string>> ipv6;
  std::optional<std::vector<std::string>> edited;
  std::optional<bool> active;
  std::optional<model::IpoibMode> live_mode;
  std::optional<model::Mtu> live_mtu;
  std::optional<std::vector<std::string>> missing;
  std::optional<std::vector<std::string>> duplicate;
  std::optional<std::vector<std::string>> tentative;

  static constexpr auto kFields = std::tuple{
      model::field("name", &NmProfile::name, model::Role::kSetting, "Name of the profile.", "-"),
      model::field("parent", &NmProfile::parent, model::Role::kSetting,
                   "Of a P_Key profile: the interface that it is over.", "-"),
      model::field("pkey", &NmProfile::pkey, model::Role::kSetting, "P_Key, with the membership bit.", "-"),
      model::field("mode", &NmProfile::mode, model::Role::kSetting, "Transport mode.", "-"),
      model::field("mtu", &NmProfile::mtu, model::Role::kSetting, "MTU in bytes.", "-"),
      model::field("autoconnect", &NmProfile::autoconnect, model::Role::kSetting,
                   "Whether NetworkManager activates the profile automatically.", "-"),
      model::field("ipv4", &NmProfile::ipv4, model::Role::kSetting, "Section [ipv4].", "-"),
      model::field("ipv6", &NmProfile::ipv6, model::Role::kSetting, "Section [ipv6].", "-"),
      model::field(
          "edited", &NmProfile::edited, model::Role::kSetting,
          "Lines that bind the profile to this interface and that others removed (-), and lines that "
          "prevent its activation and that others added (+).",
          "-"),
      model::field("active", &NmProfile::active, model::Role::kSetting,
                   "Whether the profile is up and in effect, while NetworkManager runs.", "-"),
      model::spoken_as(model::field("live_mode", &NmProfile::live_mode, model::Role::kDerived,
                                    "Mode of the interface that the profile is up on.", "-"),
                       "mode"),
      model::spoken_as(model::field("live_mtu", &NmProfile::live_mtu, model::Role::kDerived,
                                    "MTU of that interface, where the profile has one.", "-"),
                       "mtu"),
      model::lacking(model::field("missing", &NmProfile::missing, model::Role::kDerived,
                                  "Addresses of the profile that the interface lacks.", "-"),
                     "addresses"),
      model::field("duplicate", &NmProfile::duplicate, model::Role::kFact,
                   "Addresses of the profile that another host has.", "-"),
      model::field("tentative", &NmProfile::tentative, model::Role::kFact,
                   "Addresses of the profile that the kernel is still checking for duplicates.", "-")};
};

/// "GUID" or "GUID/0x8002" → the profile's UUID (version 5) and file.
std::string nm_uuid(std::string_view id);
std::string nm_file(std::string_view id);

/// The id of a file name of ours; nothing for another's.
std::optional<std::string> nm_id(std::string_view file_name);

/// Ids of the profiles of ours that are on disk; none where the folder cannot be read.
std::set<std::string> nm_profiles(system::Files& files);

/// The profile of the port or P_Key interface `id`, without `edited` and the fields after it, which do not
/// matter of the file.
std::string render_keyfile(std::string_view id, const NmProfile& profile);

/// The only name under which NetworkManager has the interface of a P_Key profile: that of the port, a dot,
/// the P_Key, cut to what an interface may have. Nothing for a port's profile.
std::optional<std::string> nm_interface_name(const NmProfile& profile);

/// A keyfile as render_keyfile() wrote it, with an administrator's changes by nmcli.
NmProfile parse_keyfile(std::string_view text);

/// Of the lines by which NetworkManager takes a keyfile for a profile, and for that of the port or P_Key
/// interface `id`: those that it lacks, "- type=infiniband". It has loaded the profile, and reads the file
/// when it starts again.
std::vector<std::string> nm_lines_missing(std::string_view id, std::string_view text);

/// Lines that others added and that keep NetworkManager from activating the profile on its interface at a
/// boot, or have it join another one: "+ permissions=user:alice:;". Those of nmcli that change nothing of
/// this are left alone.
std::vector<std::string> nm_lines_in_the_way(std::string_view text);

/// Lines of both sorts: the faults of a keyfile of ours beside the values of the document.
std::vector<std::string> nm_lines_edited(std::string_view id, std::string_view text);

/// Lines of [ipv4] or [ipv6]; a family that the document does not mention has no addresses of its own.
std::vector<std::string> inet_lines(const WantedFamily& family);

/// A keyfile as sections of keys; lines that are none are passed over.
std::map<std::string, std::map<std::string, std::string>> keyfile_sections(std::string_view text);

}  // namespace rdmacfg::kinds
