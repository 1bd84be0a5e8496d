// SPDX-License-Identifier: Apache-2.0
// NVMe targets over RDMA that nvme-cli connects to: discovery.conf (discover_from_conf_file() of fabrics.c,
// nvme-connect-all(1)) and config.json (libnvme's json.c). Those in nvme-fabrics.conf of nvme-cli 3 are
// named.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/import/rdma/nvmet.hpp"
#include "foreign/syntax/yaml.hpp"
#include "model/types/inet_types.hpp"
#include "model/types/storage_types.hpp"

namespace rdmacfg::foreign {

namespace {

constexpr std::string_view kDiscoveryNqn = "nqn.2014-08.org.nvmexpress.discovery";
constexpr std::int64_t kNvmePort = 4420;  // get_default_trsvcid() of nvme-cli

/// An option of `nvme discover`, and the key of [[nvme_connection]] that says the same.
struct NvmeOption {
  std::string_view name;
  char letter = 0;
  std::string_view key = {};
  bool valued = true;
};
constexpr auto kNvmeOptions = std::to_array<NvmeOption>({
    {"transport", 't', "transport"},
    {"traddr", 'a', "address"},
    {"trsvcid", 's', "port"},
    {"host-traddr", 'w', "host_address"},
    {"nr-io-queues", 'i', "nr_io_queues"},
    {"queue-size", 'Q', "queue_size"},
    {"keep-alive-tmo", 'k', "keep_alive_tmo"},
    {"reconnect-delay", 'c', "reconnect_delay"},
    {"ctrl-loss-tmo", 'l', "ctrl_loss_tmo"},
    {"nqn", 'n'},
    {"host-iface", 'f'},
    {"hostnqn", 'q'},
    {"hostid", 'I'},
    {"dhchap-secret", 'S'},
    {"dhchap-ctrl-secret", 'C'},
    {"nr-write-queues", 'W'},
    {"nr-poll-queues", 'P'},
    {"fast_io_fail_tmo", 'F'},
    {"tos", 'T'},
    {"keyring"},
    {"tls_key"},
    {"duplicate-connect", 'D', {}, false},
    {"disable-sqflow", 'd', {}, false},
    {"hdr-digest", 'g', {}, false},
    {"data-digest", 'G', {}, false},
    {"persistent", 'p', {}, false},
    {"tls", 0, {}, false},
});

/// "--traddr" or "-a"; nothing for a word that is not an option of nvme-cli's.
const NvmeOption* option_of(std::string_view word) {
  const auto* at = std::find_if(kNvmeOptions.begin(), kNvmeOptions.end(), [&](const NvmeOption& option) {
    if (word.starts_with("--")) return word.substr(2) == option.name;
    return word.size() > 1 && word[0] == '-' && option.letter != 0 && word[1] == option.letter;
  });
  return at == kNvmeOptions.end() ? nullptr : at;
}

/// The way to a discovery controller, by the keys of the document, and "transport" beside them.
using NvmeTarget = std::map<std::string, std::string, std::less<>>;

std::string part_of(const NvmeTarget& target, std::string_view key) {
  const auto at = target.find(key);
  return at == target.end() ? std::string() : at->second;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  const auto number = base::parse_number(negative ? text.substr(1) : text);
  if (!number || *number > 0x7fffffffU) return std::nullopt;
  const auto value = static_cast<std::int64_t>(*number);
  return negative ? -value : value;
}

class NvmeTargets {
 public:
  explicit NvmeTargets(Claims& claims) : claims_(claims) {}

  /// Before the first line of a file.
  void begin() { kept_.clear(); }

  /// A line of discovery.conf, which nvme-cli divides at each blank and each '=': of two blanks the second
  /// begins an empty word, and a tab or the carriage return of a CRLF is part of a word.
  void line(std::string_view text, const Place& where) {
    std::string blanks(text);
    std::replace(blanks.begin(), blanks.end(), '=', ' ');
    const auto shown = words_of(blanks);
    const bool has_option =
        std::any_of(shown.begin(), shown.end(), [](std::string_view word) { return word.starts_with('-'); });
    if (!has_option) return;
    if (blanks.find_first_of("\t\r") != std::string::npos)
      return claims_.miss(where,
                          "has a tab or a carriage return, which nvme-cli reads as part of a word: it splits "
                          "lines at blanks only");
    auto target = kept_;
    std::vector<std::string> others;
    const auto words = base::split(std::string_view(blanks), ' ');
    for (std::size_t at = 0; at < words.size(); ++at) {
      const auto word = words[at];
      if (!word.starts_with('-')) continue;  // argconfig_parse() takes no notice of such
      const auto* option = option_of(word);
      if (option == nullptr)
        return claims_.miss(where,
                            fmt::format("{}: nvme-cli does not know this option, and skips the line", word));
      if (option->key.empty()) others.emplace_back(word.substr(0, word.starts_with("--") ? word.npos : 2));
      const bool attached = !word.starts_with("--") && word.size() > 2;
      if (!option->valued) continue;
      if (!attached && ++at == words.size())
        return claims_.miss(where, fmt::format("{}: has no value", word));
      if (!option->key.empty()) target[std::string(option->key)] = attached ? word.substr(2) : words[at];
    }
    // A line goes on with these of the line before.
    kept_.clear();
    for (const auto* key : {"transport", "address", "port"}) {
      if (const auto at = target.find(key); at != target.end()) kept_.insert(*at);
    }
    if (!take(std::move(target), where)) return;
    claims_.took(where);
    for (const auto& option : others)
      claims_.miss(where, fmt::format("{}: cannot be expressed in the document", option));
  }

