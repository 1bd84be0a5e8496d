// SPDX-License-Identifier: Apache-2.0
// Manual pages and completions say what the program knows, and the shells can use them.
#include "ctl/manual.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <sstream>

#include "base/text.hpp"

namespace rdmacfg::ctl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::UnorderedElementsAre;
namespace fs = std::filesystem;

const fs::path kSource = SOURCE_ROOT;

std::string content(const fs::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// What a shell command says on both of its outputs.
std::string say(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen((command + " 2>&1").c_str(), "re"), ::pclose);
  std::string out;
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) > 0;)
    out.append(buffer.data(), n);
  return out;
}

bool installed(const std::string& program) { return !say("command -v " + program).empty(); }

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

struct Part {
  const char* name;
  const char* file;
};

std::ostream& operator<<(std::ostream& out, const Part& part) { return out << part.name; }

class GeneratedPart : public testing::TestWithParam<Part> {};

TEST_P(GeneratedPart, IsNotStale) {
  const auto text = content(kSource / GetParam().file);
  const auto mark = std::string("generated: rdma-configctl reference ") + GetParam().name + "\n";
  ASSERT_NE(text.find(mark), std::string::npos);
  const auto from = text.find(mark) + mark.size();
  const auto end = text.find("end of generated", from);
  ASSERT_NE(end, std::string::npos);
  EXPECT_EQ(text.substr(from, text.rfind('\n', end) + 1 - from), render_part(GetParam().name))
      << "packaging/update-generated writes it anew";
}

INSTANTIATE_TEST_SUITE_P(All, GeneratedPart,
                         testing::Values(Part{"man-commands", "docs/man/rdma-configctl.1"},
                                         Part{"man-sections", "docs/man/rdma-configd.toml.5"},
                                         Part{"bash", "packaging/completions/rdma-configctl.bash"},
                                         Part{"zsh", "packaging/completions/_rdma-configctl"},
                                         Part{"fish", "packaging/completions/rdma-configctl.fish"}),
                         [](const auto& one) {
                           return std::regex_replace(std::string(one.param.name), std::regex("-"), "_");
                         });

TEST(Manual, HasEverySubcommandAndOption) {
  const auto page = content(kSource / "docs/man/rdma-configctl.1");
  const auto bash = content(kSource / "packaging/completions/rdma-configctl.bash");
  const auto zsh = content(kSource / "packaging/completions/_rdma-configctl");
  const auto fish = content(kSource / "packaging/completions/rdma-configctl.fish");
  int options = 0;
  for (const auto& command : describe_command_line()) {
    if (!command.name.empty()) {
      EXPECT_THAT(page, HasSubstr("\n.B rdma-configctl " + command.name)) << "SYNOPSIS";
      EXPECT_THAT(page, HasSubstr("\n.SS " + command.name + "\n"));
      EXPECT_THAT(bash, HasSubstr("\t" + command.name + ") echo "));
      EXPECT_THAT(zsh, HasSubstr("'" + command.name + ":"));
      EXPECT_THAT(fish, HasSubstr(" -a " + command.name + " -d "));
    }
    for (const auto& option : command.options) {
      for (const auto& name : option.names) {
        ++options;
        EXPECT_THAT(page, HasSubstr("\\fB" + std::regex_replace(name, std::regex("-"), "\\-") + "\\fP"));
        EXPECT_THAT(zsh, HasSubstr(")" + name)) << command.name;
        const bool is_long = name.starts_with("--");
        EXPECT_THAT(fish, HasSubstr((is_long ? " -l " : " -s ") + name.substr(is_long ? 2 : 1)))
            << command.name;
      }
    }
  }
  EXPECT_GT(options, 20);
}

/// The names that `pattern` finds in a source file.
std::vector<std::string> found(const fs::path& file, const char* pattern) {
  const auto text = content(file);
  const std::regex expression(pattern);
  std::vector<std::string> out;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
    out.push_back((*at)[1]);
  return out;
}

