// SPDX-License-Identifier: Apache-2.0
// A report is made in four steps: show, diff and doctor look at the real host over a tape that records; what
// else a reader may want to know is asked for; every text of it is anonymised; and diff and doctor run once
// more on what came out of that, so that their results in the report name nothing that the report does not.
#include "ctl/bundle/make_report.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <sstream>

#include "base/text.hpp"
#include "base/unique_fd.hpp"
#include "ctl/bundle/anonymiser.hpp"
#include "ctl/bundle/limits.hpp"
#include "ctl/bundle/replay.hpp"
#include "formats/os_release.hpp"
#include "kinds/address/profiles/nm_keyfile.hpp"
#include "kinds/host/initramfs_stamp.hpp"

namespace rdmacfg::ctl {

namespace {

constexpr const char* kInitramfsStamp = "/var/lib/rdma-configd/initramfs";

struct ReadOnlyCommand {
  const char* name;
  int (*run)(const Context&);
};
constexpr std::array<ReadOnlyCommand, 3> kReported{{{"show", show}, {"diff", diff}, {"doctor", doctor}}};

/// The subcommands' output as JSON, by name.
nlohmann::json results_of(const Context& context, const Environment& environment) {
  nlohmann::json out = nlohmann::json::object();
  for (const auto& look : kReported) {
    std::ostringstream text;
    auto quiet = environment.writing_to(text);
    Context inner{quiet, context.arguments, context.out, context.err};
    inner.arguments.command = look.name;
    inner.arguments.doctor.report.clear();
    inner.arguments.config.clear();  // the document is that of `environment`
    inner.arguments.json = true;
    look.run(inner);
    out[look.name] = nlohmann::json::parse(text.str(), nullptr, false);
  }
  return out;
}

/// Paths below a folder of sysfs, to a depth of `depth`.
void list_below(system::Files& files, const std::string& folder, int depth, std::vector<std::string>& out) {
  const auto names = files.list(folder);
  if (!names) return;
  for (const auto& name : *names) {
    if (out.size() >= limits::kHostReportPaths) return;
    const auto path = folder + '/' + name;
    out.push_back(path);
    if (depth > 1) list_below(files, path, depth - 1, out);
  }
}

/// Asks for what no subcommand has asked for because the document does not speak of it.
/// @return what there is in sysfs of interfaces and devices, by name
std::vector<std::string> ask_further(system::Host& host, system::Files& sysfs) {
  std::vector<std::string> listing;
  const auto links = host.links.observe_links();
  for (const auto& link : links ? *links : std::vector<system::Link>()) {
    // Virtual interfaces have no DCB of their own, and a host may have thousands.
    if (!link.kind.empty()) continue;
    (void)host.dcb.observe_dcb(link.name);
    const auto folder = "/sys/class/net/" + link.name;
    for (const char* file : {"vendor", "device", "subsystem_vendor", "subsystem_device"})
      (void)host.files.read(fmt::format("{}/device/{}", folder, file));
    list_below(sysfs, folder, 1, listing);
  }
  const auto devices = host.rdma.observe_devices();
  for (const auto& device : devices ? *devices : std::vector<system::RdmaDevice>()) {
    (void)host.rdma.observe_ids(device.name);
    for (const auto& port : device.ports) {
      (void)host.rdma.observe_pkeys(device.name, port.number);
      (void)host.rdma.observe_gids(device.name, port.number);
      (void)host.rdma.observe_mtu(device.name, port.number);
    }
    constexpr int kDepth = 3;
    list_below(sysfs, "/sys/class/infiniband/" + device.name, kDepth, listing);
  }
  (void)kinds::observe_distribution_ids(host.files);
  return listing;
}

/// Names of people and groups: those of the system itself are everywhere the same.
void add_accounts(system::Files& files, std::vector<std::string>& names) {
  constexpr std::uint64_t kFirst = 1000, kNobody = 65534;
  for (const char* path : {"/etc/passwd", "/etc/group"}) {
    const auto text = files.read(path);
    if (!text || !*text) continue;
    for (const auto line : base::split(**text, '\n')) {
      const auto parts = base::split(line, ':');
      if (parts.size() < 3 || parts[0].empty()) continue;
      const auto id = base::parse_number(parts[2]);
      if (id && *id >= kFirst && *id != kNobody) names.emplace_back(parts[0]);
    }
  }
}

/// Names that are this host's own.
std::vector<std::string> own_names_of(const Context& context, system::Host& host) {
  std::vector<std::string> out;
  const auto& name = context.environment.host_name;
  for (const auto& form : {name, name.substr(0, name.find('.'))}) {
    if (!form.empty()) out.push_back(form);
  }
  for (const char* variable : {"SUDO_USER", "USER", "LOGNAME"}) {
    const auto user = context.environment.variable(variable);
    if (!user.empty() && user != "root") out.push_back(user);
  }
  add_accounts(host.files, out);
  return out;
}

nlohmann::json anonymised(Anonymiser& anonymiser, const nlohmann::json& answer) {
  if (answer.is_string()) {
    const auto& text = answer.get_ref<const std::string&>();
    if (text.size() <= limits::kHostReportFileBytes) return anonymiser.text(text);
    const auto end = text.rfind('\n', limits::kHostReportFileBytes - 1);
    return anonymiser.text(text.substr(0, end == std::string::npos ? limits::kHostReportFileBytes : end + 1));
  }
  if (!answer.is_structured()) return answer;
  nlohmann::json out = answer;
  for (auto& part : out) part = anonymised(anonymiser, part);
  return out;
}

/// Keys of the answers are members' names, those of the questions are names of the host.
nlohmann::json anonymised_tape(Anonymiser& anonymiser, const nlohmann::json& observed) {
  nlohmann::json out = nlohmann::json::object();
  for (const auto& [question, answers] : observed.items()) {
    auto& group = out[question] = nlohmann::json::object();
    for (const auto& [about, answer] : answers.items()) {
      const bool is_number = about.find_first_not_of("0123456789") == std::string::npos;
      const auto key = is_number ? about : anonymiser.text(about);
      const auto last = about.substr(about.find_last_of("/ ") + 1);
      const bool secret =
          (question == "sysctl" || question == "module.parameter") && Anonymiser::is_secret(last);
      group[key] = secret && answer.is_string() ? nlohmann::json(kRemoved) : anonymised(anonymiser, answer);
    }
  }
  return out;
}

/// NetworkManager's profiles of ours have UUIDs that are made of their port's GUID.
void know_profiles(Anonymiser& anonymiser, system::Host& host) {
  const auto links = host.links.observe_links();
  for (const auto& link : links ? *links : std::vector<system::Link>()) {
    if (!link.ipoib) continue;
    auto id = link.ipoib->guid.text();
    if (link.ipoib->child) id += '/' + link.ipoib->pkey.text();
    anonymiser.know_uuid(kinds::nm_uuid(id), kinds::nm_uuid(anonymiser.text(id)));
  }
}

/// The stamp of the initramfs is a digest of our files: where it was right it is made to fit them again.
void mend_stamp(system::Host& real, HostReport& report) {
  const auto stamp = real.files.read(kInitramfsStamp);
  const auto digest = kinds::digest_now(real);
  if (!stamp || !*stamp || !digest || base::trim(**stamp) != *digest || digest->empty()) return;
  Tape tape(report.observed);
  TapedHost replayed(tape, report.boot_id);
  if (const auto other = kinds::digest_now(replayed.host()))
    report.observed["file"][kInitramfsStamp] = *other + (**stamp).substr(base::trim(**stamp).size());
}

/// The same text, with everything about whose host it is replaced.
HostReport anonymised(const Context& context, system::Host& host, const Tape& tape,
                      const std::vector<config::Text>& document, const std::vector<std::string>& listing) {
  Anonymiser anonymiser(own_names_of(context, host));
  know_profiles(anonymiser, host);
  HostReport out;
  out.version = RDMACFG_VERSION;
  const auto kernel = host.files.read("/proc/sys/kernel/osrelease");
  out.kernel = kernel && *kernel ? anonymiser.text(base::trim(**kernel)) : "";
  out.host_name = anonymiser.text(context.environment.host_name);
  out.boot_id = anonymiser.text(host.boot_id);
  out.privileged = context.environment.privileged;
  for (const auto& file : document) {
    config::Text anonymous;
    anonymous.name = anonymiser.text(file.name);
    anonymous.text = anonymiser.text(file.text);
    anonymous.is_private = file.is_private;
    out.document.push_back(std::move(anonymous));
  }
  out.observed = anonymised_tape(anonymiser, tape.answers());
  for (const auto& path : listing) out.listing.push_back(anonymiser.text(path));
  mend_stamp(host, out);
  return out;
}

/// A new file that only its owner may read. One that is there is not written over: it may be somebody's, or
/// a link that somebody has put there.
base::Result<void> write_new(const std::string& path, std::string_view text) {
  const base::UniqueFd file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file) return base::fail_errno(errno, path);
  while (!text.empty()) {
    const auto done = ::write(file.get(), text.data(), text.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      auto failed = base::fail_errno(errno, path);
      ::unlink(path.c_str());
      return failed;
    }
    text.remove_prefix(static_cast<std::size_t>(done));
  }
  return {};
}

}  // namespace

