// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/text.hpp"
#include "ctl/command.hpp"
#include "ctl/json.hpp"
#include "ctl/render_host.hpp"

namespace rdmacfg::ctl {

namespace {

/// How the host stands to the document; a host without one has nothing to conform to, and that is no error.
/// `sections`: the document's, where there is one.
model::Report conformity(const Context& context, system::Host& host, std::vector<model::Section>& sections) {
  auto document = load(context);
  if (!document) {
    model::Report report;
    if (document.error().code == base::Code::kNotFound && context.arguments.config.empty()) {
      report.notes.push_back(document.error().message);
    } else {
      report.error = document.error();
      report.exit = model::Exit::kError;
    }
    return report;
  }
  auto report = model::has_errors(document->diagnostics)
                    ? report_of(*document)
                    : placed(context, core::diff(*document, host, options_of(context)));
  report.diagnostics = together(*document, report);
  sections = document->sections;
  tell(context, *document, report.diagnostics);
  return report;
}

int unknown(const Context& context, const HostView& host,
            const std::vector<model::ResourceReport>& resources) {
  const auto& name = context.arguments.object;
  auto message = fmt::format("nothing here is called {}", name);
  if (const auto near = base::nearest(name, names_in(host, resources)))
    message += fmt::format("; did you mean {}?", *near);
  return refuse(context, {base::Code::kNotFound, message, 0});
}

void print(const Context& context, const HostView& host, const model::Report& report) {
  const auto& look = context.out;
  bool left_out = false;
  auto text =
      context.arguments.object.empty() ? render_host(host, look, &left_out) : render_details(host, look);
  const auto conformity = render_conformity(report.resources, look);
  if (!text.empty() && !conformity.empty()) text += '\n';
  context.environment.out << text << conformity;
  if (context.offline()) {
    context.say(fmt::format("devices and interfaces are not looked at below {}", context.arguments.root));
  } else if (host.devices.empty() && host.interfaces.empty()) {
    context.say(
        "no RDMA device and no IPoIB interface on this host (is the driver loaded? `lspci` and `modprobe` "
        "help)");
  }
  if (left_out) context.say("columns are left out for want of width; `show NAME` and --json have them all");
  for (const auto& note : report.notes) context.say(note);
}

}  // namespace

int show(const Context& context) {
  const auto host = context.environment.host(context.root());
  auto world = kinds::World::observe(*host);
  if (!world) return refuse(context, world.error().in("looking at the host"));
  auto view = view_of(*world);
  std::vector<model::Section> sections;
  auto report = conformity(context, *host, sections);
  view.facts = facts_of(*world, report.resources, sections);
  // Conformity is information here: what differs is no failure of showing it.
  if (report.exit != model::Exit::kError) report.exit = model::Exit::kOk;
  if (!context.arguments.object.empty()) {
    const auto all = view;
    const auto resources = report.resources;
    if (!narrow(context.arguments.object, view, report.resources)) return unknown(context, all, resources);
  }
  const int status = status_of(context, report.exit);
  if (context.arguments.json) {
    emit(context, to_json(view, report, status));
    return status;
  }
  print(context, view, report);
  if (report.error) context.say_error(report.error->message);
  return status;
}

}  // namespace rdmacfg::ctl