TEST(Manual, HasEveryMemberOfTheBus) {
  const auto page = content(kSource / "docs/man/org.rdmaconfigd1.5");
  const auto members =
      found(kSource / "src/daemon/api.cpp", "register(?:Method|Signal|Property)\\(\"(\\w+)\"\\)");
  ASSERT_GT(members.size(), 10U);
  for (const auto& member : members) {
    EXPECT_TRUE(std::regex_search(page, std::regex("\n\\.B[IR] " + member + "[( ]"))) << member;
  }
  const auto errors = found(kSource / "src/daemon/api.cpp", "error\\(\"(\\w+)\"");
  ASSERT_GT(errors.size(), 2U);
  for (const auto& error : errors)
    EXPECT_THAT(page, HasSubstr("\n.B org.rdmaconfigd1.Error." + error + "\n"));
}

TEST(Manual, HasThePagesThatUnitsName) {
  int pages = 0;
  for (const auto& unit : fs::directory_iterator(kSource / "units")) {
    for (const auto& line : found(unit.path(), "Documentation[=:] *([^\n]*)")) {
      for (const auto& name : words(line)) {
        std::smatch part;
        ASSERT_TRUE(std::regex_match(name, part, std::regex("man:([a-z0-9.-]+)\\(([1-8])\\)"))) << name;
        EXPECT_TRUE(fs::exists(kSource / "docs/man" / (part[1].str() + "." + part[2].str()))) << name;
        ++pages;
      }
    }
  }
  EXPECT_GT(pages, 5);
}

TEST(Manual, NamesTheFilesThatAreWritten) {
  const auto page =
      std::regex_replace(content(kSource / "docs/man/rdma-configd.8"), std::regex("\\\\-"), "-");
  int files = 0;
  for (const auto& source : fs::recursive_directory_iterator(kSource / "src/kinds")) {
    if (!source.is_regular_file()) continue;
    for (const auto& name : found(source.path(), "File = \"(/etc/[^\"]*)\"")) {
      EXPECT_THAT(page, HasSubstr(fs::path(name).filename().string())) << name;
      ++files;
    }
  }
  EXPECT_GT(files, 8);
}

TEST(Package, PurgesEveryFileThatIsWritten) {
  const auto script = content(kSource / "packaging/debian/rdma-configd.postrm");
  int files = 0;
  for (const auto& source : fs::recursive_directory_iterator(kSource / "src/kinds")) {
    if (!source.is_regular_file()) continue;
    for (const auto& name : found(source.path(), "File = \"(/etc/[^\"]*)\"")) {
      EXPECT_THAT(script, HasSubstr(name)) << source.path();
      ++files;
    }
    for (const auto& name : found(source.path(), "(50-rdma-configd[a-z-]*\\.conf)"))
      EXPECT_THAT(script, HasSubstr(name)) << source.path();
    for (const auto& name :
         found(source.path(),
               "\"(/etc/[a-z/]*(?:partitions.conf|opensm.conf|default/opensm|sysconfig/opensm))\""))
      EXPECT_THAT(script, HasSubstr(name)) << source.path();
    // The marks of blocks in files of others.
    for (const auto& mark : found(source.path(), "k(?:Begin|End) *=\\s*\"([^\"]*)\""))
      EXPECT_THAT(script, HasSubstr(mark)) << source.path();
  }
  EXPECT_GT(files, 8);
}

TEST(Manual, IsGoodRoff) {
  if (!installed("mandoc") && !installed("man")) GTEST_SKIP() << "neither mandoc nor man is installed";
  for (const auto& page : fs::directory_iterator(kSource / "docs/man")) {
    const auto path = page.path().string();
    if (installed("mandoc")) {
      EXPECT_EQ(say("mandoc -Tlint -Wwarning " + path), "");
    }
    if (installed("man")) {
      EXPECT_EQ(say("MANPAGER=cat man --warnings -E UTF-8 -l -Tutf8 -Z " + path + " 2>&1 >/dev/null"), "");
    }
  }
}

