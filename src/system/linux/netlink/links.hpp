// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "system/link.hpp"
#include "system/linux/netlink/netlink_socket.hpp"

namespace rdmacfg::system::detail {

/// Links over rtnetlink. The socket is opened at the first use, in the network namespace of that moment.
class LinuxLinks final : public Links {
 public:
  base::Result<std::vector<Link>> observe_links() override;
  base::Result<std::optional<int>> index_of(const std::string& name) override;
  base::Result<void> execute(std::span<const LinkRequest> requests) override;
  base::Result<std::vector<Carried>> observe_carried(std::span<const Link> links) override;
  std::vector<std::string> lacking(const Carried& then, const Carried& now) override;
  base::Result<void> restore_carried(const Carried& carried, int index, const std::string& name) override;
  base::Result<std::vector<int>> wait_for_carrier(std::span<const int> indexes,
                                                  std::chrono::milliseconds deadline) override;

 private:
  base::Result<NetlinkSocket*> socket();

  std::optional<NetlinkSocket> socket_;
  std::map<int, std::string> names_;  // of the last observation, for errors
  std::map<int, int> moved_;          // interfaces that came back with another index
  /// Since the last observe_carried(), and for which interface: not to be removed as another's old name.
  std::map<std::string, int> rules_put_back_;
};

}  // namespace rdmacfg::system::detail
