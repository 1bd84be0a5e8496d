// SPDX-License-Identifier: Apache-2.0
#include "kinds/storage/surroundings.hpp"

#include <gmock/gmock.h>

#include "fakes/fake_kernel.hpp"

namespace rdmacfg::kinds {
namespace {

using ::testing::UnorderedElementsAre;

/// Root exports disks although a user has mounted something by their name.
TEST(MountedDevices, AreNotThoseThatAUserNames) {
  fakes::FakeKernel kernel;
  kernel.files.content["/proc/1/mountinfo"] =
      "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
      "30 22 0:33 / /home/alice/x rw - fuse.sshfs /dev/sdb rw,user_id=1000,group_id=1000\n";
  EXPECT_THAT(mounted_devices(kernel.files), UnorderedElementsAre("", "/dev/sda1"));
}

}  // namespace
}  // namespace rdmacfg::kinds
