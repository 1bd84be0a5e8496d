// SPDX-License-Identifier: Apache-2.0
#include "kinds/host/initramfs_stamp.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "fakes/fake_kernel.hpp"

namespace rdmacfg::kinds {
namespace {

bool rdma_in_image_of(const std::string& tool, const std::string& file,
                      const std::string& text = "#!/bin/sh\\n") {
  const auto kernel = fakes::FakeKernel::parse(fmt::format(
      R"({{ "initramfs": {{ "tool": "{}" }}, "files": {{ "{}": "", "/usr/sbin/update-initramfs": "{}" }} }})",
      tool, file, text));
  auto host = kernel->host();
  return has_rdma_in_image(host);
}

// sdbootutil, transactional-update and rpm-ostree run dracut; so does the update-initramfs of Debian's
// package dracut, whose text says so, and that of initramfs-tools does not.
TEST(InitramfsStamp, DracutMakesTheImagesAlsoUnderOtherCommands) {
  const std::string module = "/usr/lib/dracut/modules.d/50rdma/module-setup.sh";
  for (const auto* tool : {"dracut -f", "dracut -f --regenerate-all && zipl", "sdbootutil mkinitrd",
                           "transactional-update initrd", "rpm-ostree initramfs-etc"}) {
    EXPECT_TRUE(rdma_in_image_of(tool, module)) << tool;
    EXPECT_FALSE(rdma_in_image_of(tool, "/usr/lib/dracut/modules.d/95nvmf/module-setup.sh")) << tool;
  }
  EXPECT_TRUE(rdma_in_image_of("update-initramfs -u", module, "#!/bin/sh\\ndracut --force\\n"));
  EXPECT_FALSE(rdma_in_image_of("update-initramfs -u", module, "#!/bin/sh\\nmkinitramfs\\n"));
  EXPECT_FALSE(rdma_in_image_of("mkinitcpio -P", module)) << "Arch's rdma-core has the module, too";
}

}  // namespace
}  // namespace rdmacfg::kinds
