// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "ctl/host_status.hpp"
#include "ctl/json.hpp"
#include "ctl/render/render_host.hpp"
#include "ctl/show_document.hpp"

namespace rdmacfg::ctl {

using model::Status;

namespace {

/// The request: topics, and names with patterns already resolved.
struct Wanted {
  std::vector<std::string> topics;
  std::vector<std::string> names;

  [[nodiscard]] bool has(std::string_view topic) const {
    return std::find(topics.begin(), topics.end(), topic) != topics.end();
  }
};

bool is_pattern(const std::string& word) { return word.find_first_of("*?[") != std::string::npos; }

/// Our name for a name of the kernel's: udev renames RDMA devices (60-rdma-persistent-naming.rules).
std::string renamed(const std::string& name, const HostView& host) {
  const auto low = name.find('_');
  const bool kernels = low != std::string::npos && low + 1 < name.size() &&
                       name.find_first_not_of("0123456789/", low + 1) == std::string::npos;
  if (!kernels || host.devices.empty()) return {};
  std::vector<std::string> names;
  for (const auto& device : host.devices) names.push_back(device.device->name);
  return fmt::format("; udev may have renamed the device from this kernel name: there {} {}",
                     names.size() == 1 ? "is" : "are", base::join(names, ", "));
}

/// The ports of the device in "mlx4_0/9".
std::string ports_instead(const std::string& name, const HostView& host) {
  const auto slash = name.find('/');
  const auto at = std::find_if(host.devices.begin(), host.devices.end(), [&](const DeviceView& device) {
    return slash != std::string::npos && device.device->name == name.substr(0, slash);
  });
  if (at == host.devices.end()) return {};
  std::vector<std::string> ports;
  for (const auto& port : at->device->ports) ports.push_back(std::to_string(port.number));
  return fmt::format("; {} has {} {}", at->device->name, ports.size() == 1 ? "port" : "ports",
                     ports.empty() ? std::string("none") : base::join(ports, ", "));
}

int unknown(const Context& context, const std::string& name, const HostView& host,
            const std::vector<model::ResourceReport>& resources) {
  auto message = fmt::format("no object is named {}", name);
  auto known = names_in(host, resources);
  known.insert(known.end(), show_topics().begin(), show_topics().end());
  if (auto ports = ports_instead(name, host); !ports.empty()) {
    message += ports;
  } else if (auto hint = renamed(name, host); !hint.empty()) {
    message += hint;
  } else if (is_pattern(name)) {
    message = fmt::format("nothing here matches {}", name);
  } else if (const auto near = base::nearest(name, known)) {
    message += fmt::format("; did you mean {}?", *near);
  }
  return refuse(context, {base::Code::kNotFound, message, 0});
}

/// Names of the words; nothing when a word means nothing, which is then in `missing`.
std::optional<Wanted> wanted_of(const std::vector<std::string>& words, const HostView& host,
                                const std::vector<model::ResourceReport>& resources, std::string& missing) {
  Wanted wanted;
  const auto all = names_in(host, resources);
  for (const auto& word : words) {
    const auto& topics = show_topics();
    if (std::find(topics.begin(), topics.end(), word) != topics.end()) {
      if (!wanted.has(word)) wanted.topics.push_back(word);
      continue;
    }
    std::set<std::string> names;
    if (is_pattern(word)) {
      for (const auto& name : all) {
        if (base::matches_glob(word, name)) names.insert(name);
      }
    }
    auto view = host;
    auto left = resources;
    if (names.empty() && narrow({word}, view, left)) names.insert(word);
    if (names.empty()) {
      missing = word;
      return std::nullopt;
    }
    wanted.names.insert(wanted.names.end(), names.begin(), names.end());
  }
  return wanted;
}

/// -o name: the names of things, one a line.
void print_names(const Context& context, const Wanted& wanted, const HostView& host,
                 const std::vector<model::ResourceReport>& resources) {
  std::vector<std::string> names;
  const auto wants = [&](std::string_view topic) {
    return !context.arguments.show.differs && (wanted.topics.empty() || wanted.has(topic));
  };
  for (const auto& device : host.devices) {
    if (wants("devices")) names.push_back(device.device->name);
    if (!wants("ports") && !wants("pkeys") && !wants("gids") && !wants("counters")) continue;
    for (const auto& port : device.ports) names.push_back(port.name());
  }
  for (const auto& interface : host.interfaces) {
    if (wants("ipoib")) names.push_back(interface.link->name);
  }
  if (wanted.has("resources") || context.arguments.show.differs) {
    for (const auto& resource : resources)
      names.push_back(resource.label.empty() ? resource.key.id : resource.label);
  }
  std::set<std::string> said;
  for (const auto& name : names) {
    if (said.insert(name).second) context.environment.out << clean(name, context.out.utf8) << '\n';
  }
}

bool has_counters(const HostView& host) {
  return std::any_of(host.devices.begin(), host.devices.end(), [](const DeviceView& device) {
    return !device.counters.empty() ||
           std::any_of(device.ports.begin(), device.ports.end(),
                       [](const PortView& port) { return !port.counters.empty(); });
  });
}

void print(const Context& context, const Wanted& wanted, const HostView& host,
           const HostStatus& host_status) {
  const auto& report = host_status.report;
  const auto& look = context.out;
  const auto rows = context.arguments.wide ? Rows::kAll : Rows::kFolded;
  bool left_out = false;
  std::string text;
  if (context.arguments.show.differs) {
    text = render_conformity(report.resources, look);
    if (text.empty() && !report.error && host_status.document) context.say("everything matches the document");
  } else if (!wanted.topics.empty()) {
    for (const auto& topic : wanted.topics) {
      const auto part = render_topic(topic, host, report.resources, look, &left_out, rows);
      if (part.empty())
        context.say(topic == "counters" && has_counters(host) ? "all counters are 0; --wide shows them"
                                                              : fmt::format("no {} here", topic));
      if (!text.empty() && !part.empty()) text += '\n';
      text += part;
    }
  } else {
    text = wanted.names.empty() ? render_host(host, look, &left_out, rows) : render_details(host, look);
    const auto conformity = render_conformity(report.resources, look);
    if (!text.empty() && !conformity.empty()) text += '\n';
    text += conformity;
  }
  context.environment.out << text;
  if (context.offline()) {
    context.say(fmt::format("devices and interfaces are not read below {}", context.arguments.root));
  } else if (host.devices.empty() && host.interfaces.empty() && wanted.topics.empty() &&
             !context.arguments.show.differs) {
    context.say(
        "no RDMA device and no IPoIB interface on this host (is the driver loaded? `lspci` and `modprobe` "
        "help)");
  }
  if (left_out)
    context.say("some columns are hidden (terminal too narrow); --wide, `show NAME` and --json show all");
  for (const auto& note : report.notes) context.say(note.text);
}

}  // namespace

int show(const Context& context) {
  if (context.arguments.show.document) return show_document(context);
  const auto host = context.environment.host(context.root());
  auto world = kinds::World::observe(*host);
  if (!world) return refuse(context, world.error().in("reading the host"));
  auto view = view_of(*world);
  const auto& words = context.arguments.words;
  if (std::find(words.begin(), words.end(), "counters") != words.end()) add_counters(view, *world);
  auto host_status = host_status_of(context, *host);
  auto& report = host_status.report;
  if (host_status.document) tell(context, *host_status.document, report.diagnostics);
  if (host_status.applied_state) {
    for (auto& note : core::notes_of(*host_status.applied_state)) report.notes.push_back(std::move(note));
  }
  const auto sections = host_status.document ? host_status.document->sections : std::vector<model::Section>();
  view.facts = facts_of(*world, report.resources, sections);
  // Conformity is information here: a difference is not a failure to show it.
  if (report.exit != model::Exit::kError) report.exit = model::Exit::kOk;
  std::string missing;
  const auto wanted = wanted_of(context.arguments.words, view, report.resources, missing);
  if (!wanted) return unknown(context, missing, view, report.resources);
  if (!wanted->names.empty()) (void)narrow(wanted->names, view, report.resources);
  if (context.arguments.show.differs) {
    std::erase_if(report.resources, [](const auto& resource) {
      return resource.status == Status::kInSync || resource.status == Status::kForeign ||
             resource.status == Status::kIgnored || resource.status == Status::kReleased ||
             resource.status == Status::kDone;
    });
  }
  const int status = status_of(context, report.exit);
  if (context.arguments.json) {
    emit(context, to_json(view, report, status));
    return status;
  }
  if (context.arguments.names) {
    print_names(context, *wanted, view, report.resources);
    return status;
  }
  print(context, *wanted, view, host_status);
  if (report.error) context.say_error(report.error->message);
  return status;
}

}  // namespace rdmacfg::ctl
