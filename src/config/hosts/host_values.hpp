// SPDX-License-Identifier: Apache-2.0
// The values of {host}, {host.number}, {host.KEY} in the texts of a document on one host.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/hosts/host_data.hpp"

namespace rdmacfg::config {

/// Whether a text contains {host} or {host.…}, or {{host, which stands for {host as such.
bool mentions_host(std::string_view text);
/// Whether the value, or an item of the list, does.
bool mentions_host(const Node& node);
/// Whether a value of the table, or of a table within it, does; escapes are resolved by then.
bool mentions_host_within(const Node& table);

class HostValues {
 public:
  /// @param applies  of each of data.sections(), whether its file is for this host
  HostValues(const HostData& data, std::string_view host, const std::vector<bool>& applies);

  /// A value with everything filled in that it mentions. Reports what has no value, as `label` and the key,
  /// and gives nothing then. A filled-in value is a text as it stands: it is not looked at again, so that in
  /// a template a value with a placeholder of its own is an error, too.
  /// @param used  where the values are from, for what turns out to be wrong with them
  [[nodiscard]] std::optional<Node> fill(const Node& node, std::string_view label,
                                         const model::FieldSpec& field, const Reporter& report,
                                         std::vector<FilledValue>& used) const;

  /// Names that are looked for in /etc/hosts, as far as they are known.
  [[nodiscard]] std::vector<std::string> lookups() const;
  [[nodiscard]] const std::string& host() const { return host_; }

 private:
  struct Found {
    std::string text;
    std::optional<model::Location> where{};
  };
  struct Missing {
    std::string message;  ///< empty: it may be in what is wrong itself, which is reported there
    std::string hint{};
    std::vector<model::Diagnostic::Related> related{};
  };
  using Answer = tl::expected<Found, Missing>;
  using Used = std::vector<model::Diagnostic::Related>;

  /// A text with placeholders: the value of a key, one in which the kind fills in more, or the name that an
  /// address is looked up by, which cannot have an address itself.
  enum class Purpose { kValue, kTemplate, kLookup };
  [[nodiscard]] tl::expected<std::string, Missing> expand(std::string_view text, Purpose purpose,
                                                          Used& used) const;
  [[nodiscard]] Answer value_of(std::string_view name, Purpose purpose) const;
  /// Whether a table that counts here has a column of that name.
  [[nodiscard]] bool is_column(std::string_view name) const;
  [[nodiscard]] Answer number(std::string_view which) const;
  [[nodiscard]] Answer given(std::string_view name, Purpose purpose) const;
  /// The complaint about a value that is not given.
  /// @param full    this host's name with a domain, which a table has instead; empty: none has
  /// @param tables  where it was looked for
  [[nodiscard]] Missing missing(std::string_view name, const std::string& full, Used tables) const;
  [[nodiscard]] Answer address(const AddressRule& rule) const;
  [[nodiscard]] Answer counted(const AddressRule& rule) const;
  [[nodiscard]] Answer looked_up(const AddressRule& rule) const;
  [[nodiscard]] std::vector<std::string> names() const;

  const HostData& data_;
  std::string host_;
  std::string short_;
  std::vector<std::string> numbers_;  ///< runs of digits in the short name
  const std::vector<bool>& applies_;
};

}  // namespace rdmacfg::config
