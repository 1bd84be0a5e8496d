// SPDX-License-Identifier: Apache-2.0
// A document that is exported and imported again is the same, for everything the target can express.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "base/text.hpp"
#include "stage.hpp"

namespace rdmacfg::foreign {
namespace {

using model::Family;
using model::InetMethod;

/// Valid documents, from a seed.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  ImportedHost household() {
    ImportedHost out;
    const int ports = 1 + below(3);
    for (int port = 0; port < ports; ++port) {
      ImportedHost::InterfaceTree tree;
      tree.port.guid = model::Guid{std::uint64_t{0x0002c90300317800} + static_cast<std::uint64_t>(port)};
      if (below(4) != 0) {
        // Some look like something else to a tool: a range, what an editor left, nothing; one is long.
        constexpr std::array kTails{"", "", "", "-range1", ".bak", "null", "ric-at-home"};
        const auto* tail = kTails.at(static_cast<std::size_t>(below(static_cast<int>(kTails.size()))));
        tree.port.name = fmt::format("fab{}{}", port, tail);
        tree.port.names = true;
      }
      settings(tree.port);
      std::set<std::uint16_t> used{0x7fff};
      for (int child = below(3); child > 0; --child) {
        Interface interface;
        const auto pkey = *model::Pkey::make(1 + below(0x7ffe));
        if (!used.insert(pkey.partition()).second) continue;
        interface.pkey = pkey;
        if (below(4) == 0 || tree.port.name.size() > 10) {
          interface.name = fmt::format("part{}x{}", port, child);
          interface.names = true;
        } else if (below(4) == 0 && !tree.port.name.empty()) {
          interface.name = fmt::format("{}.{:04x}", tree.port.name, pkey.partition());
          interface.names = true;
        }
        settings(interface);
        if (tree.port.name.size() > 10 && interface.mode == model::IpoibMode::kConnected) {
          interface.mode = model::IpoibMode::kDatagram;  // the kernel would call it as its port at first
          if (interface.mtu) interface.mtu = 2044;
        }
        if (below(8) == 0) interface.state = model::State::kAbsent;
        tree.children.push_back(std::move(interface));
      }
      out.trees.push_back(std::move(tree));
    }
    return out;
  }

 private:
  int below(int end) { return std::uniform_int_distribution<int>(0, end - 1)(random_); }

  void settings(Interface& interface) {
    if (below(3) != 0)
      interface.mode = below(2) == 0 ? model::IpoibMode::kDatagram : model::IpoibMode::kConnected;
    if (below(3) != 0) interface.mtu = interface.mode == model::IpoibMode::kConnected ? 65520 : 2044;
    if (below(5) == 0) interface.umcast = below(2) == 0;
    if (below(6) == 0) interface.state = model::State::kDown;
    ++net_;
    interface.ipv4 = inet(Family::kIpv4);
    interface.ipv6 = inet(Family::kIpv6);
  }

