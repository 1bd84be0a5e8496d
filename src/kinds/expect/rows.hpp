// SPDX-License-Identifier: Apache-2.0
// The table of everything that [[expect]] can ask about. docs/EXPECT.md has it as text, generated from here.
// Each row names what is read: a document can name a row, and never a path.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kinds/world.hpp"
#include "model/value.hpp"

namespace rdmacfg::kinds {

/// An answer of the host.
struct Reading {
  model::Value now;      ///< monostate: not known
  std::string why{};     ///< then: the reason
  std::string detail{};  ///< where, for people: "0000:00:01.0"
};

/// The objects that a row is asked about: the ports that an entry means; for a port one, for a device its
/// own.
struct Subject {
  World& world;
  std::vector<PortRef> ports;
};

struct ExpectRow {
  enum class About { kHost, kDevice, kPort, kCounter, kSetting };
  enum class Relation {
    kAtLeast,    ///< numbers
    kAtMost,     ///< counters
    kSame,       ///< texts, yes and no
    kOneOf,      ///< one of several texts; of several answers, any
    kNotBefore,  ///< versions: numbers between dots
  };
  std::string_view name;  ///< key of [[expect]], or name in [[expect.counter]] and [[expect.setting]]
  About about = About::kHost;
  Relation relation = Relation::kSame;
  std::string_view unit;
  std::string_view reads;   ///< file or interface; {device}, {port} and {pci} stand for names
  std::string_view source;  ///< its documentation
  Reading (*read)(const ExpectRow& row, const Subject& subject) = nullptr;
  std::string_view choices{};  ///< texts that can be expected, separated by blanks; empty: any
  std::int64_t largest = 0;    ///< of a counter: where it stops counting; 0: nowhere
  std::int64_t most = 0;       ///< of a number of a key: that can be expected; 0: any
};

std::string_view text_of(ExpectRow::About about);
std::string_view text_of(ExpectRow::Relation relation);

std::span<const ExpectRow> expect_rows();

/// Null when no row has that name. Counters and settings are separate namespaces.
const ExpectRow* expect_row(std::string_view name, ExpectRow::About about);
/// The row of a key of [[expect]].
const ExpectRow* expect_row(std::string_view key);

std::vector<std::string> expect_names(ExpectRow::About about);

/// Whether a known answer is as expected.
bool meets(ExpectRow::Relation relation, const model::Value& now, const model::Value& wanted);

/// "at least 100 Gb/s", "28.39.1002 or 28.40.1000".
std::string expected_text(const ExpectRow& row, ExpectRow::Relation relation, const model::Value& wanted);

/// The table of docs/EXPECT.md.
std::string expect_rows_as_markdown();

/// "56 Gb/s"
std::string with_unit(const ExpectRow& row, const model::Value& value);

}  // namespace rdmacfg::kinds
