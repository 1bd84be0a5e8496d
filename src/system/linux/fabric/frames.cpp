// SPDX-License-Identifier: Apache-2.0
#include "system/linux/fabric/frames.hpp"

#include <array>
#include <type_traits>
#include <utility>

namespace rdmacfg::system::detail {

namespace {

constexpr std::size_t kHeadBytes = 5;                    // sort, length
constexpr std::size_t kFrameBytes = 8U * 1024U * 1024U;  // the largest has the multicast groups
constexpr std::size_t kNumberBytes = 8;

class Packer {
 public:
  template <class Number>
  void number(Number& value) {
    auto rest = static_cast<std::uint64_t>(value);
    for (std::size_t i = 0; i < kNumberBytes; ++i, rest >>= 8U)
      bytes.push_back(static_cast<char>(rest & 0xffU));
  }
  void text(std::string& value) {
    auto size = value.size();
    number(size);
    bytes += value;
  }
  template <class List, class Each>
  void list(List& values, Each each) {
    auto size = values.size();
    number(size);
    for (auto& value : values) each(value);
  }
  template <class Value, class Each>
  void optional(std::optional<Value>& value, Each each) {
    bool there = value.has_value();
    number(there);
    if (there) each(*value);
  }

  std::string bytes;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}

  template <class Number>
  void number(Number& value) {
    if (rest_.size() < kNumberBytes) return give_up();
    std::uint64_t read = 0;
    for (std::size_t i = kNumberBytes; i > 0; --i)
      read = read << 8U | static_cast<unsigned char>(rest_[i - 1]);
    rest_.remove_prefix(kNumberBytes);
    value = static_cast<Number>(read);
  }
  void text(std::string& value) {
    std::uint64_t size = 0;
    number(size);
    if (size > rest_.size()) return give_up();
    value = rest_.substr(0, size);
    rest_.remove_prefix(size);
  }
  template <class List, class Each>
  void list(List& values, Each each) {
    std::uint64_t size = 0;
    number(size);
    // Every value takes at least one number.
    if (size > rest_.size() / kNumberBytes) return give_up();
    values.resize(size);
    for (auto& value : values) each(value);
  }
  template <class Value, class Each>
  void optional(std::optional<Value>& value, Each each) {
    bool there = false;
    number(there);
    if (there) each(value.emplace());
  }

  [[nodiscard]] bool fully_read() const { return ok_ && rest_.empty(); }

 private:
  void give_up() {
    ok_ = false;
    rest_ = {};
  }

