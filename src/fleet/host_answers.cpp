// SPDX-License-Identifier: Apache-2.0
#include "fleet/host_answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "fleet/answer_json.hpp"
#include "fleet/shape.hpp"
#include "kinds/opensm/partition_rule.hpp"
#include "model/types.hpp"

namespace rdmacfg::fleet {

namespace {

/// A value for people; empty: null.
std::string value_text(const Json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number()) return value.dump();
  if (!value.is_array()) return "?";
  std::vector<std::string> items;
  for (const auto& element : value) items.push_back(value_text(element));
  return items.empty() ? "none" : base::join(items, ", ");
}

/// Keys that are read; the rest of what a host says, such as GID tables, is most of it and passed over.
bool is_read(std::string_view key) {
  constexpr std::array<std::string_view, 41> kKeys{
      "schema",   "command",    "exit",     "name",       "error",      "message",    "diagnostics",
      "severity", "where",      "file",     "line",       "resources",  "status",     "kind",
      "id",       "label",      "reason",   "attributes", "now",        "wanted",     "devices",
      "board_id", "hca_type",   "firmware", "ports",      "device",     "port",       "state",
      "rate",     "mtu_active", "pkeys",    "pkey",       "membership", "interfaces", "mode",
      "guid",     "lid",        "sm_lid",   "link_layer", "up",         "carrier"};
  return key == "mtu" || std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

/// Tenths of Gbit/s of a rate as the kernel words it: "2.5 Gb/sec (1X SDR)".
std::optional<int> tenths_of(std::string_view rate) {
  constexpr std::uint64_t kMostRate = 100'000;
  const auto number = rate.substr(0, rate.find(' '));
  const auto point = number.find('.');
  const auto whole = base::parse_number(number.substr(0, point));
  const auto part = point == std::string_view::npos ? std::optional<std::uint64_t>(0)
                                                    : base::parse_number(number.substr(point + 1));
  if (!whole || !part || *whole > kMostRate || *part > 9) return std::nullopt;
  return static_cast<int>(*whole * 10 + *part);
}

constexpr const char* kCollectAgain =
    "collect it again with `rdma-configctl show --json` and `rdma-configctl diff --json`";

/// A list of an answer that is something else; null: each is a list, or not there. A list that somebody has
/// left out is not compared.
const char* wrong_list(const Json& answer) {
  constexpr std::array<const char*, 3> kLists{"resources", "devices", "interfaces"};
  const auto list = std::find_if(kLists.begin(), kLists.end(), [&](const char* key) {
    const auto& value = at(answer, key);
    return !value.is_null() && !value.is_array();
  });
  return list == kLists.end() ? nullptr : *list;
}

/// The complaint about an object that is not the output of show or diff.
model::Diagnostic not_an_answer(const config::Text& json, const std::string& schema,
                                const std::string& command) {
  const model::Location where{json.name, 1, 1, 1};
  for (const auto* name : {"org.rdmaconfigd.show/", "org.rdmaconfigd.report/"}) {
    if (schema.starts_with(name) && schema != fmt::format("{}1", name))
      return faulty(where, fmt::format("is of another version: {}, but this program reads {}1", schema, name),
                    "use the rdma-configctl that the hosts have, or an older one there");
  }
  std::string message = "is not the output of rdma-configctl";
  if (schema == "org.rdmaconfigd.report/1") {
    message = fmt::format("is the output of \"{}\", not of show or diff", command);
  } else if (!schema.empty()) {
    message = fmt::format("is {}, not the output of show or diff", schema);
  }
  return faulty(where, std::move(message),
                "collect it with `rdma-configctl show --json` or `rdma-configctl diff --json`");
}

/// The status of a resource that is not as wanted; nothing of one that is.
std::optional<Difference::Status> status_of(std::string_view text) {
  using Status = Difference::Status;
  constexpr std::array kWrong{Status::kFailed, Status::kDiffers, Status::kUnmet, Status::kLimited,
                              Status::kPending};
  const auto at =
      std::find_if(kWrong.begin(), kWrong.end(), [&](Status status) { return text_of(status) == text; });
  return at == kWrong.end() ? std::nullopt : std::optional(*at);
}

}  // namespace

std::string_view text_of(Difference::Status status) {
  using Status = Difference::Status;
  switch (status) {
    case Status::kError:
      return "error";
    case Status::kFailed:
      return "failed";
    case Status::kDiffers:
      return "differs";
    case Status::kUnmet:
      return "unmet";
    case Status::kUnlike:
      return "unlike";
    case Status::kLimited:
      return "limited";
    case Status::kPending:
      return "pending";
  }
  return "error";
}

/// The output of one host.
class AnswerReader {
 public:
  AnswerReader(HostAnswers& out, HostId host, const Json& json) : out_(out), host_(host), json_(json) {}

