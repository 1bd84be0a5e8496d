// SPDX-License-Identifier: Apache-2.0
// Runs the targets on inputs that are there, with any compiler:
//   fuzz_replay                      names of the targets
//   fuzz_replay seeds TARGET FOLDER  writes the target's own seeds there
//   fuzz_replay run TARGET TIMES FILE...   each file, then TIMES changed ones, the same in every run
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <system_error>
#include <vector>

#include "target.hpp"

namespace rdmacfg::fuzz {
namespace {

std::string changed(std::string text, const std::vector<std::string>& inputs, std::mt19937& random) {
  const auto below = [&](std::size_t most) {
    return static_cast<std::size_t>(random()) % std::max<std::size_t>(most, 1);
  };
  for (auto times = 1 + below(4); times > 0; --times) {
    const auto at = below(text.size() + 1), length = below(16);
    switch (below(6)) {
      case 0:
        if (!text.empty()) text[below(text.size())] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(below(text.size() + 1), length * 4));
        break;
      case 3:
        text.insert(at, length, "\n\"[]{}=,.:0\\#\xff"[below(14)]);
        break;
      case 4: {
        const auto& other = inputs[below(inputs.size())];
        const auto from = below(other.size() + 1);
        text = text.substr(0, at) + other.substr(from, 512);
        break;
      }
      default:
        text.resize(at);
    }
  }
  return text.substr(0, 8192);
}

int run(const Target& target, unsigned times, std::vector<std::string> inputs) {
  for (const auto& seed : target.seeds) inputs.push_back(seed);
  inputs.emplace_back();
  for (const auto& input : inputs) target.run(input);
  std::mt19937 random(1);
  // Left for a debugger when it ends in there; others may run the target at the same time.
  const auto last = std::filesystem::temp_directory_path() /
                    ("fuzz_replay." + target.name + "." + std::to_string(::getpid()));
  for (unsigned i = 0; i < times; ++i) {
    const auto input = changed(inputs[random() % inputs.size()], inputs, random);
    std::ofstream(last, std::ios::binary) << input;
    target.run(input);
  }
  std::error_code none;
  std::filesystem::remove(last, none);
  std::printf("ok   %s: %zu seeds, %u changed ones\n", target.name.c_str(), inputs.size(), times);
  return 0;
}

int write_seeds(const Target& target, const std::string& folder) {
  for (std::size_t i = 0; i < target.seeds.size(); ++i)
    std::ofstream(folder + "/own-" + std::to_string(i), std::ios::binary) << target.seeds[i];
  return 0;
}

std::string read(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace
}  // namespace rdmacfg::fuzz

int main(int argc, char** argv) {
  using namespace rdmacfg::fuzz;
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) {
    for (const auto& target : targets()) std::printf("%s\n", target.name.c_str());
    return 0;
  }
  const auto* target = words.size() < 3 ? nullptr : find_target(words[1]);
  if (target == nullptr) {
    std::fprintf(stderr, "no such target\n");
    return 2;
  }
  if (words[0] == "seeds") return write_seeds(*target, words[2]);
  std::vector<std::string> inputs;
  for (int i = 4; i < argc; ++i) inputs.push_back(read(argv[i]));
  return run(*target, static_cast<unsigned>(std::stoul(words[2])), inputs);
}