int make_report(const Context& context) {
  const auto host = context.environment.host(context.root());
  auto document = load_texts(context);
  if (!document && document.error().code != base::Code::kNotFound) return refuse(context, document.error());
  if (!document) document = std::vector<config::Text>();

  Tape tape;
  TapedHost recorder(tape, *host);
  auto recording = context.environment;
  recording.host = [&](const std::filesystem::path&) {
    return std::shared_ptr<system::Host>(std::shared_ptr<void>(), &recorder.host());
  };
  recording.document = *document;
  const auto real = results_of(context, recording);
  const auto listing = ask_further(recorder.host(), host->files);

  auto report = anonymised(context, *host, tape, *document, listing);
  auto replayed = results_of(context, environment_of(context.environment, std::make_shared<Replay>(report)));
  for (const auto& look : kReported) {
    report.agrees[look.name] = real[look.name].value("summary", nlohmann::json()) ==
                               replayed[look.name].value("summary", nlohmann::json());
  }
  replayed.erase("show");  // it tells what `observed` does
  report.results = std::move(replayed);

  const auto text = render_host_report(std::move(report));
  const auto& path = context.arguments.doctor.report;
  if (path == "-") {
    context.environment.out << text;
    return 0;
  }
  if (auto done = write_new(path, text); !done) return refuse(context, done.error());
  constexpr std::size_t kKib = 1024;
  context.say(
      fmt::format("wrote {} ({} KiB): names, addresses and GUIDs in it are stand-ins; read it before you "
                  "send it to anybody",
                  path, (text.size() + kKib - 1) / kKib));
  if (!context.environment.privileged)
    context.say("without root the report lacks what only root may read; run it with sudo");
  return 0;
}

}  // namespace rdmacfg::ctl
