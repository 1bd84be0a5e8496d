// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "base/open_folder.hpp"
#include "base/text.hpp"
#include "base/unique_fd.hpp"
#include "config/document.hpp"
#include "config/guard.hpp"
#include "config/hosts/host_values.hpp"
#include "config/trust.hpp"

namespace rdmacfg::config {

namespace {

using base::Code;
using base::fail;
using base::Result;
using base::UniqueFd;

constexpr std::string_view kMain = "etc/rdma-configd/config.toml";
/// The error for the null device in place of a file.
constexpr std::string_view kNothing = "version = 1\n";
/// Later ones mask earlier ones of the same name.
constexpr std::array<std::string_view, 3> kDropIns{"usr/lib/rdma-configd/conf.d", "run/rdma-configd/conf.d",
                                                   "etc/rdma-configd/conf.d"};

/// A folder tree in which absolute symbolic links mean the tree's own root.
class Root {
 public:
  static Result<Root> open(const std::filesystem::path& path) {
    Root root;
    root.path_ = path;
    root.fd_ = UniqueFd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!root.fd_) return base::fail_errno(errno, path.native());
    return root;
  }

  /// A descriptor, or -1 and errno. Never blocks on a FIFO or device.
  [[nodiscard]] UniqueFd file(std::string_view below, int flags) const {
    const std::string name(below);
    flags |= O_CLOEXEC;
    if ((flags & O_PATH) == 0) flags |= O_NONBLOCK | O_NOCTTY;  // openat2 refuses them with O_PATH
    if (path_ == "/") return UniqueFd(::openat(fd_.get(), name.c_str(), flags));
    open_how how{};
    how.flags = static_cast<decltype(how.flags)>(flags);
    how.resolve = RESOLVE_IN_ROOT;
    return UniqueFd(static_cast<int>(::syscall(SYS_openat2, fd_.get(), name.c_str(), &how, sizeof how)));
  }
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] std::string shown(std::string_view below) const { return (path_ / below).native(); }

 private:
  std::filesystem::path path_;
  UniqueFd fd_;
};

/// The target of the link `name` in the folder `folder`; empty when it is not a link.
std::string link_target(int folder, const std::string& name) {
  std::array<char, 4096> target{};
  const auto length = ::readlinkat(folder, name.c_str(), target.data(), target.size());
  return length < 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(length));
}

std::string_view sort_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

bool is_null_device(const struct stat& status) {
  return S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3);
}

Result<std::string> read_all(int fd, const std::string& name, std::size_t limit) {
  std::string text;
  std::array<char, 65536> chunk{};
  for (;;) {
    const auto count = ::read(fd, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return base::fail_errno(errno, name);
    if (count == 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(count));
    if (text.size() > limit)
      return fail(Code::kInvalid, fmt::format("{}: is larger than the {} bytes allowed", name, limit));
  }
}

/// An open file; nothing when it is the null device.
Result<std::optional<Text>> read_open(int fd, const std::string& name, std::size_t limit) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return base::fail_errno(errno, name);
  if (is_null_device(status)) return std::nullopt;
  if (!S_ISREG(status.st_mode))
    return fail(Code::kInvalid, fmt::format("{}: must be a file, not {}", name, sort_of(status.st_mode)));
  return read_all(fd, name, limit).map([&](std::string text) {
    return std::optional(Text{.name = name,
                              .text = std::move(text),
                              .written_by_others = written_by_others(status, "it"),
                              .is_private = (status.st_mode & S_IROTH) == 0});
  });
}

/// Trust, and who may read it, are a matter of the whole way to it.
void judge_way(Text& text, int root, std::string_view below) {
  auto trust = path_trust(root, below);
  if (text.written_by_others.empty()) text.written_by_others = std::move(trust.written_by_others);
  text.is_private = text.is_private || trust.closed;
}

