// SPDX-License-Identifier: Apache-2.0
// The messages from the process that looks at the fabric to the one that waits for it. Both are of the same
// program; the reader still takes nothing on trust, as the first one has handled what the fabric sent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/error.hpp"
#include "fabric/fabric.hpp"

namespace rdmacfg::system::detail {

/// The local port, before anything else.
struct StartFrame {
  std::string port;
  std::uint64_t guid = 0;
  std::string prefix;
};
struct NodeFrame {
  fabric::Node node;
};
/// All nodes were sent: from here on a picture in part is of use.
struct NodesDoneFrame {};
struct PkeysFrame {
  fabric::End port;
  std::vector<std::uint16_t> pkeys;
};
struct CountersFrame {
  fabric::End port;
  fabric::PortCounters counters{};
};
/// A port whose counters could not be cleared.
struct NotClearedFrame {
  fabric::End port;
};
struct ManagerFrame {
  fabric::Manager manager;
};
struct GroupsFrame {
  std::vector<fabric::Group> groups;
};
struct RouteFrame {
  fabric::Route route;
};
struct TargetsFrame {
  std::vector<fabric::Target> targets;
};
struct MissingFrame {
  std::string text;
};
struct ProgressFrame {
  std::uint64_t done = 0, total = 0;
  std::string what;
};
/// Nothing can be seen.
struct FailureFrame {
  base::Error error;
};
/// Everything was sent.
struct EndFrame {};

using Frame = std::variant<StartFrame, NodeFrame, NodesDoneFrame, PkeysFrame, ManagerFrame, GroupsFrame,
                           RouteFrame, MissingFrame, ProgressFrame, FailureFrame, EndFrame, CountersFrame,
                           NotClearedFrame, TargetsFrame>;

std::string pack(Frame frame);

/// Takes the first whole frame off the front of `bytes`, and copies none of what follows it: nothing while
/// the frame is not all there. Fails with kIo where the bytes are not a frame.
base::Result<std::optional<Frame>> unpack(std::string_view& bytes);

}  // namespace rdmacfg::system::detail
