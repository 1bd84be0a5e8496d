// SPDX-License-Identifier: Apache-2.0
// The shells offer what the program and the host have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "ctl/options.hpp"
#include "unit/ctl/sources.hpp"

namespace rdmacfg::ctl {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::Not;
using testing::UnorderedElementsAre;

/// A /sys with an InfiniBand and a RoCE adapter.
class Completion : public testing::Test {
 protected:
  Completion() {
    for (const int port : {1, 2}) {
      const auto folder = "class/infiniband/mlx4_0/ports/" + std::to_string(port);
      scratch_.write(folder + "/link_layer", "InfiniBand\n");
      scratch_.write(folder + "/gids/0",
                     "fe80:0000:0000:0000:0002:c903:0031:78f" + std::to_string(port + 1) + "\n");
    }
    scratch_.write("class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet\n");
    scratch_.write("class/infiniband/mlx5_0/ports/1/gids/0", "fe80:0000:0000:0000:1270:fdff:fe6e:0001\n");
    scratch_.write("class/net/eth0/type", "1\n");
    scratch_.write("class/net/mlx4_ib0/type", "32\n");
  }

  /// bash's completions after `line`, word by word as readline breaks it.
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

  /// zsh's completions after each line: the whole of its completion system, in a terminal of its own.
  [[nodiscard]] std::map<std::string, std::vector<std::string>> zsh(
      const std::vector<std::string>& lines) const {
    std::string list;
    for (const auto& line : lines) list += " '" + line + "'";
    scratch_.write("shell", "_rdma_configctl_sys=" + sys_.string() + "\nout=" + (sys_ / "out").string() +
                                "\nlines=(" + list + ")\nfpath=(" +
                                (kSource / "packaging/completions").string() + R"( $fpath)
autoload -Uz compinit; compinit -u -D
# The listed matches.
compadd() {
  local -a got
  [[ -n $asking && " $* " != *" -"[OAD]" "* ]] && { builtin compadd -A got "$@"; print -rl -- $got >>$out; }
  builtin compadd "$@"
}
zle-line-init() {
  local line
  for line in $lines; do
    print -r -- "? $line" >>$out
    BUFFER=$line CURSOR=$#line asking=1
    zle list-choices
  done
  print END >>$out
  exit
}
zle -N zle-line-init
)");
    scratch_.write("zpty", "zmodload zsh/zpty; cd " + sys_.string() +
                               "; zpty shell zsh -f; zpty -w shell source " + (sys_ / "shell").string() + R"(
for ((i = 0; i < 900; i++)); do
  zpty -rt shell ignored; [[ -r out && $(tail -n 1 out) == END ]] && break; sleep 0.1
done
zpty -d shell; cat out
)");
    std::map<std::string, std::vector<std::string>> out;
    std::istringstream said(say("HOME=" + sys_.string() + " zsh -f " + (sys_ / "zpty").string()));
    std::string of;
    for (std::string line; std::getline(said, line);) {
      if (line.starts_with("? ")) {
        of = line.substr(2);
      } else if (!line.empty()) {
        out[of].push_back(line);
      }
    }
    return out;
  }

 private:
  Scratch scratch_;

 protected:
  const std::filesystem::path& sys_ = scratch_.path();
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
    for (const auto* described : {&commands.front(), &command}) {
      for (const auto& option : described->options)
        names.insert(names.end(), option.names.begin(), option.names.end());
    }
    EXPECT_THAT(bash("rdma-configctl " + command.name + " -"), IsSupersetOf(names)) << command.name;
  }
  EXPECT_THAT(bash("rdma-configctl apply --conf"), ElementsAre("--config", "--confirm"));
}

TEST_F(Completion, OfBashOffersWhatTheHostHas) {
  EXPECT_THAT(bash("rdma-configctl show "),
              UnorderedElementsAre("devices", "ports", "pkeys", "gids", "roce", "ipoib", "dcb", "limits",
                                   "modules", "services", "lossless", "resources", "counters", "mlx4_0",
                                   "mlx5_0", "mlx4_0/1", "mlx4_0/2", "mlx5_0/1", "mlx4_ib0",
                                   "00:02:c9:03:00:31:78:f2", "00:02:c9:03:00:31:78:f3"));
  EXPECT_THAT(bash("rdma-configctl show 00:02:c9:03:00:31:78:f"), ElementsAre("f2", "f3"))
      << "only what stands behind the last colon";
  EXPECT_THAT(bash("rdma-configctl verify --mad 00:02:c9:03:00:31:78:f"), ElementsAre("f2", "f3"));
  EXPECT_THAT(bash("rdma-configctl verify --mad=00:02:c9:03:00:31:78:f"), ElementsAre("f2", "f3"));
  EXPECT_THAT(bash("rdma-configctl verify --ipoib "), ElementsAre("mlx4_ib0"));
  EXPECT_THAT(bash("rdma-configctl verify --from mlx4"), ElementsAre("mlx4_0/1", "mlx4_0/2"));
  EXPECT_THAT(bash("rdma-configctl verify --from=mlx5"), ElementsAre("mlx5_0/1"));
  EXPECT_THAT(bash("rdma-configctl verify --count "), ElementsAre());
  EXPECT_THAT(bash("rdma-configctl confirm "), ElementsAre());
}

