// SPDX-License-Identifier: Apache-2.0
#include "ctl/render/clean_stream.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/characters.hpp"
#include "ctl/render/progress.hpp"

namespace rdmacfg::ctl {

namespace {

constexpr std::array<std::string_view, 9> kColours{"\033[0m",    "\033[1m",    "\033[2m",
                                                   "\033[31m",   "\033[32m",   "\033[33m",
                                                   "\033[1;31m", "\033[1;35m", "\033[1;36m"};

}  // namespace

CleanStream::CleanStream(std::ostream& stream, bool colour, Progress progress)
    : stream_(stream), under_(stream.rdbuf()), colour_(colour), progress_(progress == Progress::kLine) {
  const auto state = stream_.rdstate();
  stream_.rdbuf(this);  // clears the state
  stream_.clear(state);
}

CleanStream::~CleanStream() {
  const auto state = stream_.rdstate();
  const bool good = pass(Part::kWhole);
  stream_.rdbuf(under_);  // clears the state
  stream_.clear(good ? state : state | std::ios_base::badbit);
}

CleanStream::int_type CleanStream::overflow(int_type next) {
  if (traits_type::eq_int_type(next, traits_type::eof())) return traits_type::not_eof(next);
  held_ += traits_type::to_char_type(next);
  return pass(Part::kComplete) ? next : traits_type::eof();
}

std::streamsize CleanStream::xsputn(const char* text, std::streamsize count) {
  held_.append(text, static_cast<std::size_t>(count));
  return pass(Part::kComplete) ? count : 0;
}

int CleanStream::sync() { return pass(Part::kWhole) && under_->pubsync() == 0 ? 0 : -1; }

std::size_t CleanStream::sequence_at(std::size_t at) const {
  const auto rest = std::string_view(held_).substr(at);
  if (colour_) {
    for (const auto colour : kColours) {
      if (rest.starts_with(colour)) return colour.size();
    }
  }
  return progress_ && rest.starts_with(kClearLine) ? kClearLine.size() : 0;
}

bool CleanStream::pass(Part part) {
  constexpr std::size_t kLongest = 8;  // of a character or a sequence
  std::string out;
  std::size_t at = 0;
  while (at < held_.size()) {
    // Bytes that may yet become a character or a sequence wait for the rest of it.
    const auto byte = static_cast<unsigned char>(held_[at]);
    const bool open = byte >= 0x80 || byte == '\033' || byte == '\r';
    if (part == Part::kComplete && open && held_.size() - at < kLongest) break;
    if (const auto length = sequence_at(at); length > 0) {
      out.append(held_, at, length);
      at += length;
      continue;
    }
    const auto length = std::max<std::size_t>(base::utf8_length(std::string_view(held_).substr(at)), 1);
    out += base::harmless_lines(std::string_view(held_).substr(at, length));
    at += length;
  }
  held_.erase(0, at);
  const auto size = static_cast<std::streamsize>(out.size());
  return under_->sputn(out.data(), size) == size;
}

}  // namespace rdmacfg::ctl
