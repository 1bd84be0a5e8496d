// SPDX-License-Identifier: Apache-2.0
// get and set: paths, and that nothing else of a text changes.
#include "ctl/commands/document_edit.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "base/unique_fd.hpp"
#include "console.hpp"

namespace rdmacfg::ctl {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string kText = R"(# the fabric
version = 1   # of the language

[[ipoib]]
guid = "00:02:c9:03:00:31:78:f2"   # port 1
name = "mlx4_ib0"
mtu  = 65520 # as large as can be
mode = 'connected'

  [[ipoib.pkey]]
  pkey = 0x8002
  mtu = 2044

[[ipoib]]
match = { device = "mlx5_*", port = 1 }
ipv4.addresses = [
  "192.0.2.1/24",  # the first ]
  "192.0.2.2/24",
]

[rdma_system]
netns = "shared"
)";

std::string with(const std::string& path, const std::string& value, const std::string& text = kText) {
  const auto steps = parse_path(path);
  EXPECT_TRUE(steps) << path;
  const auto out = with_value({"x.toml", text}, *steps, value);
  return out ? *out : "error: " + out.error().message;
}

std::string without(const std::string& path, const std::string& text = kText) {
  const auto out = without_value({"x.toml", text}, *parse_path(path));
  return out ? *out : "error: " + out.error().message;
}

