// SPDX-License-Identifier: Apache-2.0
#include "formats/nm_unmanaged.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "fakes/fake_kernel.hpp"

namespace rdmacfg::kinds {
namespace {

using model::Backend;

const model::Guid kKeptOffOne{0x0002c903003178f2}, kKeptOffTwo{0x0002c903003178f3};
const std::string kKeptOffFile(kKeepOffNetworkManager);
constexpr const char* kSnippetOfOthers = "/etc/NetworkManager/conf.d/calico.conf";

TEST(NmUnmanaged, NamesPortsByGuid) {
  EXPECT_EQ(render_nm_unmanaged({{kKeptOffOne, Backend::kDirect}, {kKeptOffTwo, Backend::kNetworkd}}),
            "# Written by rdma-configd; do not edit.\n[keyfile]\n"
            "unmanaged-devices+=00:00:00:00:00:00:00:00:00:00:00:00:00:02:c9:03:00:31:78:f2;"
            "00:00:00:00:00:00:00:00:00:00:00:00:00:02:c9:03:00:31:78:f3\n");
  EXPECT_EQ(render_nm_unmanaged({{kKeptOffOne, Backend::kNetworkManager}}), "");
  EXPECT_EQ(render_nm_unmanaged({}), "");
}

TEST(NmUnmanaged, IsReadAfterFilesThatSetTheListAnew) {
  for (const auto* name : {"calico.conf", "99-unmanaged.conf", "unmanaged.conf", "xen.conf"})
    EXPECT_LT("/etc/NetworkManager/conf.d/" + std::string(name), kKeptOffFile);
}

TEST(NmUnmanaged, IsOnlyWhereNetworkManagerReadsIt) {
  fakes::FakeKernel kernel;
  const BackendRules rules{{kKeptOffOne, Backend::kDirect}};
  ASSERT_TRUE(write_nm_unmanaged(kernel.files, rules));
  EXPECT_FALSE(kernel.files.content.contains(kKeptOffFile));
  EXPECT_TRUE(*keeps_nm_off(kernel.files, rules));
  kernel.files.content[kSnippetOfOthers] = "[keyfile]\n";
  EXPECT_FALSE(*keeps_nm_off(kernel.files, rules)) << "NetworkManager was installed meanwhile";
  ASSERT_TRUE(write_nm_unmanaged(kernel.files, rules));
  EXPECT_EQ(kernel.files.content[kKeptOffFile], render_nm_unmanaged(rules));
  EXPECT_TRUE(*keeps_nm_off(kernel.files, rules));
}

TEST(NmUnmanaged, GoesWithTheLastPort) {
  fakes::FakeKernel kernel;
  kernel.files.content[kSnippetOfOthers] = "[keyfile]\n";
  ASSERT_TRUE(write_backend_rules(kernel.files, {{kKeptOffOne, Backend::kDirect}}));
  ASSERT_TRUE(kernel.files.content.contains(kKeptOffFile));
  const BackendRules theirs{{kKeptOffOne, Backend::kNetworkManager}};
  EXPECT_FALSE(*keeps_nm_off(kernel.files, theirs)) << "it is one too many";
  ASSERT_TRUE(write_backend_rules(kernel.files, theirs));
  EXPECT_FALSE(kernel.files.content.contains(kKeptOffFile));
  ASSERT_TRUE(write_backend_rules(kernel.files, {}));
  EXPECT_EQ(kernel.files.content.size(), 1U) << "that of others stays";
}

TEST(NmUnmanaged, TheOrderOfPortsDoesNotMatter) {
  fakes::FakeKernel kernel;
  const BackendRules rules{{kKeptOffOne, Backend::kDirect}, {kKeptOffTwo, Backend::kDirect}};
  const std::string any = "00:00:00:00:00:00:00:00:00:00:00:00:";
  kernel.files.content[kKeptOffFile] =
      "# Written by rdma-configd; do not edit.\n[keyfile]\nunmanaged-devices+=" + any + kKeptOffTwo.text() +
      ";" + any + kKeptOffOne.text() + "\n";
  EXPECT_TRUE(*keeps_nm_off(kernel.files, rules));
  EXPECT_FALSE(*keeps_nm_off(kernel.files, {{kKeptOffOne, Backend::kDirect}}));
}

TEST(NmUnmanaged, AnEditedOneIsNotWhole) {
  fakes::FakeKernel kernel;
  const BackendRules rules{{kKeptOffOne, Backend::kDirect}};
  kernel.files.content[kKeptOffFile] = render_nm_unmanaged(rules) + "unmanaged-devices=interface-name:eth0\n";
  EXPECT_FALSE(*keeps_nm_off(kernel.files, rules));
}

/// nm_match_spec_device(), read_entire_config() and read_config(): lists of later files replace those before.
TEST(NmUnmanaged, ListsOfOthersThatNameAPort) {
  struct Row {
    const char* text;
    int line;  ///< 0: NetworkManager takes the port
  };
  const auto place_of = [](const std::map<std::string, std::string>& texts) {
    fakes::FakeKernel kernel;
    kernel.files.content = texts;
    const auto found = nm_leaves_alone(kernel.files, kKeptOffOne, "ib0");
    return found ? found->file + ":" + std::to_string(found->line) : std::string();
  };
  const std::string site = "/etc/NetworkManager/conf.d/site.conf";
  const auto by_mac =
      "[keyfile]\nunmanaged-devices=mac:80:00:02:08:fe:80:00:00:00:00:00:00:" + kKeptOffOne.text() + "\n";
  for (const auto& row :
       {Row{"[keyfile]\nunmanaged-devices=*\n", 2},
        Row{"[keyfile]\nunmanaged-devices=interface-name:ib*\n", 2},
        Row{"[keyfile]\nunmanaged-devices=interface-name:=ib0;interface-name:eth0\n", 2},
        Row{"[keyfile]\n# x\nunmanaged-devices+=type:infiniband\n", 3},
        Row{"[keyfile]\nunmanaged-devices=ib0\n", 2}, Row{by_mac.c_str(), 2},
        Row{"[keyfile]\nunmanaged-devices=*,except:type:infiniband\n", 0},
        Row{"[keyfile]\nunmanaged-devices=interface-name:eth*;type:ethernet;ib1;mac:00:25:90:00:00:01\n", 0},
        Row{"[keyfile]\nunmanaged-devices=*\nunmanaged-devices-=*\n", 0},
        Row{"[main]\nunmanaged-devices=*\n", 0},
        Row{"[keyfile]\nunmanaged-devices=except:interface-name:eth0\n", 2},
        Row{"[keyfile]\nunmanaged-devices=except:type:infiniband\n", 0},
        Row{"[device]\nmatch-device=type:infiniband\nmanaged=0\n", 3},
        Row{"[device-eth]\nmatch-device=type:ethernet\nmanaged=0\n", 0},
        Row{"[device]\nmatch-device=type:infiniband\nmanaged=1\n", 0},
        Row{"[device]\nmanaged=0\n[device]\nmanaged=1\n", 0},
        Row{"[device]\nmatch-device=type:ethernet\n[device]\nmanaged=0\n", 0},
        Row{"[device]\nmanaged=1\n[device-ib]\nmanaged=0\n", 4},
        Row{"[device]\nmanaged=0\n[device-ib]\nmatch-device=type:infiniband\nmanaged=1\n", 0}}) {
    EXPECT_EQ(place_of({{site, row.text}}), row.line == 0 ? "" : site + ":" + std::to_string(row.line))
        << row.text;
  }
  // As Ubuntu has it.
  const std::string vendor = "/usr/lib/NetworkManager/conf.d/10-globally-managed-devices.conf";
  const std::string all = "[keyfile]\nunmanaged-devices=*,except:type:wifi,except:type:gsm\n";
  EXPECT_EQ(place_of({{vendor, all}}), vendor + ":2");
  EXPECT_EQ(place_of({{vendor, all}, {"/etc/NetworkManager/conf.d/10-globally-managed-devices.conf", ""}}),
            "");
  EXPECT_EQ(place_of({{vendor, all},
                      {"/etc/NetworkManager/NetworkManager.conf", "[keyfile]\nunmanaged-devices=none\n"}}),
            "");
  EXPECT_EQ(place_of({{kKeptOffFile, by_mac}}), "") << "ours";
}

}  // namespace
}  // namespace rdmacfg::kinds