  /// A line of nvme-fabrics.conf(5), which nvme-cli 3 reads in place of the others and makes of them once.
  void fabrics_line(std::string_view text, const Place& where) {
    constexpr std::string_view kAddress = "traddr=";
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || base::trim(text.substr(0, equals)) != "controller") return;
    bool rdma = false;
    std::string_view written;
    for (const auto raw : base::split(text.substr(equals + 1), ';')) {
      const auto part = base::trim(raw);
      rdma = rdma || part == "transport=rdma";
      if (part.starts_with(kAddress)) written = part.substr(kAddress.size());
    }
    if (!rdma) return;
    const auto address = model::IpAddress::parse(written);
    const auto known = address ? seen_.find(address->text()) : seen_.end();
    if (known != seen_.end())
      return claims_.pass(
          where, fmt::format("{}: {} is for this address, too", address->text(), known->second.first.text()));
    claims_.miss(where,
                 fmt::format("{}: write [[nvme_connection]]; this file of nvme-cli 3 has precedence over "
                             "discovery.conf",
                             written));
  }

  /// config.json: hosts, or an object with them.
  void tree(const YamlNode& root) {
    if (root.sort == YamlNode::Sort::kMapping) {
      YamlKeys keys(root, claims_);
      for (const auto& item : keys.list("hosts")) host(item);
      keys.pass({"_version"});
      return keys.finish("config.json");
    }
    for (const auto& item : root.items) host(item);
  }

 private:
  void host(const YamlNode& node) {
    YamlKeys keys(node, claims_);
    if (!keys.fits()) return;
    for (const auto& subsystem : keys.list("subsystems")) {
      YamlKeys inner(subsystem, claims_);
      if (!inner.fits()) continue;
      const auto nqn = inner.text("nqn");
      for (const auto& item : inner.list("ports")) port(item, nqn == kDiscoveryNqn ? std::string() : nqn);
      inner.finish("subsystems");
    }
    host_names(keys);
    keys.finish("hosts");
  }

  /// The names by which targets know the host: those of this file go before those of the files of theirs
  /// (nvmf_host_get_ids() of libnvme).
  void host_names(YamlKeys& keys) {
    for (const auto* key : {"hostnqn", "hostid"}) {
      const auto* name = keys.take(key);
      if (name == nullptr || !name->is_scalar()) continue;
      claims_.pass(name->place(),
                   fmt::format("{}: without this file, connections use the value in /etc/nvme/{}", key, key));
    }
    keys.pass({"hostsymname"});
  }

  /// @param nqn  of a subsystem; empty for a discovery controller
  void port(const YamlNode& node, const std::string& nqn) {
    YamlKeys keys(node, claims_);
    if (!keys.fits()) return;
    NvmeTarget target;
    const auto put = [&](std::string_view key, std::string value) {
      if (!value.empty()) target.insert_or_assign(std::string(key), std::move(value));
    };
    put("transport", keys.text("transport"));
    put("address", keys.text("traddr"));
    put("port", keys.text("trsvcid"));
    put("host_address", keys.text("host_traddr"));
    for (const auto* key :
         {"nr_io_queues", "queue_size", "keep_alive_tmo", "reconnect_delay", "ctrl_loss_tmo"})
      put(key, keys.text(key));
    if (!nqn.empty() && part_of(target, "transport") == "rdma")
      return claims_.miss(node.place(),
                          fmt::format("{} at {}: the document connects to all subsystems of a discovery "
                                      "controller, not to a single one; keep this file",
                                      nqn, part_of(target, "address")));
    keys.pass({"discovery"});
    if (take(std::move(target), node.place())) keys.finish("ports");
  }