/// The same of a file that was named: that vouches for its folders, but makes none more open.
void judge_way_to_named(Text& text, const std::filesystem::path& file) {
  std::error_code error;
  const auto path = std::filesystem::absolute(file, error);
  const UniqueFd root(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  text.is_private = text.is_private || error || !root || path_trust(root.get(), path.native()).closed;
}

bool is_drop_in(std::string_view name) { return name.ends_with(".toml"); }

/// Names in a folder but hidden ones. A folder that is not there has none.
Result<std::vector<std::string>> list(const Root& root, std::string_view folder) {
  std::vector<std::string> names;
  UniqueFd fd = root.file(folder, O_RDONLY | O_DIRECTORY);
  if (!fd && errno == ENOENT) return names;
  if (!fd) return base::fail_errno(errno, root.shown(folder));
  const auto dir = base::open_folder(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  if (!dir) return base::fail_errno(errno, root.shown(folder));
  errno = 0;
  while (const dirent* entry = ::readdir(dir.get())) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with('.')) names.emplace_back(name);
    errno = 0;
  }
  if (errno != 0) return base::fail_errno(errno, root.shown(folder));
  return names;
}

/// The file folder/name; nothing when it only masks.
Result<std::optional<Text>> read_drop_in(const Root& root, std::string_view folder, const std::string& name,
                                         std::size_t limit) {
  const auto path = fmt::format("{}/{}", folder, name);
  const UniqueFd parent = root.file(folder, O_PATH | O_DIRECTORY);
  const auto target = link_target(parent.get(), name);
  // By its text, too: below another root there may be no /dev/null.
  if (target == "/dev/null") return std::nullopt;
  const UniqueFd fd = root.file(path, O_RDONLY);
  if (!fd && errno == ENOENT && !target.empty()) {
    return fail(Code::kIo, fmt::format("{}: links to {}, which does not exist", root.shown(path), target));
  }
  if (!fd) return base::fail_errno(errno, root.shown(path));
  auto text = read_open(fd.get(), root.shown(path), limit);
  if (text && *text && (*text)->text.empty()) return std::nullopt;
  if (text && *text) judge_way(**text, root.fd(), path);
  return text;
}

Result<std::vector<Text>> read_one(const std::filesystem::path& file, const Limits& limits) {
  if (file == "-") {
    return read_all(STDIN_FILENO, "standard input", limits.file_bytes).map([](std::string text) {
      return std::vector<Text>{{.name = kStandardInput, .text = std::move(text), .is_private = true}};
    });
  }
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return base::fail_errno(errno, file.native());
  struct stat status {};
  // Naming a file vouches for its owner and its folders, but not for a file that everybody can write.
  const bool anybody_writes = ::fstat(fd.get(), &status) == 0 && (status.st_mode & S_IWOTH) != 0;
  return read_open(fd.get(), file.native(), limits.file_bytes).map([&](std::optional<Text> text) {
    if (text && !anybody_writes) text->written_by_others.clear();
    if (text) judge_way_to_named(*text, file);
    return std::vector<Text>{std::move(text).value_or(Text{file.native(), std::string(kNothing)})};
  });
}

/// Files that somebody may take for the configuration, "config.tml" or "conf.d/10-ib.conf"; their names keep
/// them from being read.
std::string not_read_for_names(const Root& root, const std::filesystem::path& folder) {
  constexpr std::size_t kSaid = 3;
  const std::filesystem::path main(kMain);
  std::vector<std::string> out;
  const auto beside = list(root, main.parent_path().native());
  for (const auto& name : beside ? *beside : std::vector<std::string>()) {
    if (name != main.filename().native() && name != "conf.d")
      out.push_back(root.shown((main.parent_path() / name).native()));
  }
  std::sort(out.begin(), out.end());
  for (auto& path : misnamed_drop_ins(folder)) out.push_back(std::move(path));
  return out.empty() ? std::string()
                     : "; not read because of the name: " + base::join_first(kSaid, out, ", ");
}

