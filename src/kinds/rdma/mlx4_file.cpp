// SPDX-License-Identifier: Apache-2.0
#include "kinds/rdma/mlx4_file.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/text.hpp"

namespace rdmacfg::kinds {

using base::Result;
using model::PortTypes;

std::optional<std::pair<std::string, PortTypes>> parse_mlx4_line(std::string_view line) {
  std::vector<std::string> words;
  std::string blanks(base::trim(line));  // also of a file with CRLF
  std::replace(blanks.begin(), blanks.end(), '\t', ' ');
  for (const auto word : base::split(blanks, ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  if (words.size() < 2) return std::nullopt;
  const auto pci = model::PciAddress::parse(words[0]);
  const auto types =
      model::Codec<PortTypes>::parse(std::vector<std::string>(std::next(words.begin()), words.end()));
  if (!pci || !types) return std::nullopt;
  return std::pair{pci->text, *types};
}

std::string render_mlx4_lines(const Mlx4Lines& lines) {
  std::string out;
  for (const auto& [pci, types] : lines) out += pci + " " + base::join(types.list, " ") + "\n";
  return out;
}

Result<Mlx4File> Mlx4File::read(system::Files& files) {
  auto file = read_marked(files, std::string(kMlx4File));
  if (!file) return base::fail(file.error());
  Mlx4File out;
  out.damage = std::move(file->damage);
  if (!file->text) return out;
  auto marked = parse_marked(*file->text, kMlx4Marks);
  out.others = std::move(marked.others);
  out.damage = std::move(marked.damage);
  // mlx4-setup.sh of rdma-core sets one line after the other, so the last one counts.
  for (const auto& line : marked.lines) {
    const auto found = parse_mlx4_line(line.text);
    if (!found) continue;
    const auto& [pci, types] = *found;
    if (line.ours) {
      out.lines.insert_or_assign(pci, types);
      out.below.erase(pci);
    } else if (out.lines.contains(pci)) {
      out.below.insert_or_assign(pci, types);
    }
  }
  return out;
}

const PortTypes& Mlx4File::in_force(const std::string& pci) const {
  const auto other = below.find(pci);
  return other == below.end() ? lines.at(pci) : other->second;
}

Result<void> Mlx4File::write(system::Files& files) const {
  if (others.empty() && lines.empty()) return files.remove(std::string(kMlx4File));
  auto text = others;
  if (!lines.empty()) {
    text = begin_marked(others, kMlx4Marks);
    text += render_mlx4_lines(lines);
    text += std::string(kMlx4Marks.end) + "\n";
  }
  return files.edit(std::string(kMlx4File), text);
}

}  // namespace rdmacfg::kinds
