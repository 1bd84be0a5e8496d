// SPDX-License-Identifier: Apache-2.0
#include "foreign/export/commands_sections.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "config/guard.hpp"
#include "foreign/export/exporter.hpp"
#include "kinds/ethernet/roce_ports.hpp"

namespace rdmacfg::foreign {

using model::Section;

namespace {

/// A word of the shell.
std::string word(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + '\'';
}

/// An option as modprobe.d has it: a value with a blank in quotation marks.
std::string option_word(const std::string& option) {
  const auto equals = option.find('=');
  if (equals == std::string::npos || option.find(' ') == std::string::npos) return option;
  return fmt::format("{}=\"{}\"", option.substr(0, equals), option.substr(equals + 1));
}

std::vector<std::string> list_at(const Section& section, std::string_view key) {
  const auto* entry = section.find(key);
  if (entry == nullptr) return {};
  const auto* list = std::get_if<std::vector<std::string>>(&entry->value);
  return list == nullptr ? std::vector<std::string>{} : *list;
}

/// The way by hand where a section has no commands.
struct ManualSection {
  std::string_view path;
  std::string_view what;
};
constexpr auto kManualSections = std::to_array<ManualSection>({
    {"lossless", "dcb(8) sets it: dcb pfc, dcb ets, dcb app, dcb buffer; mlx4_en takes module options"},
    {"initramfs",
     "rebuild it when options of modules change: update-initramfs -u (Debian), dracut -f (others)"},
    {"packages", "the package manager installs them"},
    {"opensm",
     "OpenSM has its ports in /etc/default/opensm (Debian) or /etc/sysconfig/opensm; then systemctl start "
     "opensm"},
    {"opensm_option", "a line of opensm.conf"},
    {"opensm_file", "a file that an option of opensm.conf names"},
    {"partition", "a line of partitions.conf, as opensm(8) describes it"},
    {"rdma_device", "rdma dev set renames it until the next boot; `export udev` writes the rule"},
    {"nfs_server", "rdma=y and rdma-port= in section [nfsd] of nfs.conf; then systemctl restart nfs-server"},
    {"nfs_mount", "a line of fstab with proto=rdma, or mount -o proto=rdma"},
    {"nvme_connection", "nvme connect-all -t rdma, and a line of /etc/nvme/discovery.conf"},
    {"nvme_target", "nvmetcli creates it; `export nvmetcli` writes the file that nvmet.service restores"},
    {"lio_target", "targetcli creates it; `export targetcli` writes the file that it restores"},
    {"iser_session", "iscsiadm -m node -I iser: a record, node.startup = automatic, and --login"},
    {"srp_initiator", "the last line of /etc/srp_daemon.conf, a or d; then systemctl restart srp_daemon"},
    {"srp_rule", "a line of /etc/srp_daemon.conf, as srp_daemon(8) describes it"},
    {"expect", "expectations are checks, which only rdma-configd makes"},
    {"cable", "rdma-configctl fabric compares cables with the fabric, and nothing sets them"},
    {"daemon", "settings of rdma-configd itself"},
});

class SectionWriter {
 public:
  SectionWriter(const Section& section, std::string& out, std::vector<Remark>& notes)
      : section_(section), out_(out), notes_(notes) {}

  void write() {
    const auto& path = section_.path;
    const auto before = out_.size();
    line(fmt::format("\n# {} {}", label_of(section_),
                     config::harmless(Place{section_.where.file, section_.where.line}.text())));
    if (path == "module") return module();
    if (path == "mlx4_port") return mlx4_port();
    if (path == "memlock") return memlock();
    if (path == "sysctl") return sysctl();
    if (path == "service") return service();
    if (path == "soft_rdma") return soft_rdma();
    if (path == "roce") return roce();
    if (path == "pfc") return pfc();
    if (path == "rdma_system") return rdma_system();
    out_.resize(before);
    const auto* at = std::find_if(kManualSections.begin(), kManualSections.end(),
                                  [&](const ManualSection& manual) { return manual.path == path; });
    note(fmt::format(
        "{}: {}", label_of(section_),
        at == kManualSections.end() ? std::string_view("there are no commands for it") : at->what));
    if (path == "opensm" && !section_.children.empty()) {
      note(
          fmt::format("{}: its own options and files: an opensm.conf that --config names in a drop-in of "
                      "opensm@GUID.service",
                      label_of(section_)));
    }
  }

 private:
  void line(std::string_view text) { out_ += fmt::format("{}\n", text); }
  [[nodiscard]] std::string text(std::string_view key) const {
    const auto* entry = section_.find(key);
    return entry == nullptr ? std::string() : model::text_of(entry->value);
  }
  /// Whether the key is true, as each is where the document does not say it.
  [[nodiscard]] bool is_on(std::string_view key) const {
    const auto* entry = section_.find(key);
    const auto* value = entry == nullptr ? nullptr : std::get_if<bool>(&entry->value);
    return value == nullptr || *value;
  }
  void note(std::string what) {
    line(fmt::format("# not expressed: {}", what));
    notes_.push_back({{section_.where.file, section_.where.line}, std::move(what)});
  }

  void module() {
    const auto name = text("name");
    auto options = list_at(section_, "options");
    std::transform(options.begin(), options.end(), options.begin(), option_word);
    if (!options.empty())
      line(fmt::format("echo {} >/etc/modprobe.d/{}.conf",
                       word(fmt::format("options {} {}", name, fmt::join(options, " "))), name));
    if (!options.empty())
      line("# A loaded module reads options only when it is reloaded; see also the initramfs.");
    if (!is_on("load")) return;
    line(fmt::format("echo {0} >/etc/modules-load.d/{0}.conf", name));
    line(fmt::format("modprobe {}", name));
  }

