// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <ostream>
#include <streambuf>
#include <string>

namespace rdmacfg::ctl {

/// Stands between rdma-configctl and one of its outputs for as long as it lives: whatever part of the program
/// a text comes from, no control character of it gets through but line feeds, tabs, and the sequences that
/// the program itself writes on a terminal (the colours of Terminal::paint(); with kLine, also the
/// sequence that clears a line). Everything else becomes U+FFFD.
class CleanStream : public std::streambuf {
 public:
  enum class Progress { kNone, kLine };
  CleanStream(std::ostream& stream, bool colour, Progress progress);
  CleanStream(const CleanStream&) = delete;
  CleanStream& operator=(const CleanStream&) = delete;
  ~CleanStream() override;

 protected:
  int_type overflow(int_type next) override;
  std::streamsize xsputn(const char* text, std::streamsize count) override;
  int sync() override;

 private:
  /// Hands on characters and sequences that are complete; with kWhole, also the rest.
  enum class Part { kComplete, kWhole };
  bool pass(Part part);
  /// Length of the sequence of our own that `held_` has at `at`; 0: it is none.
  [[nodiscard]] std::size_t sequence_at(std::size_t at) const;

  std::ostream& stream_;
  std::streambuf* under_;
  bool colour_, progress_;
  std::string held_;
};

}  // namespace rdmacfg::ctl