  Inet inet(Family family) {
    const bool four = family == Family::kIpv4;
    Inet out;
    switch (below(7)) {
      case 0:
        return out;
      case 6:
        out.method = four ? InetMethod::kDisabled : InetMethod::kLinkLocal;
        return out;
      case 1:
        out.method = InetMethod::kAuto;
        return out;
      case 2:
        out.method = four ? InetMethod::kLinkLocal : InetMethod::kDisabled;
        return out;
      default:
        break;
    }
    const auto net = four ? fmt::format("10.{}.0", net_) : fmt::format("2001:db8:{:x}:", net_);
    const auto host = [&](int number) { return fmt::format("{}{}{:x}", net, four ? "." : ":", number); };
    const auto prefix = four ? 24 : 64;
    for (int at = 1 + below(3); at > 0; --at)
      out.addresses.push_back(*model::IpPrefix::parse(fmt::format("{}/{}", host(at), prefix)));
    if (below(2) == 0) out.gateway = *model::IpAddress::parse(host(9));
    for (int at = below(3); at > 0; --at)
      out.dns.push_back(
          *model::IpAddress::parse(four ? fmt::format("192.0.2.{}", at) : fmt::format("2001:db8::{}", at)));
    if (below(3) == 0) out.search = {"example.net", "example.org"};
    for (int at = below(3); at > 0; --at) {
      Route route;
      route.to = *model::RouteTarget::parse(four ? fmt::format("198.51.{}.0/24", at)
                                                 : fmt::format("2001:db8:f{}::/48", at));
      if (below(2) == 0) route.via = *model::IpAddress::parse(host(8));
      if (below(2) == 0) route.metric = static_cast<std::uint32_t>(below(5000));
      if (below(4) == 0) route.metric = four ? 0 : 1024;
      if (below(3) == 0) route.table = static_cast<std::uint32_t>(1 + below(2000));
      out.routes.push_back(std::move(route));
    }
    if (below(4) == 0) {
      Route rest;  // everything is on the fabric itself
      rest.to.any = true;
      rest.metric = 9000;
      out.routes.push_back(rest);
    }
    if (below(6) == 0) {
      out.method = InetMethod::kAuto;
      out.gateway.reset();
    }
    return out;
  }

  std::mt19937 random_;
  int net_ = 0;
};

/// The document without its comments.
std::string bare(const std::vector<Line>& lines) {
  std::string out;
  for (const auto& line : lines) {
    if (!base::trim(line.text).empty() && !line.text.starts_with('#')) out += line.text + "\n";
  }
  return out;
}

std::string bare(std::vector<ImportedHost::InterfaceTree> trees) {
  return bare(render_document({std::move(trees), {}}, {}));
}

class RoundTrip : public testing::TestWithParam<std::string> {};

TEST_P(RoundTrip, GivesTheSameDocument) {
  const auto& target = *find_target(GetParam());
  int compared = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const auto text = bare(render_document(Generator(seed).household(), {}));
    const auto document = parsed(text);
    ASSERT_FALSE(model::has_errors(core::validate(document).diagnostics))
        << text << render_diagnostics(document, core::validate(document).diagnostics);
    const auto made = export_document(document.sections, target);
    std::vector<Remark> notes;
    const auto wanted =
        bare(reduce_to_features(interface_trees_of(document.sections), target.features, notes));
    if (target.features.interfaces && wanted != bare(interface_trees_of(document.sections))) {
      EXPECT_FALSE(made.notes.empty()) << "what is left out is said";
    }
    fakes::Faults faults;
    fakes::MemoryFiles files(faults);
    std::string written;
    for (const auto& file : made.files) {
      files.content[file.path] = file.text;
      written += "==> " + file.path + "\n" + file.text;
    }
    const auto back = import_all(files, GetParam());
    for (const auto& line : back.claims.missed)
      FAIL() << line.where.text() << ": " << line.text << "\n" << written;
    ASSERT_EQ(bare(interface_trees_of(parsed(back.document).sections)), wanted) << "seed " << seed << '\n'
                                                                                << text << written;
    if (wanted.size() > 20) ++compared;
  }
  EXPECT_GE(compared, 200);
}

/// Udev gives NAME to an interface that a rule names; another one has the kernel's name until the end.
TEST(ModeRules, FindAPortWithoutGuidByEitherName) {
  ImportedHost::InterfaceTree tree;
  tree.port.name = "ib0";
  tree.port.mode = model::IpoibMode::kConnected;
  Output out;
  render_mode_rules({tree}, out);
  ASSERT_EQ(out.files.size(), 1U);
  for (const auto* match : {"NAME==\"ib0\", PROGRAM=", "NAME==\"\", KERNEL==\"ib0\", PROGRAM="})
    EXPECT_NE(out.files.front().text.find(match), std::string::npos) << match;
}

INSTANTIATE_TEST_SUITE_P(Foreign, RoundTrip,
                         testing::Values("nm", "networkd", "netplan", "nmstate", "ifcfg", "udev"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace rdmacfg::foreign