  void mlx4_port() {
    const auto ports = list_at(section_, "ports");
    // The second port goes first: the driver refuses an Ethernet port 1 beside an InfiniBand port 2.
    for (auto number = ports.size(); number > 0; --number)
      line(fmt::format("echo {} >/sys/bus/pci/devices/{}/mlx4_port{}", ports[number - 1], text("pci"),
                       number));
  }

  void memlock() {
    const auto domain = text("domain"), limit = text("limit");
    if (limit.empty()) return;
    line("mkdir -p /etc/security/limits.d");
    for (const auto* type : {"soft", "hard"}) {
      const auto wanted = word(fmt::format("{} {} memlock {}", domain, type, limit));
      line(fmt::format("grep -qsxF {0} {1} || echo {0} >>{1}", wanted, "/etc/security/limits.d/rdma.conf"));
    }
    for (const auto& unit : list_at(section_, "units"))
      note(fmt::format("LimitMEMLOCK of {}: systemctl edit {}", unit, unit));
  }

  void sysctl() {
    if (const auto key = text("key"); !key.empty()) {
      line(fmt::format("sysctl -w {}", word(key + "=" + text("value"))));
      return;
    }
    for (const auto* key : {"arp_ignore", "arp_announce", "arp_filter", "rp_filter", "accept_local"}) {
      const auto value = text(key);
      if (!value.empty())
        line(fmt::format("echo {} >/proc/sys/net/ipv4/conf/{}/{}", value, text("interface"), key));
    }
  }

  void service() {
    const auto name = text("name");
    // "-.mount" is a unit, and no option.
    const auto unit = (name.starts_with('-') ? "-- " : "") + word(name);
    if (section_.find("enabled") != nullptr)
      line(fmt::format("systemctl {} {}", is_on("enabled") ? "enable" : "disable", unit));
    if (section_.find("running") != nullptr)
      line(fmt::format("systemctl {} {}", is_on("running") ? "start" : "stop", unit));
  }

  void soft_rdma() {
    const auto name = text("name");
    if (name.empty()) return note("[[soft_rdma]] without a name");
    if (text("state") == "absent") {
      line(fmt::format("[ ! -e /sys/class/infiniband/{0} ] || rdma link delete {0}", name));
    } else {
      line(fmt::format("[ -e /sys/class/infiniband/{0} ] || rdma link add {0} type {1} netdev {2}", name,
                       text("type"), text("interface")));
    }
  }

  void roce() {
    const auto device = text("device"), port = text("port");
    if (device.empty()) return note("[[roce]] by interface: give device and port");
    line("modprobe rdma_cm");
    line(fmt::format("d=/sys/kernel/config/rdma_cm/{}; mkdir -p $d", device));
    if (const auto mode = text("mode"); !mode.empty())
      line(fmt::format("echo '{}' >$d/ports/{}/default_roce_mode", mode == "v1" ? "IB/RoCE v1" : "RoCE v2",
                       port));
    const bool marked = kinds::roce_marking(section_).is_dscp;
    auto tos = text("tos");
    if (const auto dscp = base::parse_number(text("dscp")); dscp && marked)
      tos = std::to_string(model::Tos::of_dscp(static_cast<std::int64_t>(*dscp)).number);
    if (!tos.empty()) line(fmt::format("echo {} >$d/ports/{}/default_roce_tos", tos, port));
    line("rmdir $d");
  }

  void pfc() {
    const auto priorities = list_at(section_, "priorities");
    if (const auto driver = text("driver"); !driver.empty()) {
      unsigned mask = 0;
      for (const auto& priority : priorities) mask |= 1U << base::parse_number(priority).value_or(0);
      line(fmt::format("echo 'options {0} pfctx={1:#04x} pfcrx={1:#04x}' >/etc/modprobe.d/{0}-pfc.conf",
                       driver, mask));
      line("# The driver reads them when it is reloaded; rebuild the initramfs, too.");
      return;
    }
    std::string words = "all:off";
    for (const auto& priority : priorities) words += fmt::format(" {}:on", priority);
    if (section_.find("priorities") != nullptr)
      line(fmt::format("dcb pfc set dev {} prio-pfc {}", text("interface"), words));
    if (section_.find("trust") != nullptr) {
      std::string order;
      for (const auto& selector : list_at(section_, "trust")) order += " " + selector;
      line("# Needs Linux and iproute2 6.2 or later, and a driver that supports it.");
      line(fmt::format("dcb apptrust set dev {} order{}", text("interface"), order));
    }
    for (const auto* key : {"traffic_classes", "bandwidth", "strict", "dscp", "dcbx"}) {
      if (section_.find(key) != nullptr) note(fmt::format("[[pfc]] {}: see dcb(8)", key));
    }
  }

  void rdma_system() {
    if (const auto netns = text("netns"); !netns.empty()) {
      line(fmt::format("rdma system set netns {}", netns));
      line(fmt::format("echo 'options ib_core netns_mode={}' >/etc/modprobe.d/ib_core-netns.conf",
                       netns == "shared" ? 1 : 0));
    }
  }

  const Section& section_;
  std::string& out_;
  std::vector<Remark>& notes_;
};

}  // namespace

void render_section_commands(const std::vector<Section>& sections, std::string& out,
                             std::vector<Remark>& notes) {
  for (const auto& section : sections) {
    if (section.path != "ipoib") SectionWriter(section, out, notes).write();
  }
}

}  // namespace rdmacfg::foreign
