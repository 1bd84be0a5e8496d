// SPDX-License-Identifier: Apache-2.0
// Rules for addresses of several interfaces.
#include "kinds/address/request_check.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "kinds/bound.hpp"

namespace rdmacfg::kinds {
namespace {

using ::testing::ElementsAre;

/// An interface with an address, as an entry in line `line` requests it.
struct AddressRequest {
  std::string id;
  std::string label;
  int line = 0;
};

std::vector<std::string> errors_of(const std::vector<AddressRequest>& requests) {
  std::vector<model::Section> parts(requests.size());
  std::vector<BoundPort> ports(requests.size());
  std::vector<Addressing> all(requests.size());
  for (std::size_t at = 0; at < requests.size(); ++at) {
    parts[at].where = {"c", requests[at].line, 1};
    parts[at].entries["addresses"] = {std::vector<std::string>{"192.0.2.1/24"}, parts[at].where};
    ports[at].section = &parts[at];
    all[at].link = {"ipoib", requests[at].id};
    all[at].label = requests[at].label;
    all[at].port = &ports[at];
    all[at].section = &parts[at];
    all[at].ipv4.section = &parts[at];
    all[at].ipv4.addresses = {*model::IpPrefix::parse("192.0.2.1/24")};
  }
  model::Diagnostics diagnostics;
  check_addressing(all, diagnostics);
  std::vector<std::string> out;
  for (const auto& diagnostic : diagnostics)
    out.push_back(diagnostic.where.text() + ": " + diagnostic.message);
  return out;
}

TEST(RequestCheck, OneAddressOfTwoInterfacesIsAnErrorWhateverTheyAreCalled) {
  const std::string first = "00:02:c9:03:00:31:78:f2", second = "00:02:c9:03:00:31:78:f3";
  EXPECT_THAT(errors_of({{first, "ib0", 2}, {second, "ib1", 5}}),
              ElementsAre("c:5:1: ib1: 192.0.2.1 is the address of ib0 too"));
  EXPECT_THAT(errors_of({{first, "ib0", 2}, {second, "ib0", 5}}),
              ElementsAre("c:5:1: ib0: 192.0.2.1 is the address of ib0 too"));
}

TEST(RequestCheck, OneInterfaceMayBeCalledDifferently) {
  const std::string guid = "00:02:c9:03:00:31:78:f2";
  EXPECT_THAT(errors_of({{guid, "ib0", 2}, {guid, "storage", 5}}), ElementsAre());
}

}  // namespace
}  // namespace rdmacfg::kinds
