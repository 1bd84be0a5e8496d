// SPDX-License-Identifier: Apache-2.0
#include "example/login_variable.hpp"

#include <fmt/format.h>

#include <array>
#include <map>

#include "base/text.hpp"
#include "kinds/entry.hpp"

namespace rdmacfg::model {

base::Result<VariableName> Codec<VariableName>::parse(const Value& written) {
  const auto* text = std::get_if<std::string>(&written);
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
  if (text == nullptr || text->empty() || kDigits.find(text->front()) != std::string_view::npos ||
      text->find_first_not_of(std::string(kLetters) + std::string(kDigits)) != std::string::npos)
    return base::fail(base::Code::kInvalid, "must have letters, digits and underscores, and no digit first");
  return VariableName{*text};
}

Value Codec<VariableName>::value(const VariableName& parsed) { return parsed.text; }

}  // namespace rdmacfg::model

namespace rdmacfg::kinds {

using base::Result;

namespace {

constexpr std::string_view kLoginVariableKind = "login_variable";
constexpr std::string_view kVariableFile = "/etc/profile.d/rdma-configd.sh";

using Variables = std::map<std::string, std::string>;

Variables parse_variables(std::string_view text) {
  Variables out;
  for (auto line : base::split(text, '\n')) {
    const auto equals = line.find("='");
    if (!line.starts_with("export ") || equals == std::string_view::npos || !line.ends_with('\'')) continue;
    out.emplace(line.substr(7, equals - 7), line.substr(equals + 2, line.size() - equals - 3));
  }
  return out;
}

/// Empty without variables.
std::string render_variables(const Variables& variables) {
  if (variables.empty()) return {};
  std::string out = "# Written by rdma-configd; changes here are overwritten.\n";
  for (const auto& [name, value] : variables) out += fmt::format("export {}='{}'\n", name, value);
  return out;
}

Result<Variables> read_variables(system::Files& files) {
  const auto text = files.read(std::string(kVariableFile));
  if (!text) return base::fail(text.error());
  return *text ? parse_variables(**text) : Variables{};
}

constexpr std::array kVariableFiles{
    OwnedFile{.path = kVariableFile,
              .what = "Variables that login shells begin with.",
              .rendered = [](std::string_view text) { return render_variables(parse_variables(text)); }}};

class LoginVariableKind final : public Kind {
 public:
  LoginVariableKind()
      : Kind({.name = kLoginVariableKind,
              .fields = model::specs<LoginVariable>(),
              .traits = {.works_offline = true},
              .files = kVariableFiles}) {}

  void parse(const Bound& bound, std::vector<model::Desired>& out,
             model::Diagnostics& diagnostics) const override {
    for (const auto* section : bound.of(kLoginVariableKind)) {
      const auto* name = section->find("name");
      if (name == nullptr) continue;  // reported already, by the grammar
      const auto id = model::text_of(name->value);
      auto desired = desired_of(*section, fields(), {std::string(kLoginVariableKind), id}, id);
      const auto* value = section->find("value");
      if (value != nullptr && model::text_of(value->value).find_first_of("'\n") != std::string::npos) {
        diagnostics.push_back({model::Severity::kError,
                               value->where,
                               "[[login_variable]] value: contains a quote or a line break",
                               "a shell would end the value there",
                               {}});
        continue;
      }
      out.push_back(std::move(desired));
    }
  }

  Result<std::vector<model::Observed>> observe(World& world) const override {
    const auto variables = read_variables(world.host().files);
    if (!variables) return base::fail(variables.error());
    std::vector<model::Observed> out;
    for (const auto& [name, value] : *variables) {
      out.push_back(observed_in_own_file({std::string(kLoginVariableKind), name}, name,
                                         model::to_attributes(LoginVariable{.name = {}, .value = value})));
    }
    return out;
  }

  Result<void> apply(std::span<const model::Change> changes, system::Host& host) const override {
    auto variables = read_variables(host.files);
    if (!variables) return base::fail(variables.error());
    for (const auto& change : changes) {
      if (const auto wanted = model::from_attributes<LoginVariable>(change.after); wanted.value) {
        variables->insert_or_assign(change.key.id, *wanted.value);
      } else {
        variables->erase(change.key.id);
      }
    }
    const auto text = render_variables(*variables);
    return text.empty() ? host.files.remove(std::string(kVariableFile))
                        : host.files.write(std::string(kVariableFile), text);
  }
};

}  // namespace

model::SectionSpec login_variable_section() {
  model::SectionSpec section{
      .name = kLoginVariableKind, .doc = "Variables that login shells begin with.", .identities = {{"name"}}};
  add_written(section.fields, model::specs<LoginVariable>());
  return section;
}

const Kind& login_variable() {
  static const LoginVariableKind kInstance;
  return kInstance;
}

}  // namespace rdmacfg::kinds