  /// @return whether it is a target over RDMA that the document has now
  bool take(NvmeTarget target, const Place& where) {
    if (whole_number(part_of(target, "port")) == kNvmePort) target.erase("port");
    const auto transport = part_of(target, "transport");
    if (transport != "rdma") {
      if (transport.empty()) {
        claims_.pass(where, "has no transport");
      } else {
        claims_.pass(where, fmt::format("is over {}, not over RDMA", transport));
      }
      return false;
    }
    const auto address = model::IpAddress::parse(part_of(target, "address"));
    if (!address) {
      claims_.miss(where, address.error().message);
      return false;
    }
    if (auto why = why_no_port(part_of(target, "port")); !why.empty()) {
      claims_.miss(where, std::move(why));
      return false;
    }
    if (const auto [at, fresh] = seen_.try_emplace(address->text(), where, target); !fresh) {
      const bool same = at->second.second == target;
      const auto text =
          fmt::format("{}: {} is for this address, too", address->text(), at->second.first.text());
      if (same) {
        claims_.pass(where, text);
      } else if (without_port(at->second.second) == without_port(target)) {
        return add_port(address->text(), at->second.second, target, where);
      } else {
        claims_.miss(where,
                     text + ", with other options; the document supports one set of options per address");
      }
      return false;
    }
    auto& entry = claims_.entry("nvme_connection", {{"address", address->text()}}, where);
    for (const auto& [key, text] : target) {
      if (key == "transport" || key == "address") continue;
      const auto number = whole_number(text);
      if (key == "host_address") {
        entry.values[key] = text;
      } else if (!number) {
        claims_.miss(where, fmt::format("{}: {} is not a number", key, text));
      } else {
        entry.values[key] = *number;
      }
    }
    return true;
  }

  /// Why the document cannot have this port; without it the entry would mean 4420.
  static std::string why_no_port(const std::string& written) {
    if (written.empty()) return {};
    const auto number = whole_number(written);
    if (!number) return fmt::format("port: {} is not a number", written);
    const auto port = model::Codec<model::ServicePort>::parse(model::Value{*number});
    return port ? std::string() : "port: " + port.error().message;
  }

  static NvmeTarget without_port(NvmeTarget target) {
    target.erase("port");
    return target;
  }

  /// Another discovery controller of a known target.
  bool add_port(const std::string& address, const NvmeTarget& first, const NvmeTarget& target,
                const Place& where) {
    const auto port_of = [](const NvmeTarget& instruction) {
      const auto written = part_of(instruction, "port");
      return written.empty() ? std::to_string(kNvmePort) : std::to_string(*whole_number(written));
    };
    auto& ports = ports_[address];
    if (ports.empty()) ports.push_back(port_of(first));
    if (auto port = port_of(target); std::find(ports.begin(), ports.end(), port) == ports.end()) {
      if (ports.size() == model::ServicePorts::kMost) {
        claims_.miss(where, fmt::format("{}: port {}: the document has at most {} ports for one address",
                                        address, port, model::ServicePorts::kMost));
        return false;
      }
      ports.push_back(std::move(port));
    }
    claims_.entry("nvme_connection", {{"address", address}}, where).values["port"] = ports;
    return true;
  }

  Claims& claims_;
  NvmeTarget kept_;
  std::map<std::string, std::vector<std::string>> ports_;     ///< of targets with several, by address
  std::map<std::string, std::pair<Place, NvmeTarget>> seen_;  ///< by address
};

}  // namespace

void parse_nvme(std::span<const File> files, Claims& claims) {
  constexpr std::string_view kFabrics = "/nvme-fabrics.conf";
  NvmeTargets targets(claims);
  for (const auto& file : files) {
    if (file.path.find(kFabrics) != std::string::npos) continue;
    if (file.path.ends_with(".json")) {
      const auto root = parse_yaml(file, claims);
      if (root && is_nvmet_config(*root)) {
        read_nvmet_config(*root, claims);
      } else if (root) {
        targets.tree(*root);
      }
      continue;
    }
    targets.begin();
    int number = 0;
    for (const auto raw : base::split(file.text, '\n')) {
      ++number;
      // A comment that a blank precedes is none for nvme-cli.
      if (!raw.starts_with('#')) targets.line(raw, {file.path, number});
    }
  }
  for (const auto& file : files) {
    if (file.path.find(kFabrics) == std::string::npos) continue;
    int number = 0;
    for (const auto raw : base::split(file.text, '\n')) targets.fabrics_line(raw, {file.path, ++number});
  }
}

}  // namespace rdmacfg::foreign