  void read() {
    const bool failed = text_at(at(json_, "exit"), "name") == "error";
    if (failed) failure();
    for (const auto& resource : list_at(json_, "resources")) read_resource(resource);
    if (!at(json_, "devices").is_array()) return;
    // A host that could not say has no fewer devices for that.
    if (failed && list_at(json_, "devices").empty()) return;
    fact(Fact::kDevices, "", std::to_string(list_at(json_, "devices").size()));
    for (const auto& device : list_at(json_, "devices")) read_device(device);
    for (const auto& interface : list_at(json_, "interfaces")) read_interface(interface);
    read_partitions(list_at(json_, "resources"));
  }

 private:
  /// The part of a port that interfaces are compared with.
  struct Link {
    std::int64_t mtu = 0;  ///< active; 0: not known
    int rate = 0;          ///< tenths of Gbit/s; 0: not known
    std::optional<FabricPort> fabric;
  };

  void failure() {
    Difference difference;
    difference.status = Difference::Status::kError;
    difference.reason = text_at(at(json_, "error"), "message");
    for (const auto& diagnostic : list_at(json_, "diagnostics")) {
      if (!difference.reason.empty()) break;
      if (text_at(diagnostic, "severity") != "error") continue;
      const auto& where = at(diagnostic, "where");
      difference.reason = fmt::format("{}:{}: {}", text_at(where, "file"),
                                      number_at(where, "line").value_or(0), text_at(diagnostic, "message"));
    }
    out_.difference(host_, std::move(difference));
  }

  void read_resource(const Json& resource) {
    using Status = Difference::Status;
    const auto status = status_of(text_at(resource, "status"));
    if (!status) return;
    Difference difference;
    difference.status = *status;
    difference.kind = text_at(resource, "kind");
    difference.label = text_at(resource, "label");
    difference.reason = text_at(resource, "reason");
    if (difference.kind == "pkey" && difference.status != Status::kDiffers)
      waits_for(text_at(resource, "id"));
    // A number that is at least another one differs from it, and is as expected.
    if (difference.status == Status::kUnmet) return out_.difference(host_, std::move(difference));
    std::vector<const Json*> differing;
    bool any_now = false;
    for (const auto& attribute : list_at(resource, "attributes")) {
      const auto &now = at(attribute, "now"), &wanted = at(attribute, "wanted");
      any_now = any_now || !now.is_null();
      if (!wanted.is_null() && now != wanted) differing.push_back(&attribute);
    }
    // Something that is not there is one difference, whatever it is to be like.
    if (differing.empty() || !any_now) {
      difference.absent = !any_now && !differing.empty();
      out_.difference(host_, std::move(difference));
      return;
    }
    for (const auto* attribute : differing) {
      auto each = difference;
      each.attribute = text_at(*attribute, "name");
      each.now = value_text(at(*attribute, "now"));
      each.wanted = value_text(at(*attribute, "wanted"));
      out_.difference(host_, std::move(each));
    }
  }

  /// @param id  of a P_Key interface: GUID/0x8002, and "#name" behind it for a second one
  void waits_for(std::string_view id) {
    id.remove_prefix(std::min(id.find('/') + 1, id.size()));
    const auto number = base::parse_number(id.substr(0, id.find('#')));
    if (!number || *number > 0xffff) return;
    auto& hosts = out_.waiting_[static_cast<std::uint16_t>(*number & 0x7fffU)];
    if (hosts.empty() || hosts.back() != host_) hosts.push_back(host_);
  }

  /// Rules in partitions.conf; none where an option has OpenSM read another file.
  void read_partitions(const Json::array_t& resources) {
    const bool elsewhere = std::any_of(resources.begin(), resources.end(), [](const Json& resource) {
      return text_at(resource, "kind") == "opensm_option" &&
             text_at(resource, "id").ends_with("partition_config_file");
    });
    if (elsewhere) return;
    for (const auto& resource : resources) {
      if (text_at(resource, "kind") == "partition" && text_at(resource, "status") == "in_sync")
        read_partition(resource);
    }
  }

