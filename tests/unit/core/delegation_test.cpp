// SPDX-License-Identifier: Apache-2.0
#include "core/guards/delegation.hpp"

#include <gmock/gmock.h>

#include "catalog/all.hpp"
#include "fakes/fake_kernel.hpp"

namespace rdmacfg::core {
namespace {

using ::testing::HasSubstr;

class Delegation : public ::testing::Test {
 protected:
  static config::Document document(const std::string& text) {
    auto parsed = config::parse_texts({{"config.toml", "version = 1\n" + text}}, "node1", kinds::grammar());
    EXPECT_FALSE(model::has_errors(parsed.diagnostics))
        << config::render_diagnostics(parsed, parsed.diagnostics);
    return parsed;
  }
  /// The first refusal; empty when there is none.
  std::string refusal(const std::string& text, const std::string& active = "") {
    auto host = kernel_.host();
    const auto before = document(active);
    const auto found = beyond_delegation(document(text), &before, host);
    return found.empty() ? "" : found.front().where.text() + " " + found.front().message;
  }

  fakes::FakeKernel kernel_;
};

TEST_F(Delegation, WhatANetworkAdministratorDoesIsAllowed) {
  for (const auto* text : {
           "[[ipoib]]\nguid = '00:02:c9:03:00:31:78:f2'\nmtu = 2044\n[[ipoib.pkey]]\npkey = 0x8002\n"
           "[ipoib.pkey.ipv4]\naddresses = ['192.0.2.1/24']\n",
           "[[sysctl]]\nkey = 'net.ipv4.neigh.default.gc_thresh1'\nvalue = 1024\n",
           "[[sysctl]]\nkey = 'vm.zone_reclaim_mode'\nvalue = 0\n",
           "[[sysctl]]\nkey = 'vm.max_map_count'\nvalue = 65530\n",
           "[[sysctl]]\ninterface = 'all'\narp_ignore = 1\n",
           "[[module]]\nname = 'ib_ipoib'\noptions = ['send_queue_size=512']\n",
           "[[module]]\nname = 'mlx4_core'\noptions = ['port_type_array=1,2', 'num_vfs=0000:10:00.0-4']\n",
           "[[service]]\nname = 'rdma-ndd'\nenabled = true\n",
           "[[service]]\nname = 'rdma-load-modules@infiniband'\nrunning = true\n",
           "[[service]]\nname = 'opensm@0x0002c903003178f2.service'\nrunning = true\n",
           "[[opensm_option]]\nkey = 'max_wire_smps'\nvalue = 16\n",
           "[[opensm_option]]\nkey = 'routing_engine'\nvalue = 'ftree,updn'\n",
           "[[memlock]]\ndomain = '@rdma'\nlimit = 'unlimited'\nunits = ['slurmd.service']\n",
           "[[partition]]\npkey = 0x8002\n",
           "[[cable]]\nfrom = 'leaf1/7'\nto = 'node007/1'\n",
       })
    EXPECT_EQ(refusal(text), "") << text;
}

TEST_F(Delegation, SettingsOfRootsEntriesAreNotExchanged) {
  const auto files = [](const std::string& roots, const std::string& nodes) {
    return "[[opensm_file]]\noption = 'root_guid_file'\nguids = [" + roots +
           "]\n[[opensm_file]]\noption = 'cn_guid_file'\nguids = [" + nodes + "]\n";
  };
  const auto active = files("'0x200000'", "'0x300000'");
  EXPECT_EQ(refusal(active, active), "") << "word for word";
  EXPECT_THAT(refusal(files("'0x300000'", "'0x200000'"), active), HasSubstr("only root may"));
  const auto lines = [](const std::string& list) {
    return "[[opensm_file]]\noption = 'hop_weights_file'\nlines = [" + list + "]\n";
  };
  EXPECT_EQ(refusal(lines("'0x200000 1 2'"), lines("'0x200000 1 2'")), "");
  EXPECT_THAT(refusal(lines("'0x200000 1 2', '0x300000 1 2'"), lines("'0x200000 1 2'")),
              HasSubstr("only root may"));
}

TEST_F(Delegation, RoadsToRootAreClosed) {
  for (const auto* text : {
           "[[sysctl]]\nkey = 'kernel.core_pattern'\nvalue = '|/tmp/x'\n",
           "[[sysctl]]\nkey = 'kernel/modprobe'\nvalue = '/tmp/x'\n",
           "[[sysctl]]\nkey = 'fs.binfmt_misc.register'\nvalue = ':x:M::x::/tmp/x:'\n",
           "[[sysctl]]\nkey = 'kernel.hotplug'\nvalue = '/tmp/x'\n",
           "[[sysctl]]\nkey = 'kernel.kptr_restrict'\nvalue = 0\n",
           "[[sysctl]]\nkey = 'fs.suid_dumpable'\nvalue = 2\n",
           "[[sysctl]]\nkey = 'net.core.bpf_jit_harden'\nvalue = 0\n",
           "[[sysctl]]\nkey = 'networks.x'\nvalue = 0\n",
           "[[opensm_option]]\nkey = 'event_plugin_name'\nvalue = 'x'\n",
           "[[opensm_option]]\nkey = 'log_file'\nvalue = '/etc/cron.d/x'\n",
           "[[opensm_option]]\nkey = 'dump_files_dir'\nvalue = '/etc'\n",
           "[[opensm_option]]\nkey = 'console'\nvalue = 'socket'\n",
           "[[opensm_option]]\nkey = 'qos_policy_file'\nvalue = 'x'\n",
           "[[opensm_file]]\noption = 'root_guid_file'\nguids = ['0x200000']\n",
           "[[opensm_option]]\nkey = 'routing_engine'\nvalue = '/tmp/x'\n",
           "[[opensm_option]]\nkey = 'some_new_option'\nvalue = 1\n",
           "[[opensm]]\nguid = '00:02:c9:03:00:31:78:f2'\n[[opensm.option]]\nkey = "
           "'event_plugin_name'\nvalue = 'x'\n",
           "[[opensm]]\nguid = '00:02:c9:03:00:31:78:f2'\n[[opensm.option]]\nkey = 'max_wire_smps'\nvalue = "
           "16\n",
           "[[opensm]]\nguid = '00:02:c9:03:00:31:78:f2'\n[[opensm.file]]\noption = 'root_guid_file'\n"
           "guids = ['0x200000']\n",
           "[[module]]\nname = 'binfmt_misc'\n",
           "[[module]]\nname = 'firmware_class'\noptions = ['path=/tmp']\n",
           "[[module]]\nname = 'ib_core'\noptions = ['x=/tmp/y']\n",
           "[[module]]\nname = 'ib_core'\noptions = ['dyndbg=file x +p']\n",
           "[[module]]\nname = 'ib_core'\noptions = ['netns_mode=1']\n",
           "[[module]]\nname = 'ib-core'\noptions = ['netns-mode=1']\n",
           "[[service]]\nname = 'debug-shell'\nrunning = true\n",
           "[[service]]\nname = 'srp_daemon'\nrunning = true\n",
           "[[service]]\nname = 'srp_daemon_port@mlx4_0:1.service'\nrunning = true\n",
           "[[service]]\nname = 'srpd'\nenabled = true\n",
           "[packages]\nnames = ['perftest']\ninstall = true\n",
           "[[expect]]\nname = 'a'\ndevices = 1\n",
           "[[service]]\nname = 'sshd.socket'\nenabled = false\n",
           "[[memlock]]\ndomain = '*'\nlimit = 'unlimited'\nunits = ['dbus.service']\nrestart = true\n",
           "[[memlock]]\ndomain = '@nosuchgroup'\nlimit = 'unlimited'\n",
           "[rdma_system]\nnetns = 'shared'\n",
           "[[nvme_target]]\nnqn = 'nqn.2014-08.org.example:a'\nany_host = "
           "true\n[[nvme_target.namespace]]\nnsid = 1\n"
           "device = '/dev/sda'\n",
           "[[lio_target]]\nwwn = 'iqn.2026-01.org.example:a'\nany_initiator = true\naddresses = "
           "['192.0.2.1']\n"
           "[[lio_target.lun]]\nnumber = 0\ndevice = '/dev/sda'\n",
           "[nfs_server]\nrdma_port = 20049\n",
           "[[nfs_mount]]\npath = '/scratch'\nserver = 'a'\nexport = '/x'\n",
           "[[nvme_connection]]\naddress = '192.0.2.1'\n",
           "[[iser_session]]\ntarget = 'iqn.2026-01.org.example:a'\naddress = '192.0.2.1'\n",
           "[srp_initiator]\nothers = false\n",
           "[[srp_rule]]\nname = 'a'\nioc_guid = '66'\n",
           "[daemon]\ndrift = 'report'\n",
       }) {
    EXPECT_THAT(refusal(text), HasSubstr("only root may set this")) << text;
    EXPECT_THAT(refusal(text), HasSubstr("config.toml:")) << text;
  }
}

TEST_F(Delegation, NobodyElseFillsLogsOrStopsPrograms) {
  for (const auto* text : {
           "[[opensm_option]]\nkey = 'log_flags'\nvalue = 255\n",
           "[[sysctl]]\nkey = 'net.core.message_cost'\nvalue = 0\n",
           "[[sysctl]]\nkey = 'net.core.message_burst'\nvalue = 1000000\n",
           "[[sysctl]]\nkey = 'net.netfilter.nf_conntrack_log_invalid'\nvalue = 255\n",
           "[[sysctl]]\nkey = 'vm.max_map_count'\nvalue = 65529\n",
           "[[sysctl]]\nkey = 'vm.max_map_count'\nvalue = '0200000'\n",
           "[[module]]\nname = 'ib_core'\noptions = ['dyndbg=+p']\n",
           "[[module]]\nname = 'ib_core'\noptions = ['dyndbg']\n",
           "[[module]]\nname = 'ib_core'\noptions = ['ib_core.dyndbg']\n",
           "[[module]]\nname = 'ib_core'\noptions = ['kvm.dyndbg=p']\n",
       }) {
    EXPECT_THAT(refusal(text), HasSubstr("only root may set this")) << text;
  }
}

TEST_F(Delegation, AnInstanceOfATemplateNamesNoFile) {
  for (const auto* text : {
           "[[service]]\nname = 'rdma-load-modules@..-..-..-tmp-x'\nrunning = true\n",
           "[[service]]\nname = 'rdma-load-modules@..-..-..-tmp-x.service'\nrunning = true\n",
           "[[service]]\nname = 'rdma-load-modules@\\x2e\\x2e-x.service'\nrunning = true\n",
           "[[memlock]]\ndomain = '*'\nlimit = 'unlimited'\nunits = ['rdma-load-modules@..-x']\n",
       }) {
    EXPECT_THAT(refusal(text), HasSubstr("only root may set this")) << text;
  }
}

struct RestrictedEntry {
  const char* text;
  const char* why;  ///< with the section
};

TEST_F(Delegation, ARefusalSaysWhy) {
  const std::vector<RestrictedEntry> cases{
      {"[[sysctl]]\nkey = 'kernel.core_pattern'\nvalue = 'core'\n",
       "[[sysctl]]: only root may set this: kernel/core_pattern is not a delegated network or memory "
       "setting"},
      {"[[module]]\nname = 'binfmt_misc'\n",
       "[[module]]: only root may set this: binfmt_misc is not a module of the RDMA stack"},
      {"[[module]]\nname = 'ib_core'\noptions = ['x=/tmp/y']\n",
       "[[module]]: only root may set this: the value of x is not a number or a plain word"},
      {"[[module]]\nname = 'ib_core'\noptions = ['netns_mode=1']\n",
       "[[module]]: only root may set this: this is netns of [rdma_system]"},
      {"[[service]]\nname = 'srp_daemon'\nenabled = true\n",
       "[[service]]: only root may set this: srp_daemon.service is not a service of RDMA"},
      {"[[memlock]]\ndomain = '@nosuchgroup'\nlimit = 'unlimited'\n",
       "[[memlock]]: only root may set this: group nosuchgroup does not exist and would be created"},
      {"[[memlock]]\ndomain = '@rdma'\nlimit = 'unlimited'\nunits = ['dbus']\n",
       "[[memlock]]: only root may set this: dbus.service is not a service of RDMA or of jobs"},
      {"[[opensm_option]]\nkey = 'console'\nvalue = 'socket'\n",
       "[[opensm_option]]: only root may set this: console is not an option of routing, timing or quality of "
       "service"},
      {"[[opensm_option]]\nkey = 'routing_engine'\nvalue = '/tmp/x'\n",
       "[[opensm_option]]: only root may set this: the value of routing_engine is not a number or a plain "
       "word"},
      {"[[opensm]]\nguid = '00:02:c9:03:00:31:78:f2'\n[[opensm.option]]\nkey = 'lmc'\nvalue = 1\n",
       "[[opensm.option]]: only root may set this: a subnet manager with its own options or files no "
       "longer "
       "reads root's opensm.conf"},
      {"[[service]]\nname = 'sshd.socket'\nenabled = false\n",
       "[[service]]: only root may set this: sshd.socket is not a service of RDMA"},
      {"[daemon]\ndrift = 'report'\n",
       "[daemon]: only root may set this: [daemon] affects the host as a whole"},
      {"[[nvme_connection]]\naddress = '192.0.2.1'\n",
       "[[nvme_connection]]: only root may set this: [[nvme_connection]] affects the host as a whole"},
      {"[nfs_server]\nrdma_port = 20049\n",
       "[nfs_server]: only root may set this: [nfs_server] affects the host as a whole"},
  };
  auto host = kernel_.host();
  for (const auto& row : cases) {
    const auto found = beyond_delegation(document(row.text), nullptr, host);
    ASSERT_FALSE(found.empty()) << row.text;
    EXPECT_EQ(found.front().message, row.why);
    EXPECT_EQ(
        found.front().hint,
        "ask root to apply it: root may set anything, org.rdmaconfigd1.apply only what SECURITY.md lists");
    EXPECT_GT(found.front().where.line, 1) << row.text;
  }
}

TEST_F(Delegation, ASettingOfRootsThatIsDroppedIsNamedWithItsPlace) {
  const std::string port = "[[ipoib]]\nguid = '00:02:c9:03:00:31:78:f2'\n";
  EXPECT_EQ(refusal(port, "[daemon]\ndrift = 'report'\n"),
            " [daemon] of config.toml:3:9 is in the active document, and only root may remove or change "
            "it: [daemon] affects the host as a whole");
}

TEST_F(Delegation, EachKeyOfTheLanguageIsDecidedOn) {
  // A section that nobody has thought about is root's.
  auto host = kernel_.host();
  config::Document fresh;
  model::Section section;
  section.path = "something_new";
  section.entries.emplace("key", model::Entry{model::Value{true}, {"config.toml", 2, 1, 1}, false});
  fresh.sections.push_back(section);
  EXPECT_FALSE(beyond_delegation(fresh, nullptr, host).empty());
}

TEST_F(Delegation, WhatOnlyRootReadsOnlyRootSets) {
  kernel_.sysctl.root_only.insert("net/ipv4/tcp_fastopen_key");
  const auto* text = "[[sysctl]]\nkey = 'net.ipv4.tcp_fastopen_key'\nvalue = '1-2-3-4'\n";
  EXPECT_THAT(refusal(text), HasSubstr("only root may read"));
}

/// The first rule that matches a target decides.
TEST_F(Delegation, TheOrderOfRulesIsRootsToo) {
  const std::string allow = "[[srp_rule]]\nname = 'a'\nioc_guid = '66'\n";
  const std::string deny = "[[srp_rule]]\nname = 'b'\nallow = false\n";
  EXPECT_EQ(refusal(allow + deny, allow + deny), "");
  EXPECT_NE(refusal(deny + allow, allow + deny), "");
}

TEST_F(Delegation, WhatRootHasSetStaysAsItIs) {
  const std::string pattern = "[[sysctl]]\nkey = 'kernel.core_pattern'\nvalue = 'core'\n";
  const std::string port = "[[ipoib]]\nguid = '00:02:c9:03:00:31:78:f2'\n";
  EXPECT_EQ(refusal(pattern + port, pattern), "");
  EXPECT_THAT(refusal(port, pattern), HasSubstr("only root may remove or change it"));
  EXPECT_THAT(refusal("[[sysctl]]\nkey = 'kernel.core_pattern'\nvalue = '|/tmp/x'\n", pattern),
              HasSubstr("only root may set this"));
}

}  // namespace
}  // namespace rdmacfg::core
