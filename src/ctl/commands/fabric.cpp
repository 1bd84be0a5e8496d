// SPDX-License-Identifier: Apache-2.0
// The InfiniBand fabric behind a local port: as tables, a tree, JSON or a drawing, and compared with an
// earlier one and with the cables of a document.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <string_view>

#include "base/regular_file.hpp"
#include "base/text.hpp"
#include "catalog/all.hpp"
#include "core/guards/plausibility.hpp"
#include "ctl/command.hpp"
#include "ctl/fabric/fabric_json.hpp"
#include "ctl/fabric/render_fabric.hpp"
#include "ctl/json.hpp"
#include "ctl/render/progress.hpp"
#include "ctl/render/render_report.hpp"
#include "fabric/cables.hpp"
#include "fabric/draw.hpp"
#include "fabric/limits.hpp"
#include "system/fabric_reader.hpp"

namespace rdmacfg::ctl {

namespace {

using base::Code;
using base::fail;
using base::Result;
using model::Exit;

/// How parts begin that were not read, but are not of the fabric that was looked at.
constexpr std::string_view kOwnCables = "the cables of the document", kOfSaved = "in the saved fabric";

/// The words behind the subcommand.
Result<std::set<std::string>> fabric_topics(const Context& context) {
  std::set<std::string> out;
  std::vector<std::string> known(kFabricTopics.begin(), kFabricTopics.end());
  for (const auto& word : context.arguments.words) {
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      if (word.ends_with(".svg"))
        return fail(Code::kInvalid, fmt::format("fabric has no topic {0}; a drawing goes to stdout: "
                                                "rdma-configctl fabric -o svg > {0}",
                                                word));
      const auto near = base::nearest(word, known);
      return fail(Code::kInvalid, fmt::format("fabric has no topic {}; {}", word,
                                              near ? fmt::format("did you mean {}?", *near)
                                                   : fmt::format("there are {}", base::join(known, ", "))));
    }
    out.insert(word);
  }
  return out;
}

/// The text of --compare; an error names the option.
Result<std::string> read_saved(const std::string& path) {
  auto text = base::read_regular_file(path, fabric::limits::kFabricFileBytes);
  if (text) return text;
  switch (text.error().sys_errno) {
    case EISDIR:
      return fail(Code::kInvalid, "--compare: " + path + ": is a directory");
    case EFBIG:
      return fail(Code::kInvalid, fmt::format("--compare {}: has more than {} bytes", path,
                                              fabric::limits::kFabricFileBytes));
    default:
      return fail(text.error().in(path).in("--compare"));
  }
}

/// How the fabric should be.
struct Expected {
  std::optional<fabric::Fabric> saved;
  std::vector<fabric::Cable> cables;
  bool names_cables = false;       ///< --cables or --config is given
  std::string not_read;            ///< the cables of the host's own document, and why they are not compared
  model::Diagnostics diagnostics;  ///< of the file of --cables or --config

