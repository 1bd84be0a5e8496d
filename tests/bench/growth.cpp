// SPDX-License-Identifier: Apache-2.0
// How parse, validate, diff, the report and import grow with a document: tests/bench/growth runs it.
//   growth_bench SMALL LARGE [PART-OF-A-NAME]
// Prints, for each sample, the processor time at both sizes, and what grew how many times; ends with 1 when
// the allocations of memory, which are the same in every run, grew more than kMost times what the size did:
// entries or bytes, whichever grew more. A vector has a power of two of places: from 1,000 to 10,000 entries
// it grows 16 times. Times are the shortest of kRuns.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <new>

#include "catalog/all.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"
#include "fakes/memory_files.hpp"
#include "foreign/import/importer.hpp"
#include "growth_samples.hpp"
#include "store/report_json.hpp"

namespace {

std::uint64_t allocated_bytes = 0;
constexpr double kMost = 1.2;  ///< 12 times from 1,000 to 10,000
constexpr int kRuns = 3;

}  // namespace

void* operator new(std::size_t size) {
  allocated_bytes += size + 16;  // many small ones count, too
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace rdmacfg::bench {
namespace {

struct Cost {
  double milliseconds = 0;
  std::uint64_t bytes = 0;
};

using Costs = std::vector<std::pair<std::string, Cost>>;  ///< by stage

struct Run {
  Costs costs;
  std::size_t input_bytes = 0;  ///< numbers in names get longer: the input grows more than its entries do
  std::string remark;
};

template <class Stage>
auto measured(Costs& costs, const std::string& name, Stage stage) {
  const auto clock = std::clock();
  const auto bytes = allocated_bytes;
  auto out = stage();
  costs.push_back(
      {name, {1e3 * static_cast<double>(std::clock() - clock) / CLOCKS_PER_SEC, allocated_bytes - bytes}});
  return out;
}

std::size_t errors_of(const model::Diagnostics& diagnostics) {
  std::size_t count = 0;
  for (const auto& diagnostic : diagnostics) count += diagnostic.severity == model::Severity::kError ? 1 : 0;
  return count;
}

Run run(const DocumentSample& sample, int n) {
  Run out;
  auto& costs = out.costs;
  const auto text = sample.text(n);
  out.input_bytes = text.size();
  const auto kernel = fakes::FakeKernel::parse(sample.host(n));
  auto host = kernel->host();
  config::Limits limits;
  limits.file_bytes = std::size_t{1} << 26U;
  const auto document = measured(costs, "parse", [&] {
    return config::parse_texts({{"config.toml", text}}, "node1", kinds::grammar(), limits);
  });
  const auto checked = measured(costs, "validate", [&] { return core::validate(document); });
  const auto report = measured(costs, "diff", [&] { return core::diff(document, host); });
  const auto json = measured(costs, "report", [&] { return core::report_json(report).dump(); });
  measured(costs, "render", [&] { return config::render_diagnostics(document, report.diagnostics); });
  out.remark = fmt::format("{} KB, {} changes, {} errors, report {} KB", text.size() / 1000,
                           report.plan.changes.size(), errors_of(report.diagnostics), json.size() / 1000);
  if (!report.diagnostics.empty()) out.remark += ": " + report.diagnostics.front().message;
  return out;
}

Run run(const ImportSample& sample, int n) {
  Run out;
  auto& costs = out.costs;
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  for (auto& [path, text] : sample.files(n)) {
    files.content[path] = text;
    out.input_bytes += text.size();
  }
  foreign::Claims claims;
  for (int i = 0; i < n; ++i)
    claims.known.emplace(fmt::format("ib{}", i),
                         model::Guid{0x0002c90300000000U + static_cast<std::uint64_t>(i)});
  measured(costs, "gather", [&] {
    return foreign::gather({{foreign::find_format(sample.format)}, {}}, files, claims);
  });
  const auto text = measured(costs, "document", [&] {
    return foreign::make_document(claims, [](const std::string& document) {
      const auto every = config::all_errors();
      const auto parsed = config::parse_texts({{"config.toml", document}}, "", kinds::grammar(), every);
      return core::validate(parsed, every).diagnostics;
    });
  });
  out.remark = text ? fmt::format("{} KB, {} missed", text->size() / 1000, claims.missed.size())
                    : text.error().message;
  if (!claims.missed.empty()) out.remark += ": " + claims.missed.front().text;
  return out;
}

template <class Sample>
Run shortest(const Sample& sample, int n) {
  auto out = run(sample, n);
  for (int more = 1; more < kRuns; ++more) {
    const auto again = run(sample, n);
    for (std::size_t at = 0; at < out.costs.size(); ++at) {
      auto& milliseconds = out.costs[at].second.milliseconds;
      milliseconds = std::min(milliseconds, again.costs[at].second.milliseconds);
    }
  }
  return out;
}

template <class Sample>
bool compare(const Sample& sample, const std::string& name, int small, int large) {
  const auto [few, few_bytes, ignored] = shortest(sample, small);
  const auto [many, many_bytes, remark] = shortest(sample, large);
  const double size = std::max(static_cast<double>(large) / small,
                               static_cast<double>(many_bytes) / static_cast<double>(few_bytes));
  const auto places = [](int n) { return static_cast<double>(std::bit_ceil(static_cast<unsigned>(n))); };
  const double most_bytes = kMost * std::max(size, places(large) / places(small));
  bool good = true;
  std::string stages;
  Cost before, after;
  for (std::size_t at = 0; at < many.size(); ++at) {
    const auto& [stage, cost] = many[at];
    const auto& first = few[at].second;
    before.milliseconds += first.milliseconds;
    after.milliseconds += cost.milliseconds;
    const double time = cost.milliseconds / std::max(first.milliseconds, 0.1);
    const double bytes =
        static_cast<double>(cost.bytes) / static_cast<double>(std::max<std::uint64_t>(first.bytes, 1));
    if (cost.milliseconds > 5 && time > kMost * size)
      stages += fmt::format("  {} {:.0f} ms = time x{:.1f}", stage, cost.milliseconds, time);
    if (cost.bytes > 100'000 && bytes > most_bytes) {
      stages += fmt::format("  {} memory x{:.1f}", stage, bytes);
      good = false;
    }
  }
  fmt::print("{} {:<36} {:>9.1f} ms {:>9.1f} ms  x{:<6.1f}{}  ({})\n", good ? "ok  " : "FAIL", name,
             before.milliseconds, after.milliseconds, after.milliseconds / std::max(before.milliseconds, 0.1),
             stages, remark.substr(0, 160));
  std::fflush(stdout);
  return good;
}

int run_all(int small, int large, const std::string& part) {
  bool good = true;
  const auto wanted = [&](const std::string& name) { return name.find(part) != std::string::npos; };
  for (const auto& sample : documents()) {
    if (wanted(sample.name)) good = compare(sample, sample.name, small, large) && good;
  }
  for (const auto& sample : imports()) {
    const auto name = fmt::format("import {}: {}", sample.format, sample.name);
    if (wanted(name)) good = compare(sample, name, small, large) && good;
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace rdmacfg::bench

int main(int argc, char** argv) {
  const auto number = [&](int at, int otherwise) { return argc > at ? std::atoi(argv[at]) : otherwise; };
  return rdmacfg::bench::run_all(number(1, 1'000), number(2, 10'000), argc > 3 ? argv[3] : "");
}
