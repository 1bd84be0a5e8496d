// SPDX-License-Identifier: Apache-2.0
// Each row of the table of expectations: met, unmet, and not readable, which is not met.
#include "kinds/expect/rows.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "catalog/all.hpp"
#include "core/pipeline.hpp"
#include "fakes/fake_kernel.hpp"
#include "kinds/expect/expect.hpp"
#include "kinds/expect/versions.hpp"

namespace rdmacfg::kinds {
namespace {

using ::testing::HasSubstr;
using About = ExpectRow::About;
using fakes::FakeKernel;

constexpr const char* kExpectHost = R"json({
  "devices": [{ "name": "mlx5_0", "driver": "mlx5_core", "pci": "0000:10:00.0", "firmware": "28.39.1002", "ports": [
    { "guid": "00:02:c9:03:00:31:78:f2", "rate": "400 Gb/sec (4X NDR)"
}]
}],
  "modules": { "nvidia_peermem": { "loaded": true } },
  "sysctl": { "kernel/osrelease": "6.1.0-18-amd64" },
  "files": { "/sys/bus/pci/devices/0000:10:00.0/vendor": "0x15b3\n" },
  "pci": {
  "0000:00:01.0" : {"bridge" : true, "redirects" : false}, "0000:10:00.0" : { "max_read_request" : 4096 }
}
})json";

using Change = std::function<void(FakeKernel&)>;

/// A row's document, and what makes its answer another one, or none.
struct RowCase {
  std::string wanted;  ///< TOML after the key
  Change met, unmet, unreadable;
};

Change with_text(std::string path, std::string text) {
  return [=](FakeKernel& kernel) { kernel.files.content[path] = text; };
}

Change without(std::string path) {
  return [=](FakeKernel& kernel) { kernel.files.content.erase(path); };
}

Change unreadable_file(std::string path) {
  return [=](FakeKernel& kernel) { kernel.files.unreadable.insert(path); };
}

fakes::Port& port_of(FakeKernel& kernel) { return kernel.machine.devices.front().ports.front(); }

void nothing(FakeKernel& /*kernel*/) {}

/// Neither devices nor their ports can be unreadable one by one: a count is known, or nothing is.
const std::map<std::string_view, RowCase>& row_cases() {
  constexpr const char* kPci = "/sys/bus/pci/devices/0000:10:00.0/";
  static const std::map<std::string_view, RowCase> kCases{
      {"devices", {"1", nothing, [](FakeKernel& kernel) { kernel.machine.devices.clear(); }, nullptr}},
      {"active_ports", {"1", nothing, [](FakeKernel& kernel) { port_of(kernel).state = "DOWN"; }, nullptr}},
      {"acs_redirect",
       {"false", nothing, [](FakeKernel& kernel) { kernel.pci.devices["0000:00:01.0"].redirects = true; },
        [](FakeKernel& kernel) { kernel.pci.readable = false; }}},
      {"gpu_memory",
       {R"(["peermem", "dmabuf"])", nothing,
        [](FakeKernel& kernel) { kernel.modules.modules.at("nvidia_peermem").loaded = false; },
        [](FakeKernel& kernel) {  // an amdgpu on a kernel whose options nobody can read
          kernel.modules.modules.at("nvidia_peermem").loaded = false;
          kernel.modules.modules["amdgpu"].loaded = true;
        }}},
      {"firmware",
       {R"(["28.38.1002", "28.39.1002"])", nothing,
        [](FakeKernel& kernel) { kernel.machine.devices.front().firmware = "28.9.1002"; },
        [](FakeKernel& kernel) { kernel.machine.devices.front().firmware.clear(); }}},
      {"firmware_min",
       {R"("28.38.1002")", nothing,
        [](FakeKernel& kernel) { kernel.machine.devices.front().firmware = "28.9.2048"; },
        [](FakeKernel& kernel) { kernel.machine.devices.front().firmware.clear(); }}},
      {"pcie_speed",
       {"32", with_text(std::string(kPci) + "current_link_speed", "32.0 GT/s PCIe\n"),
        with_text(std::string(kPci) + "current_link_speed", "16.0 GT/s PCIe\n"),
        with_text(std::string(kPci) + "current_link_speed", "Unknown\n")}},
      {"pcie_width",
       {"16", with_text(std::string(kPci) + "current_link_width", "16\n"),
        with_text(std::string(kPci) + "current_link_width", "8\n"), nothing}},
      {"max_read_request",
       {"4096", nothing,
        [](FakeKernel& kernel) { kernel.pci.devices["0000:10:00.0"].max_read_request = 512; },
        [](FakeKernel& kernel) { kernel.pci.readable = false; }}},
      {"iommu",
       {R"("passthrough")", with_text(std::string(kPci) + "iommu_group/type", "identity\n"),
        with_text(std::string(kPci) + "iommu_group/type", "DMA-FQ\n"),
        unreadable_file(std::string(kPci) + "iommu_group/type")}},
      {"rate",
       {"400", nothing, [](FakeKernel& kernel) { port_of(kernel).rate = "100 Gb/sec (4X EDR)"; },
        [](FakeKernel& kernel) { port_of(kernel).rate.clear(); }}},
      {"width",
       {"4", nothing, [](FakeKernel& kernel) { port_of(kernel).rate = "100 Gb/sec (1X NDR)"; },
        [](FakeKernel& kernel) { port_of(kernel).rate = "400 Gb/sec"; }}},
      {"link_layer",
       {R"("InfiniBand")", nothing, [](FakeKernel& kernel) { port_of(kernel).link_layer = "Ethernet"; },
        [](FakeKernel& kernel) { port_of(kernel).link_layer.clear(); }}},
      {"subnet_manager", {"true", nothing, [](FakeKernel& kernel) { port_of(kernel).sm = false; }, nullptr}},
  };
  return kCases;
}