  [[nodiscard]] bool is_given() const { return saved || names_cables || !cables.empty(); }
};

/// The document of --cables: one with cables alone, or that of a host.
Result<config::Document> read_cable_file(const Context& context) {
  config::Source source;
  source.file = context.arguments.fabric.cables;
  source.host = host_name(context);
  auto texts = config::read_files(source);
  if (!texts) return fail(texts.error());
  auto document = config::parse_texts(std::move(*texts), source.host, kinds::grammar());
  core::require_version(document);
  return document;
}

/// The cables of --cables or --config.
Result<void> read_named_cables(const Context& context, Expected& out) {
  const auto& arguments = context.arguments;
  const bool own_file = !arguments.fabric.cables.empty();
  auto document = own_file ? read_cable_file(context) : load(context);
  if (!document) return fail(document.error().in(own_file ? "--cables" : "--config"));
  auto& diagnostics = document->diagnostics;
  if (!model::has_errors(diagnostics)) fabric::check_cable_entries(document->sections, diagnostics);
  tell(context, *document, diagnostics);
  out.diagnostics = diagnostics;
  const auto error = std::find_if(diagnostics.begin(), diagnostics.end(), [](const auto& diagnostic) {
    return diagnostic.severity == model::Severity::kError;
  });
  if (error != diagnostics.end()) {
    const auto place = own_file ? "--cables " + arguments.fabric.cables : std::string("--config");
    return fail(Code::kInvalid, fmt::format("{}: has errors: {}", place, error->message));
  }
  out.cables = fabric::cables_of(document->sections);
  if (!out.cables.empty()) return {};
  const auto files = own_file ? arguments.fabric.cables : base::join(arguments.config, ", ");
  return fail(Code::kInvalid,
              fmt::format("{}: {} has no [[cable]] entry; add the cables to compare, or leave "
                          "the option out",
                          own_file ? "--cables" : "--config", files));
}

/// The cables of the host's own document. The fabric can be looked at without them: where they cannot be
/// read, they are named as a part that is missing.
void read_own_cables(const Context& context, Expected& out) {
  auto document = load(context);
  if (!document) {
    if (document.error().code != Code::kNotFound)
      out.not_read = fmt::format("{}: {}", kOwnCables, document.error().message);
    return;
  }
  const auto& sections = document->sections;
  const bool has_cables = std::any_of(sections.begin(), sections.end(),
                                      [](const auto& section) { return section.path == "cable"; });
  if (document->whole && !has_cables) return;
  auto& diagnostics = document->diagnostics;
  if (!model::has_errors(diagnostics)) fabric::check_cable_entries(sections, diagnostics);
  if (model::has_errors(diagnostics)) {
    out.not_read = fmt::format("{}, which has errors that `rdma-configctl validate` lists", kOwnCables);
    return;
  }
  out.cables = fabric::cables_of(sections);
}

/// Whether the whole fabric is shown for itself. A part, the names, the tree, drawings, a comparison with a
/// saved fabric and cleared counters are compared with what an option names, but not with the host's own
/// document, which would change their exit statuses.
bool shows_all(const Arguments& arguments) {
  return arguments.words.empty() && !arguments.fabric.tree && !arguments.names &&
         arguments.fabric.drawing.empty() && arguments.fabric.compare.empty() &&
         arguments.fabric.clear_counters.empty();
}

/// Reads the files before the fabric is looked at: a mistake in them is known at once.
Result<Expected> read_expected(const Context& context) {
  const auto& arguments = context.arguments;
  Expected out;
  if (!arguments.fabric.compare.empty()) {
    const auto text = read_saved(arguments.fabric.compare);
    if (!text) return fail(text.error());
    auto saved = parse_fabric(*text);
    if (!saved) return fail(saved.error().in("--compare " + arguments.fabric.compare));
    out.saved = std::move(*saved);
  }
  out.names_cables = !arguments.fabric.cables.empty() || !arguments.config.empty();
  if (out.names_cables) {
    if (const auto done = read_named_cables(context, out); !done) return fail(done.error());
  } else if (shows_all(arguments)) {
    read_own_cables(context, out);
  }
  return out;
}

bool has_counters(const fabric::Fabric& fabric) {
  return std::any_of(fabric.nodes.begin(), fabric.nodes.end(), [](const fabric::Node& node) {
    return std::any_of(node.ports.begin(), node.ports.end(),
                       [](const fabric::Port& port) { return port.counters.has_value(); });
  });
}

Result<system::FabricRequest> fabric_request_of(const Arguments& arguments,
                                                const std::set<std::string>& topics,
                                                const Expected& expected) {
  system::FabricRequest request;
  request.counters = topics.contains("counters") || !arguments.fabric.clear_counters.empty() ||
                     (expected.saved && has_counters(*expected.saved));
  request.targets = topics.contains("targets");
  request.port = arguments.fabric.from;
  if (arguments.timeout) request.timeout = std::chrono::seconds(*arguments.timeout);
  if (!arguments.fabric.route.empty()) {
    const auto guid = model::Guid::parse(arguments.fabric.route);
    if (!guid) return fail(guid.error().in("--route"));
    request.route_to = guid->number;
  }
  return request;
}

/// Names the parts that were not read of the saved fabric: those are not compared, or look new.
void add_missing_of_saved(const fabric::Fabric& saved, std::vector<std::string>& missing) {
  for (const auto& part : saved.missing) {
    if (!part.starts_with(kOwnCables) && !part.starts_with(kOfSaved))
      missing.push_back(fmt::format("{}: {}", kOfSaved, part));
  }
}

Result<FabricView> look(const Context& context, const system::FabricRequest& request,
                        const Expected& expected) {
  const auto reader = context.environment.fabric_reader();
  if (reader == nullptr) return fail(Code::kUnsupported, "this build has no fabric support");
  const bool shows = !context.arguments.json && !context.arguments.quiet && context.environment.err_terminal;
  std::optional<Progress> progress;
  if (shows) progress.emplace(context.environment, context.err);
  auto fabric = reader->read(request, [&](std::size_t done, std::size_t total, const std::string& what) {
    if (progress) progress->step(0, 0, total == 0 ? what : fmt::format("{}, {} of {}", what, done, total));
  });
  if (!fabric) return fail(fabric.error());
  FabricView view{std::move(*fabric), {}, {}};
  view.findings = fabric::findings_of(view.fabric);
  if (expected.saved) view.differences = fabric::compare(*expected.saved, view.fabric);
  auto cables = fabric::check_cables(view.fabric, expected.cables);
  std::move(cables.begin(), cables.end(), std::back_inserter(view.differences));
  if (expected.saved) add_missing_of_saved(*expected.saved, view.fabric.missing);
  if (!expected.not_read.empty()) view.fabric.missing.push_back(expected.not_read);
  return view;
}

/// The ports that --clear-counters names; of a node all whose counters were read.
Result<std::vector<system::CounterPlace>> places_of(const fabric::Fabric& fabric, const std::string& wanted) {
  const fabric::Index index(fabric);
  std::vector<system::CounterPlace> out;
  const auto add = [&](const fabric::Node& node, int only) {
    for (const auto& port : node.ports) {
      if (!port.counters || (only != 0 && port.number != only)) continue;
      const auto* owner = node.type == fabric::NodeType::kSwitch ? node.port(0) : &port;
      if (owner != nullptr && owner->lid != 0) out.push_back({{node.guid, port.number}, owner->lid});
    }
  };
  const auto refused = [&](const std::string& why) {
    return fail(Code::kNotFound, fmt::format("--clear-counters {}: {}", wanted, why));
  };
  if (wanted == "all") {
    for (const auto& node : fabric.nodes) add(node, 0);
  } else if (const auto nodes = index.called(wanted); !nodes.empty()) {
    if (nodes.size() > 1) return refused("is the name of several nodes; use the GUID");
    add(*nodes.front(), 0);
  } else {
    std::string why;
    const auto end = index.called_port(wanted, why);
    if (!end) return refused(wanted.find('/') == std::string::npos ? "is not in the fabric" : why);
    add(*index.node(end->node), end->port);
  }
  if (out.empty()) return refused("no counters could be read there");
  return out;
}

/// Clears what was asked for, behind the look at it. @return what to tell
Result<std::string> clear(const Context& context, const system::FabricRequest& request, FabricView& view) {
  const auto places = places_of(view.fabric, context.arguments.fabric.clear_counters);
  if (!places) return fail(places.error());
  const auto silent = context.environment.fabric_reader()->clear_counters(request, *places);
  if (!silent) return fail(silent.error().in("clearing counters"));
  const fabric::Index index(view.fabric);
  for (const auto& end : *silent) view.not_cleared.push_back(fmt::format("{}: no answer", index.name(end)));
  return fmt::format("the error counters of {} are 0 now", count(places->size() - silent->size(), "port"));
}

Exit exit_of(const FabricView& view) {
  if (!view.differences.empty()) return Exit::kDiffers;
  if (view.fabric.route && !view.fabric.route->broken.empty()) return Exit::kDiffers;
  return view.fabric.missing.empty() && view.not_cleared.empty() ? Exit::kOk : Exit::kPartly;
}

void print_fabric(const Context& context, const FabricView& view, const std::set<std::string>& topics,
                  bool compared) {
  const auto& arguments = context.arguments;
  auto& out = context.environment.out;
  if (arguments.fabric.drawing == "dot") {
    out << fabric::draw_dot(view.fabric);
  } else if (arguments.fabric.drawing == "svg") {
    out << fabric::draw_svg(view.fabric);
  } else if (arguments.names) {
    out << fabric_names(view, topics);
  } else if (arguments.fabric.tree) {
    std::string text;
    const auto tree = fabric::draw_tree(view.fabric, {.utf8 = context.out.utf8, .wide = arguments.wide});
    for (const auto line : base::split(tree, '\n')) text += clean(line, context.out.utf8) + '\n';
    out << text.substr(0, text.size() - 1);
  } else {
    bool left_out = false;
    out << render_fabric(view, topics, arguments.wide, context.out, &left_out);
    if (left_out) context.say("some columns are hidden (terminal too narrow); --wide shows them");
    if (topics.contains("counters") && !arguments.wide && has_counters(view.fabric) &&
        fabric::ports_with_errors(view.fabric) == 0)
      context.say("no port has counted an error");
    if (view.fabric.targets && view.fabric.targets->empty()) context.say("no port offers an SRP target");
    if (compared)
      context.say(view.differences.empty() ? "everything is as expected"
                                           : fmt::format("{} from what is expected",
                                                         count(view.differences.size(), "difference")));
  }
  for (const auto& part : view.fabric.missing) context.say_error("not read: " + part);
  for (const auto& port : view.not_cleared) context.say_error("not cleared: " + port);
}

}  // namespace

