// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "growth_samples.hpp"
#include "growth_texts.hpp"

namespace rdmacfg::bench {

namespace {

using Text = std::function<std::string(int n)>;

/// An entry of the document for each `i`.
Text entries(Line line) {
  return [line = std::move(line)](int n) { return "version = 1\n" + lines(n, line); };
}

/// One entry with a list of `n` elements between `head` and `tail`.
Text list(std::string head, Line line, std::string tail = "") {
  return [=](int n) {
    return "version = 1\n" + head + "[" + lines(n, [&](int i) { return fmt::format("\"{}\",", line(i)); }) +
           "]\n" + tail;
  };
}

constexpr int kPorts = 64;
constexpr const char* kPort = "[[ipoib]]\nguid = \"00:02:c9:03:00:00:00:00\"\n";

std::string port(int i, const std::string& more = "") {
  return fmt::format(R"({{"guid":"{}"{}}})", guid(i), more);
}

/// `parts`: further keys of the host.
std::string host_of(const std::string& devices, const std::string& parts = "") {
  return fmt::format(R"({{"devices":[{}]{}}})", devices, parts);
}

std::string joined(int n, const Line& line) {
  return lines(n, [&](int i) { return (i == 0 ? "" : ",") + line(i); });
}

Text small_host() {
  return [](int) {
    return host_of(fmt::format(R"({{"name":"mlx4_0","pci":"0000:10:00.0","ports":[{}]}})",
                               port(0, R"(,"interface":{"name":"ib0","up":true})")),
                   R"(,"links":[{"name":"eth0","kind":"","up":true}],
                      "files":{"/etc/opensm/opensm.conf":"# OpenSM\n"},
                      "modules":{"mlx4_core":{"parameters":{"num_vfs":"0"}}},
                      "units":{"opensm@.service":{"installable":false}})");
  };
}

/// Adapters of one port each: no host has more, however long its document.
Text many_ports(std::string port_keys, std::string device_keys = "") {
  return [=](int n) {
    return host_of(joined(std::min(n, kPorts), [&](int i) {
      return fmt::format(R"({{"name":"mlx{}","pci":"{}","node_guid":"{}"{},"ports":[{}]}})", i, pci(i),
                         guid(i + 0x1000000), device_keys, port(i, port_keys));
    }));
  };
}

Text many_links(std::string more = "") {
  return [=](int n) {
    return host_of(
        "",
        R"(,"links":[)" +
            joined(n, [&](int i) { return fmt::format(R"({{"name":"eth{}","kind":"","up":true}})", i); }) +
            "]" + more);
  };
}

Text many_units() {
  return [](int n) {
    return host_of("", R"(,"units":{)" + joined(std::min(n, kPorts), [](int i) {
                         return fmt::format(R"("u{}.service":{{}})", i);
                       }) + "}");
  };
}

Text many_modules() {
  return [](int n) {
    return host_of(
        "", R"(,"modules":{)" + joined(n, [](int i) { return fmt::format(R"("m{}":{{}})", i); }) + "}");
  };
}

Text many_parameters() {
  return [](int n) {
    return host_of("", R"(,"modules":{"mlx4_core":{"parameters":{)" +
                           joined(n, [](int i) { return fmt::format(R"("p{}":"0")", i); }) + "}}}");
  };
}

Text many_sysctls() {
  return [](int n) {
    return host_of("", R"(,"sysctl":{)" +
                           joined(n, [](int i) { return fmt::format(R"("net/core/k{}":"0")", i); }) + "}");
  };
}

Text many_users() {
  return [](int n) {
    return host_of("", R"(,"users":[)" + joined(n, [](int i) { return fmt::format(R"("u{}")", i); }) + "]");
  };
}

Text many_children() {
  return [](int n) {
    return host_of(
        fmt::format(R"({{"name":"mlx4_0","pci":"0000:10:00.0","ports":[{}]}})",
                    port(0, R"(,"interface":{"name":"ib0","up":true,"children":[)" + joined(n, [](int i) {
                              return fmt::format(R"({{"pkey":"{:#06x}","name":"c{}"}})", i + 1, i);
                            }) + "]}")));
  };
}

Text with_file(std::string path, Line line) {
  return [=](int n) {
    return host_of(
        "", fmt::format(R"(,"files":{{"{}":"{}"}})", path, lines(n, [&](int i) { return line(i) + "\\n"; })));
  };
}

/// Targets and connections that others have made, as many as there are entries.
Text many_lio_targets() {
  return [](int n) {
    const auto stores = joined(n, [](int i) { return fmt::format(R"("iblock_{0}/d":"/dev/d{0}")", i); });
    const auto targets = joined(n, [](int i) {
      return fmt::format(R"("iqn.2026-01.org.example:n{0}":{{"luns":{{"0":"iblock_{0}/d"}}}})", i);
    });
    return host_of("", fmt::format(R"(,"lio":{{"backstores":{{{}}},"targets":{{{}}}}})", stores, targets));
  };
}

Text many_nvme_targets() {
  return [](int n) {
    const auto subsystems = joined(n, [](int i) {
      return fmt::format(R"("nqn.x:n{0}":{{"any_host":true,"namespaces":{{"1":"/dev/d{0}"}}}})", i);
    });
    const auto offered = joined(n, [](int i) { return fmt::format(R"("nqn.x:n{}")", i); });
    return host_of("", fmt::format(R"(,"nvme_target":{{"subsystems":{{{}}},"ports":{{"1":)"
                                   R"({{"address":"192.0.2.1","subsystems":[{}]}}}}}})",
                                   subsystems, offered));
  };
}

Text many_nvme_controllers() {
  return [](int n) {
    return host_of("", R"(,"nvme_host":{"controllers":{)" + joined(n, [](int i) {
                         return fmt::format(R"("nvme{0}":{{"address":"{1}","subsystem":"nqn.x:n{0}"}})", i,
                                            address(i));
                       }) + "}}");
  };
}

Text many_iser_sessions() {
  return [](int n) {
    return host_of(
        "", R"(,"iscsi":{"sessions":{)" + joined(n, [](int i) {
              return fmt::format(
                  R"("session{0}":{{"target":"iqn.2026-01.org.example:n{0}","address":"192.0.2.1"}})", i);
            }) + "}}");
  };
}

std::vector<DocumentSample> ipoib_documents() {
  const auto small = small_host();
  return {
      {"ipoib, absent ports",
       entries([](int i) { return fmt::format("[[ipoib]]\nguid = \"{}\"\nname = \"n{}\"\n", guid(i), i); }),
       small},
      {"ipoib, present ports",
       entries([](int i) { return fmt::format("[[ipoib]]\nguid = \"{}\"\nmtu = 2044\n", guid(i)); }),
       many_ports(R"(,"interface":{"up":true})")},
      {"ipoib by device",
       entries([](int i) { return fmt::format("[[ipoib]]\ndevice = \"mlx{}\"\nport = 1\nmtu = 2044\n", i); }),
       many_ports(R"(,"interface":{"up":true})")},
      {"ipoib names",
       entries([](int i) { return fmt::format("[[ipoib]]\nguid = \"{}\"\nname = \"n{}\"\n", guid(i), i); }),
       many_ports(R"(,"interface":{"up":true})")},
      {"ipoib match", entries([](int i) {
         return fmt::format("[[ipoib]]\nmatch = {{ device = \"mlx{}\" }}\nmtu = 2044\n", i);
       }),
       many_ports(R"(,"interface":{"up":true})")},
      {"ipoib managed", entries([](int i) {
         return fmt::format(
             "[[ipoib]]\nguid = \"{}\"\nbackend = \"networkmanager\"\nipv4 = {{ addresses = [\"{}/8\"] }}\n",
             guid(i), address(i));
       }),
       many_ports(R"(,"interface":{"up":true})")},
      {"ipoib networkd", entries([](int i) {
         return fmt::format(
             "[[ipoib]]\nguid = \"{}\"\nbackend = \"networkd\"\nipv4 = {{ addresses = [\"{}/8\"] }}\n",
             guid(i), address(i));
       }),
       many_ports(R"(,"interface":{"up":true})")},
      {"pkey, new",
       [](int n) {
         return fmt::format("version = 1\n{}", kPort) +
                lines(n, [](int i) { return fmt::format("[[ipoib.pkey]]\npkey = {}\n", i + 1); });
       },
       small},
      {"pkey, present",
       [](int n) {
         return fmt::format("version = 1\n{}", kPort) +
                lines(n, [](int i) { return fmt::format("[[ipoib.pkey]]\npkey = {}\nmtu = 2044\n", i + 1); });
       },
       many_children()},
      {"pkey, foreign", [](int) { return fmt::format("version = 1\n{}prune = true\n", kPort); },
       many_children()},
  };
}

std::vector<DocumentSample> address_documents() {
  const auto small = small_host();
  return {
      {"addresses", list(std::string(kPort) + "ipv4.addresses = ", [](int i) { return address(i) + "/8"; }),
       small},
      {"addresses, one twice",
       list(std::string(kPort) + "ipv4.addresses = ", [](int i) { return address(i == 0 ? 1 : i) + "/8"; }),
       small},
      {"dns", list(std::string(kPort) + "ipv4.addresses = [\"10.0.0.1/8\"]\nipv4.dns = ", address), small},
      {"search",
       list(std::string(kPort) + "ipv4.addresses = [\"10.0.0.1/8\"]\nipv4.search = ",
            [](int i) { return fmt::format("d{}.example", i); }),
       small},
      {"search, networkd",
       list(std::string(kPort) + "backend = \"networkd\"\nipv4.addresses = [\"10.0.0.1/8\"]\nipv4.search = ",
            [](int i) { return fmt::format("d{}.example", i); }),
       small},
      {"routes",
       [](int n) {
         return fmt::format("version = 1\n{}[ipoib.ipv4]\naddresses = [\"10.0.0.1/8\"]\n", kPort) +
                lines(n, [](int i) {
                  return fmt::format("[[ipoib.ipv4.routes]]\nto = \"11.{}.{}.0/24\"\nvia = \"10.0.0.2\"\n",
                                     i >> 8, i & 0xff);
                });
       },
       small},
  };
}

std::vector<DocumentSample> module_documents() {
  const auto small = small_host();
  return {
      {"module, unknown", entries([](int i) { return fmt::format("[[module]]\nname = \"m{}\"\n", i); }),
       small},
      {"module, known", entries([](int i) { return fmt::format("[[module]]\nname = \"m{}\"\n", i); }),
       many_modules()},
      {"module options",
       list("[[module]]\nname = \"mlx4_core\"\noptions = ",
            [](int i) { return fmt::format("p{}={}", i, i); }),
       many_parameters()},
      {"module options of a file",
       list("[[module]]\nname = \"mlx4_core\"\noptions = ",
            [](int i) { return fmt::format("p{}={}", i, i); }),
       with_file("/etc/modprobe.d/site.conf",
                 [](int i) { return fmt::format("options mlx4_core p{}=1", i); })},
  };
}

std::vector<DocumentSample> ethernet_documents() {
  const auto small = small_host();
  return {
      {"pfc",
       entries([](int i) { return fmt::format("[[pfc]]\ninterface = \"eth{}\"\npriorities = [3]\n", i); }),
       many_links()},
      {"pfc dscp",
       list("[[pfc]]\ninterface = \"eth0\"\ndscp = ",
            [](int i) { return fmt::format("26:{}", i % 8); }),  // there are 64: all but one are wrong
       small},
      {"lossless", entries([](int i) { return fmt::format("[[lossless]]\ninterface = \"eth{}\"\n", i); }),
       many_links()},
      {"roce by device", entries([](int i) {
         return fmt::format("[[roce]]\ndevice = \"mlx{}\"\nport = 1\nmode = \"v2\"\n", i);
       }),
       many_ports(R"(,"link_layer":"Ethernet")")},
      {"roce by interface", entries([](int i) {
         return fmt::format("[[roce]]\ninterface = \"eth{}\"\nmode = \"v2\"\ndscp = 26\n", i);
       }),
       many_links()},
  };
}

std::vector<DocumentSample> device_documents() {
  const auto small = small_host();
  return {
      {"mlx4_port", entries([](int i) {
         return fmt::format("[[mlx4_port]]\npci = \"{}\"\nports = [\"ib\", \"eth\"]\n", pci(i));
       }),
       small},
      {"mlx4_port, present", entries([](int i) {
         return fmt::format("[[mlx4_port]]\npci = \"{}\"\nports = [\"ib\", \"eth\"]\n", pci(i));
       }),
       [](int n) {
         return host_of("", R"(,"mlx4_ports":{)" + joined(n, [](int i) {
                              return fmt::format(R"("{}":["ib","ib"])", pci(i));
                            }) + "}");
       }},
      {"soft_rdma", entries([](int i) {
         return fmt::format("[[soft_rdma]]\ninterface = \"eth{}\"\ntype = \"rxe\"\nname = \"r{}\"\n", i, i);
       }),
       many_links()},
      {"expect", entries([](int i) { return fmt::format("[[expect]]\nname = \"e{}\"\nrate = 56\n", i); }),
       small},
      {"cable", entries([](int i) {
         return fmt::format("[[cable]]\nfrom = \"leaf{}/{}\"\nto = \"node{}/1\"\n", i / 32, i % 32 + 1, i);
       }),
       small},
      {"rdma_device by pci", entries([](int i) {
         return fmt::format("[[rdma_device]]\npci = \"{}\"\nname = \"d{}\"\n", pci(i), i);
       }),
       many_ports("")},
      {"rdma_device by GUID", entries([](int i) {
         return fmt::format("[[rdma_device]]\nnode_guid = \"{}\"\nname = \"d{}\"\n", guid(i + 0x1000000), i);
       }),
       many_ports("")},
      {"rdma_device by name", entries([](int i) {
         return fmt::format("[[rdma_device]]\ndevice = \"mlx{}\"\nname = \"d{}\"\n", i, i);
       }),
       many_ports("")},
  };
}

std::vector<DocumentSample> host_documents() {
  return {
      {"sysctl by key",
       entries([](int i) { return fmt::format("[[sysctl]]\nkey = \"net.core.k{}\"\nvalue = 1\n", i); }),
       many_sysctls()},
      {"sysctl by interface", entries([](int i) {
         return fmt::format("[[sysctl]]\ninterface = \"eth{}\"\narp_ignore = 1\narp_announce = 2\n", i);
       }),
       many_links()},
      {"memlock", entries([](int i) {
         return fmt::format("[[memlock]]\ndomain = \"u{}\"\nlimit = \"unlimited\"\n", i);
       }),
       many_users()},
      {"memlock units",
       list("[[memlock]]\ndomain = \"@rdma\"\nlimit = \"unlimited\"\nunits = ",
            [](int i) { return fmt::format("u{}.service", i); }),
       many_units()},
      {"memlock of a file", entries([](int i) {
         return fmt::format("[[memlock]]\ndomain = \"u{}\"\nlimit = \"unlimited\"\n", i);
       }),
       with_file("/etc/security/limits.d/site.conf",
                 [](int i) { return fmt::format("u{} - memlock 64", i); })},
      {"service", entries([](int i) {
         return fmt::format("[[service]]\nname = \"u{}.service\"\nrunning = true\nenabled = true\n", i);
       }),
       many_units()},
  };
}

std::vector<DocumentSample> opensm_documents() {
  const auto small = small_host();
  return {
      {"opensm",
       entries([](int i) { return fmt::format("[[opensm]]\nguid = \"{}\"\npriority = 3\n", guid(i)); }),
       many_ports("")},
      {"opensm_option",
       entries([](int i) { return fmt::format("[[opensm_option]]\nkey = \"k{}\"\nvalue = {}\n", i, i); }),
       small},
      {"opensm_option of a file",
       entries([](int i) { return fmt::format("[[opensm_option]]\nkey = \"k{}\"\nvalue = {}\n", i, i); }),
       with_file("/etc/opensm/opensm.conf", [](int i) { return fmt::format("k{} 7", i); })},
      {"opensm.option", entries([](int i) {
         return fmt::format("[[opensm]]\nguid = \"{}\"\n[[opensm.option]]\nkey = \"lmc\"\nvalue = 1\n",
                            guid(i));
       }),
       many_ports("")},
      {"opensm.option of one port",
       [](int n) {
         return "version = 1\n[[opensm]]\nguid = \"" + guid(0) + "\"\n" + lines(n, [](int i) {
                  return fmt::format("[[opensm.option]]\nkey = \"k{}\"\nvalue = 1\n", i);
                });
       },
       small},
      {"opensm_file guids",
       list("[[opensm_file]]\noption = \"root_guid_file\"\nguids = ", [](int i) { return guid_number(i); }),
       small},
      {"opensm_file lines",
       list("[[opensm_file]]\noption = \"hop_weights_file\"\nlines = ",
            [](int i) { return guid_number(i) + " 3 4"; }),
       small},
      {"opensm_file policy",
       list("[[opensm_file]]\noption = \"qos_policy_file\"\nlines = ",
            [](int i) {
              return i == 0 ? std::string("qos-ulps") : fmt::format("any, service-id {:#x} : {}", i, i % 16);
            }),
       small},
  };
}

std::vector<DocumentSample> partition_documents() {
  const auto small = small_host();
  return {
      {"partition", entries([](int i) { return fmt::format("[[partition]]\npkey = {}\n", i + 1); }), small},
      {"partition of a file", entries([](int i) { return fmt::format("[[partition]]\npkey = {}\n", i + 1); }),
       with_file("/etc/opensm/partitions.conf",
                 [](int i) { return fmt::format("p{}={:#x} : ALL=full;", i, i + 1); })},
      {"partition groups",
       [](int n) {
         return "version = 1\n[[partition]]\npkey = 0x7fff\n" + lines(n, [](int i) {
                  return fmt::format("[[partition.group]]\nmgid = \"ff12::{:x}:{:x}\"\n", i >> 16,
                                     i & 0xffff);
                });
       },
       small},
      {"partition members",
       list("[[partition]]\npkey = 0x7fff\nmembers = ", [](int i) { return guid_number(i) + "=full"; }),
       small},
      {"partition members that differ",
       list("[[partition]]\npkey = 0x7fff\nmembers = ",
            [](int i) { return guid_number(i / 2) + (i % 2 == 0 ? "=full" : "=limited"); }),
       small},
  };
}

std::vector<DocumentSample> nfs_and_srp_documents() {
  const auto small = small_host();
  return {
      {"nfs_mount", entries([](int i) {
         return fmt::format("[[nfs_mount]]\npath = \"/m/{}\"\nserver = \"192.0.2.1\"\nexport = \"/x{}\"\n", i,
                            i);
       }),
       with_file("/etc/fstab", [](int i) { return fmt::format("192.0.2.1:/y /n/{} nfs ro 0 0", i); })},
      {"srp_rule", entries([](int i) {
         return fmt::format("[[srp_rule]]\nname = \"r{0}\"\nid_ext = \"{0:x}\"\nioc_guid = \"{0:x}\"\n",
                            i + 1);
       }),
       with_file("/etc/srp_daemon.conf", [](int i) { return fmt::format("# a ioc_guid={:x}", i); })},
      {"nfs_mount options",
       list("[[nfs_mount]]\npath = \"/m\"\nserver = \"a\"\nexport = \"/x\"\noptions = ",
            [](int i) { return fmt::format("o{}", i); }),
       small},
  };
}

std::vector<DocumentSample> nvme_documents() {
  const auto small = small_host();
  return {
      {"nvme_target", entries([](int i) {
         return fmt::format(
             "[[nvme_target]]\nnqn = \"nqn.x:n{}\"\naddresses = [\"192.0.2.1\"]\n[[nvme_target.namespace]]\n"
             "nsid = 1\ndevice = \"/dev/d{}\"\n",
             i, i);
       }),
       small},
      {"nvme_target of others", entries([](int i) {
         return fmt::format(
             "[[nvme_target]]\nnqn = \"nqn.x:n{}\"\naddresses = [\"192.0.2.1\"]\nany_host = true\n", i);
       }),
       many_nvme_targets()},
      {"nvme_connection connected",
       entries([](int i) { return fmt::format("[[nvme_connection]]\naddress = \"{}\"\n", address(i)); }),
       many_nvme_controllers()},
      {"nvme_connection",
       entries([](int i) { return fmt::format("[[nvme_connection]]\naddress = \"{}\"\n", address(i)); }),
       with_file("/etc/nvme/discovery.conf", [](int i) { return "--transport=tcp --traddr=" + address(i); })},
  };
}

std::vector<DocumentSample> iscsi_documents() {
  const auto small = small_host();
  return {
      {"iser_session", entries([](int i) {
         return fmt::format(
             "[[iser_session]]\ntarget = \"iqn.2026-01.org.example:n{}\"\naddress = \"192.0.2.1\"\n", i);
       }),
       small},
      {"iser_session logged in", entries([](int i) {
         return fmt::format(
             "[[iser_session]]\ntarget = \"iqn.2026-01.org.example:n{}\"\naddress = \"192.0.2.1\"\n", i);
       }),
       many_iser_sessions()},
      {"lio_target of others", entries([](int i) {
         return fmt::format(
             "[[lio_target]]\nwwn = \"iqn.2026-01.org.example:n{}\"\naddresses = [\"192.0.2.1\"]\n", i);
       }),
       many_lio_targets()},
      {"lio_target", entries([](int i) {
         return fmt::format(
             "[[lio_target]]\nwwn = \"iqn.2026-01.org.example:n{}\"\naddresses = [\"192.0.2.1\"]\n"
             "any_initiator = true\n[[lio_target.lun]]\nnumber = 0\ndevice = \"/dev/d{}\"\n",
             i, i);
       }),
       small},
  };
}

std::vector<DocumentSample> text_documents() {
  const auto small = small_host();
  return {
      {"match of hosts",
       list(
           "[match]\nhost = ", [](int i) { return fmt::format("gpu{}", i); },
           "[[module]]\nname = \"mlx4_core\"\n"),
       small},
      {"unknown keys",
       [](int n) {
         return "version = 1\n[[module]]\nname = \"mlx4_core\"\n" +
                lines(n, [](int i) { return fmt::format("k{} = {}\n", i, i); });
       },
       small},
      {"unknown sections", entries([](int i) { return fmt::format("[[s{}]]\n", i); }), small},
      {"one entry again and again",
       entries([](int) { return std::string("[[module]]\nname = \"mlx4_core\"\n"); }), small},
      {"lines of wrong syntax", entries([](int) { return std::string("a b\n"); }), small},
      {"wrong values",
       entries([](int i) { return fmt::format("[[partition]]\npkey = {}\nsl = 99\nrate = 99\n", i + 1); }),
       small},
      {"comments", entries([](int i) { return fmt::format("# {}\n", i); }), small},
      {"one long text",
       [](int n) {
         return "version = 1\n[[opensm_option]]\nkey = \"k\"\nvalue = \"" +
                lines(n, [](int) { return std::string("words and words "); }) + "\"\n";
       },
       small},
      {"dotted keys",
       [](int n) {
         return "version = 1\n[[ipoib]]\n" +
                lines(n, [](int i) { return fmt::format("a.b{} = {}\n", i, i); });
       },
       small},
      {"udev rules of others", entries([](int i) {
         return i < 1 ? fmt::format("[[ipoib]]\nguid = \"{}\"\nname = \"n{}\"\n", guid(i), i) : std::string();
       }),
       with_file("/etc/udev/rules.d/10-site.rules",
                 [](int i) {
                   return fmt::format(
                       "SUBSYSTEM==\\\"net\\\", ATTR{{address}}==\\\"?*{}\\\", NAME=\\\"x{}\\\"", guid(i), i);
                 })},
  };
}

std::vector<DocumentSample> make_documents() {
  std::vector<DocumentSample> out;
  for (const auto& group : {ipoib_documents(), address_documents(), module_documents(), ethernet_documents(),
                            device_documents(), host_documents(), opensm_documents(), partition_documents(),
                            nfs_and_srp_documents(), nvme_documents(), iscsi_documents(), text_documents()})
    out.insert(out.end(), group.begin(), group.end());
  return out;
}

}  // namespace

const std::vector<DocumentSample>& documents() {
  static const auto kAll = make_documents();
  return kAll;
}

}  // namespace rdmacfg::bench