/// kText with one text in the place of another.
std::string changed(const std::string& from, const std::string& to) {
  auto text = kText;
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(SetValue, TakesThePlaceOfTheOldOne) {
  EXPECT_EQ(with("ipoib[mlx4_ib0].mtu", "2044"), changed("65520", "2044"));
  EXPECT_EQ(with("ipoib[0].mode", "\"datagram\""), changed("'connected'", "\"datagram\""));
  EXPECT_EQ(with("ipoib[guid=00:02:C9:03:00:31:78:F2].name", "\"a\""), changed("\"mlx4_ib0\"", "\"a\""));
  EXPECT_EQ(with("ipoib[0].pkey[0x0002].mtu", "4092"), changed("mtu = 2044", "mtu = 4092"));
  EXPECT_EQ(with("ipoib[0].pkey.mtu", "4092"), changed("mtu = 2044", "mtu = 4092")) << "there is only one";
  EXPECT_EQ(with("ipoib[1].match.port", "2"), changed("port = 1", "port = 2"));
  EXPECT_EQ(with("ipoib[1].ipv4.addresses", "[]"),
            changed("[\n  \"192.0.2.1/24\",  # the first ]\n  \"192.0.2.2/24\",\n]", "[]"));
  EXPECT_EQ(with("rdma_system.netns", "\"exclusive\""), changed("\"shared\"", "\"exclusive\""));
  EXPECT_EQ(with("version", "1"), kText);
}

TEST(SetValue, SaysHowAnEntryIsAdded) {
  EXPECT_EQ(with("ipoib[1].pkey[0x8002].mtu", "2044"),
            "error: ipoib[1].pkey[0x8002].mtu is not in x.toml; add the entry with `rdma-configctl edit`");
  EXPECT_EQ(with("roce[mlx5_0].tos", "106"),
            "error: roce[mlx5_0].tos is not in x.toml; add the entry with `rdma-configctl edit`");
  EXPECT_EQ(with("ipoib[0].pkey[0x8003].mtu", "2044"),
            "error: there is no ipoib[0].pkey[0x8003] in x.toml; there is 0x8002");
}

TEST(SetValue, StandsBehindTheOtherKeys) {
  EXPECT_EQ(with("ipoib[0].umcast", "true"),
            changed("mode = 'connected'\n", "mode = 'connected'\numcast = true\n"));
  EXPECT_EQ(with("ipoib[0].pkey[0].mode", "\"datagram\""),
            changed("  mtu = 2044\n", "  mtu = 2044\n  mode = \"datagram\"\n"));
  EXPECT_EQ(with("ipoib[1].match.hca", "1"), changed("port = 1 }", "port = 1, hca = 1 }"));
  EXPECT_EQ(with("ipoib[1].mtu", "2044"), changed("]\n\n[rdma_system]", "]\nmtu = 2044\n\n[rdma_system]"));
  EXPECT_EQ(with("daemon.audit", "\"1h\""), kText + "\n[daemon]\naudit = \"1h\"\n");
  EXPECT_EQ(with("version", "1", ""), "version = 1\n");
  EXPECT_EQ(with("a.b", "1", "[a]"), "[a]\nb = 1\n");
}

TEST(SetValue, SaysWhatItCannotDo) {
  EXPECT_THAT(with("ipoib.mtu", "1"), HasSubstr("there are 2 entries; select one"));
  EXPECT_THAT(with("ipoib[ib9].mtu", "1"),
              HasSubstr("there is no ipoib[ib9] in x.toml; there are mlx4_ib0, 1"));
  EXPECT_THAT(with("ipoib[0].mtu.x", "1"), HasSubstr("is an integer, which has no keys"));
  EXPECT_THAT(with("rdma_system", "1"), HasSubstr("is a section"));
  EXPECT_THAT(with("x", "1", "a = \n"), HasSubstr("x.toml:1:"));
  for (const auto* path : {"", "a.", ".a", "a[", "a[]", "a b", "a[0]b"})
    EXPECT_FALSE(parse_path(path)) << path;
}

TEST(SetValue, ReachesSingleValuesAndTablesThatAreNotThereYet) {
  EXPECT_EQ(with("ipoib[1].ipv4.addresses[1]", "\"192.0.2.9/24\""), changed("192.0.2.2/24", "192.0.2.9/24"));
  EXPECT_THAT(with("ipoib[1].ipv4.addresses[2]", "1"), HasSubstr("the list has 2 values, counted from [0]"));
  EXPECT_EQ(with("ipoib[mlx4_ib0].ipv6.addresses", "[\"2001:db8::1/64\"]"),
            changed("mode = 'connected'\n", "mode = 'connected'\nipv6.addresses = [\"2001:db8::1/64\"]\n"));
  EXPECT_THAT(with("ipoib[mlx4_ib0].pkey[0x8009].mtu", "1"),
              HasSubstr("there is no ipoib[mlx4_ib0].pkey[0x8009] in x.toml; there is 0x8002"));
  const std::string setting = "[[sysctl]]\nkey = \"net.ipv4.neigh.default.gc_thresh3\"\nvalue = 1\n";
  EXPECT_THAT(with("sysctl[net/ipv4/neigh/default/gc_thresh3].value", "2", setting),
              HasSubstr("value = 2\n"));
}

TEST(SetValue, WritesKeysOfTablesWithoutAHeaderWithDots) {
  const std::string dotted = "[[expect]]\nname = \"fabric\"\nmatch.driver = \"mlx5_core\"\n";
  EXPECT_EQ(with("expect[fabric].match.link_layer", "\"InfiniBand\"", dotted),
            dotted + "match.link_layer = \"InfiniBand\"\n");
  const std::string implied = "[[ipoib]]\nname = \"a\"\n[[ipoib.ipv4.routes]]\nto = \"192.0.2.0/24\"\n";
  const auto set = with("ipoib[a].ipv4.method", "\"manual\"", implied);
  EXPECT_THAT(set, HasSubstr("name = \"a\"\nipv4.method = \"manual\"\n"));
  EXPECT_TRUE(config::parse_tree({"x.toml", set}, {}).errors.empty());
  EXPECT_EQ(with("a.c", "2", "a.b = 1\n"), "a.b = 1\na.c = 2\n");
  EXPECT_EQ(without("a.b", "a.b = 1\na.c = 2\n"), "a.c = 2\n");
  const std::string braces = "defaults = { ipoib.mtu = 4092, ipoib.mode = \"connected\" }\n";
  EXPECT_THAT(without("defaults.ipoib.mtu", braces), HasSubstr("set defaults as a whole"));
  EXPECT_EQ(with("defaults.ipoib.umcast", "true", braces),
            "defaults = { ipoib.mtu = 4092, ipoib.mode = \"connected\", ipoib.umcast = true }\n");
}

TEST(UnsetValue, TakesOneTableOutOfAList) {
  const std::string list = "[[ipoib]]\npkey = [{ pkey = 0x8001 }, { pkey = 0x8002 }]\n";
  EXPECT_EQ(without("ipoib[0].pkey[0x8001]", list), "[[ipoib]]\npkey = [{ pkey = 0x8002 }]\n");
  EXPECT_EQ(without("ipoib[0].pkey[0x8002]", list), "[[ipoib]]\npkey = [{ pkey = 0x8001 }]\n");
}

TEST(UnsetValue, TakesTheLineAway) {
  EXPECT_EQ(without("ipoib[0].mtu"), changed("mtu  = 65520 # as large as can be\n", ""));
  EXPECT_EQ(without("ipoib[1].match.port"), changed(", port = 1", ""));
  EXPECT_EQ(without("ipoib[1].match.device"), changed("device = \"mlx5_*\", ", ""));
  EXPECT_EQ(without("ipoib[1].ipv4.addresses"),
            changed("ipv4.addresses = [\n  \"192.0.2.1/24\",  # the first ]\n  \"192.0.2.2/24\",\n]\n", ""));
  EXPECT_THAT(without("ipoib[0].umcast"), HasSubstr("is not in x.toml"));
  EXPECT_THAT(without("rdma_system"), HasSubstr("is a section"));
  EXPECT_EQ(without("ipoib[1].ipv4.addresses[1]"), changed("  \"192.0.2.2/24\",\n", ""));
}

TEST(AsToml, QuotesWhatIsNotAValue) {
  EXPECT_EQ(as_toml("4092"), "4092");
  EXPECT_EQ(as_toml("0x8002"), "0x8002");
  EXPECT_EQ(as_toml("true"), "true");
  EXPECT_EQ(as_toml("[\"a\", \"b\"]"), "[\"a\", \"b\"]");
  EXPECT_EQ(as_toml("\"a\""), "\"a\"");
  EXPECT_EQ(as_toml("connected"), "\"connected\"");
  EXPECT_EQ(as_toml("00:02:c9:03:00:31:78:f2"), "\"00:02:c9:03:00:31:78:f2\"");
  EXPECT_EQ(as_toml("1\nx = 2"), "\"1\\u000ax = 2\"");
  EXPECT_EQ(as_toml("a\"b\\"), "\"a\\\"b\\\\\"");
}

TEST(AsToml, MakesAListWhereTheKeyTakesNothingElse) {
  const auto as = [](const std::string& path, const std::string& written) {
    return as_toml_for(*parse_path(path), written);
  };
  EXPECT_EQ(as("ipoib[a].ipv4.addresses", "192.0.2.1/24"), "[\"192.0.2.1/24\"]");
  EXPECT_EQ(as("ipoib[a].ipv4.addresses", "192.0.2.1/24, 192.0.2.2/24"),
            "[\"192.0.2.1/24\", \"192.0.2.2/24\"]");
  EXPECT_EQ(as("ipoib[a].ipv4.addresses", "[\"192.0.2.1/24\"]"), "[\"192.0.2.1/24\"]");
  EXPECT_EQ(as("ipoib[a].ipv4.addresses[0]", "192.0.2.1/24"), "\"192.0.2.1/24\"");
  EXPECT_EQ(as("ipoib[a].ipv4.addresses", "192.0.2.1"), "[\"192.0.2.1\"]") << "the error names the address";
  EXPECT_EQ(as("ipoib[a].ipv4.addresses", "192.0.2.1/24,192.0.2.2"), "[\"192.0.2.1/24\", \"192.0.2.2\"]");
  EXPECT_EQ(as("ipoib[a].ipv4.addresses", "true"), "true");
  EXPECT_EQ(as("roce[mlx5_0].mode", "v2"), "\"v2\"");
  EXPECT_EQ(as("ipoib[a].mtu", "4092"), "4092");
  EXPECT_EQ(as("defaults.ipoib.mode", "connected"), "\"connected\"");
  EXPECT_EQ(as("nothing.like.it", "a,b"), "\"a,b\"");
}

TEST(GetAndSet, ReadAndWriteWhateverThePathIs) {
  Console console;
  const auto file = console.folder() / "a.toml";
  std::ofstream(file)
      << kRename << "[ipoib.ipv4]\naddresses = [\"192.0.2.1/24\", \"192.0.2.2/24\"]\n"
      << "[[sysctl]]\nkey = \"net.ipv4.neigh.default.gc_thresh3\"\nvalue = 8192\n"
      << "[[nvme_connection]]\naddress = \"192.0.2.1\"\nport = 4421\n"
      << "[[lio_target]]\nwwn = \"0002:c903:0031:78f2\"\ninitiators = [\"0002:c903:0031:78f4\"]\n"
      << "[defaults.ipoib]\numcast = true  # all\n";
  const auto got = [&](const std::string& path) {
    const int status = console.run({"get", "-f", file, path});
    return status == 0 ? console.out.str() : console.err.str();
  };
  EXPECT_EQ(got("ipoib[mlx4_ib0].ipv4.addresses"), "[\"192.0.2.1/24\",\"192.0.2.2/24\"]\n");
  EXPECT_EQ(got("ipoib[mlx4_ib0].ipv4.addresses[1]"), "192.0.2.2/24\n");
  for (const auto* guid : {"00:02:c9:03:00:31:78:f2", "0x0002C903003178F2", "0002:c903:0031:78f2"})
    EXPECT_EQ(got(fmt::format("ipoib[{}].name", guid)), "mlx4_ib0\n") << guid;
  EXPECT_EQ(got("nvme_connection[192.0.2.1].port"), "4421\n");
  EXPECT_THAT(got("nvme_connection[192.0.2.2].port"), HasSubstr("; there is 192.0.2.1"));
  EXPECT_EQ(got("lio_target[00:02:c9:03:00:31:78:f2].initiators"), "[\"0002:c903:0031:78f4\"]\n");
  EXPECT_EQ(got("defaults.ipoib.umcast"), "true\n");
  EXPECT_EQ(got("version"), "1\n");
  EXPECT_EQ(got("sysctl[net.ipv4.neigh.default.gc_thresh3].value"), "8192\n");
  EXPECT_THAT(got("ipoib.mlx4_ib0.mtu"), HasSubstr("is not in the document; write ipoib[mlx4_ib0]"));
  EXPECT_THAT(got("mlx4_ib0.mtu"), HasSubstr("is not in the document; write ipoib[mlx4_ib0].mtu\n"));
  EXPECT_THAT(got("umcast"), HasSubstr("is not in the document; write ipoib.umcast\n"));
  EXPECT_THAT(got("ib7.mtu"),
              HasSubstr("there is no section ib7; write SECTION.KEY or SECTION[SELECTOR].KEY"));
  EXPECT_THAT(got("roce.mode"), Not(HasSubstr("there is no section"))) << "there may be one";
  EXPECT_EQ(console.run({"set", "-f", file, "mlx4_ib0.mtu", "2044"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("; write ipoib[mlx4_ib0].mtu\n"));
  EXPECT_THAT(got("ipoib[mlx4_ib1].mtu"),
              HasSubstr("there is no ipoib[mlx4_ib1] in the document; there is mlx4_ib0"));
  EXPECT_THAT(got("ipoib[mlx4_ib0].mtuu"), HasSubstr("did you mean mtu?"));
  // As a shell hands them over: a list in brackets, and path and value in one word.
  EXPECT_EQ(console.run({"set", "-f", file, "ipoib[mlx4_ib0].ipv4.addresses", "[\"192.0.2.7/24\"]"}), 0)
      << console.err.str();
  EXPECT_EQ(got("ipoib[mlx4_ib0].ipv4.addresses"), "[\"192.0.2.7/24\"]\n");
  EXPECT_EQ(console.run({"set", "-f", file, "ipoib[name=mlx4_ib0].mtu=4092"}), 0) << console.err.str();
  EXPECT_EQ(got("ipoib[mlx4_ib0].mtu"), "4092\n");
}

TEST(GetAndSet, ChangeAFileAndCheckIt) {
  Console console;
  const auto file = console.folder() / "a.toml";
  std::ofstream(file) << kRename;
  const auto content = [&] {
    std::ifstream in(file);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  };
  EXPECT_EQ(console.run({"get", "-f", file, "ipoib[mlx4_ib0].mtu"}), 0) << console.err.str();
  EXPECT_EQ(console.out.str(), "65520\n");
  EXPECT_EQ(console.run({"set", "-f", file, "ipoib[mlx4_ib0].mtu", "4092"}), 0) << console.err.str();
  EXPECT_THAT(content(), HasSubstr("mtu = 4092\n"));
  const auto before = content();
  EXPECT_EQ(console.run({"set", "-f", file, "ipoib[mlx4_ib0].mtu", "99999"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("was not changed: the document would have errors"));
  EXPECT_EQ(content(), before);
  EXPECT_EQ(console.run({"set", "-f", file, "--unset", "version"}), 1);
  EXPECT_THAT(console.err.str(), AllOf(HasSubstr("version is missing"), HasSubstr("was not changed")));
  EXPECT_EQ(content(), before);
  EXPECT_EQ(console.run({"set", "-f", file, "--unset", "ipoib[0].mtu"}), 0) << console.err.str();
  EXPECT_EQ(console.run({"get", "-f", file, "ipoib[0].mtu"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("is not in the document"));
  EXPECT_EQ(console.run({"set", "-f", file, "ipoib[0].mtu"}), 1);
  // A key alone makes no entry, and an error about [roce] would be one about a line that nobody wrote.
  const auto after = content();
  for (const auto* path : {"roce.mode", "sysctl.net.core.rmem_max", "partition.mtu"}) {
    EXPECT_EQ(console.run({"set", "-f", file, path, "4096"}), 1);
    EXPECT_THAT(console.err.str(),
                AllOf(HasSubstr(std::string(path) + " is not in "),
                      HasSubstr("; add the entry with `rdma-configctl edit`"), Not(HasSubstr("section"))));
  }
  EXPECT_EQ(content(), after);
}

// Exit status 1 would say that the file is as it was.
TEST(GetAndSet, AChangeThatCannotBeToldIsMadeAllTheSame) {
  Console console;
  const auto file = console.folder() / "a.toml";
  std::ofstream(file) << kRename;
  console.out.setstate(std::ios::badbit);
  EXPECT_EQ(console.run({"set", "-f", file, "ipoib[mlx4_ib0].mtu", "4092"}), 0);
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("mtu = 4092\n"));
  EXPECT_EQ(console.run({"set", "-f", file, "ipoib[mlx4_ib0].mtu", "99999"}), 1) << "nothing was changed";
  EXPECT_EQ(console.run({"get", "-f", file, "ipoib[mlx4_ib0].mtu"}), 1) << "its output is all that it does";
  EXPECT_THAT(console.err.str(), HasSubstr("the output could not be written"));
}

TEST(GetAndSet, OfStandardInputTheOutputIsTheDocument) {
  Console console;
  const auto file = console.folder() / "a.toml";
  std::ofstream(file) << kRename;
  const base::UniqueFd document(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  const base::UniqueFd before(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  ASSERT_EQ(::dup2(document.get(), STDIN_FILENO), STDIN_FILENO);
  console.out.setstate(std::ios::badbit);
  const int status = console.run({"set", "-f", "-", "ipoib[mlx4_ib0].mtu", "4092"});
  EXPECT_EQ(before ? ::dup2(before.get(), STDIN_FILENO) : ::close(STDIN_FILENO), 0);
  EXPECT_EQ(status, 1) << "nobody has it";
  EXPECT_THAT(console.err.str(), HasSubstr("the output could not be written"));
}

TEST(GetAndSet, AFileIsReplacedWithItsModeWhereItsLinkLeads) {
  namespace fs = std::filesystem;
  Console console;
  const auto folder = console.folder() / "documents";
  fs::create_directories(folder);
  std::ofstream(folder / "real.toml") << kRename;
  fs::permissions(folder / "real.toml", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("real.toml", folder / "link.toml");
  const auto link = folder / "link.toml";
  EXPECT_EQ(console.run({"set", "-f", link, "ipoib[mlx4_ib0].mtu", "4092"}), 0) << console.err.str();
  EXPECT_EQ(console.run({"get", "-f", folder / "real.toml", "ipoib[mlx4_ib0].mtu"}), 0);
  EXPECT_EQ(console.out.str(), "4092\n");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(fs::status(link).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 2);
}

TEST(GetAndSet, OneValueOfAListGoesWithItsCommaAndItsLine) {
  const struct {
    const char *before, *selector, *after;
  } cases[] = {
      {R"(["a", "b", "c"])", "0", R"(["b", "c"])"},
      {R"(["a", "b", "c"])", "1", R"(["a", "c"])"},
      {R"(["a", "b", "c"])", "2", R"(["a", "b"])"},
      {R"([ "a" ])", "0", R"([  ])"},
      {R"(["a",])", "0", R"([])"},
      {"[\n  \"a\",  # first\n  \"b\",\n]", "0", "[\n  \"b\",\n]"},
      {"[\n  \"a\",\n  \"b\"  # last\n]", "1", "[\n  \"a\",\n]"},
      {"[\n  \"a\"  # with, a comma\n  , \"b\"\n]", "0", "[\n   \"b\"\n]"},
      {"[\"a\",\n \"b\", \"c\",\n]", "1", "[\"a\",\n \"c\",\n]"},
      {"[\"a\", \"b\",\n \"c\"]", "1", "[\"a\",\n \"c\"]"},
      {"[\"a\", \"b\" # c\n]", "1", "[\"a\" # c\n]"},
      {R"(["a#,", 'b'])", "1", R"(["a#,"])"},
  };
  for (const auto& row : cases) {
    const auto path = parse_path(std::string("x.y[") + row.selector + "]");
    ASSERT_TRUE(path);
    const auto text = std::string("[x]\ny = ") + row.before + " # end\nz = 1\n";
    const auto got = without_value({"f", text}, *path);
    ASSERT_TRUE(got) << row.before << ": " << got.error().message;
    EXPECT_EQ(*got, std::string("[x]\ny = ") + row.after + " # end\nz = 1\n") << row.before;
    EXPECT_TRUE(config::parse_tree({"f", *got}, {}).errors.empty()) << *got;
  }
}

TEST(GetAndSet, WriteIntoTheFileThatCounts) {
  Console console;
  console.kernel.files.content["/etc/hostname"] = "node1\n";
  const auto folder = console.folder() / "root/etc/rdma-configd";
  std::filesystem::create_directories(folder / "conf.d");
  const auto root = (console.folder() / "root").string();
  const auto write = [&](const std::string& main_text, const std::string& drop_in_text) {
    std::ofstream(folder / "config.toml") << main_text;
    std::ofstream(folder / "conf.d/50-more.toml") << drop_in_text;
  };
  const auto other = [&] {
    std::ifstream in(folder / "conf.d/50-more.toml");
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  };
  const std::string a = "[[ipoib]]\nname = \"a0\"\nguid = \"00:02:c9:03:00:31:78:f2\"\nmtu = 2044\n";
  const std::string b = "[[ipoib]]\nname = \"b0\"\nguid = \"00:02:c9:03:00:31:78:f3\"\nmtu = 2044\n";
  write("version = 1\n" + a, b);
  EXPECT_EQ(console.run({"set", "--root", root, "ipoib[0].mtu", "4092"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("a number counts within one file"));
  write("version = 1\n" + a, "[match]\nhost = \"storage*\"\n" + a);
  EXPECT_EQ(console.run({"set", "--root", root, "ipoib[a0].mtu", "4092"}), 0) << console.err.str();
  EXPECT_THAT(other(), HasSubstr("2044")) << "it is for other hosts";
  write("version = 1\n[defaults.ipoib]\nmtu = 4092\n", "[defaults.ipoib]\nmode = \"datagram\"\n");
  EXPECT_EQ(console.run({"get", "--root", root, "defaults.ipoib"}), 0) << console.err.str();
  EXPECT_EQ(console.out.str(), "mode = datagram\nmtu = 4092\n");
}

TEST(GetAndSet, TheEntryOfADropInCountsWithoutItsName) {
  Console console;
  console.kernel.files.content["/etc/hostname"] = "node1\n";
  const auto folder = console.folder() / "root/etc/rdma-configd";
  std::filesystem::create_directories(folder / "conf.d");
  const auto root = (console.folder() / "root").string();
  const auto value = [&] {
    EXPECT_EQ(console.run({"get", "--root", root, "ipoib[a0].mtu"}), 0) << console.err.str();
    return console.out.str();
  };
  // Below --root it writes to the played host.
  const auto set = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"set", "--root", root});
    EXPECT_EQ(console.run(words), 0) << console.err.str();
    for (const auto* name : {"config.toml", "conf.d/50-more.toml"}) {
      const auto written = console.kernel.files.content.find(std::string("/etc/rdma-configd/") + name);
      if (written != console.kernel.files.content.end()) std::ofstream(folder / name) << written->second;
    }
    console.kernel.files.content.erase("/etc/rdma-configd/config.toml");
    console.kernel.files.content.erase("/etc/rdma-configd/conf.d/50-more.toml");
  };
  const std::string other = "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f3\"\nmtu = 2000\n";
  const std::pair<std::string, std::string> cases[] = {
      {"guid = \"00:02:c9:03:00:31:78:f2\"\n", "guid = \"0002:C903:0031:78F2\"\n"},
      {"device = \"mlx4_0\"\nport = 1\n", "port = 1\ndevice = \"mlx4_0\"\n"},
  };
  for (const auto& [identity, again] : cases) {
    std::ofstream(folder / "config.toml") << "version = 1\n[[ipoib]]\nname = \"a0\"\nmtu = 2044\n"
                                          << identity;
    std::ofstream(folder / "conf.d/50-more.toml") << other << "[[ipoib]]\nmtu = 1000\n" << again;
    EXPECT_EQ(value(), "1000\n");
    set({"ipoib[a0].mtu", "4092"});
    EXPECT_THAT(console.err.str(), HasSubstr("conf.d/50-more.toml was changed"));
    EXPECT_EQ(value(), "4092\n");
    set({"--unset", "ipoib[a0].mtu"});
    EXPECT_EQ(value(), "2044\n");
    set({"ipoib[a0].mtu", "4000"});
    EXPECT_THAT(console.err.str(), HasSubstr("config.toml was changed"));
    EXPECT_EQ(value(), "4000\n") << "the only file that has the key";
  }
}

TEST(GetAndSet, OnlyFilesOfTheAdministratorAreChanged) {
  const std::pair<std::string, std::string> cases[] = {{"run", "lasts until the next boot"},
                                                       {"usr/lib", "belongs to a package"}};
  for (const auto& [where, why] : cases) {
    Console console;
    const auto root = console.folder() / "root";
    const auto drop_ins = root / where / "rdma-configd/conf.d";
    std::filesystem::create_directories(drop_ins);
    std::filesystem::create_directories(root / "etc/rdma-configd");
    std::ofstream(root / "etc/rdma-configd/config.toml") << "version = 1\n";
    std::ofstream(drop_ins / "20-ib.toml") << "[rdma_system]\nnetns = \"shared\"\n";
    EXPECT_EQ(console.run({"set", "--root", root.string(), "rdma_system.netns", "exclusive"}), 1) << where;
    EXPECT_THAT(console.err.str(),
                HasSubstr("rdma-configd/conf.d/20-ib.toml " + why + ": a file of the same"));
  }
}

TEST(Validate, NamesDropInsThatAreNotRead) {
  Console console;
  console.kernel.files.content["/etc/hostname"] = "node1\n";
  const auto root = console.folder() / "root";
  const auto folder = root / "etc/rdma-configd";
  std::filesystem::create_directories(folder / "conf.d");
  std::ofstream(folder / "config.toml") << "version = 1\n";
  std::ofstream(folder / "conf.d/10-ib.conf") << "[[ipoib]]\n";
  EXPECT_EQ(console.run({"validate", "--root", root.string()}), 0) << console.err.str();
  EXPECT_THAT(console.err.str(),
              AllOf(HasSubstr("not used: "), HasSubstr("etc/rdma-configd/conf.d/10-ib.conf: the name of a "
                                                       "drop-in must end in .toml")));
  EXPECT_EQ(console.run({"validate", "--root", root.string(), (folder / "config.toml").string()}), 0);
  EXPECT_EQ(console.err.str(), "") << "the drop-ins are not asked for";
}

TEST(Validate, ListsTheFilesThatItReads) {
  Console console;
  const auto file = (console.folder() / "site.toml").string();
  std::ofstream(file) << "version = 1\n";
  EXPECT_EQ(console.run({"validate", file}), 0) << console.err.str();
  EXPECT_EQ(console.err.str(), "");
  EXPECT_EQ(console.run({"validate", "-v", file}), 0) << console.err.str();
  EXPECT_THAT(console.err.str(), HasSubstr("read: " + file));
  EXPECT_EQ(console.run({"validate", "-f", "-", "-f", "-"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("--config -: standard input can be read only once"));
}

TEST(GetAndSet, BlanksAroundTheEqualsSign) {
  Console console;
  const auto file = console.folder() / "a.toml";
  std::ofstream(file) << kRename;
  for (const auto* word :
       {"ipoib[mlx4_ib0].mtu=2044", "ipoib[mlx4_ib0].mtu = 4000", " ipoib[0].mtu= 4092 "}) {
    EXPECT_EQ(console.run({"set", "-f", file, word}), 0) << console.err.str();
  }
  EXPECT_EQ(console.run({"get", "-f", file, "ipoib[0].mtu"}), 0);
  EXPECT_EQ(console.out.str(), "4092\n");
  EXPECT_EQ(console.run({"set", "-f", file, "ipoib[0].mtu ="}), 1);
}

TEST(GetAndSet, AListOfTextsIsSeparatedByCommas) {
  Console console;
  const auto file = console.folder() / "a.toml";
  std::ofstream(file) << "version = 1\n[[expect]]\nname = \"x\"\n";
  EXPECT_EQ(console.run({"set", "-f", file, "expect[x].firmware", "28.39.1002,28.40.1000"}), 0)
      << console.err.str();
  EXPECT_EQ(console.run({"get", "-f", file, "expect[x].firmware"}), 0);
  EXPECT_EQ(console.out.str(), "[\"28.39.1002\",\"28.40.1000\"]\n");
}

TEST(GetAndSet, EachEntryIsCalledByWhatItAloneHas) {
  const auto of = [](const std::string& section, const std::string& text) {
    const auto tree = config::parse_tree({"x.toml", "version = 1\n" + text}, {});
    EXPECT_TRUE(tree.errors.empty());
    return selectors_for(tree.root.members.at(section));
  };
  EXPECT_THAT(of("ipoib",
                 "[[ipoib]]\nguid = \"00:02:c9:03:00:31:78:f2\"\nname = \"ib0\"\n"
                 "[[ipoib]]\nguid = \"0002:c903:0031:78f3\"\nname = \"IB0\"\n"
                 "[[ipoib]]\nname = \"a[1]\"\ninterface = \"eth7\"\n"),
              ElementsAre("00:02:c9:03:00:31:78:f2", "0002:c903:0031:78f3", "eth7"));
  EXPECT_THAT(of("sysctl",
                 "[[sysctl]]\nkey = \"net.ipv4.a\"\n[[sysctl]]\nkey = \"net/ipv4/a\"\n"
                 "[[sysctl]]\nkey = \"net.ipv4.b\"\n"),
              ElementsAre("0", "1", "net.ipv4.b"));
  EXPECT_THAT(of("pkey",
                 "[[pkey]]\npkey = 0x8002\n[[pkey]]\npkey = 2\nname = \"n\"\n[[pkey]]\npkey = 3\n"
                 "[[pkey]]\nmode = \"datagram\"\n"),
              ElementsAre("0", "n", "0x0003", "3"));
  EXPECT_THAT(of("lio_target",
                 "[[lio_target]]\nwwn = \"iqn.2026-01.org.example:a\"\n"
                 "[[lio_target]]\nwwn = \"0002:c903:0031:78f2\"\n"),
              ElementsAre("iqn.2026-01.org.example:a", "0002:c903:0031:78f2"));
  EXPECT_THAT(of("iser_session",
                 "[[iser_session]]\ntarget = \"iqn.x\"\naddress = \"192.0.2.1\"\n"
                 "[[iser_session]]\ntarget = \"iqn.x\"\naddress = \"192.0.2.2\"\n"),
              ElementsAre("192.0.2.1", "192.0.2.2"));
  EXPECT_THAT(of("opensm_file", "[[opensm_file]]\noption = \"root_guid_file\"\n"),
              ElementsAre("root_guid_file"));
  EXPECT_THAT(of("mlx4_port", "[[mlx4_port]]\npci = \"0000:10:00.0\"\n"), ElementsAre("0000:10:00.0"));
}

TEST(Edit, ChecksAsksWritesAndApplies) {
  Console console;
  console.terminal();
  const std::string path = "/etc/rdma-configd/config.toml";
  int opened = 0;
  console.environment.edit = [&](const std::filesystem::path& file) -> base::Result<int> {
    ++opened;
    std::ofstream(file) << (opened == 1 ? "version = 1\nx = 1\n" : kRename);
    return 0;
  };
  // There are errors, it is edited again, then written, applied, and kept.
  console.answer("y\ny\ny\n");
  EXPECT_EQ(console.run({"edit"}), 0) << console.err.str();
  EXPECT_EQ(opened, 2);
  EXPECT_THAT(console.err.str(), AllOf(HasSubstr("Edit it again? [Y/n]"), HasSubstr("and apply it?"),
                                       HasSubstr("Keep these changes?")));
  EXPECT_EQ(console.kernel.files.content[path], kRename);
  EXPECT_EQ(console.kernel.link("mlx4_ib0").mtu, 65520);
  opened = 0;
  console.answer("n\n");
  EXPECT_EQ(console.run({"edit"}), 1);
  EXPECT_EQ(console.kernel.files.content[path], kRename) << "nothing is written that has errors";
  console.environment.edit = [](const std::filesystem::path& file) -> base::Result<int> {
    std::ofstream(file, std::ios::trunc).flush();
    return 0;
  };
  console.answer("n\n");
  EXPECT_EQ(console.run({"edit", "--yes"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("the file is empty"));
  EXPECT_EQ(console.kernel.files.content[path], kRename) << "an empty text is not one that wants nothing";
  EXPECT_EQ(console.kernel.link("mlx4_ib0").mtu, 65520);
  console.environment.in_terminal = false;
  EXPECT_EQ(console.run({"edit"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("needs a terminal"));
}

TEST(Edit, WhatOthersWroteMeanwhileStays) {
  Console console;
  console.terminal();
  const std::string path = "/etc/rdma-configd/config.toml", theirs = "version = 1\n# theirs\n";
  std::string kept;
  console.environment.edit = [&](const std::filesystem::path& file) -> base::Result<int> {
    std::ofstream(file) << kRename;
    kept = file.string();
    console.kernel.files.content[path] = theirs;
    return 0;
  };
  console.answer("y\n");
  EXPECT_EQ(console.run({"edit"}), 1);
  EXPECT_THAT(console.err.str(), AllOf(HasSubstr("was changed by another process while you were editing"),
                                       HasSubstr("your text is kept in " + kept)));
  EXPECT_EQ(console.kernel.files.content[path], theirs);
  std::stringstream text;
  text << std::ifstream(kept).rdbuf();
  EXPECT_EQ(text.str(), kRename);
  std::filesystem::remove_all(std::filesystem::path(kept).parent_path());
}

/// Of two at once the second one waits, and works on what the first one wrote.
TEST(Set, KeepsWhatAnotherSetWroteMeanwhile) {
  Console console;
  console.document(kRename);
  std::filesystem::path locked;
  bool held = false;
  console.environment.lock_document =
      [&](const std::filesystem::path& folder) -> base::Result<std::shared_ptr<void>> {
    locked = folder;
    std::ofstream(folder / "config.toml", std::ios::app)
        << "umcast = true\n";  // the first one, before it ends
    held = true;
    return std::shared_ptr<void>(&held, [](void* flag) { *static_cast<bool*>(flag) = false; });
  };
  EXPECT_EQ(console.run({"set", "ipoib[mlx4_ib0].mtu", "4092"}), 0) << console.err.str();
  EXPECT_EQ(locked, std::filesystem::canonical(console.folder()));
  EXPECT_FALSE(held) << "the lock goes with the command";
  std::stringstream text;
  text << std::ifstream(console.folder() / "config.toml").rdbuf();
  EXPECT_THAT(text.str(), AllOf(HasSubstr("umcast = true"), HasSubstr("mtu = 4092")));
  console.environment.lock_document = [](const auto&) -> base::Result<std::shared_ptr<void>> {
    return base::fail(base::Code::kTimeout, "process 17 still holds the folder; nothing was changed");
  };
  EXPECT_EQ(console.run({"set", "ipoib[mlx4_ib0].mtu", "2044"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("process 17 still holds"));
  std::stringstream after;
  after << std::ifstream(console.folder() / "config.toml").rdbuf();
  EXPECT_EQ(after.str(), text.str());
}

TEST(Edit, LooksForChangesOfOthersUnderTheLock) {
  Console console;
  console.terminal();
  const std::string path = "/etc/rdma-configd/config.toml", theirs = "version = 1\n# theirs\n";
  std::filesystem::path kept;
  console.environment.edit = [&](const std::filesystem::path& file) -> base::Result<int> {
    std::ofstream(file) << kRename;
    kept = file.parent_path();
    return 0;
  };
  console.environment.lock_document =
      [&](const std::filesystem::path& folder) -> base::Result<std::shared_ptr<void>> {
    EXPECT_EQ(folder, "");
    console.kernel.files.content[path] = theirs;  // who had the lock wrote it
    return std::shared_ptr<void>();
  };
  console.answer("y\n");
  EXPECT_EQ(console.run({"edit"}), 1);
  EXPECT_THAT(console.err.str(), HasSubstr("was changed by another process while you were editing"));
  EXPECT_EQ(console.kernel.files.content[path], theirs);
  std::filesystem::remove_all(kept);
}

}  // namespace
}  // namespace rdmacfg::ctl