Result<std::vector<Text>> read_documents(const Source& source, const Limits& limits) {
  if (!source.file.empty()) return read_one(source.file, limits);
  const auto root = Root::open(source.root);
  if (!root) return base::Failure(root.error());

  std::vector<Text> texts;
  const std::filesystem::path main(kMain);
  const auto folder = main.parent_path().native(), name = main.filename().native();
  const UniqueFd parent = root->file(folder, O_PATH | O_DIRECTORY);
  struct stat status {};
  if (parent && ::fstatat(parent.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
    auto text = read_drop_in(*root, folder, name, limits.file_bytes);
    if (!text) return base::Failure(text.error());
    // A link to the null device says that nothing is wanted; an empty file is one that could not be written.
    const bool masks = !link_target(parent.get(), name).empty();
    texts.push_back(std::move(*text).value_or(Text{root->shown(kMain), masks ? std::string(kNothing) : ""}));
  } else if (errno != ENOENT) {
    return base::fail_errno(errno, root->shown(kMain));
  }

  std::map<std::string, std::string_view> chosen;  // file name to the folder that has the last word on it
  for (const auto& drop_ins : kDropIns) {
    const auto names = list(*root, drop_ins);
    if (!names) return base::Failure(names.error());
    for (const auto& drop_in : *names) {
      if (is_drop_in(drop_in)) chosen.insert_or_assign(drop_in, drop_ins);
    }
  }
  for (const auto& [drop_in, drop_ins] : chosen) {
    auto text = read_drop_in(*root, drop_ins, drop_in, limits.file_bytes);
    if (!text) return base::Failure(text.error());
    if (*text) texts.push_back(std::move(**text));
    if (texts.size() > limits.files) {
      return fail(Code::kInvalid, fmt::format("{}: there are more than the {} files allowed",
                                              root->shown(kDropIns.back()), limits.files));
    }
  }
  if (texts.empty() && !chosen.empty()) {
    // Masking the only one says that nothing is wanted any more, not that nobody has decided anything.
    const auto& [drop_in, drop_ins] = *chosen.begin();
    texts.push_back(Text{root->shown(fmt::format("{}/{}", drop_ins, drop_in)), ""});
  }
  if (texts.empty()) {
    return fail(
        Code::kNotFound,
        fmt::format("{}: there is no configuration; write \"version = 1\" and sections like [[ipoib]] "
                    "into this file, or into {}/NAME.toml{}",
                    root->shown(kMain), root->shown(kDropIns.back()),
                    not_read_for_names(*root, source.root)));
  }
  return texts;
}

/// A table or /etc/hosts that a document names; nothing when it is not there.
Result<std::optional<Text>> read_named(const Source& source, const Text& document, const std::string& named,
                                       const Limits& limits) {
  const bool absolute = named.starts_with('/');
  const auto beside = std::filesystem::path(document.name).parent_path() / named;
  if (!absolute && document.name.starts_with('<')) return std::nullopt;
  if (!absolute && !source.file.empty()) {
    const auto path = beside.lexically_normal();
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd && errno == ENOENT) return std::nullopt;
    if (!fd) return base::fail_errno(errno, path.native());
    auto text = read_open(fd.get(), path.native(), limits.table_bytes);
    if (text && *text) judge_way_to_named(**text, path);
    return text;
  }
  const auto root = Root::open(source.root);
  if (!root) return base::Failure(root.error());
  const auto below = (absolute ? std::filesystem::path(named)
                               : std::filesystem::path("/") / beside.lexically_relative(source.root))
                         .lexically_normal()
                         .native()
                         .substr(1);
  const UniqueFd fd = root->file(below, O_RDONLY);
  if (!fd && errno == ENOENT) return std::nullopt;
  if (!fd) return base::fail_errno(errno, root->shown(below));
  auto text = read_open(fd.get(), root->shown(below), limits.table_bytes);
  if (text && *text) judge_way(**text, root->fd(), below);
  return text;
}

