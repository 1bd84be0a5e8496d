// SPDX-License-Identifier: Apache-2.0
// Words: every key's spellings, the options of the bus, and files of ours that somebody has edited.
#include "base/text.hpp"
#include "catalog/all.hpp"
#include "daemon/bus/api_options.hpp"
#include "formats/limits_conf.hpp"
#include "formats/modprobe_conf.hpp"
#include "formats/opensm/opensm_conf.hpp"
#include "formats/opensm/opensm_files.hpp"
#include "formats/opensm/opensm_options.hpp"
#include "formats/opensm/partitions_conf.hpp"
#include "formats/storage/discovery_conf.hpp"
#include "formats/storage/iser_unit.hpp"
#include "formats/storage/mount_table.hpp"
#include "formats/storage/mount_unit.hpp"
#include "formats/storage/nfs_conf.hpp"
#include "formats/storage/srp_rules.hpp"
#include "formats/sysctl_conf.hpp"
#include "formats/udev/udev_netdev_names.hpp"
#include "formats/udev/udev_rdma_names.hpp"
#include "kinds/address/profiles/networkd_file.hpp"
#include "kinds/address/profiles/nm_keyfile.hpp"
#include "target.hpp"

namespace rdmacfg::fuzz {
namespace {

void check_value(const model::FieldSpec& field, const model::Value& written) {
  const auto value = field.parse(written);
  if (!value) {
    require(!value.error().message.empty(), "an error says something");
    return;
  }
  const auto again = field.parse(*value);
  require(again && *again == *value, "a canonical value stands for itself");
}

void check_sections(const std::vector<model::SectionSpec>& sections,
                    const std::vector<model::Value>& written) {
  for (const auto& section : sections) {
    for (const auto& field : section.fields) {
      for (const auto& value : written) check_value(field, value);
    }
    check_sections(section.children, written);
  }
}

/// As a text, a number and a list, to every key of the language.
void run_keys(std::string_view bytes) {
  std::vector<model::Value> written{std::string(bytes), true};
  if (const auto number = base::parse_number(bytes)) written.emplace_back(static_cast<std::int64_t>(*number));
  std::vector<std::string> list;
  for (const auto line : base::split(bytes, '\n')) list.emplace_back(line);
  written.emplace_back(list);
  check_sections(kinds::grammar(), written);
}

void run_identities(std::string_view bytes) {
  const std::string text(bytes);
  if (const auto guid = model::Guid::parse(text))
    require(model::Guid::parse(guid->text()) == *guid, "a GUID stands for itself");
  if (const auto pkey = model::Pkey::parse(text)) {
    const auto again = model::Pkey::parse(pkey->text());
    require(again && again->full() == pkey->full(), "a P_Key stands for itself");
  }
  if (const auto pci = model::PciAddress::parse(text))
    require(model::PciAddress::parse(pci->text)->text == pci->text, "a PCI address stands for itself");
}

sdbus::Variant variant_of(std::string_view type, std::string_view value) {
  const auto number = base::parse_number(value).value_or(0);
  if (type == "b") return sdbus::Variant(number != 0);
  if (type == "t") return sdbus::Variant(number);
  if (type == "i") return sdbus::Variant(static_cast<std::int32_t>(number));
  if (type == "as") return sdbus::Variant(std::vector<std::string>{std::string(value)});
  return sdbus::Variant(std::string(value));
}

/// "NAME TYPE VALUE" a line.
void run_options(std::string_view bytes) {
  daemon::ApiOptions::Sent sent;
  for (const auto line : base::split(bytes, '\n')) {
    const auto words = base::split(line, ' ');
    const auto word = [&](std::size_t at) { return at < words.size() ? words[at] : std::string_view(); };
    try {
      sent[std::string(word(0))] = variant_of(word(1), word(2));
    } catch (const sdbus::Error&) {
      return;  // no text of the bus: it is not UTF-8 or has a NUL
    }
  }
  try {
    const auto options = daemon::ApiOptions::read(sent, {"retry", "confirm", "active", "expect", "who"});
    options.check();
    require(options.confirm <= daemon::ApiOptions::kConfirmMax && options.who.size() <= 64,
            "options are within their bounds");
  } catch (const sdbus::Error& error) {
    require(error.getName().starts_with("org.rdmaconfigd1.Error."), "an error is one of ours");
  }
}

/// Values read from a file of ours are written so that they are read as the same.
void run_files(std::string_view bytes) {
  using namespace kinds;
  const std::string text(bytes);
  const auto again = [](const auto& value, auto render, auto parse) {
    require(parse(render(value)) == value, "what is read of a file of ours is written again as the same");
  };
  again(parse_rules(text), render_rules, [](const std::string& from) { return parse_rules(from); });
  again(parse_device_rules(text), render_device_rules,
        [](const std::string& from) { return parse_device_rules(from); });
  again(parse_sysctls(text), render_sysctls, [](const std::string& from) { return parse_sysctls(from); });
  again(parse_limits(text), render_limits, [](const std::string& from) { return parse_limits(from); });
  again(parse_option_lines(text), render_option_lines,
        [](const std::string& from) { return parse_option_lines(from); });
  (void)parse_drop_in(text);
  (void)parse_opensm_drop_in(text);
  (void)wrong_opensm_value(text, text);
  if (const auto port = port_of_own_conf(text))
    require("/" + text == opensm_own_conf("", *port), "an own opensm.conf is known by its name");
  if (const auto file = own_side_file(text))
    require(opensm_side_name(*file->file, file->port) == text, "an own file of OpenSM is known by its name");
  if (const auto unread = parse_partitions(text).unread)
    require(unread->line > 0 && !unread->what.empty(), "a line that OpenSM cannot read is named");
  const auto defaults = parse_opensm_defaults(text);
  if (!defaults.damage) (void)render_opensm_defaults(defaults, OpensmLayout::kDebian);
  again(parse_boot_mounts(text), render_boot_mounts,
        [](const std::string& from) { return parse_boot_mounts(from); });
  if (const auto unit = parse_mount_unit(text))
    require(parse_mount_unit(render_mount_unit(*unit)) == *unit,
            "a mount unit of ours is written again as the same");
  if (const auto port = parse_nfs_server(text))
    require(parse_nfs_server(render_nfs_server(*port)) == *port, "a port is written again as the same");
  again(
      parse_srp_rules(text), [](const auto& rules) { return render_srp_rules(rules); },
      [](const std::string& from) { return parse_srp_rules(from); });
  for (const auto& line : parse_srp_rules(text)) {
    if (const auto rule = parse_srp_rule(line))
      require(parse_srp_rule(render_srp_rule(*rule)) == *rule, "a rule is written again as the same");
  }
  if (const auto conf = parse_discovery_conf(text); !conf.damage) {
    const auto written = render_discovery_conf(conf);
    require(render_discovery_conf(parse_discovery_conf(written)) == written,
            "lines for nvme-cli are written again as the same");
  }
  const auto logins = parse_iser_unit(text);
  require(parse_iser_unit(render_iser_unit(logins)) == logins, "iSER sessions are written again as the same");
  const auto lines = parse_opensm_file(text);
  for (const auto& file : opensm_side_files()) {
    const auto checked = check_opensm_lines(file, lines);
    if (!checked.wrong.empty()) continue;
    require(check_opensm_lines(file, checked.lines).lines == checked.lines &&
                parse_opensm_file(render_opensm_file(checked.lines)) == checked.lines,
            "lines for OpenSM are written again as the same");
  }
  (void)parse_mountinfo(text);
  (void)parse_fstab(text);
  constexpr std::string_view kId = "00:02:c9:03:00:31:78:f2";
  (void)render_keyfile(kId, parse_keyfile(text));
  (void)render_network(kId, parse_network(kId, text));
}

}  // namespace

std::vector<Target> word_targets() {
  return {
      {"keys",
       run_keys,
       {"00:02:c9:03:00:31:78:f2", "0x8002", "0000:10:00.0", "192.0.2.1/24", "2001:db8::1/64", "26:3\n48:6",
        "64 GiB", "num_vfs=4\nmode=\"a b\"", "@rdma", "net.ipv4.conf.all.arp_ignore", "3", "opensm@a.service",
        "default"}},
      {"identities",
       run_identities,
       {"0002:c903:0031:78f2", "0x0002c903003178f2", "0002c903003178f2", "32770", "10:00.0"}},
      {"bus-options",
       run_options,
       {"confirm t 60\ninteractive b 1\nwho s alice\nexpect s ab\nactive t 3\nretry b 0", "confirm as x",
        "confirm t 99999999"}},
      {"own-files",
       run_files,
       {"options mlx4_core a=1 b=\"c d\"\n", "net/ipv4/x = 1 2\n",
        "@rdma soft memlock unlimited\n@rdma hard memlock unlimited\n",
        "ACTION==\"add\", ATTR{address}==\"?*00:02:c9:03:00:31:78:f2\", NAME=\"fab0\"\n",
        "[connection]\nid=a\n[infiniband]\np-key=32770\nparent=ib0\nmtu=2044\n[ipv4]\nmethod="
        "manual\naddress1=192.0.2.1/24\n",
        "[Match]\nProperty=A=1\n[Network]\nDNS=192.0.2.1\nDomains=a "
        "b\n[Route]\nDestination=198.51.100.0/24\nGateway=192.0.2.9\nMetric=5\n",
        "# Written by rdma-configd; changes here are "
        "overwritten.\n[Mount]\nWhat=[2001:db8::1]:/x%%\nWhere=/a\n"
        "Options=_netdev,proto=rdma,port=20049,hard\n",
        "[nfsd]\nrdma=y\nrdma-port=20049\n", "0x200000 3 4\n",
        "torus 3 3M 1\nxp_link 0x1 0x2\nx_dateline -1\n",
        "qos-ulps\ndefault : 0\nipoib, pkey 1-2 : 3\nend-qos-ulps\nqos-levels\nqos-level\nname: a\nsl: 1\n"
        "end-qos-level\nend-qos-levels\n",
        "port-groups\nport-group\nname: a\nport-name: \"a, # b\"/P1, c/p2\nend-port-group\nend-port-groups\n",
        "Default=0x7fff, ipoib : ALL=full; a=1,b : SELF,\n 0x2=both;\nc=2 :\nmgid=ff12::1, scope=2\nNONE;\n",
        "a id_ext=1,ioc_guid=2,dgid=fe800000000000000002c90200402bd5,pkey=ffff,queue_size=9\nd\n",
        "40 25 0:42 / /a\\040b rw shared:1 - nfs4 a:/b rw,proto=rdma,port=20049\n",
        "-t rdma -a 192.0.2.1\n# rdma-configd: managed block; changes between these markers are "
        "overwritten.\n"
        "--transport=rdma --traddr=192.0.2.2 --trsvcid=4420\n# rdma-configd: end\n",
        "-t rdma -a 192.0.2.1\n# rdma-configd: managed block; changes between these markers are "
        "overwritten.\n--transport=rdma --traddr=192.0.2.2 --trsvcid=4420\n# rdma-configd: end\n",
        "# Written by rdma-configd; changes here are overwritten.\n"
        "# session: iqn.2026-01.org.example:a [2001:db8::1]:3260,1\n"
        "# logging out: iqn.2026-01.org.example:a 192.0.2.1:860,0\n",
        "PORTS=\"ALL\"\n# begin of rdma-configd\n# ports of the document: 0x0002c903003178f2:5\n# end of "
        "rdma-configd\n"}}};
}

}  // namespace rdmacfg::fuzz