/// A /sys with an InfiniBand and a RoCE adapter.
class Completion : public testing::Test {
 protected:
  Completion() {
    std::string name = (fs::temp_directory_path() / "sys-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    sys_ = name;
    for (const int port : {1, 2}) {
      const auto folder = "class/infiniband/mlx4_0/ports/" + std::to_string(port);
      write(folder + "/link_layer", "InfiniBand");
      write(folder + "/gids/0", "fe80:0000:0000:0000:0002:c903:0031:78f" + std::to_string(port + 1));
    }
    write("class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet");
    write("class/infiniband/mlx5_0/ports/1/gids/0", "fe80:0000:0000:0000:1270:fdff:fe6e:0001");
    write("class/net/eth0/type", "1");
    write("class/net/mlx4_ib0/type", "32");
  }
  ~Completion() override { fs::remove_all(sys_); }
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((sys_ / file).parent_path());
    std::ofstream(sys_ / file) << text << '\n';
  }

  /// What bash offers after `line`, word by word as readline breaks it.
  [[nodiscard]] std::vector<std::string> bash(const std::string& line) const {
    const auto script = sys_ / "complete";
    std::ofstream(script) << "_rdma_configctl_sys=" << sys_.string() << "\nsource "
                          << (kSource / "packaging/completions/rdma-configctl.bash").string() << R"(
COMP_LINE=$1 COMP_POINT=${#1}
words=$(sed 's/\([:=]\)/ \1 /g' <<<"$1")
read -ra COMP_WORDS <<<"$words"
case $1 in *[[:space:]]) COMP_WORDS+=("");; esac
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_rdma_configctl
printf '%s\n' "${COMPREPLY[@]}"
)";
    return words(say("bash " + script.string() + " '" + line + "'"));
  }

  fs::path sys_;
};

TEST_F(Completion, OfBashOffersSubcommands) {
  std::vector<std::string> names;
  for (const auto& command : describe_command_line()) {
    if (!command.name.empty()) names.push_back(command.name);
  }
  EXPECT_EQ(bash("rdma-configctl "), names);
  EXPECT_THAT(bash("rdma-configctl --json ap"), ElementsAre("apply"));
}

TEST_F(Completion, OfBashOffersEveryOption) {
  const auto commands = describe_command_line();
  for (const auto& command : commands) {
    std::vector<std::string> names;
    for (const auto* one : {&commands.front(), &command}) {
      for (const auto& option : one->options)
        names.insert(names.end(), option.names.begin(), option.names.end());
    }
    EXPECT_THAT(bash("rdma-configctl " + command.name + " -"), IsSupersetOf(names)) << command.name;
  }
  EXPECT_THAT(bash("rdma-configctl apply --conf"), ElementsAre("--config", "--confirm"));
}

TEST_F(Completion, OfBashOffersWhatTheHostHas) {
  EXPECT_THAT(bash("rdma-configctl show "),
              UnorderedElementsAre("mlx4_0", "mlx5_0", "mlx4_0/1", "mlx4_0/2", "mlx5_0/1", "mlx4_ib0",
                                   "00:02:c9:03:00:31:78:f2", "00:02:c9:03:00:31:78:f3"));
  EXPECT_THAT(bash("rdma-configctl show 00:02:c9:03:00:31:78:f"), ElementsAre("f2", "f3"))
      << "only what stands behind the last colon";
  EXPECT_THAT(bash("rdma-configctl verify --ipoib "), ElementsAre("mlx4_ib0"));
  EXPECT_THAT(bash("rdma-configctl verify --from mlx4"), ElementsAre("mlx4_0/1", "mlx4_0/2"));
  EXPECT_THAT(bash("rdma-configctl verify --from=mlx5"), ElementsAre("mlx5_0/1"));
  EXPECT_THAT(bash("rdma-configctl verify --count "), ElementsAre());
  EXPECT_THAT(bash("rdma-configctl diff "), ElementsAre());
}

