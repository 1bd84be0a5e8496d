// SPDX-License-Identifier: Apache-2.0
// Shell scripts that set IPoIB interfaces up: rc.local, dispatchers of NetworkManager and networkd, hooks of
// ifupdown. Commands for an interface by its name are read; others that touch IPoIB are named.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "base/text.hpp"
#include "foreign/import/boot/script_interfaces.hpp"
#include "foreign/import/boot/script_modules.hpp"
#include "foreign/import/boot/script_sections.hpp"
#include "foreign/import/formats.hpp"
#include "foreign/import/managers/ifupdown_hooks.hpp"
#include "foreign/import/rdma/interface_users.hpp"
#include "foreign/inet.hpp"
#include "foreign/keys.hpp"
#include "foreign/syntax/crontab_lines.hpp"
#include "foreign/syntax/shell_blocks.hpp"
#include "foreign/syntax/shell_line.hpp"
#include "foreign/syntax/shell_script.hpp"
#include "foreign/syntax/unit_lines.hpp"
#include "formats/storage/iser_unit.hpp"
#include "model/types/inet_types.hpp"

namespace rdmacfg::foreign {

namespace {

/// Whether a hook's argument has this value when it runs for an interface of ours that comes up.
bool is_up_or_ours(std::string_view value, const Claims& claims) {
  constexpr auto kEvents = std::to_array<std::string_view>(
      {"up", "pre-up", "post-up", "start", "routable", "configured", "carrier"});
  return std::find(kEvents.begin(), kEvents.end(), value) != kEvents.end() ||
         (claims.knows(value) && !is_pattern(value));
}

/// Whether `import opensm` or `import srp` reads the drop-ins of this unit.
bool has_own_importer(std::string_view unit) {
  return unit.starts_with("opensm@") || unit == "srp_daemon.service" || unit.starts_with("srp_daemon_port@");
}

class ImportedScript {
 public:
  explicit ImportedScript(Claims& claims)
      : claims_(claims),
        blocks_([&claims](std::string_view value) { return is_up_or_ours(value, claims); }) {}

  using Line = ScriptLine;

  /// Before the first line of a script.
  void begin(std::span<const Line> lines) {
    find_calls(lines);
    blocks_.begin();
    end_ = Ending::kOpen;
    text_end_.clear();
    variables_.clear();
    modules_.clear();
    // Twice: a hook may keep its interface before it names one of ours.
    for (int again = 0; again < 2; ++again) {
      for (const auto& line : lines) {
        note_variables(line.text, claims_, variables_);
        note_modules(line.text, modules_);
      }
    }
  }

  void line(const Line& line, const std::string& file) {
    const std::string_view text = line.text;
    const Place where{file, line.number};
    again_ = line.again;
    if (end_ != Ending::kOpen) {
      if (end_ == Ending::kReached) claims_.pass(where, "after exit: no line from here on runs");
      end_ = Ending::kTold;
      return;
    }
    // A text is another script, or none: who reads it nobody knows.
    const bool within = !text_end_.empty();
    if (within && text == text_end_) return text_end_.clear();
    if (!within) {
      text_end_ = end_of_text(text);
      text_from_ = where.line;
      batch_.reset();
      if (!line.again) tell_variables_of_users(where, text.substr(0, text.find(" #")), claims_);
    }
    for (const auto& part : parts_of(text)) {
      if (within) {
        take_text(part.text, where);
        continue;
      }
      const auto command = blocks_.next(part, where.line);
      if (command.ends) {
        end_ = Ending::kReached;
        return;
      }
      if (!text_end_.empty() && is_ip_batch(shell_words(command.text, ""))) batch_ = command.condition();
      if (!command.text.empty() && !command.test && !take(command, where)) blocks_.warn_of_implausible();
    }
  }

  /// The commands that a service of systemd starts, if it is enabled.
  void unit(const File& file) {
    for (const auto& [line, number, again] : lines_of_unit(file.text)) {
      const auto equals = line.find('=');
      if (line.starts_with("Environment=") && !again)
        tell_variables_of_users({file.path, number}, std::string_view(line).substr(equals + 1), claims_);
      if (!line.starts_with("ExecStart") || equals == std::string::npos) continue;
      auto text = base::trim(std::string_view(line).substr(equals + 1));
      text.remove_prefix(std::min(text.find_first_not_of("-@:+!"), text.size()));
      ShellCommand command;
      command.text = text;
      command.block = "runs only where this service is started";
      if (!text.empty()) take(command, {file.path, number});
    }
  }