  std::string_view rest_;
  bool ok_ = true;
};

template <class Archive>
void fields(Archive& archive, fabric::Abilities& value) {
  archive.number(value.widths);
  archive.number(value.speeds);
}

template <class Archive>
void fields(Archive& archive, fabric::End& value) {
  archive.number(value.node);
  archive.number(value.port);
}

template <class Archive>
void fields(Archive& archive, fabric::Port& port) {
  archive.number(port.number);
  archive.number(port.guid);
  for (auto* number : {&port.lid, &port.lmc, &port.sm_lid, &port.state, &port.physical, &port.mtu})
    archive.number(*number);
  for (auto* abilities : {&port.active, &port.enabled, &port.supported}) fields(archive, *abilities);
  archive.number(port.may_manage);
  archive.optional(port.peer, [&](fabric::End& peer) { fields(archive, peer); });
}

template <class Archive>
void fields(Archive& archive, StartFrame& frame) {
  archive.text(frame.port);
  archive.number(frame.guid);
  archive.text(frame.prefix);
}

template <class Archive>
void fields(Archive& archive, NodeFrame& frame) {
  auto& node = frame.node;
  archive.number(node.guid);
  archive.number(node.system_guid);
  archive.number(node.type);
  archive.text(node.description);
  archive.number(node.vendor);
  archive.number(node.device);
  archive.list(node.ports, [&](fabric::Port& port) { fields(archive, port); });
}

template <class Archive>
void fields(Archive&, NodesDoneFrame&) {}

template <class Archive>
void fields(Archive& archive, PkeysFrame& frame) {
  fields(archive, frame.port);
  archive.list(frame.pkeys, [&](std::uint16_t& pkey) { archive.number(pkey); });
}

template <class Archive>
void fields(Archive& archive, CountersFrame& frame) {
  fields(archive, frame.port);
  for (auto& counter : frame.counters) archive.number(counter);
}

template <class Archive>
void fields(Archive& archive, NotClearedFrame& frame) {
  fields(archive, frame.port);
}

template <class Archive>
void fields(Archive& archive, ManagerFrame& frame) {
  auto& manager = frame.manager;
  archive.number(manager.port_guid);
  archive.number(manager.lid);
  archive.number(manager.priority);
  archive.number(manager.state);
  archive.number(manager.activity);
}

template <class Archive>
void fields(Archive& archive, GroupsFrame& frame) {
  archive.list(frame.groups, [&](fabric::Group& group) {
    archive.text(group.gid);
    archive.number(group.pkey);
    for (auto* number : {&group.lid, &group.mtu, &group.rate, &group.sl}) archive.number(*number);
  });
}

template <class Archive>
void fields(Archive& archive, RouteFrame& frame) {
  auto& route = frame.route;
  archive.number(route.to);
  archive.number(route.lid);
  archive.list(route.hops, [&](fabric::Hop& hop) {
    archive.number(hop.node);
    archive.number(hop.in);
    archive.number(hop.out);
  });
  archive.text(route.broken);
}

template <class Archive>
void fields(Archive& archive, TargetsFrame& frame) {
  archive.list(frame.targets, [&](fabric::Target& target) {
    for (auto* number : {&target.port_guid, &target.id_ext, &target.ioc_guid, &target.service_id})
      archive.number(*number);
    archive.number(target.io_class);
    archive.text(target.controller);
  });
}

template <class Archive>
void fields(Archive& archive, MissingFrame& frame) {
  archive.text(frame.text);
}

template <class Archive>
void fields(Archive& archive, ProgressFrame& frame) {
  archive.number(frame.done);
  archive.number(frame.total);
  archive.text(frame.what);
}

template <class Archive>
void fields(Archive& archive, FailureFrame& frame) {
  archive.number(frame.error.code);
  archive.text(frame.error.message);
  archive.number(frame.error.sys_errno);
}

template <class Archive>
void fields(Archive&, EndFrame&) {}

base::Failure broken() {
  return base::fail(base::Code::kIo, "exploring the fabric: its process sent invalid data");
}

/// A frame of sort number `sort`, read from `body`.
template <std::size_t... Sorts>
bool read_frame(std::size_t sort, std::string_view body, std::optional<Frame>& out,
                std::index_sequence<Sorts...>) {
  const auto read = [&](auto frame) {
    Unpacker unpacker(body);
    fields(unpacker, frame);
    if (!unpacker.fully_read()) return false;
    out = std::move(frame);
    return true;
  };
  bool done = false;
  (void)((sort == Sorts && (done = read(std::variant_alternative_t<Sorts, Frame>{}), true)) || ...);
  return done;
}

}  // namespace

std::string pack(Frame frame) {
  Packer body;
  std::visit([&](auto& content) { fields(body, content); }, frame);
  std::string out(1, static_cast<char>(frame.index()));
  for (std::size_t i = 0; i < kHeadBytes - 1; ++i)
    out.push_back(static_cast<char>(body.bytes.size() >> (8U * i) & 0xffU));
  return out + body.bytes;
}

base::Result<std::optional<Frame>> unpack(std::string_view& bytes) {
  std::optional<Frame> frame;
  if (bytes.size() < kHeadBytes) return frame;
  std::size_t length = 0;
  for (std::size_t i = kHeadBytes - 1; i > 0; --i)
    length = length << 8U | static_cast<unsigned char>(bytes[i]);
  if (length > kFrameBytes) return broken();
  if (bytes.size() < kHeadBytes + length) return frame;
  const auto sort = static_cast<unsigned char>(bytes[0]);
  const auto body = bytes.substr(kHeadBytes, length);
  if (!read_frame(sort, body, frame, std::make_index_sequence<std::variant_size_v<Frame>>())) return broken();
  bytes.remove_prefix(kHeadBytes + length);
  return frame;
}

}  // namespace rdmacfg::system::detail
