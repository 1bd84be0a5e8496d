// SPDX-License-Identifier: Apache-2.0
// Building and reading netlink messages. Sources: netlink(7), libnl's attribute interface.
#pragma once

#include <linux/netlink.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

struct nl_msg;

namespace rdmacfg::system::detail {

constexpr std::uint16_t kNlHeader = sizeof(nlmsghdr);

/// A request to the kernel with what it does in words, for errors: "mlx4_ib0: set MTU 65520".
class Message {
 public:
  /// `family` is the fixed header of the message type (ifinfomsg, rtmsg, …); `room` its attributes' bytes at
  /// most.
  template <class Family>
  Message(std::uint16_t type, std::uint16_t flags, const Family& family, std::string what,
          std::size_t room = 1024)
      : Message(type, flags, std::as_bytes(std::span(&family, 1)), std::move(what), room) {}
  Message(std::uint16_t type, std::uint16_t flags, std::span<const std::byte> family, std::string what,
          std::size_t room);

  void put(int type, std::span<const std::byte> bytes);
  void put(int type, std::string_view text);  ///< with the NUL that the kernel expects
  template <class Number>
  requires std::is_integral_v<Number>
  void put(int type, Number number) { put(type, std::as_bytes(std::span(&number, 1))); }

  template <class Fill>
  void nest(int type, Fill fill) {
    nlattr* start = begin_nest(type);
    fill();
    end_nest(start);
  }

  [[nodiscard]] bool complete() const { return complete_; }  ///< false: an attribute did not fit
  [[nodiscard]] nlmsghdr* header() const;
  [[nodiscard]] std::span<const std::byte> bytes() const;
  [[nodiscard]] const std::string& what() const { return what_; }

 private:
  nlattr* begin_nest(int type);
  void end_nest(nlattr* start);

  std::unique_ptr<nl_msg, void (*)(nl_msg*)> message_;
  std::string what_;
  bool complete_ = true;
};

/// The attributes of a message or of a nested attribute. Truncated ones end the iteration; the memory is the
/// caller's.
class Attributes {
 public:
  struct Item {
    int type = 0;
    std::span<const std::byte> bytes;

    [[nodiscard]] Attributes nested() const { return Attributes(bytes); }
    [[nodiscard]] std::string_view text() const;  ///< up to the first NUL
    template <class Number>
    [[nodiscard]] std::optional<Number> number() const {  ///< nothing when there are too few bytes
      if (bytes.size() < sizeof(Number)) return std::nullopt;
      Number out;
      std::memcpy(&out, bytes.data(), sizeof out);
      return out;
    }
  };

  Attributes() = default;
  explicit Attributes(std::span<const std::byte> bytes) : rest_(bytes) {}

  /// The next one, in the order of the message; nothing at the end.
  std::optional<Item> next();

  /// The last attribute of that type. Attributes read with next() are not found again.
  [[nodiscard]] std::optional<std::span<const std::byte>> find(int type) const;
  [[nodiscard]] Attributes nested(int type) const;
  [[nodiscard]] std::string text(int type) const;  ///< up to the first NUL; empty when absent
  template <class Number>
  [[nodiscard]] std::optional<Number> number(int type) const {
    const auto bytes = find(type);
    return bytes ? Item{type, *bytes}.number<Number>() : std::nullopt;
  }

 private:
  std::nullopt_t end();

  std::span<const std::byte> rest_;
};

/// A message of the kernel as its fixed header and attributes; nothing when it is too short for the header.
template <class Family>
struct Parsed {
  Family family{};
  Attributes attributes;

  static std::optional<Parsed> of(const nlmsghdr& header) {
    if (header.nlmsg_len < kNlHeader + sizeof(Family)) return std::nullopt;
    const auto* bytes = reinterpret_cast<const std::byte*>(&header);
    Parsed out;
    std::memcpy(&out.family, bytes + kNlHeader, sizeof(Family));
    const std::size_t start = kNlHeader + ((sizeof(Family) + 3U) & ~std::size_t{3});
    if (header.nlmsg_len > start) out.attributes = Attributes({bytes + start, header.nlmsg_len - start});
    return out;
  }
};

}  // namespace rdmacfg::system::detail
