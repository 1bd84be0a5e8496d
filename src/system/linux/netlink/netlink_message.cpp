// SPDX-License-Identifier: Apache-2.0
#include "system/linux/netlink/netlink_message.hpp"

#include <netlink/attr.h>
#include <netlink/msg.h>

#include <new>
#include <utility>

namespace rdmacfg::system::detail {

Message::Message(std::uint16_t type, std::uint16_t flags, std::span<const std::byte> family, std::string what,
                 std::size_t room)
    : message_(nlmsg_alloc_size(kNlHeader + family.size() + room), nlmsg_free), what_(std::move(what)) {
  // Out of memory is the only failure, and operator new would end the program as well.
  if (!message_) throw std::bad_alloc();
  nlmsg_put(message_.get(), 0, 0, type, 0, static_cast<int>(flags));
  if (nlmsg_append(message_.get(), const_cast<std::byte*>(family.data()), family.size(), NLMSG_ALIGNTO) !=
      0) {
    complete_ = false;
  }
}

void Message::put(int type, std::span<const std::byte> bytes) {
  if (nla_put(message_.get(), type, static_cast<int>(bytes.size()), bytes.data()) != 0) complete_ = false;
}

void Message::put(int type, std::string_view text) {
  const std::string terminated(text);
  put(type, std::as_bytes(std::span(terminated.c_str(), terminated.size() + 1)));
}

nlattr* Message::begin_nest(int type) {
  // The kernel's strict parsers insist on the flag, and all others mask it.
  nlattr* start = nla_nest_start(message_.get(), type | NLA_F_NESTED);
  if (start == nullptr) complete_ = false;
  return start;
}

void Message::end_nest(nlattr* start) {
  if (start != nullptr) nla_nest_end(message_.get(), start);
}

nlmsghdr* Message::header() const { return nlmsg_hdr(message_.get()); }

std::span<const std::byte> Message::bytes() const {
  return {reinterpret_cast<const std::byte*>(header()), header()->nlmsg_len};
}

std::optional<Attributes::Item> Attributes::next() {
  nlattr head;  // not libnl's helpers: a dump of 1,000 links asks some 60,000 times, and they are not inline
  if (rest_.size() < sizeof head) return end();
  std::memcpy(&head, rest_.data(), sizeof head);
  if (head.nla_len < sizeof head || head.nla_len > rest_.size()) return end();
  const Item item{head.nla_type & NLA_TYPE_MASK, rest_.subspan(sizeof head, head.nla_len - sizeof head)};
  const std::size_t step = NLA_ALIGN(head.nla_len);
  rest_ = step < rest_.size() ? rest_.subspan(step) : std::span<const std::byte>{};
  return item;
}

std::nullopt_t Attributes::end() {
  rest_ = {};
  return std::nullopt;
}

std::optional<std::span<const std::byte>> Attributes::find(int type) const {
  std::optional<std::span<const std::byte>> found;
  Attributes all = *this;
  while (const auto item = all.next()) {
    if (item->type == type) found = item->bytes;
  }
  return found;
}

Attributes Attributes::nested(int type) const {
  return Attributes(find(type).value_or(std::span<const std::byte>{}));
}

std::string_view Attributes::Item::text() const {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return all.substr(0, all.find('\0'));
}

std::string Attributes::text(int type) const {
  const auto bytes = find(type);
  return bytes ? std::string(Item{type, *bytes}.text()) : std::string();
}

}  // namespace rdmacfg::system::detail