/// Only the lines of /etc/hosts that give one of `names`.
std::string lines_of_names(const std::string& text, const std::vector<std::string>& names) {
  std::set<int> wanted;
  const auto hosts = HostsFile::parse({.name = "", .text = text});
  for (const auto& name : names) {
    const auto at = hosts.by_name.find(name);
    if (at == hosts.by_name.end()) continue;
    for (const auto& line : at->second) wanted.insert(line.where.line);
  }
  std::string out;
  int number = 0;
  for (const auto line : base::split(text, '\n')) {
    if (wanted.contains(++number)) out += line;
    if (wanted.empty() || number >= *wanted.rbegin()) break;
    out += '\n';
  }
  return out;
}

}  // namespace

Result<void> add_host_data(std::vector<Text>& texts, const Source& source, const Limits& limits) {
  std::erase_if(texts, [](const Text& text) { return is_host_data(text.name); });
  const auto documents = texts.size();
  std::vector<Tree> trees;
  bool hosts_file = false;
  std::size_t tables = 0;
  for (std::size_t at = 0; at < documents; ++at) {
    auto& tree = trees.emplace_back();
    if (texts[at].text.find("host") == std::string::npos || check_text(texts[at], limits)) continue;
    tree = parse_tree(texts[at], limits);
    const auto named = files_named(tree.root);
    hosts_file = hosts_file || named.hosts_file;
    for (const auto& table : named.tables) {
      if (!is_host_data(table) || ++tables > limits.tables) continue;  // which is said where it is written
      auto text = read_named(source, texts[at], table, limits);
      if (!text) return base::fail(text.error());
      const bool known = *text && std::any_of(texts.begin(), texts.end(),
                                              [&](const Text& other) { return other.name == (*text)->name; });
      if (!*text || known) continue;
      if (!source.every_host) (*text)->text = rows_of_host(**text, source.host, limits);
      texts.push_back(std::move(**text));
    }
  }
  if (!hosts_file) return {};
  auto hosts = read_named(source, texts.front(), "/etc/hosts", limits);
  if (!hosts) return base::fail(hosts.error());
  if (!*hosts) return {};
  if (!source.every_host) {
    model::Diagnostics ignored;  // said when the texts are parsed
    HostData data(texts, limits);
    for (std::size_t at = 0; at < documents; ++at) data.add(trees[at].root, texts[at], ignored);
    const std::vector<bool> all(documents, true);
    (*hosts)->text = lines_of_names((*hosts)->text, HostValues(data, source.host, all).lookups());
  }
  texts.push_back(std::move(**hosts));
  return {};
}

Result<std::vector<Text>> read_files(const Source& source, const Limits& limits) {
  auto texts = read_documents(source, limits);
  if (!texts) return texts;
  // As a document it would count as one that asks for nothing.
  if (!source.file.empty() && is_host_data(texts->front().name))
    return fail(Code::kInvalid, fmt::format("{}: is a table of host values, not a document; give the "
                                            "document, which names its tables in [host]",
                                            texts->front().name));
  if (const auto added = add_host_data(*texts, source, limits); !added) return base::fail(added.error());
  return texts;
}

std::vector<std::string> misnamed_drop_ins(const std::filesystem::path& root) {
  constexpr std::array<std::string_view, 8> kEndings{".toml", ".tml",  ".conf", ".cfg",
                                                     ".ini",  ".json", ".yaml", ".yml"};
  std::vector<std::string> out;
  const auto tree = Root::open(root);
  if (!tree) return out;
  for (const auto& folder : kDropIns) {
    auto names = list(*tree, folder);
    if (!names) continue;  // read_files() says so
    std::sort(names->begin(), names->end());
    for (const auto& name : *names) {
      const auto word = base::lower(name);
      const bool meant = std::any_of(kEndings.begin(), kEndings.end(),
                                     [&](std::string_view ending) { return word.ends_with(ending); });
      if (meant && !is_drop_in(name)) out.push_back(tree->shown(fmt::format("{}/{}", folder, name)));
    }
  }
  return out;
}

}  // namespace rdmacfg::config
