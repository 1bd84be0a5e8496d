// SPDX-License-Identifier: Apache-2.0
// The executable of libFuzzer: FUZZ_TARGET in the environment names the target.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "target.hpp"

namespace {

const rdmacfg::fuzz::Target* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  const char* name = std::getenv("FUZZ_TARGET");
  chosen = rdmacfg::fuzz::find_target(name == nullptr ? "" : name);
  if (chosen != nullptr) return 0;
  std::fprintf(stderr, "FUZZ_TARGET names none of the targets; fuzz_replay lists them\n");
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen->run({reinterpret_cast<const char*>(data), size});
  return 0;
}
