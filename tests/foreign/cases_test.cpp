// SPDX-License-Identifier: Apache-2.0
// Runs tests/foreign/cases (see the README there). UPDATE_GOLDEN=1 rewrites the expected files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/text.hpp"
#include "stage.hpp"

namespace rdmacfg::foreign {
namespace {

namespace fs = std::filesystem;

fs::path folder() { return fs::path(SOURCE_ROOT) / "tests/foreign/cases"; }

struct Case {
  std::string head;  ///< up to the first file
  std::vector<std::string> words;
  std::map<std::string, model::Guid, std::less<>> known;
  std::vector<File> files;
  std::string document, report;  ///< expected; of an export what it prints
};

Case read_case(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  Case out;
  std::string* into = &out.head;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("==> ") && line.ends_with(" <==")) {
      const auto name = line.substr(4, line.size() - 8);
      if (name == "expected document" || name == "expected output") {
        into = &out.document;
      } else if (name == "expected report") {
        into = &out.report;
      } else {
        into = &out.files.emplace_back(File{name, ""}).text;
      }
      continue;
    }
    *into += line + "\n";
  }
  for (const auto line : base::split(out.head, '\n')) {
    const auto words = words_of(line);
    if (words.empty() || words.front().starts_with('#')) continue;
    if (words.front() == "known") {
      out.known.emplace(words[1], *model::Guid::parse(words[2]));
    } else {
      out.words.assign(words.begin(), words.end());
    }
  }
  return out;
}

void write_case(const fs::path& path, const Case& example, const std::string& document,
                const std::string& report) {
  std::ofstream stream(path, std::ios::binary);
  stream << example.head;
  for (const auto& file : example.files) stream << "==> " << file.path << " <==\n" << file.text;
  stream << "==> expected " << (example.words.front() == "export" ? "output" : "document") << " <==\n"
         << document;
  stream << "==> expected report <==\n" << report;
}

std::vector<fs::path> all_cases() {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(folder())) {
    if (entry.path().extension() == ".txt") out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

void run(const Case& example, std::string& document, std::string& report) {
  if (example.words.front() == "export") {
    const auto source = parsed(example.files.front().text);
    ASSERT_EQ(render_diagnostics(source, core::validate(source).diagnostics), "");
    const auto made = export_document(source.sections, *find_target(example.words[1]));
    for (const auto& file : made.files) document += "--> " + file.path + "\n" + file.text;
    for (const auto& note : made.notes) report += note.where.text() + ": not expressed: " + note.text + "\n";
    return;
  }
  fakes::Faults faults;
  fakes::MemoryFiles files(faults);
  for (const auto& file : example.files) {
    // Bytes that git would not keep as they are: \0 without a further digit stands for a NUL, \r at the end
    // of a line for a carriage return.
    auto text = file.text;
    for (std::size_t at = 0; (at = text.find("\\0", at)) != std::string::npos; ++at) {
      if (at + 2 >= text.size() || std::isdigit(static_cast<unsigned char>(text[at + 2])) == 0)
        text.replace(at, 2, std::string(1, '\0'));
    }
    for (std::size_t at = 0; (at = text.find("\\r\n", at)) != std::string::npos;) text.replace(at, 2, "\r");
    files.content[file.path] = text;
  }
  auto made = import_all(files, example.words[1], example.known);
  EXPECT_FALSE(model::has_errors(complaints(made.document))) << made.document;
  document = made.document;
  report = report_of(made.claims);
}

class Cases : public testing::TestWithParam<fs::path> {};

TEST_P(Cases, GiveWhatIsExpected) {
  const auto example = read_case(GetParam());
  ASSERT_GE(example.words.size(), 2U) << "a line `import FORMAT` or `export FORMAT`";
  std::string document, report;
  run(example, document, report);
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    write_case(GetParam(), example, document, report);
    return;
  }
  EXPECT_EQ(document, example.document);
  EXPECT_EQ(report, example.report);
}

INSTANTIATE_TEST_SUITE_P(Foreign, Cases, testing::ValuesIn(all_cases()), [](const auto& instance) {
  auto name = instance.param.stem().string();
  for (auto& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
});

TEST(CasesAsAWhole, AreManyAndOfEveryFormat) {
  std::set<std::string> seen;
  std::size_t count = 0;
  for (const auto& path : all_cases()) {
    const auto example = read_case(path);
    ++count;
    seen.insert(example.words.front() + " " + example.words[1]);
  }
  EXPECT_GE(count, 150U);
  for (const auto& format : formats())
    EXPECT_TRUE(seen.contains("import " + std::string(format.name))) << format.name;
  for (const auto& target : targets())
    EXPECT_TRUE(seen.contains("export " + std::string(target.name))) << target.name;
}

}  // namespace
}  // namespace rdmacfg::foreign
