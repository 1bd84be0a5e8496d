// SPDX-License-Identifier: Apache-2.0
#include "system/pci.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

#include "system/linux/linux_host.hpp"
#include "temp_tree.hpp"

namespace rdmacfg::system {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A configuration space: header, list of capabilities, and what comes beyond the first 256 bytes.
class Space {
 public:
  explicit Space(std::size_t size) : bytes_(size, '\0') {}

  Space& byte(std::size_t at, unsigned value) {
    if (at < bytes_.size()) bytes_[at] = static_cast<char>(value);
    return *this;
  }
  Space& word(std::size_t at, unsigned value) { return byte(at, value & 0xff).byte(at + 1, value >> 8U); }
  Space& bridge() { return byte(0x0e, 0x81); }  // of several functions
  Space& capability(std::size_t at, unsigned id, unsigned next) { return byte(at, id).byte(at + 1, next); }
  /// Power management, then PCI Express at 0x60 with this Device Control.
  Space& express(unsigned control) {
    return word(0x06, 0x10)
        .byte(0x34, 0x40)
        .capability(0x40, 0x01, 0x60)
        .capability(0x60, 0x10, 0)
        .word(0x68, control);
  }
  /// Advanced Error Reporting at 0x100, then Access Control Services at 0x148.
  Space& access_control(unsigned control) {
    return word(0x100, 0x0001)
        .word(0x102, 0x1481)
        .word(0x148, 0x000d)
        .word(0x14a, 0x0001)
        .word(0x14e, control);
  }
  [[nodiscard]] const std::string& text() const { return bytes_; }

 private:
  std::string bytes_;
};

TEST(PciConfig, SaysMaxReadRequest) {
  EXPECT_EQ(parse_pci_config(Space(4096).express(0x2810).text())->max_read_request, 512);
  EXPECT_EQ(parse_pci_config(Space(4096).express(0x5810).text())->max_read_request, 4096);
  EXPECT_EQ(parse_pci_config(Space(256).express(0x0810).text())->max_read_request, 128);
  EXPECT_FALSE(parse_pci_config(Space(4096).express(0x7810).text())->max_read_request) << "reserved";
  EXPECT_FALSE(parse_pci_config(Space(64).express(0x2810).text())->max_read_request) << "all that others see";
  EXPECT_FALSE(parse_pci_config(Space(4096).text())->max_read_request) << "conventional PCI";
}

TEST(PciConfig, SaysWhetherAccessControlRedirects) {
  const auto redirects = [](unsigned control) {
    return parse_pci_config(Space(4096).bridge().express(0).access_control(control).text())->redirects;
  };
  EXPECT_EQ(redirects(0x1d), true) << "as Linux sets it with an IOMMU";
  EXPECT_EQ(redirects(0x04), true);
  EXPECT_EQ(redirects(0x08), true);
  EXPECT_EQ(redirects(0x11), false) << "source validation and upstream forwarding alone";
  EXPECT_EQ(redirects(0), false);
  EXPECT_EQ(parse_pci_config(Space(4096).bridge().express(0).text())->redirects, false)
      << "without the capability";
  EXPECT_EQ(parse_pci_config(Space(256).bridge().text())->redirects, false) << "conventional PCI";
  EXPECT_FALSE(parse_pci_config(Space(256).bridge().express(0).text())->redirects);
  EXPECT_FALSE(parse_pci_config(Space(64).bridge().express(0).text())->redirects);
}

TEST(PciConfig, KnowsBridges) {
  EXPECT_TRUE(parse_pci_config(Space(64).bridge().text())->bridge);
  EXPECT_FALSE(parse_pci_config(Space(64).text())->bridge);
  EXPECT_FALSE(parse_pci_config(Space(63).text()));
  EXPECT_FALSE(parse_pci_config(""));
}

TEST(PciConfig, ListsThatLeadNowhereOrInCirclesEnd) {
  EXPECT_FALSE(parse_pci_config(Space(256).word(6, 0x10).byte(0x34, 0x40).capability(0x40, 1, 0x40).text())
                   ->max_read_request);
  EXPECT_FALSE(parse_pci_config(Space(256).word(6, 0x10).byte(0x34, 0xfc).capability(0xfc, 1, 0xfc).text())
                   ->max_read_request);
  EXPECT_EQ(parse_pci_config(Space(4096).express(0).word(0x100, 1).word(0x102, 0x1001).text())->redirects,
            false);
  EXPECT_EQ(parse_pci_config(Space(4096).express(0).word(0x100, 1).word(0x102, 0xffc1).text())->redirects,
            false);
  EXPECT_EQ(
      parse_pci_config(Space(4096).express(0).word(0x100, 0xffff).word(0x102, 0xffff).text())->redirects,
      false);
  EXPECT_FALSE(parse_pci_config(Space(0x68).express(0x2810).text())->max_read_request) << "cut off";
  std::srand(7);
  for (int i = 0; i < 20'000; ++i) {
    std::string noise(static_cast<std::size_t>(std::rand() % 300), '\0');
    for (auto& byte : noise) byte = static_cast<char>(std::rand());
    (void)parse_pci_config(noise);
  }
}

TEST(SysfsPciTest, ReadsDevicesByAddress) {
  const TempTree tree;
  tree.put("/bus/pci/devices/0000:10:00.0/config", Space(4096).express(0x5000).text());
  tree.put("/bus/pci/devices/0000:00:01.0/config",
           Space(4096).bridge().express(0).access_control(0x1d).text());
  tree.put("/bus/pci/devices/not-a-device/config", "x");
  const auto pci = make_linux_pci(tree.path());
  EXPECT_THAT(*pci->list(), ElementsAre("0000:00:01.0", "0000:10:00.0"));
  const auto adapter = pci->observe("0000:10:00.0");
  ASSERT_TRUE(adapter && *adapter);
  EXPECT_EQ((*adapter)->max_read_request, 4096);
  EXPECT_FALSE((*adapter)->bridge);
  EXPECT_EQ((*pci->observe("0000:00:01.0"))->redirects, true);
  EXPECT_FALSE(*pci->observe("0000:11:00.0"));
  EXPECT_FALSE(*pci->observe("../../../etc/shadow"));
  EXPECT_THAT(*make_linux_pci(tree.path() / "without")->list(), IsEmpty());
}

}  // namespace
}  // namespace rdmacfg::system