  /// The commands of crontab(5), of which those at boot run as in a script.
  void crontab(const File& file) {
    variables_.clear();
    modules_.clear();
    batch_.reset();
    again_ = false;
    for (const auto& line : lines_of_crontab(file.path, file.text)) {
      ShellCommand command;
      command.text = line.command;
      if (!line.at_boot) command.block = "runs only when cron starts it";
      const Place where{file.path, line.number};
      if (script_of_shell(command.text).empty()) {
        take_script(command.text, command, where);
      } else {
        take(command, where);
      }
    }
  }

  void finish() {
    late_ = true;
    for (const auto& line : std::exchange(waiting_, {})) {
      again_ = line.again;
      ShellCommand command;
      command.text = line.text;
      command.block = line.condition;
      take(command, line.where);
    }
    for (auto& [name, interface] : found_) {
      if (interface.guid && name == interface.guid->text()) interface.name.clear();
      settle(interface);
      claims_.interfaces.push_back(std::move(interface));
    }
  }

 private:
  /// The functions that a script calls in any case, by itself or in one another.
  void find_calls(std::span<const Line> lines) {
    constexpr int kMostDepth = 8;
    blocks_.set_called({});
    for (int depth = 0; depth < kMostDepth; ++depth) {
      auto called = calls_in(lines);
      if (called == blocks_.called()) return;
      blocks_.set_called(std::move(called));
    }
  }

  /// A line of a here-document: a command of ip(8) where that reads it, else text.
  void take_text(std::string_view text, const Place& where) {
    ShellCommand command;
    const auto of_ip = fmt::format("ip {}", text);
    command.text = batch_ ? std::string_view(of_ip) : text;
    command.block =
        batch_ ? *batch_ : fmt::format("is in a here-document that begins in line {}", text_from_);
    take(command, where);
  }

  void took(const Place& where) {
    if (!again_) claims_.took(where);
  }

  ShellBlocks::Names calls_in(std::span<const Line> lines) {
    ShellBlocks::Names first_words, called;
    std::string text_end;
    blocks_.begin();
    for (const auto& line : lines) {
      if (!text_end.empty()) {
        if (line.text == text_end) text_end.clear();
        continue;
      }
      text_end = end_of_text(line.text);
      bool ends = false;
      for (const auto& part : parts_of(line.text)) {
        const auto command = blocks_.next(part, line.number);
        ends = ends || command.ends;
        const auto words = words_of(command.text);
        if (words.empty()) continue;
        if (command.condition().empty()) first_words.emplace(words.front());
        const bool sets = words.front() == "ip" || words.front() == "modprobe" || words.front() == "ifconfig";
        if (!command.test && !sets) blocks_.warn_of_implausible();
      }
      if (ends) break;
    }
    for (const auto& name : first_words) {
      if (blocks_.functions().contains(name)) called.insert(name);
    }
    return called;
  }

  /// The commands of `sh -c`, which run where it does.
  bool take_script(std::string_view script, const ShellCommand& command, const Place& where) {
    ShellBlocks blocks([this](std::string_view value) { return is_up_or_ours(value, claims_); });
    blocks.begin();
    bool good = true;
    nested_ = true;
    for (const auto& part : parts_of(script)) {
      auto inner = blocks.next(part, where.line);
      if (inner.text.empty() || inner.test) continue;
      if (!command.condition().empty()) inner.block = command.condition();
      const bool taken = take(inner, where);
      if (!taken) blocks.warn_of_implausible();
      good = good && taken;
    }
    nested_ = false;
    return good;
  }

