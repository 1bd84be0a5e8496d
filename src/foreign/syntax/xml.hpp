// SPDX-License-Identifier: Apache-2.0
// XML as wicked keeps it: elements and texts. Without a document type, and bounded in depth and size: what
// comes from a file is not trusted. The only place that knows of expat.
#pragma once

#include <optional>
#include <vector>

#include "foreign/syntax/yaml.hpp"

namespace rdmacfg::foreign {

/// The elements of a file, of which there may be several at the top, as members of a mapping: an element with
/// elements or attributes inside is a mapping (an attribute is "@name", a text beside them "#text"), another
/// one a scalar; those of one name are a sequence. The nodes speak of `file`, which has to stay. An
/// error is reported with its line; then there is none.
std::optional<YamlNode> parse_xml(const File& file, Claims& claims);

/// All elements of a name, be it one or several.
std::vector<const YamlNode*> elements(YamlKeys& keys, std::string_view name);

}  // namespace rdmacfg::foreign
