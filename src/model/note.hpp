// SPDX-License-Identifier: Apache-2.0
// A note of a run as a whole: its text, and what it is about where other code treats that apart.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rdmacfg::model {

struct Note {
  enum class Sort {
    kOther,
    kDamage,    ///< records of ours are damaged
    kRollback,  ///< something was rolled back
    kDeadline,  ///< until when an apply may be confirmed
  };

  Note() = default;
  // Most notes are texts alone.
  Note(std::string words, Sort about = Sort::kOther) : text(std::move(words)), sort(about) {}
  Note(const char* words, Sort about = Sort::kOther) : text(words), sort(about) {}
  bool operator==(const Note&) const = default;

  std::string text;  ///< "found an interrupted apply; converging to the current document"
  Sort sort = Sort::kOther;
};

/// Notes of one sort.
std::vector<Note> notes_about(Note::Sort sort, std::vector<std::string> texts);

bool has_note(const std::vector<Note>& notes, Note::Sort sort);

/// The texts of notes, in order.
std::vector<std::string> note_texts(const std::vector<Note>& notes);

}  // namespace rdmacfg::model
