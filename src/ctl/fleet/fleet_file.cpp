// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>

#include "base/text.hpp"
#include "base/unique_fd.hpp"
#include "config/guard.hpp"
#include "ctl/fleet/fleet_commands.hpp"

namespace rdmacfg::ctl {

namespace {

base::Failure too_large(const std::string& path, std::size_t most) {
  return base::fail(base::Code::kInvalid,
                    fmt::format("{}: has more than the {} bytes that are allowed", path, most));
}

/// Whether a word looks like the name of a file. No domain of the first level is called like these.
bool is_named_as_file(std::string_view word) {
  constexpr std::array<std::string_view, 12> kEndings{".txt", ".list", ".lst", ".csv",  ".tsv",  ".conf",
                                                      ".cfg", ".ini",  ".yml", ".yaml", ".json", ".toml"};
  return word.find_first_of(", \t\n[]") == std::string_view::npos &&
         std::any_of(kEndings.begin(), kEndings.end(),
                     [&](const auto ending) { return base::lower(word).ends_with(ending); });
}

/// The hosts of a table with values of hosts: the fields below "host", at their places. Any other text stays.
std::string hosts_of_table(std::string text) {
  std::string out;
  bool is_header = true;
  for (const auto line : base::split(config::without_mark(text), '\n')) {
    std::string field(line.substr(0, line.find(',')));
    std::replace(field.begin(), field.end(), '"', ' ');
    const auto host = base::trim(field);
    if (is_header && !host.empty() && !host.starts_with('#')) {
      if (host != "host") return text;
      field.clear();
      is_header = false;
    }
    out += field + '\n';
  }
  return out;
}

}  // namespace

base::Result<config::Text> read_fleet_file(const Context& context, const std::string& path,
                                           std::size_t most) {
  config::Text out{path, {}};
  if (path == "-") {
    out.name = "<standard input>";
    out.text.resize(most + 1);
    context.environment.in.read(out.text.data(), static_cast<std::streamsize>(out.text.size()));
    out.text.resize(static_cast<std::size_t>(context.environment.in.gcount()));
    if (out.text.size() > most) return too_large(out.name, most);
    return out;
  }
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return base::fail_errno(errno, path);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return base::fail_errno(errno, path);
  if (!S_ISREG(status.st_mode)) return base::fail(base::Code::kInvalid, path + ": is not a regular file");
  if (static_cast<std::size_t>(status.st_size) > most) return too_large(path, most);
  out.text.resize(static_cast<std::size_t>(status.st_size) + 1);  // one more shows whether it grew
  std::size_t size = 0;
  for (;;) {
    const auto got = ::read(fd.get(), out.text.data() + size, out.text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::fail_errno(errno, path);
    size += static_cast<std::size_t>(got);
    if (size > most) return too_large(path, most);
    if (got == 0) break;
    if (size == out.text.size()) out.text.resize(2 * size);
  }
  out.text.resize(size);
  return out;
}

base::Result<config::Text> list_of_hosts(const Context& context) {
  const auto& word = context.arguments.fleet.hosts;
  std::error_code error;
  const bool file = word == "-" || word.find('/') != std::string::npos || is_named_as_file(word) ||
                    std::filesystem::is_regular_file(word, error);
  if (!file) return config::Text{"--hosts", word};
  auto text = read_fleet_file(context, word);
  if (!text && text.error().sys_errno == ENOENT)
    return base::fail({text.error().code,
                       fmt::format("{} does not exist; write the path of a file with hosts, or the hosts "
                                   "themselves: 'gpu[001-512],login1'",
                                   word),
                       ENOENT});
  if (text && base::lower(word).ends_with(".csv")) text->text = hosts_of_table(std::move(text->text));
  return text;
}

}  // namespace rdmacfg::ctl
