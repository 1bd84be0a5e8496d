// SPDX-License-Identifier: Apache-2.0
// Files of "key=value" lines: shell assignments (sysconfig) and sections (keyfiles, systemd's).
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/claims.hpp"

namespace rdmacfg::foreign {

struct Item {
  std::string key;
  std::string value;
  int line = 0;
  std::string file = {};  ///< when it is not that of the others, as in a drop-in
  std::string why = {};   ///< why it has no value; matters only where somebody asks for it
  bool escaped = false;   ///< has escapes of a keyfile (gkeyfile.hpp)
};

struct Group {
  std::string name;  ///< of "[name]"
  int line = 0;
  std::vector<Item> items = {};
  std::string file = {};
};

/// Assignments as a shell reads them: quotes ('…', "…"), backslashes, comments, `export`. A value that a
/// shell would have to compute ($X, `…`) is an item that says so, and every other line is one without a key:
/// both are reported by Keys where the file and the key matter.
std::vector<Item> parse_assignments(const File& file);

/// Sections of keys; lines that begin with # or ; are comments, and one that ends with a backslash goes on in
/// the next (systemd.syntax(7)). Sections of one name are not merged.
std::vector<Group> parse_groups(const File& file, Claims& claims);

/// The drop-ins among files of systemd's, by the file that they belong to. The files have to stay.
class DropIns {
 public:
  explicit DropIns(std::span<const File> files);
  /// Those of "30-ib.network", in their order.
  [[nodiscard]] std::span<const File* const> of(std::string_view unit) const;

 private:
  std::map<std::string, std::vector<const File*>, std::less<>> found_;
};

/// The sections of a file of systemd's and behind them those of its drop-ins (systemd.unit(5)).
std::vector<Group> groups_with_drop_ins(const File& file, const DropIns& drop_ins, Claims& claims);

/// "30-ib.network" for the drop-in "/etc/systemd/network/30-ib.network.d/mtu.conf"; empty for other paths.
std::string unit_of(std::string_view path);

/// Items of which every one is to be asked for: the others were not understood.
class Keys {
 public:
  Keys(std::string file, std::vector<Item> items, Claims& claims);

  /// The last value of the key, trimmed; nothing without one or when it is empty. Counts as understood.
  std::optional<Item> take(std::string_view key);
  /// The same of a number or a truth value, which GLib reads as it is written: nothing with an escape in it.
  std::optional<Item> take_unescaped(std::string_view key);
  /// Every value, in order. An empty one resets what came before (systemd.syntax(7)).
  std::vector<Item> take_all(std::string_view key);
  /// Keys that need no entry in our document; a pattern may end in '*'.
  void pass(std::initializer_list<std::string_view> keys) { pass(std::span(keys.begin(), keys.size())); }
  void pass(std::span<const std::string_view> keys);
  /// A key that needs no entry while it has its usual value; "yes" and "no" in every spelling. Another one is
  /// refused.
  void usual(std::string_view key, std::string_view value);
  /// Reports that the document cannot say what the key does; nothing without it.
  void refuse(std::string_view key);
  /// Items that nobody asked for.
  void finish();

  [[nodiscard]] bool has(std::string_view key) const;
  /// Without counting.
  [[nodiscard]] std::string peek(std::string_view key) const;
  /// Keys that are left, each once, in order.
  [[nodiscard]] std::vector<std::string> left() const;

  [[nodiscard]] Place place(const Item& item) const {
    return {item.file.empty() ? file_ : item.file, item.line};
  }
  /// Where the last value of a key is written; the file as a whole without one.
  [[nodiscard]] Place where(std::string_view key) const;
  /// Notes that the document's key `path` of an interface comes from `key`, if that is there.
  void mark(Interface& interface, std::string_view path, std::string_view key) const;
  /// A key that the document cannot express: `why`, in place of that it is not understood.
  void tell(std::string_view key, std::string_view why);
  /// Reports that a value that was taken makes no sense.
  void wrong(const Item& item, std::string_view why);

  std::optional<std::string> text(std::string_view key);
  std::optional<bool> flag(std::string_view key);
  /// 1 to `most`.
  std::optional<std::int64_t> number(std::string_view key, std::uint64_t most);

 private:
  struct Held {
    Item item;
    bool asked = false;
  };
  [[nodiscard]] const std::vector<std::size_t>& places_of(std::string_view key) const;

  std::string file_;
  std::vector<Held> items_;
  std::map<std::string, std::vector<std::size_t>, std::less<>> places_;  ///< in items_, by key
  Claims& claims_;
};

}  // namespace rdmacfg::foreign
