// SPDX-License-Identifier: Apache-2.0
// A grammar with one of everything, for tests of the language itself, so that they do not change with the
// kinds.
#pragma once

#include <string>
#include <vector>

#include "model/section.hpp"
#include "model/types/module_types.hpp"

namespace rdmacfg::config {

template <class T>
model::FieldSpec sample_field(std::string_view name, model::Role role = model::Role::kSetting) {
  using Codec = model::Codec<T>;
  return {name, Codec::kType, role, "", "", model::Effect::kNow, Codec::kSchema, &model::canonical<T>};
}

inline model::SectionSpec sample_section(std::string_view name, bool repeated,
                                         std::vector<model::FieldSpec> fields,
                                         std::vector<std::vector<std::string_view>> identities) {
  model::SectionSpec spec;
  spec.name = name;
  spec.repeated = repeated;
  spec.fields = std::move(fields);
  spec.identities = std::move(identities);
  return spec;
}

/// [[ipoib]] with [[ipoib.pkey]] and match, [[roce]], [[pfc]], and [host], of which there is one.
inline std::vector<model::SectionSpec> sample_grammar() {
  using model::Role;
  using Number = std::int64_t;
  using Word = std::string;
  using Words = std::vector<std::string>;
  const std::vector<model::FieldSpec> link{
      sample_field<model::InterfaceName>("name"),
      sample_field<model::IpoibMode>("mode"),
      sample_field<model::Mtu>("mtu"),
      sample_field<model::State>("state"),
      sample_field<bool>("umcast"),
      sample_field<model::OnUnsupported>("on_unsupported", Role::kPolicy),
      sample_field<Words>("addresses")};

  const auto match = sample_section(
      "match", false, {sample_field<Word>("driver"), sample_field<Word>("pci"), sample_field<Number>("port")},
      {});

  auto pkey = sample_section("pkey", true, link, {{"pkey"}});
  pkey.fields.push_back(sample_field<model::Pkey>("pkey", Role::kIdentity));
  pkey.defaults = true;

  auto ipoib = sample_section("ipoib", true, link, {{"guid"}, {"device", "port"}, {"match"}});
  ipoib.fields.push_back(sample_field<model::Guid>("guid", Role::kIdentity));
  ipoib.fields.push_back(sample_field<Word>("device", Role::kIdentity));
  ipoib.fields.push_back(sample_field<Number>("port", Role::kIdentity));
  ipoib.fields.push_back(sample_field<Number>("lid", Role::kFact));
  ipoib.children = {match, pkey};
  ipoib.defaults = true;

  return {ipoib,
          sample_section("roce", true,
                         {sample_field<Word>("device", Role::kIdentity), sample_field<Number>("dscp")},
                         {{"device"}}),
          sample_section(
              "pfc", true,
              {sample_field<Word>("driver", Role::kIdentity), sample_field<model::Priorities>("priorities")},
              {{"driver"}}),
          sample_section("node", false, {sample_field<bool>("prune")}, {})};
}

}  // namespace rdmacfg::config