  /// @return whether it succeeds, as far as that is known
  bool take(const ShellCommand& command, const Place& where) {
    const auto text = without_substitution(command.text);
    if (const auto script = nested_ ? std::string_view() : script_of_shell(text); !script.empty())
      return take_script(script, command, where);
    const auto words = shell_words(text, "$IFACE");
    if (const auto there = elsewhere_of(words)) return elsewhere(*there, command, where);
    const bool elsewhere_read = is_ip_batch(words) && text.find("<<") == std::string_view::npos &&
                                !(batch_ && words.back() == "-");  // "cat <<EOF | ip -batch -"
    if (elsewhere_read) {
      claims_.miss(where,
                   fmt::format("{}: the commands of ip(8) are in another file, which is not read", text));
      return false;
    }
    auto name = interface_of(words);
    name.resize(std::min(name.find(':'), name.size()));  // "ib0:1" is a label of ib0
    const auto gateway = name.empty() ? gateway_of_route(words) : std::nullopt;
    if (gateway) {
      name = interface_to(*gateway, where);
      if (name.empty() && !late_) waiting_.push_back({std::string(text), command.condition(), where, again_});
    }
    const bool literal = !name.empty() && name.find_first_of("$`*?{") == std::string::npos;
    const bool ours = (gateway && !name.empty()) || touches_ipoib(text) || writes_mode(words) ||
                      (literal && claims_.knows(name)) || may_be_ipoib(name, variables_);
    if (!ours) return other(words, command, where);
    const auto miss = [&](std::string_view why) {
      claims_.miss(where, fmt::format("{}: {}", text, why));
      return false;
    };
    if (!literal && text.find("type ipoib") == std::string_view::npos)
      return miss(text.find_first_of("$`*?{") == std::string_view::npos
                      ? "the command is not supported"
                      : "the interfaces are known only when the script runs");
    if (const auto& condition = command.condition(); !condition.empty()) return miss(condition);
    if (const auto object = ip_object(words); object < words.size() && words[object] == "addr")
      return address(words, name, text, where);
    const bool fresh = literal && !found_.contains(name);
    if (literal) make(name, where);
    const auto why = take_hook({where, "up", std::string(text), name, model::Family::kIpv4}, found_);
    if (!why.empty()) {
      if (fresh) found_.erase(name);
      return miss(why);
    }
    took(where);
    return true;
  }

  /// The interface over which the kernel reaches a gateway, as far as the scripts have given that an address;
  /// empty: none. In the end also one that another file of the import gives such an address.
  [[nodiscard]] std::string interface_to(const model::IpAddress& gateway, const Place& where) {
    for (const auto& [name, interface] : found_) {
      if (has_in_network(interface, gateway)) return name;
    }
    if (!late_) return {};
    for (const auto& interface : claims_.interfaces) {
      const bool nameless = interface.name.empty() && (!interface.guid || interface.pkey);
      if (nameless || interface.broken || !has_in_network(interface, gateway)) continue;
      auto name = interface.name.empty() ? interface.guid->text() : interface.name;
      auto& own = make(name, where);
      if (interface.name.empty()) own.guid = interface.guid;
      if (!own.pkey && interface.pkey) {
        own.pkey = interface.pkey;
        own.parent = interface.parent;
        own.guid = interface.guid;
      }
      return name;
    }
    return {};
  }

  [[nodiscard]] std::string interface_of(const std::vector<std::string>& words) const {
    auto name = echoed_interface(words);
    return name.empty() ? set_interface(words, claims_, variables_) : name;
  }

  /// A command in another network namespace, where interfaces are others than the document's. A module is
  /// the kernel's all the same.
  bool elsewhere(const Elsewhere& there, const ShellCommand& command, const Place& where) {
    const auto& words = there.command;
    if (!words.empty() && words.front() == "modprobe") return other(words, command, where);
    const auto inner = base::join(words, " ");
    const bool ours = touches_ipoib(inner) || claims_.knows(interface_of(words)) ||
                      !script_advice(words, inner, claims_).empty();
    if (ours)
      claims_.miss(where,
                   fmt::format("{}: acts in the network namespace {}, which the document does not describe",
                               without_secrets(command.text), there.name));
    return false;
  }

  /// A command that is not for an IPoIB interface: modules are loaded, the rest is named where it is for
  /// RDMA.
  /// @return whether it succeeds, as far as that is known
  bool other(const std::vector<std::string>& words, const ShellCommand& command, const Place& where) {
    const auto text = command.text;
    const auto miss = [&](std::string_view why) {
      claims_.miss(where, fmt::format("{}: {}", without_secrets(text), why));
      return false;
    };
    if (const auto advice = script_advice(words, text, claims_); !advice.empty()) return miss(advice);
    if (is_rule_of_ours(words)) return miss("the document does not support policy rules; keep this command");
    if (words.empty()) return false;
    if (words.front() == "sleep" || words.front() == "true" || words.front() == ":") return true;
    if (words.size() < 2) return false;
    const bool of_modules =
        words.front() == "modprobe" || words.front() == "rmmod" || words.front() == "insmod";
    if (of_modules && std::any_of(words.begin() + 1, words.end(), [&](const std::string& word) {
          return is_module_variable(word, modules_);
        }))
      return miss("the modules are known only when the script runs");
    if (words.front() == "rmmod" || words.front() == "insmod") {
      const bool loads = words.front() == "insmod";
      if (std::none_of(words.begin() + 1, words.end(), is_module_of_rdma)) return false;
      return miss(loads ? "write [[module]]" : "the document does not unload modules");
    }
    return words.front() == "modprobe" && modprobe(words, command, where);
  }

