// SPDX-License-Identifier: Apache-2.0
// Shared parts of the subcommands: the arguments as parsed, and the way from them to a document and to the
// output.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/document.hpp"
#include "core/pipeline.hpp"
#include "ctl/environment.hpp"
#include "ctl/render/terminal.hpp"
#include "model/report.hpp"

namespace rdmacfg::ctl {

/// The command line.
struct Arguments {
  std::string command;  ///< name of the subcommand
  /// --config and FILE: exactly these files, merged in their order; empty: the system's own.
  std::vector<std::string> config;
  std::string root;                      ///< --root; empty: the running system
  std::string host;                      ///< --host FILE; empty: this one, not that of a report
  std::string seen_by;                   ///< --host NAME: whose document it is; empty: this host's
  std::vector<std::string> words;        ///< what stands behind the subcommand
  std::optional<std::uint64_t> confirm;  ///< --confirm, seconds
  std::optional<std::uint64_t> timeout;  ///< wait-online --timeout, seconds
  bool json = false;                     ///< --json, -o json
  bool wide = false;                     ///< --wide, -o wide: no column is left out
  bool names = false;                    ///< -o name: only what things are called
  bool verbose = false;                  ///< -v
  bool quiet = false;                    ///< -q
  bool no_pager = false;
  bool pending_ok = false;
  bool no_colour = false;
  bool explain = false;
  bool yes = false;
  bool dry_run = false;
  bool local = false;  ///< without the daemon
  std::string output;  ///< import, export, metrics

  // Of one subcommand each.
  struct {
    bool differs = false;
    bool document = false;
  } show;
  struct {
    std::optional<double> wait;  ///< --wait, seconds
    bool boot = false;
    bool retry = false;
    bool install = false;
    bool allow_removal = false;
    std::vector<std::string> only;
    std::optional<std::set<model::Key>> selected;  ///< what `only` means, once it is known
  } apply;
  struct {
    bool unset = false;
  } set;
  struct {
    std::optional<std::uint64_t> generation;  ///< N
    bool expired = false;
  } rollback;
  struct {
    bool features = false;  ///< for Node Feature Discovery
  } metrics;
  struct {
    std::string report;  ///< the file to write
  } doctor;
  struct {
    bool server = false;
    bool once = false;
    std::string client;
    std::string mad;
    std::string from;
    std::string interface;  ///< --ipoib
    std::string to;
    int count = 5;
    int service = 20049;
  } verify;
  struct {
    bool tree = false;
    std::string compare;
    std::string cables;
    std::string clear_counters;  ///< a port, a node, or "all"
    std::string route;
    std::string from;
    std::string drawing;  ///< -o dot, -o svg
  } fabric;
  struct {
    std::string name_template;
    bool adopt = false;
  } imported;  ///< `import` has a meaning of its own in C++
  struct {
    std::string hosts;  ///< a list of hosts, or a file with one
    std::string by;     ///< of report: a pattern with {group}, or the file of a grouping
  } fleet;
};

/// One run of a subcommand.
struct Context {
  Environment& environment;
  Arguments arguments;
  Terminal out;
  Terminal err;

  [[nodiscard]] bool offline() const { return !arguments.root.empty(); }
  [[nodiscard]] std::filesystem::path root() const { return offline() ? arguments.root : "/"; }
  /// A text for people, with --root in front of the system files that it names.
  [[nodiscard]] std::string placed(std::string_view text) const;
  /// "rdma-configctl: error: …" to stderr.
  void say_error(std::string_view text) const;
  /// A line that is not data, to stderr; nothing with --quiet.
  void say(std::string_view text) const;
  /// The same with words of a file behind it, which stay as they are.
  void say(std::string_view text, std::string_view quoted) const;
  /// With --quiet, the line that says why an apply ends in 5: quiet leaves out the plan, not the reason.
  void say_open(const model::Report& report) const;
  /// Whether the host is that of a report.
  [[nodiscard]] bool replayed() const { return !arguments.host.empty(); }
  /// Whether the document is the system's own, not one of the command line.
  [[nodiscard]] bool own_document() const { return arguments.config.empty() && !offline(); }
};

/// The name that [match] compares: this host's, or below --root the image's; empty when it has none.
std::string host_name(const Context& context);

/// Parses texts as the document of this host, with what is doubtful about them; a main file without a version
/// is an error.
config::Document parse_document(std::vector<config::Text> texts, const std::string& host);

/// Reads and parses the document; fails when there is none or it cannot be read.
base::Result<config::Document> load(const Context& context);

/// Tables of values that a document names: the lines for this host, or all.
enum class ValueTables { kOfThisHost, kWhole };

/// The files of it.
base::Result<std::vector<config::Text>> load_texts(const Context& context,
                                                   ValueTables tables = ValueTables::kOfThisHost);

/// Diagnostics to stderr; nothing with --json, where they are in the object.
void tell(const Context& context, const config::Document& document, const model::Diagnostics& diagnostics);

/// Files as `systemctl cat` prints them, each with its name in front.
void print_texts(const Context& context, const std::vector<config::Text>& texts);

/// The one JSON object on stdout.
void emit(const Context& context, nlohmann::ordered_json json);

/// The exit status, as --pending-ok wants it.
int status_of(const Context& context, model::Exit exit);

/// The same of a report: an unmet expectation stays, as nothing but a person makes it right.
int status_of(const Context& context, const model::Report& report);

/// Ends with an error before anything was done: to stderr, or as a report in JSON.
int refuse(const Context& context, const base::Error& error);

/// A report that says only that `document` has errors.
model::Report report_of(const config::Document& document);

/// A report of an image with --root in front of the system files that it names.
model::Report placed(const Context& context, model::Report report);

/// The diagnostics of the document by itself and those of its check against the host, each once.
model::Diagnostics together(const config::Document& document, const model::Report& report);

core::Options options_of(const Context& context);

// The subcommands; each returns the exit status.
int show(const Context& context);
int diff(const Context& context);
int apply(const Context& context);
int status(const Context& context);
int metrics(const Context& context);
int reload(const Context& context);
int edit(const Context& context);
int get(const Context& context);
int set(const Context& context);
int monitor(const Context& context);
int confirm(const Context& context);
int rollback(const Context& context);
int history(const Context& context);
int withdraw(const Context& context);
int wait_online(const Context& context);
int validate(const Context& context);
int doctor(const Context& context);
int verify(const Context& context);
int show_fabric(const Context& context);
int import_from(const Context& context);
int export_to(const Context& context);
int fleet(const Context& context);
int schema(const Context& context);
int reference(const Context& context);

}  // namespace rdmacfg::ctl
