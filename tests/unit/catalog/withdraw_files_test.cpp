// SPDX-License-Identifier: Apache-2.0
#include "catalog/withdraw_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/owned_files.hpp"
#include "formats/modprobe_conf.hpp"
#include "formats/opensm/opensm_conf.hpp"
#include "formats/udev/udev_netdev_names.hpp"

namespace rdmacfg::kinds {
namespace {

using model::Desired;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kGuid = "00:02:c9:03:00:31:78:f2";

Desired desired(const std::string& kind, const std::string& id, const std::string& label,
                model::Attributes settings) {
  Desired out;
  out.key = {kind, id};
  out.label = label;
  out.settings = std::move(settings);
  return out;
}

std::vector<Desired> host() {
  const std::string guid = kGuid;
  return {
      desired(
          "ipoib", guid, "mlx4_ib0",
          {{"mode", std::string("connected")}, {"mtu", std::int64_t{65520}}, {"state", std::string("up")}}),
      desired("pkey", guid + "/0x8002", "mlx4_ib0.8002",
              {{"name", std::string("mlx4_ib0.8002")},
               {"mtu", std::int64_t{2044}},
               {"state", std::string("up")}}),
      desired("route", guid + " default metric 150 table 254", "", {{"via", std::string("192.0.2.254")}}),
      desired("route", guid + " ipv6 default metric 150 table 254", "", {{"via", std::string("on-link")}}),
      desired("address", guid + " 192.0.2.1/24", "", {{"address", std::string("192.0.2.1/24")}}),
      desired("address", guid + " 192.0.2.9/31", "", {{"address", std::string("192.0.2.9/31")}}),
      desired("address", guid + "/0x8002 2001:db8::1/64", "", {{"address", std::string("2001:db8::1/64")}}),
      desired("roce", "mlx5_0/1", "mlx5_0/1", {{"mode", std::string("v2")}})};
}

TEST(HandOver, NamesSortWhereOursDid) {
  EXPECT_EQ(plain_name("70-rdma-configd-ipoib.rules"), "70-rdma-admin-ipoib.rules");
  EXPECT_EQ(plain_name("rdma_configd.conf"), "rdma_admin.conf");
  EXPECT_EQ(plain_name("50-rdma-configd.conf"), "50-rdma-admin.conf");
  EXPECT_EQ(plain_name("70-persistent-ipoib.rules"), std::nullopt);
  EXPECT_LT(std::string("70-persistent-ipoib.rules"), "70-rdma-admin-ipoib.rules");
  EXPECT_LT(std::string("70-rdma-admin-ipoib.rules"), "70-rdma-configd-ipoib.rules")
      << "ours wins when it is back";
}

TEST(HandOver, OnlyTheMarkOfAFileGoes) {
  const Rules rules{{*model::Guid::parse(kGuid), "mlx4_ib0"}};
  const auto text = plain_text(render_rules(rules));
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, Not(HasSubstr("rdma-configd")));
  EXPECT_EQ(parse_rules(*text), rules);
  EXPECT_TRUE(was_left(*text));
  EXPECT_EQ(plain_text(*text), std::nullopt) << "it is nobody's but the administrator's";
  EXPECT_EQ(plain_text("options mlx4_core num_vfs=4\n# rdma-configd\n"), std::nullopt);
  EXPECT_FALSE(was_left("# mine\n"));
}

TEST(HandOver, BlocksLoseTheirMarks) {
  OpensmDefaults defaults;
  defaults.others = "# before: that it was NONE\nPORTS=\"ALL\"\n";
  defaults.ports[*model::Guid::parse(kGuid)] = 5;
  defaults.was_disabled = defaults.was_stopped = true;
  const auto text = without_marks(render_opensm_defaults(defaults, OpensmLayout::kDebian),
                                  *owned_file(kOpensmDefaultsFile));
  EXPECT_EQ(text, "# before: that it was NONE\nPORTS=\"ALL\"\nPORTS=\"0x0002c903003178f2\"\n");
  EXPECT_EQ(without_marks(defaults.others, *owned_file(kOpensmDefaultsFile)), std::nullopt);
  EXPECT_EQ(without_marks("# Written by rdma-configd from its configuration:\n0000:10:00.0 ib eth\n"
                          "# end of rdma-configd's lines\n",
                          *owned_file("/etc/rdma/mlx4.conf")),
            "0000:10:00.0 ib eth\n");
}

TEST(HandOver, AScriptForEachPort) {
  const auto files = render_setup(host(), {});
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].path, "/etc/rdma/rdma-admin-0002c903003178f2.sh");
  EXPECT_EQ(files[0].what, "mode and MTU, P_Key interfaces, addresses and routes of mlx4_ib0");
  EXPECT_TRUE(was_left(files[0].content));
  const auto& text = files[0].content;
  EXPECT_EQ(text.substr(text.find("port=$1")), R"sh(port=$1
i=0
until [ -e "/sys/class/net/$port/create_child" ] || [ $i = 50 ]; do
	i=$((i+1))
	sleep 0.1
done
echo connected >"/sys/class/net/$port/mode"
ip link set dev "$port" mtu 65520
ip link set dev "$port" up
ip address replace 192.0.2.1/24 brd + dev "$port"
ip address replace 192.0.2.9/31 dev "$port"
ip -4 route replace default via 192.0.2.254 dev "$port" metric 150 table 254
ip -6 route replace default dev "$port" metric 150 table 254
if [ ! -e "/sys/class/net/mlx4_ib0.8002" ]; then
	echo 0x8002 >"/sys/class/net/$port/create_child"
	first=$(printf %.10s "$port").8002
	[ "$(cat "/sys/class/net/$first/parent" 2>/dev/null)" = "$port" ] ||
		first=$(printf %.15s "$port.8002")
	[ "$first" = "mlx4_ib0.8002" ] ||
		[ "$(cat "/sys/class/net/$first/parent" 2>/dev/null)" != "$port" ] ||
		ip link set dev "$first" name "mlx4_ib0.8002"
fi
ip link set dev "mlx4_ib0.8002" mtu 2044
ip link set dev "mlx4_ib0.8002" up
ip address replace 2001:db8::1/64 dev "mlx4_ib0.8002"
)sh");
  EXPECT_EQ(files[1].path, "/etc/udev/rules.d/90-rdma-admin-setup.rules");
  EXPECT_THAT(files[1].content, AllOf(HasSubstr("ATTR{address}==\"?*00:02:c9:03:00:31:78:f2\""),
                                      HasSubstr("RUN+=\"/bin/sh " + files[0].path + " $name\"")));
}

TEST(HandOver, ProfilesOfNetworkManagerNeedNoScript) {
  EXPECT_TRUE(render_setup(host(), {{*model::Guid::parse(kGuid), model::Backend::kNetworkManager}}).empty());
}

TEST(HandOver, WhatIsNotHandedOverIsNamed) {
  auto all = host();
  EXPECT_THAT(not_handed_over(all), ElementsAre(HasSubstr(": mlx5_0/1")));
  all.front().pending = "no such port";
  EXPECT_THAT(not_handed_over(all),
              ElementsAre(HasSubstr("RoCE defaults"), "interfaces that do not exist now: mlx4_ib0"));
  EXPECT_TRUE(render_setup(all, {}).empty());
}

}  // namespace
}  // namespace rdmacfg::kinds
