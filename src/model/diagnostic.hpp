// SPDX-License-Identifier: Apache-2.0
// Diagnostics: a place in the document, the mistake, and the remedy.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/value.hpp"

namespace rdmacfg::model {

enum class Severity { kError, kWarning };

/// The subject of a diagnostic, for subjects that other code treats apart.
enum class Topic {
  kOther,
  kPkeyMembership,    ///< whether a subnet manager's document gives a P_Key to a port that uses it
  kMisplacedVersion,  ///< version stands below a section
  kNoIdentity,        ///< an entry without an identifying key
  kMissingKey,        ///< an entry without another key that it needs
  kUntrustedFile,     ///< others than root can write to a file of the document
  kNotShown,          ///< counts the errors that are not shown
};
inline constexpr Topic kLastTopic = Topic::kNotShown;

/// The role of a related place, for places that other code treats apart.
enum class Relation {
  kOther,
  kTakesDefault,  ///< the entry with the error, when its value comes from [defaults]
};

/// The entry that a message is about: its section, and the key where the message is about one. The message
/// begins with its text.
struct Subject {
  enum class Role {
    kLabel,  ///< before a colon: "[[pfc]] dscp: ", "[[roce]]: "
    kNoun,   ///< of the sentence: "[[roce]] " before "selects the port"
  };

  std::string section{};
  std::string key{};
  Role role = Role::kLabel;

  [[nodiscard]] std::string text() const;
  bool operator==(const Subject&) const = default;
};

/// Something wrong with the document, or with the document on this host.
struct Diagnostic {
  struct Related {
    Location where;
    std::string note;  ///< "first used here"
    Relation relation = Relation::kOther;
  };

  Severity severity = Severity::kError;
  Location where;       ///< line 0 when the finding has no place in a file
  std::string message;  ///< what is wrong; names the section and the key
  std::string hint;     ///< what to do; may be empty
  std::vector<Related> related;
  Topic topic = Topic::kOther;
  std::size_t host_bytes = 0;  ///< of " (host NAME)" at the end of the message, which has that host's values
  std::optional<Subject> subject{};  ///< of sections that another section may stand for ([[lossless]])
};

using Diagnostics = std::vector<Diagnostic>;

/// A diagnostic whose message is the text of `subject` followed by `what`.
[[nodiscard]] Diagnostic diagnose(Severity severity, const Location& where, Subject subject,
                                  std::string_view what, std::string hint,
                                  std::vector<Diagnostic::Related> related = {});

[[nodiscard]] bool has_errors(const Diagnostics& diagnostics);

}  // namespace rdmacfg::model