int show_fabric(const Context& context) {
  const auto& arguments = context.arguments;
  if (context.offline())
    return refuse(
        context,
        {Code::kInvalid, "fabric cannot be combined with --root: it uses a port of the running system", 0});
  if (!arguments.config.empty() && !arguments.fabric.cables.empty())
    return refuse(
        context,
        {Code::kInvalid, "--cables and --config cannot be combined: both name the file with the cables", 0});
  const auto topics = fabric_topics(context);
  if (!topics) return refuse(context, topics.error());
  const auto expected = read_expected(context);
  if (!expected) return refuse(context, expected.error());
  const auto request = fabric_request_of(arguments, *topics, *expected);
  if (!request) return refuse(context, request.error());
  auto view = look(context, *request, *expected);
  if (!view) return refuse(context, view.error());
  std::string cleared;
  if (!arguments.fabric.clear_counters.empty()) {
    auto done = clear(context, *request, *view);
    if (!done) return refuse(context, done.error());
    cleared = std::move(*done);
  }
  model::Report report;
  report.exit = exit_of(*view);
  report.diagnostics = expected->diagnostics;
  const int status = status_of(context, report.exit);
  if (arguments.json) {
    auto json = head(kFabricSchema, "fabric", report, status);
    add_fabric(json, *view);
    emit(context, std::move(json));
  } else {
    print_fabric(context, *view,
                 topics->empty() && !cleared.empty() ? std::set<std::string>{"counters"} : *topics,
                 expected->is_given());
    if (!cleared.empty()) context.say(cleared);
  }
  return status;
}

}  // namespace rdmacfg::ctl
