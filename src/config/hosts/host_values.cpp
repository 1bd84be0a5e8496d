// SPDX-License-Identifier: Apache-2.0
#include "config/hosts/host_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/characters.hpp"
#include "base/text.hpp"

namespace rdmacfg::config {

namespace {

constexpr std::string_view kOpen = "{host";

/// Whether `text`, which begins with kOpen, is a placeholder: {hostname} is none.
bool is_placeholder(std::string_view text) {
  return text.size() > kOpen.size() && (text[kOpen.size()] == '}' || text[kOpen.size()] == '.');
}

std::vector<std::string> digits_in(std::string_view name) {
  std::vector<std::string> out;
  bool inside = false;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (digit && !inside) out.emplace_back();
    if (digit) out.back() += c;
    inside = digit;
  }
  return out;
}

/// "1 number", "2 numbers".
std::string counted_text(std::size_t count, const char* word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

/// Of a run of digits; nothing where it is longer than a number can be.
std::optional<std::uint64_t> number_of(const std::string& digits) {
  const auto first = std::min(digits.find_first_not_of('0'), digits.size() - 1);
  return base::parse_number(std::string_view(digits).substr(first));
}

/// Address `number` of a network. Nothing beyond its last one.
std::optional<model::IpAddress> nth(const model::IpPrefix& network, std::uint64_t number) {
  const int host_bits = network.address.bits() - network.length;
  if (host_bits < 64 && (number >> host_bits) != 0) return std::nullopt;
  auto address = network.address;
  for (auto at = address.size(); number != 0; number >>= 8U)
    address.bytes[--at] |= static_cast<std::uint8_t>(number);
  return address;
}

/// Adds a table without a line for the host to `tables`. @return the host's name with a domain, when the
/// table has a line for that
std::string tell_no_line(const HostTable& table, const std::string& host,
                         std::vector<model::Diagnostic::Related>& tables) {
  if (const auto* other = table.find_with_domain(host)) {
    const auto& cell = other->cells.front();
    tables.push_back({{table.file(), other->line, cell.column, cell.length},
                      fmt::format("has {}, not {}", cell.text, host)});
    return cell.text;
  }
  if (!table.columns().empty()) tables.push_back({{table.file(), 0, 1, 1}, "has no line for this host"});
  return {};
}

/// The fault of a filled-in text that would be an error in the document itself, as message and hint. The
/// parser has checked the document, but neither the fields of tables nor the name of the host, nor their
/// length together.
std::optional<std::pair<std::string, std::string>> wrong_when_filled(const std::string& text,
                                                                     const Limits& limits) {
  if (text.size() > limits.string_bytes)
    return std::pair(fmt::format("the filled-in text has {} bytes, more than the {} allowed", text.size(),
                                 limits.string_bytes),
                     std::string("use shorter values, or fewer in one text"));
  const auto control = base::first_control(text);
  if (!control) return std::nullopt;
  return std::pair(fmt::format("the filled-in text contains the character U+{:04X}", *control),
                   std::string("remove it: tabs are the only control characters allowed in a value"));
}

}  // namespace

bool mentions_host(std::string_view text) {
  for (auto at = text.find(kOpen); at != std::string_view::npos; at = text.find(kOpen, at + 1)) {
    if (is_placeholder(text.substr(at))) return true;
  }
  return false;
}

bool mentions_host(const Node& node) {
  if (const auto* text = std::get_if<std::string>(&node.scalar)) return mentions_host(*text);
  return node.sort == Node::Sort::kList && node.origin == Node::Origin::kValue &&
         std::any_of(node.items.begin(), node.items.end(), [](const Node& item) {
           const auto* text = std::get_if<std::string>(&item.scalar);
           return text && mentions_host(*text);
         });
}

bool mentions_host_within(const Node& table) {
  const auto in_member = [](const auto& member) { return mentions_host_within(member.second); };
  return mentions_host(table) || std::any_of(table.items.begin(), table.items.end(), mentions_host_within) ||
         std::any_of(table.members.begin(), table.members.end(), in_member);
}

HostValues::HostValues(const HostData& data, std::string_view host, const std::vector<bool>& applies)
    : data_(data),
      host_(host),
      short_(host.substr(0, host.find('.'))),
      numbers_(digits_in(short_)),
      applies_(applies) {}

std::optional<Node> HostValues::fill(const Node& node, std::string_view label, const model::FieldSpec& field,
                                     const Reporter& report, std::vector<FilledValue>& used) const {
  auto out = node;
  bool good = true;
  const auto fill_in = [&](Node& target, std::size_t item) {
    auto* text = std::get_if<std::string>(&target.scalar);
    if (!text || !mentions_host(*text)) return;
    Used from;
    auto filled = expand(*text, field.is_template ? Purpose::kTemplate : Purpose::kValue, from);
    if (auto wrong = filled ? wrong_when_filled(*filled, data_.limits()) : std::nullopt)
      filled = tl::make_unexpected(Missing{std::move(wrong->first), std::move(wrong->second), from});
    for (auto& place : from) used.push_back({std::move(place), item});
    if (filled) {
      *text = std::move(*filled);
      return;
    }
    good = false;
    if (filled.error().message.empty()) return;
    report
        .wrong(target.at, fmt::format("{} {}: {}", label, field.name, filled.error().message),
               filled.error().hint)
        .related = filled.error().related;
  };
  fill_in(out, 0);
  for (std::size_t item = 0; item < out.items.size(); ++item) fill_in(out.items[item], item);
  return good ? std::optional(std::move(out)) : std::nullopt;
}

tl::expected<std::string, HostValues::Missing> HostValues::expand(std::string_view text, Purpose purpose,
                                                                  Used& used) const {
  std::string out;
  while (!text.empty()) {
    const auto at = text.find(kOpen);
    out += text.substr(0, at);
    if (at == std::string_view::npos) break;
    const bool escaped = at > 0 && text[at - 1] == '{';  // not by a value that ends so
    text.remove_prefix(at);
    if (!is_placeholder(text)) {
      out += text.front();
      text.remove_prefix(1);
      continue;
    }
    if (escaped) {  // {{host} stands for {host}
      out += text.substr(1, kOpen.size() - 1);
      text.remove_prefix(kOpen.size());
      continue;
    }
    const auto end = text.find('}');
    if (end == std::string_view::npos)
      return tl::make_unexpected(
          Missing{fmt::format("\"{}\" has no }} at its end", text), "write {host.NAME}"});
    const auto whole = text.substr(0, end + 1);
    auto value = value_of(whole.substr(1, end - 1), purpose);
    if (!value) {
      auto& message = value.error().message;
      if (!message.empty()) message = fmt::format("{}: {}", whole, message);
      return tl::make_unexpected(std::move(value.error()));
    }
    if (purpose == Purpose::kTemplate && value->text.find('{') != std::string::npos) {
      Missing again{
          fmt::format("{}: \"{}\" contains a placeholder, and placeholders in host values are not expanded",
                      whole, value->text),
          "write the placeholder in the document, next to that of the value"};
      if (value->where) again.related.push_back({*value->where, "given here"});
      return tl::make_unexpected(std::move(again));
    }
    if (value->where)
      used.push_back({*value->where, fmt::format("{} is \"{}\" on host {}", whole, value->text, host_)});
    out += value->text;
    text.remove_prefix(end + 1);
  }
  return out;
}

HostValues::Answer HostValues::value_of(std::string_view name, Purpose purpose) const {
  if (host_.empty())
    return tl::make_unexpected(Missing{"this host has no name (yet)", "set one in /etc/hostname"});
  if (name == "host") return Found{short_};
  name.remove_prefix(std::string_view("host.").size());
  if (is_reserved(name) && is_column(name))
    return tl::make_unexpected(
        Missing{fmt::format("a table has a column \"{}\", which is a reserved word", name),
                "rename the column, or remove it"});
  if (name == "fqdn") return Found{host_};
  if (name == "domain") {
    const auto dot = host_.find('.');
    if (dot != std::string::npos) return Found{host_.substr(dot + 1)};
    return tl::make_unexpected(
        Missing{fmt::format("the name {} has no domain", host_), "write the domain itself"});
  }
  if (name == "number" || name.starts_with("number.")) return number(name);
  constexpr std::string_view kBare = ".address";
  if (!name.ends_with(kBare)) return given(name, purpose);
  auto found = given(name.substr(0, name.size() - kBare.size()), purpose);
  if (found) found->text.erase(std::min(found->text.find('/'), found->text.size()));
  return found;
}

bool HostValues::is_column(std::string_view name) const {
  for (std::size_t at = 0; at < data_.sections().size(); ++at) {
    const auto& tables = data_.sections()[at].tables;
    const auto has = [&](const HostTable& table) {
      const auto& columns = table.columns();
      return std::find(columns.begin(), columns.end(), name) != columns.end();
    };
    if (applies_[at] && std::any_of(tables.begin(), tables.end(), has)) return true;
  }
  return false;
}

HostValues::Answer HostValues::number(std::string_view which) const {
  auto at = numbers_.size();
  if (which != "number") {
    const auto asked = base::parse_number(which.substr(which.find('.') + 1));
    if (!asked || *asked == 0)
      return tl::make_unexpected(
          Missing{"is not known", "the numbers of a name are {host.number.1}, {host.number.2}, …"});
    at = *asked <= numbers_.size() ? static_cast<std::size_t>(*asked) : 0;
  }
  if (at == 0)
    return tl::make_unexpected(Missing{
        numbers_.empty()
            ? fmt::format("the name of host {} has no number", host_)
            : fmt::format("the name of host {} has only {}", host_, counted_text(numbers_.size(), "number")),
        "use [match] to limit the file to numbered hosts"});
  const auto value = number_of(numbers_[at - 1]);
  if (!value)
    return tl::make_unexpected(Missing{fmt::format("the number in the name of host {} is too large", host_)});
  return Found{std::to_string(*value)};
}

HostValues::Answer HostValues::given(std::string_view name, Purpose purpose) const {
  std::vector<model::Diagnostic::Related> tables;
  std::string full;  // this name with a domain, which a table has
  for (auto at = data_.sections().size(); at-- > 0;) {
    if (!applies_[at]) continue;
    const auto& section = data_.sections()[at];
    std::vector<Found> exact, patterns;
    for (const auto& table : section.tables) {
      const auto* row = table.find(host_);
      if (!row) {
        if (auto other = tell_no_line(table, host_, tables); !other.empty()) full = std::move(other);
        continue;
      }
      const auto column = std::find(table.columns().begin(), table.columns().end(), name);
      if (column == table.columns().end() || column == table.columns().begin()) continue;
      const auto& cell = row->cells[static_cast<std::size_t>(column - table.columns().begin())];
      const model::Location where{table.file(), row->line, cell.column, cell.length};
      if (cell.text.empty()) {
        tables.push_back({where, "the field is empty"});
      } else {
        exact.push_back({cell.text, where});
      }
    }
    const auto take = [&](const GivenValues& values, std::vector<Found>& to) {
      if (const auto value = values.find(name); value != values.end())
        to.push_back({value->second.text, value->second.where});
    };
    const auto folded = base::lower(host_), folded_short = base::lower(short_);
    for (const auto* own : {&folded, &folded_short}) {
      if (const auto values = section.exact.find(*own); values != section.exact.end())
        take(values->second, exact);
    }
    for (const auto& [pattern, values] : section.patterns) {
      if (!exact.empty() || !values.contains(name)) continue;
      if (base::matches_host(pattern, folded) || base::matches_host(pattern, folded_short))
        take(values, patterns);
    }
    const auto& best = exact.empty() ? patterns : exact;
    const auto other = std::find_if(best.begin(), best.end(),
                                    [&](const Found& value) { return value.text != best.front().text; });
    if (other != best.end()) {
      Missing clash{
          fmt::format("host {} has two values: \"{}\" and \"{}\"", host_, best.front().text, other->text),
          "a host name takes precedence over a pattern; of two equal matches, remove one"};
      clash.related = {{*best.front().where, "given here"}, {*other->where, "and here"}};
      return tl::make_unexpected(std::move(clash));
    }
    if (!best.empty()) return best.front();
    if (const auto rule = section.addresses.find(name); rule != section.addresses.end()) {
      if (purpose != Purpose::kLookup) return address(rule->second);
      return tl::make_unexpected(Missing{
          "an address cannot be derived from another address", "", {{rule->second.where, "defined here"}}});
    }
  }
  return tl::make_unexpected(missing(name, full, std::move(tables)));
}

HostValues::Missing HostValues::missing(std::string_view name, const std::string& full, Used tables) const {
  const bool incomplete = std::any_of(data_.sections().begin(), data_.sections().end(),
                                      [](const auto& section) { return section.incomplete; });
  if (incomplete) return {};
  if (!is_value_name(name))
    return {fmt::format("\"{}\" cannot be the name of a value", name),
            "values take no arithmetic; [host.address] calculates addresses from network, step and offset"};
  Missing out{fmt::format("host {} has no such value", host_)};
  const auto known = names();
  if (const auto near = base::nearest(name, known); near && *near != name) {
    out.message += fmt::format("; did you mean {{host.{}}}?", *near);
  } else if (known.empty()) {
    out.hint = "give it in [host.values], [host.address] or a table";
  } else if (!full.empty()) {
    out.hint = fmt::format("{} is an alias: use the host's own name in the table or in --hosts", full);
  } else if (std::find(known.begin(), known.end(), name) != known.end()) {
    out.hint = fmt::format("other hosts have this value: add {} to the table, or write [host.values.{}]",
                           host_, short_);
  } else {
    out.hint = fmt::format("the values are {}", base::join(known, ", "));
  }
  out.related = std::move(tables);
  return out;
}

std::vector<std::string> HostValues::names() const {
  std::set<std::string> out;
  for (std::size_t at = 0; at < data_.sections().size(); ++at) {
    const auto& names = data_.sections()[at].names;
    if (applies_[at]) out.insert(names.begin(), names.end());
  }
  return {out.begin(), out.end()};
}

HostValues::Answer HostValues::address(const AddressRule& rule) const {
  auto out = rule.network ? counted(rule) : looked_up(rule);
  if (!out) out.error().related.push_back({rule.where, "defined here"});
  return out;
}

HostValues::Answer HostValues::counted(const AddressRule& rule) const {
  const auto& network = *rule.network;
  auto step = rule.step;
  if (numbers_.empty())
    return tl::make_unexpected(Missing{fmt::format("the name of host {} has no number to count with", host_),
                                       "use [match] to limit the file to numbered hosts"});
  if (step.empty()) {
    step.assign(numbers_.size(), 0);
    step.back() = 1;
  }
  if (step.size() != numbers_.size())
    return tl::make_unexpected(
        Missing{fmt::format("the name of host {} has {}, but step has {}", host_,
                            counted_text(numbers_.size(), "number"), counted_text(step.size(), "factor"))});
  std::uint64_t sum = rule.offset;
  for (std::size_t i = 0; i < step.size(); ++i) {
    if (step[i] == 0) continue;
    const auto number = number_of(numbers_[i]);
    std::uint64_t product = 0;
    if (!number || __builtin_mul_overflow(*number, step[i], &product) ||
        __builtin_add_overflow(sum, product, &sum))
      return tl::make_unexpected(
          Missing{fmt::format("the number in the name of host {} is too large", host_)});
  }
  const auto found = nth(network, sum);
  const int host_bits = network.address.bits() - network.length;
  const bool has_broadcast = network.address.family == model::Family::kIpv4 && host_bits > 1;
  if (!found) {
    return tl::make_unexpected(
        Missing{fmt::format("host {} would have address {} of {}, which is outside of that network", host_,
                            sum, network.text()),
                fmt::format("its last host has number {}; use a shorter prefix or a smaller offset",
                            (std::uint64_t{1} << host_bits) - (has_broadcast ? 2 : 1))});
  }
  // Of a point-to-point network (RFC 3021, RFC 6164) every address is one.
  if (host_bits > 1 && sum == 0)
    return tl::make_unexpected(Missing{
        fmt::format("host {} would have address 0 of {}, which is the network itself", host_, network.text()),
        "start counting with offset = 1"});
  if (has_broadcast && sum == (std::uint64_t{1} << host_bits) - 1)
    return tl::make_unexpected(
        Missing{fmt::format("host {} would have the broadcast address of {}", host_, network.text()),
                "use a shorter prefix or a smaller offset"});
  return Found{fmt::format("{}/{}", found->text(), network.length), rule.where};
}

HostValues::Answer HostValues::looked_up(const AddressRule& rule) const {
  Used used;
  const auto name = expand(rule.lookup, Purpose::kLookup, used);
  if (!name) return tl::make_unexpected(name.error());
  const auto& hosts = data_.hosts_file();
  const auto file = hosts ? hosts->file : std::string("/etc/hosts");
  if (!hosts) return tl::make_unexpected(Missing{fmt::format("{}: there is no {}", *name, file)});
  std::vector<const HostsFile::Line*> found;
  if (const auto at = hosts->by_name.find(base::lower(*name)); at != hosts->by_name.end()) {
    for (const auto& line : at->second) {
      if (line.address.family == rule.family) found.push_back(&line);
    }
  }
  if (found.empty())
    return tl::make_unexpected(Missing{
        fmt::format("{} has no {} address for {}", file, text_of(rule.family), *name), "add a line for it"});
  for (const auto* line : found) {
    if (line->address == found.front()->address) continue;
    return tl::make_unexpected(
        Missing{fmt::format("{} has two {} addresses for {}", file, text_of(rule.family), *name),
                "remove one",
                {{found.front()->where, "first defined here"}, {line->where, "and here"}}});
  }
  auto text = found.front()->address.text();
  if (rule.prefix) text += fmt::format("/{}", *rule.prefix);
  return Found{std::move(text), found.front()->where};
}

std::vector<std::string> HostValues::lookups() const {
  std::vector<std::string> out;
  for (const auto& section : data_.sections()) {
    for (const auto& [name, rule] : section.addresses) {
      Used used;
      if (rule.lookup.empty()) continue;
      if (auto wanted = expand(rule.lookup, Purpose::kLookup, used)) out.push_back(base::lower(*wanted));
    }
  }
  return out;
}

}  // namespace rdmacfg::config