  /// @param resource  with its rule in partitions.conf: "store=0x8002, ipoib : ALL=full;", where groups are
  /// lines before the members
  void read_partition(const Json& resource) {
    std::string rule;
    for (const auto& attribute : list_at(resource, "attributes")) {
      if (text_at(attribute, "name") == "rule") rule = text_at(attribute, "now");
    }
    const auto number = base::parse_number(text_at(resource, "id"));
    const auto colon = rule.find(" :"), last_line = rule.rfind('\n');
    if (!number || *number > 0xffff || colon == std::string::npos) return;
    const std::string_view whole = rule;
    std::string_view defmember;
    constexpr std::string_view kDefmember = "defmember=";
    const auto head = whole.substr(0, colon);
    if (const auto key = head.find(kDefmember); key != std::string_view::npos) {
      defmember = head.substr(key + kDefmember.size());
      defmember = defmember.substr(0, defmember.find(','));
    }
    if (defmember == kinds::kBothMemberships) return;  // it has what an option of OpenSM says
    auto members = base::trim(whole.substr(last_line == std::string::npos ? colon + 2 : last_line + 1));
    if (members.ends_with(';')) members.remove_suffix(1);
    PartitionMembers given;
    for (const auto item : base::split(members, ',')) {
      if (base::trim(item).empty()) continue;
      const auto member = kinds::parse_member(base::trim(item));
      if (!member || member->membership == kinds::kBothMemberships) return;
      given.add(*member, defmember);
    }
    out_.partitions_[host_].insert_or_assign(static_cast<std::uint16_t>(*number & 0x7fffU), std::move(given));
  }

  void read_device(const Json& device) {
    auto board = text_at(device, "board_id");
    if (board.empty()) board = text_at(device, "hca_type");
    if (const auto firmware = text_at(device, "firmware"); !firmware.empty() && !board.empty())
      fact(Fact::kFirmware, board, firmware);
    for (const auto& port : list_at(device, "ports")) {
      const auto name = fmt::format("{}/{}", text_at(port, "device"), number_at(port, "port").value_or(0));
      if (const auto state = text_at(port, "state"); !state.empty()) fact(Fact::kPortState, name, state);
      const bool active = text_at(port, "state") == "ACTIVE";
      const auto rate = text_at(port, "rate");
      if (!rate.empty() && active) {
        fact(Fact::kRate, name, rate);
        if (!board.empty()) out_.rates_by_board_[{name, board}].add(rate, host_);
      }
      const auto mtu = number_at(port, "mtu_active");
      if (mtu && active) fact(Fact::kPortMtu, name, std::to_string(*mtu));
      auto& link = links_[name];
      link.mtu = mtu.value_or(0);
      link.rate = tenths_of(rate).value_or(0);
      link.fabric = fabric_port(port);
      if (!at(port, "pkeys").is_array()) continue;
      read_table(name, list_at(port, "pkeys"));
      if (link.fabric) out_.tables_[name].ports.push_back(*link.fabric);
    }
  }

  void read_table(const std::string& name, const Json::array_t& pkeys) {
    auto& table = out_.tables_[name];
    if (table.hosts.empty() || table.hosts.back() != host_) table.hosts.push_back(host_);
    for (const auto& pkey : pkeys) {
      const auto number = base::parse_number(text_at(pkey, "pkey"));
      if (!number || *number > 0xffff || (*number & 0x7fffU) == 0) continue;  // 0: an empty place
      auto& members = table.partitions[static_cast<std::uint16_t>(*number & 0x7fffU)];
      auto& list = text_at(pkey, "membership") == "full" ? members.full : members.limited;
      if (list.empty() || list.back() != host_) list.push_back(host_);
    }
  }

  /// The table of another port is not, or not yet, that of a subnet manager.
  [[nodiscard]] std::optional<FabricPort> fabric_port(const Json& port) const {
    const auto guid = model::Guid::parse(text_at(port, "guid"));
    const auto lid = number_at(port, "lid").value_or(0), sm_lid = number_at(port, "sm_lid").value_or(0);
    if (!guid || lid == 0 || sm_lid == 0 || text_at(port, "state") != "ACTIVE" ||
        text_at(port, "link_layer") == "Ethernet")
      return std::nullopt;
    return FabricPort{host_, guid->number, lid, sm_lid};
  }