/// Counters and settings are alike: a file, or a kernel setting.
RowCase case_of(const ExpectRow& row) {
  if (row.about == About::kCounter) {
    const bool hardware = row.reads.ends_with("/hw_counters");
    const auto path = fmt::format("/sys/class/infiniband/mlx5_0/ports/1/{}/{}",
                                  hardware ? "hw_counters" : "counters", row.name);
    return {"5", with_text(path, "5\n"), with_text(path, "6\n"), with_text(path, "N/A\n")};
  }
  if (row.about != About::kSetting) return row_cases().at(row.name);
  std::string path(row.reads);
  if (const auto star = path.find('*'); star != std::string::npos) path[star] = '0';
  constexpr std::string_view kSettings = "/proc/sys/";
  if (path.starts_with(kSettings)) {
    const auto setting = path.substr(kSettings.size());
    const auto set = [setting](const char* value) -> Change {
      return [=](FakeKernel& kernel) { kernel.sysctl.set(setting, value); };
    };
    return {R"("7")", set("7"), set("8"), [setting](FakeKernel& kernel) { kernel.sysctl.unset(setting); }};
  }
  const bool bracketed =
      path.find("transparent") != std::string::npos || path.find("aspm") != std::string::npos;
  return {R"("good")", with_text(path, bracketed ? "bad [good] worse\n" : "good\n"),
          with_text(path, bracketed ? "good [bad] worse\n" : "bad\n"), without(path)};
}

std::string document_of(const ExpectRow& row, const std::string& wanted) {
  if (row.about == About::kCounter)
    return fmt::format("[[expect]]\nname = \"x\"\n[[expect.counter]]\nname = \"{}\"\nmax = {}\n", row.name,
                       wanted);
  if (row.about == About::kSetting)
    return fmt::format("[[expect]]\nname = \"x\"\n[[expect.setting]]\nname = \"{}\"\nvalue = {}\n", row.name,
                       wanted);
  return fmt::format("[[expect]]\nname = \"x\"\n{} = {}\n", row.name, wanted);
}

/// Its resources are those of expectations only.
model::Report report_of(const std::string& text, FakeKernel& kernel) {
  const auto document = config::parse_texts({{"config.toml", "version = 1\n" + text}}, "node1", grammar());
  auto host = kernel.host();
  auto report = core::diff(document, host);
  std::erase_if(report.resources, [](const auto& resource) { return resource.key.kind != kExpectKind; });
  return report;
}

model::ResourceReport judged(const ExpectRow& row, const RowCase& example, const Change& change) {
  const auto kernel = FakeKernel::parse(kExpectHost);
  change(*kernel);
  const auto report = report_of(document_of(row, example.wanted), *kernel);
  EXPECT_FALSE(model::has_errors(report.diagnostics)) << row.name;
  EXPECT_TRUE(report.plan.empty()) << row.name << ": nothing is to be changed";
  EXPECT_EQ(report.resources.size(), 1U) << row.name;
  EXPECT_EQ(report.exit, report.resources.front().status == model::Status::kInSync ? model::Exit::kOk
                                                                                   : model::Exit::kPartly);
  return report.resources.front();
}