TEST_F(Completion, OfFishOffersWhatTheHostHas) {
  if (!installed("fish")) GTEST_SKIP() << "fish is not installed";
  const auto fish = [&](const std::string& line) {
    return words(say("HOME=" + sys_.string() + " fish --no-config -c 'set -g _rdma_configctl_sys " +
                     sys_.string() + "; source " +
                     (kSource / "packaging/completions/rdma-configctl.fish").string() + "; complete -C \"" +
                     line + "\"' | cut -f1"));
  };
  EXPECT_THAT(fish("rdma-configctl ap"), ElementsAre("apply"));
  EXPECT_THAT(fish("rdma-configctl show 00"),
              UnorderedElementsAre("00:02:c9:03:00:31:78:f2", "00:02:c9:03:00:31:78:f3"));
  EXPECT_THAT(fish("rdma-configctl verify --ipoib "), ElementsAre("mlx4_ib0"));
  EXPECT_THAT(fish("rdma-configctl verify --from mlx5"), ElementsAre("mlx5_0/1"));
  EXPECT_THAT(fish("rdma-configctl rollback --ex"), ElementsAre("--expired"));
}

TEST_F(Completion, OfZshIsUnderstood) {
  if (!installed("zsh")) GTEST_SKIP() << "zsh is not installed";
  const auto file = (kSource / "packaging/completions/_rdma-configctl").string();
  EXPECT_EQ(say("zsh -n " + file), "");
  // Sourced outside of a completion only its last line fails; the functions are there then.
  const auto host = [&](const std::string& what) {
    return words(say("zsh -fc '_arguments() { :; }; _rdma_configctl_sys=" + sys_.string() + "; source " +
                     file + "; _rdma_configctl_host " + what + "'"));
  };
  EXPECT_THAT(host("guids"), ElementsAre("00:02:c9:03:00:31:78:f2", "00:02:c9:03:00:31:78:f3"));
  EXPECT_THAT(host("ports"), ElementsAre("mlx4_0/1", "mlx4_0/2", "mlx5_0/1"));
  EXPECT_THAT(host("interfaces"), ElementsAre("mlx4_ib0"));
  // What is offered for an argument, as compadd gets it.
  const auto value = [&](const std::string& what) {
    return words(
        say("zsh -fc '_arguments() { :; }; compadd() { [[ $1 == -a ]] && print -l -- ${(P)2}; }; "
            "_rdma_configctl_sys=" +
            sys_.string() + "; source " + file + "; _rdma_configctl_value " + what + "'"));
  };
  EXPECT_THAT(value("NAME"),
              UnorderedElementsAre("mlx4_0", "mlx5_0", "mlx4_0/1", "mlx4_0/2", "mlx5_0/1", "mlx4_ib0",
                                   "00:02:c9:03:00:31:78:f2", "00:02:c9:03:00:31:78:f3"));
  EXPECT_THAT(value("INTERFACE"), ElementsAre("mlx4_ib0"));
  EXPECT_THAT(value("\"LID|GUID\""), ElementsAre("00:02:c9:03:00:31:78:f2", "00:02:c9:03:00:31:78:f3"));
  EXPECT_THAT(value("SECONDS"), ElementsAre());
}

/// What reads the administrator's files finds no mark of ours in what a withdrawal leaves.
TEST(Package, WithdrawalKnowsEveryMark) {
  const auto hand_over = content(kSource / "src/kinds/hand_over.cpp");
  int marks = 0;
  for (const auto& source : fs::recursive_directory_iterator(kSource / "src/kinds")) {
    if (!source.is_regular_file()) continue;
    for (const auto& name : found(source.path(), "constexpr Marks (k\\w+)")) {
      for (const auto* end : {".begin", ".end"})
        EXPECT_THAT(hand_over, HasSubstr(name + end)) << source.path();
      ++marks;
    }
    EXPECT_THAT(found(source.path(), "(k(?:Begin|End)) *=\\s*\""), IsEmpty())
        << "marks are for marked_text.hpp";
    for (const auto& name :
         found(source.path(),
               "\"(/etc/[a-z/]*(?:partitions.conf|opensm.conf|default/opensm|sysconfig/opensm))\""))
      EXPECT_THAT(hand_over, HasSubstr(name)) << source.path();
  }
  EXPECT_GE(marks, 2);
}

}  // namespace
}  // namespace rdmacfg::ctl