  void read_interface(const Json& interface) {
    const auto name = text_at(interface, "name"), mode = text_at(interface, "mode");
    const auto mtu = number_at(interface, "mtu");
    if (name.empty()) return;
    if (!mode.empty()) fact(Fact::kInterfaceMode, name, mode);
    // An interface that is down has joined no group, to whose MTU the kernel would fit its own.
    if (!mtu || is_false_at(interface, "up")) return;
    fact(Fact::kInterfaceMtu, name, std::to_string(*mtu));
    const auto port =
        fmt::format("{}/{}", text_at(interface, "device"), number_at(interface, "port").value_or(0));
    const auto link = links_.find(port);
    if (link == links_.end()) return;
    const auto carried = link->second.mtu - model::kIpoibHeader;
    const bool too_large = mode == "datagram" && link->second.mtu > 0 && *mtu > carried;
    if (too_large) {
      auto& list = out_.too_large_[ExcessMtu{name, *mtu, carried}];
      if (list.empty() || list.back() != host_) list.push_back(host_);
    }
    // The kernel takes the group's MTU into account as it sets the carrier (ipoib_mcast_carrier_on_task() in
    // ipoib_multicast.c), so that an earlier one says nothing.
    const bool compares = mode == "datagram" && !too_large && !is_false_at(interface, "carrier");
    read_member(interface, port, link->second, compares ? *mtu : 0);
  }

  /// @param mtu  0: not to be compared
  void read_member(const Json& interface, const std::string& port, const Link& link, std::int64_t mtu) {
    const auto pkey = base::parse_number(text_at(interface, "pkey"));
    if (!link.fabric || is_false_at(interface, "up") || !pkey || *pkey > 0xffff) return;
    GroupMember member;
    member.host = host_;
    member.partition = static_cast<std::uint16_t>(*pkey & 0x7fffU);
    member.interface = text_at(interface, "name");
    member.port = port;
    member.guid = link.fabric->guid;
    member.lid = link.fabric->lid;
    member.mtu = mtu;
    member.link_mtu = link.mtu;
    member.rate = link.rate;
    out_.group_members_.push_back(std::move(member));
    out_.members_by_guid_ = false;
  }

  void fact(Fact fact, const std::string& what, const std::string& value) {
    out_.facts_[{fact, what}].add(value, host_);
  }

  HostAnswers& out_;
  HostId host_;
  const Json& json_;
  std::map<std::string, Link> links_;  ///< by port
};

void HostAnswers::difference(HostId host, Difference difference) {
  const auto& name = hosts_[host];
  // Addresses and GUIDs may differ from host to host; everything else is the same. Of an unmet expectation
  // the numbers may, too: counters differ everywhere.
  const auto reason_of = [&] {
    if (difference.absent || !difference.attribute.empty()) return std::string();
    const auto reason = anonymous(difference.reason, name);
    return difference.status == Difference::Status::kUnmet ? without_numbers(reason) : reason;
  };
  // Lengths keep apart what hosts say with line ends in it.
  std::string key = fmt::format("{} {}", static_cast<int>(difference.status), difference.absent);
  for (const std::string& part :
       {difference.kind, anonymous(difference.label, name), difference.attribute,
        anonymous(difference.now, name), anonymous(difference.wanted, name), reason_of()})
    key += fmt::format(" {}:{}", part.size(), part);
  const auto [found, fresh] = by_text_.try_emplace(key, differences_.size());
  if (fresh) differences_.push_back(std::move(difference));
  auto& known = differences_[found->second];
  if (!fresh && (known.label != difference.label || known.now != difference.now ||
                 known.wanted != difference.wanted || known.reason != difference.reason))
    known.varies = true;
  if (known.hosts.empty() || known.hosts.back() != host) known.hosts.push_back(host);
}

void HostAnswers::add_silent(HostId host, std::string reason) {
  Difference silence;
  silence.status = Difference::Status::kError;
  silence.reason = std::move(reason);
  difference(host, std::move(silence));
}

std::optional<model::Diagnostic> HostAnswers::add(HostId host, const config::Text& json) {
  Json parsed;
  if (auto wrong = parse_answer(json, is_read, kCollectAgain, parsed)) return wrong;
  const auto schema = text_at(parsed, "schema"), command = text_at(parsed, "command");
  const bool show = schema == "org.rdmaconfigd.show/1";
  const bool report = schema == "org.rdmaconfigd.report/1" && (command == "diff" || command == "show");
  if (!show && !report) return not_an_answer(json, schema, command);
  // An answer has its result; without one it would count as that of a host in sync.
  const bool has_result = !text_at(at(parsed, "exit"), "name").empty();
  if (const auto* list = wrong_list(parsed); !has_result || list != nullptr)
    return faulty({json.name, 1, 1, 1},
                  has_result ? fmt::format("\"{}\" is not a list", list) : "\"exit\" has no \"name\"",
                  kCollectAgain);
  AnswerReader(*this, host, parsed).read();
  return std::nullopt;
}

}  // namespace rdmacfg::fleet