TEST(ExpectRows, EachIsMetUnmetAndNotReadable) {
  for (const auto& row : expect_rows()) {
    const auto example = case_of(row);
    const auto met = judged(row, example, example.met);
    EXPECT_EQ(met.status, model::Status::kInSync) << row.name << ": " << met.reason;
    const auto unmet = judged(row, example, example.unmet);
    EXPECT_EQ(unmet.status, model::Status::kUnmet) << row.name;
    EXPECT_THAT(unmet.reason, HasSubstr("expected")) << row.name;
    if (!example.unreadable) continue;
    const auto unknown = judged(row, example, example.unreadable);
    EXPECT_EQ(unknown.status, model::Status::kUnmet) << row.name << ": unknown is not met";
    EXPECT_THAT(unknown.reason, HasSubstr(fmt::format("{} is not known: ", row.name)));
  }
}

TEST(ExpectRows, EachKeyOfTheEntryIsARow) {
  for (const auto& spec : model::specs<Expect>()) {
    if (spec.role == model::Role::kIdentity) continue;
    EXPECT_NE(expect_row(spec.name), nullptr) << spec.name;
  }
  for (const auto& row : expect_rows()) {
    if (row.about == About::kCounter || row.about == About::kSetting) continue;
    const auto specs = model::specs<Expect>();
    EXPECT_TRUE(std::any_of(specs.begin(), specs.end(), [&](const auto& spec) {
      return spec.name == row.name;
    })) << row.name;
  }
}

TEST(ExpectRows, ThePageHasTheTable) {
  std::ifstream in(SOURCE_ROOT "/docs/EXPECT.md");
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_THAT(text.str(), HasSubstr(expect_rows_as_markdown())) << "packaging/update-generated";
}

TEST(ExpectRows, AReasonSaysWhatIsAndWhatIsExpected) {
  const auto kernel = FakeKernel::parse(kExpectHost);
  port_of(*kernel).rate = "100 Gb/sec (4X EDR)";
  kernel->pci.devices["0000:00:01.0"].redirects = true;
  const auto report = report_of("[[expect]]\nname = \"x\"\nrate = 400\nacs_redirect = false\n", *kernel);
  ASSERT_EQ(report.resources.size(), 2U);
  EXPECT_EQ(report.resources[0].label, "x");
  EXPECT_EQ(report.resources[0].reason, "acs_redirect is yes (0000:00:01.0), expected no");
  EXPECT_EQ(report.resources[1].label, "x of mlx5_0/1");
  EXPECT_EQ(report.resources[1].key.id, "x/00:02:c9:03:00:31:78:f2");
  EXPECT_EQ(report.resources[1].reason, "rate is 100 Gb/s, expected at least 400 Gb/s");
  ASSERT_EQ(report.resources[1].attributes.size(), 1U);
  EXPECT_EQ(report.resources[1].attributes[0].now, model::Value(std::int64_t{100}));
  EXPECT_EQ(report.resources[1].attributes[0].wanted, model::Value(std::int64_t{400}));
  EXPECT_EQ(report.resources[1].attributes[0].origin->line, 4);
}

TEST(ExpectRows, AMissingCounterIsMissedInItsOwnFolder) {
  const auto kernel = FakeKernel::parse(kExpectHost);
  const auto reason = [&](const char* name) {
    const auto text =
        fmt::format("[[expect]]\nname = \"x\"\n[[expect.counter]]\nname = \"{}\"\nmax = 0\n", name);
    return report_of(text, *kernel).resources.at(0).reason;
  };
  EXPECT_THAT(reason("out_of_buffer"), HasSubstr("/ports/1/hw_counters/out_of_buffer does not exist"));
  EXPECT_THAT(reason("link_downed"), HasSubstr("/ports/1/counters/link_downed does not exist"));
  // Some drivers have counters of the other sort in either folder.
  with_text("/sys/class/infiniband/mlx5_0/ports/1/counters/out_of_buffer", "0\n")(*kernel);
  EXPECT_EQ(reason("out_of_buffer"), "");
}

TEST(ExpectRows, ACounterAtItsLargestValueMayHaveCountedMore) {
  const auto kernel = FakeKernel::parse(kExpectHost);
  const auto reason = [&](const std::string& count, const std::string& folder = "counters") {
    with_text("/sys/class/infiniband/mlx5_0/ports/1/" + folder + "/link_downed", count + "\n")(*kernel);
    return report_of("[[expect]]\nname = \"x\"\n[[expect.counter]]\nname = \"link_downed\"\nmax = 300\n",
                     *kernel)
        .resources.at(0)
        .reason;
  };
  EXPECT_EQ(reason("254"), "");
  EXPECT_EQ(reason("255"),
            "link_downed stopped counting at 255 (on InfiniBand, rdma-configctl fabric --clear-counters "
            "NODE/PORT sets it to 0): it may "
            "have counted more than 300");
  without("/sys/class/infiniband/mlx5_0/ports/1/counters/link_downed")(*kernel);
  EXPECT_EQ(reason("299", "hw_counters"), "") << "rxe has one of 64 bits";
}