TEST_F(Completion, OfBashRunsNoNameOfTheHost) {
  for (const std::string folder :
       {"class/net/$((6*7))", "class/net/ib;id", "class/infiniband/`echo`/ports/1"})
    std::filesystem::create_directories(sys_ / folder);
  for (const std::string interface : {"$((6*7))", "ib;id"})
    std::ofstream(sys_ / "class/net" / interface / "type") << "32\n";
  EXPECT_THAT(bash("rdma-configctl verify --ipoib "), ElementsAre("mlx4_ib0"));
  EXPECT_THAT(bash("rdma-configctl verify --from "), ElementsAre("mlx4_0/1", "mlx4_0/2", "mlx5_0/1"));
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

TEST_F(Completion, OfZshOffersWhatTheHostHas) {
  if (!installed("zsh")) GTEST_SKIP() << "zsh is not installed";
  const std::string ctl = "rdma-configctl ";
  const auto offered =
      zsh({ctl + "ap", ctl + "show ", ctl + "verify --ipoib ", ctl + "verify --mad 00:02:c9:03:00:31:78:f",
           ctl + "verify --from=mlx5", ctl + "export n", ctl + "import li", ctl + "import ifcfg ",
           ctl + "validate --config ", ctl + "rollback --ex"});
  const auto after = [&](const std::string& line) {
    const auto at = offered.find(ctl + line);
    return at == offered.end() ? std::vector<std::string>{} : at->second;
  };
  EXPECT_THAT(after("ap"), Contains("apply"));
  EXPECT_THAT(after("show "),
              IsSupersetOf({"mlx4_0", "mlx5_0", "mlx4_0/1", "mlx4_0/2", "mlx5_0/1", "mlx4_ib0",
                            "00:02:c9:03:00:31:78:f2", "00:02:c9:03:00:31:78:f3"}));
  EXPECT_THAT(after("verify --ipoib "), ElementsAre("mlx4_ib0"));
  EXPECT_THAT(after("verify --mad 00:02:c9:03:00:31:78:f"),
              ElementsAre("00:02:c9:03:00:31:78:f2", "00:02:c9:03:00:31:78:f3"));
  EXPECT_THAT(after("verify --from=mlx5"), ElementsAre("mlx5_0/1"));
  EXPECT_THAT(after("export n"), UnorderedElementsAre("nm", "networkd", "netplan", "nmstate", "nvmetcli"));
  EXPECT_THAT(after("import li"), UnorderedElementsAre("live", "limits", "lio"));
  EXPECT_THAT(after("import ifcfg "), Contains("shell")) << "a file";
  EXPECT_THAT(after("validate --config "), Not(Contains("shell"))) << "only documents and folders";
  EXPECT_THAT(after("validate --config "), Contains("class"));
  EXPECT_THAT(after("rollback --ex"), Contains("--expired"));
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
  // The completions of an argument, as compadd gets them.
  const auto value = [&](const std::string& what) {
    return words(
        say("zsh -fc '_arguments() { :; }; compadd() { [[ $1 == -a ]] && print -l -- ${(P)2}; }; "
            "_rdma_configctl_sys=" +
            sys_.string() + "; source " + file + "; _rdma_configctl_value " + what + "'"));
  };
  EXPECT_THAT(value("NAME"),
              UnorderedElementsAre("devices", "ports", "pkeys", "gids", "roce", "ipoib", "dcb", "limits",
                                   "modules", "services", "lossless", "resources", "counters", "mlx4_0",
                                   "mlx5_0", "mlx4_0/1", "mlx4_0/2", "mlx5_0/1", "mlx4_ib0",
                                   "00:02:c9:03:00:31:78:f2", "00:02:c9:03:00:31:78:f3"));
  EXPECT_THAT(value("INTERFACE"), ElementsAre("mlx4_ib0"));
  EXPECT_THAT(value("\"LID|GUID\""), ElementsAre("00:02:c9:03:00:31:78:f2", "00:02:c9:03:00:31:78:f3"));
  EXPECT_THAT(value("SECONDS"), ElementsAre());
}

}  // namespace
}  // namespace rdmacfg::ctl