  /// Whether it is an `ip rule add` for traffic from an address of an interface of ours.
  [[nodiscard]] bool is_rule_of_ours(const std::vector<std::string>& words) const {
    const auto source = source_of_rule(words);
    const auto has = [&](const Interface& interface) { return has_in_network(interface, *source); };
    return source &&
           (std::any_of(claims_.interfaces.begin(), claims_.interfaces.end(), has) ||
            std::any_of(found_.begin(), found_.end(), [&](const auto& own) { return has(own.second); }));
  }

  bool modprobe(const std::vector<std::string>& words, const ShellCommand& command, const Place& where) {
    const auto text = command.text;
    const auto call = modprobe_call_of(words);
    if (call.modules.empty()) return true;
    // Behind && and || stands whether it is loaded already.
    const auto why = call.why.empty() ? std::string(command.block) : call.why;
    if (!why.empty()) {
      claims_.miss(where, fmt::format("{}: {}", text, why));
      return false;
    }
    for (const auto& module : call.modules) claims_.entry("module", {{"name", loaded_for(module)}}, where);
    took(where);
    return true;
  }

  /// ip addr add ADDRESS dev INTERFACE
  bool address(const std::vector<std::string>& words, const std::string& name, std::string_view text,
               const Place& where) {
    const auto verb = std::find_if(words.begin(), words.end(), [](const std::string& word) {
      return word == "add" || word == "replace" || word == "change";
    });
    const bool peer = std::find(words.begin(), words.end(), "peer") != words.end();
    if (verb == words.end() || verb + 1 == words.end()) return true;
    if (peer) {
      claims_.miss(where, fmt::format("{}: the command is not supported", text));
      return false;
    }
    // Without a length it is an address of one host (get_prefix() of iproute2).
    const auto& word = *(verb + 1);
    const bool fresh = !found_.contains(name);
    const auto why = add_address(make(name, where), word, word.find(':') == std::string::npos ? 32 : 128);
    if (!why.empty()) {
      if (fresh) found_.erase(name);
      claims_.miss(where, why);
      return false;
    }
    took(where);
    return true;
  }

  Interface& make(const std::string& name, const Place& where) {
    auto& interface = found_[name];
    if (interface.name.empty()) {
      interface.name = name;
      interface.where = where;
      interface.passive = true;
    }
    return interface;
  }

  enum class Ending { kOpen, kReached, kTold };

  Claims& claims_;
  std::map<std::string, Interface, std::less<>> found_;
  ShellBlocks blocks_;
  Ending end_ = Ending::kOpen;
  InterfaceVariables variables_;
  ModuleVariables modules_;
  /// A route whose gateway no interface reaches that the scripts before it have given an address.
  struct Waiting {
    std::string text, condition;
    Place where;
    bool again = false;
  };
  std::vector<Waiting> waiting_;
  bool late_ = false;                 ///< all scripts were read
  bool nested_ = false;               ///< within `sh -c`
  bool again_ = false;                ///< the line was read for another word of a loop
  std::optional<std::string> batch_;  ///< ip(8) reads the text, and why it may not run
  std::string text_end_;              ///< of the text that the lines are in
  int text_from_ = 0;                 ///< the line in which it begins
};

}  // namespace

void parse_scripts(std::span<const File> files, Claims& claims) {
  ImportedScript script(claims);
  for (const auto& file : files) {
    if (file.path == kinds::kIserUnitFile) continue;
    if (is_crontab(file.path)) {
      script.crontab(file);
      continue;
    }
    if (file.path.ends_with(".service") || unit_of(file.path).ends_with(".service")) {
      if (!has_own_importer(unit_of(file.path))) script.unit(file);
      continue;
    }
    const auto lines = lines_of_script(file.text);
    script.begin(lines);
    for (const auto& line : lines) script.line(line, file.path);
  }
  script.finish();
}

}  // namespace rdmacfg::foreign
