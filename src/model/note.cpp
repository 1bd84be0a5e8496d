// SPDX-License-Identifier: Apache-2.0
#include "model/note.hpp"

#include <algorithm>

namespace rdmacfg::model {

std::vector<Note> notes_about(Note::Sort sort, std::vector<std::string> texts) {
  std::vector<Note> out;
  out.reserve(texts.size());
  for (auto& text : texts) out.emplace_back(std::move(text), sort);
  return out;
}

bool has_note(const std::vector<Note>& notes, Note::Sort sort) {
  return std::any_of(notes.begin(), notes.end(), [&](const Note& note) { return note.sort == sort; });
}

std::vector<std::string> note_texts(const std::vector<Note>& notes) {
  std::vector<std::string> out;
  out.reserve(notes.size());
  for (const auto& note : notes) out.push_back(note.text);
  return out;
}

}  // namespace rdmacfg::model