TEST(ExpectRows, GovernorsAreThoseOfAllProcessors) {
  const auto kernel = FakeKernel::parse(kExpectHost);
  const auto reason = [&] {
    const std::string text =
        "[[expect]]\nname = \"x\"\n[[expect.setting]]\nname = \"cpu_governor\"\nvalue = \"performance\"\n";
    return report_of(text, *kernel).resources.at(0).reason;
  };
  const auto set = [&](const std::string& processor, const char* governor) {
    with_text("/sys/devices/system/cpu/" + processor + "/cpufreq/scaling_governor", governor)(*kernel);
  };
  set("cpu0", "performance\n");
  set("cpu1", "performance\n");
  with_text("/sys/devices/system/cpu/cpu2/online", "0\n")(*kernel);  // has no governor
  set("cpufreq", "other\n");
  EXPECT_EQ(reason(), "");
  set("cpu10", "powersave\n");
  EXPECT_EQ(reason(), "cpu_governor is performance, powersave (cpu0, cpu10), expected performance");
}

TEST(ExpectRows, NothingThatMatchesIsUnmet) {
  const auto kernel = FakeKernel::parse(kExpectHost);
  const auto report =
      report_of("[[expect]]\nname = \"x\"\nmatch = { driver = \"mlx4_core\" }\nrate = 56\n", *kernel);
  ASSERT_EQ(report.resources.size(), 1U);
  EXPECT_EQ(report.resources[0].status, model::Status::kUnmet);
  EXPECT_EQ(report.resources[0].reason, "no port of this host matches");
}

TEST(ExpectRows, PortsAreSelectedByTheirLinkLayer) {
  const auto kernel = FakeKernel::parse(kExpectHost);
  port_of(*kernel).link_layer = "Ethernet";
  const auto exit = [&](const std::string& layer) {
    return report_of(fmt::format("[[expect]]\nname = \"x\"\nmatch = {{ link_layer = \"{}\" }}\nrate = 400\n",
                                 layer),
                     *kernel)
        .exit;
  };
  EXPECT_EQ(exit("Ethernet"), model::Exit::kOk);
  EXPECT_EQ(exit("ethernet"), model::Exit::kOk);
  EXPECT_EQ(exit("InfiniBand"), model::Exit::kPartly) << "no port of this host matches";
}

TEST(ExpectRows, TheIommuIsOffWithoutAGroup) {
  const auto kernel = FakeKernel::parse(kExpectHost);
  EXPECT_EQ(report_of("[[expect]]\nname = \"x\"\niommu = \"off\"\n", *kernel).exit, model::Exit::kOk);
}

TEST(ExpectRows, DmabufNeedsADriverAndAKernel) {
  const auto kernel = FakeKernel::parse(kExpectHost);
  const auto exit = [&] {
    return report_of("[[expect]]\nname = \"x\"\ngpu_memory = \"dmabuf\"\n", *kernel).exit;
  };
  EXPECT_EQ(exit(), model::Exit::kPartly);
  kernel->files.content["/proc/driver/nvidia/version"] =
      "NVRM version: NVIDIA UNIX Open Kernel Module  550.54\n";
  EXPECT_EQ(exit(), model::Exit::kOk);
  kernel->sysctl.set("kernel/osrelease", "5.4.0-100");
  EXPECT_EQ(exit(), model::Exit::kPartly);
  kernel->files.content.erase("/proc/driver/nvidia/version");
  kernel->sysctl.set("kernel/osrelease", "6.1.0");
  kernel->modules.modules["amdgpu"].loaded = true;
  kernel->files.content["/boot/config-6.1.0"] = "#\nCONFIG_DMABUF_MOVE_NOTIFY=y\nCONFIG_PCI_P2PDMA=y\n";
  EXPECT_EQ(exit(), model::Exit::kOk);
}

TEST(Versions, AreComparedNumberByNumber) {
  EXPECT_TRUE(version_before("28.9.1002", "28.39.1002"));
  EXPECT_FALSE(version_before("28.39.1002", "28.39.1002"));
  EXPECT_FALSE(version_before("28.40", "28.39.1002"));
  EXPECT_TRUE(version_before("28.39", "28.39.1002"));
  EXPECT_TRUE(version_before("5.4.0-100", "5.12"));
  EXPECT_FALSE(version_before("6.1.0-18-amd64", "5.12"));
  EXPECT_FALSE(version_before("12.10", "12.09"));
  EXPECT_TRUE(version_before("", "1"));
}

}  // namespace
}  // namespace rdmacfg::kinds
