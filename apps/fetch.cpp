// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "../exec/error.hpp"
#include "catalogue.hpp"
#include "child.hpp"
#include "datasets.hpp"

namespace wyrm::apps {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_system(std::string const& what) {
  throw error(error_code::io, what + ": " + std::generic_category().message(errno));
}

// FILE.part, which one process writes at a time. curl inherits its descriptor, and with it the lock: a curl that
// outlives this process keeps others away.
class partial_file {
 public:
  explicit partial_file(fs::path path) : path_(std::move(path)) {
    do {
      if (file_ >= 0) ::close(file_);
      file_ = open(path_);
      lock();
    } while (!is_at_path());  // another process has renamed or removed it before the lock
  }
  ~partial_file() {
    struct stat now {};
    if (fstat(file_, &now) == 0 && now.st_size == 0) remove();
    ::close(file_);
  }
  partial_file(partial_file const&) = delete;
  partial_file& operator=(partial_file const&) = delete;

  [[nodiscard]] fs::path const& path() const { return path_; }
  [[nodiscard]] std::uint64_t bytes() const {
    struct stat now {};
    if (fstat(file_, &now) != 0) fail_system("cannot read " + path_.string());
    return static_cast<std::uint64_t>(now.st_size);
  }
  void clear() const {
    if (ftruncate(file_, 0) != 0) fail_system("cannot write " + path_.string());
  }
  /// Removes the file, if it has its name still: another process may use that name from then on.
  void remove() const {
    if (is_at_path()) (void)::unlink(path_.c_str());
  }
  [[nodiscard]] bool starts_with(std::string_view bytes) const {
    std::string first(bytes.size(), '\0');
    auto const got = pread(file_, first.data(), first.size(), 0);
    return got == static_cast<ssize_t>(bytes.size()) && first == bytes;
  }
  [[nodiscard]] std::string sha256() const { return sha256_of(file_, path_); }
  void rename(fs::path const& name) const {
    if (fsync(file_) != 0 || ::rename(path_.c_str(), name.c_str()) != 0) fail_system("cannot write " + name.string());
  }
  /// The SHA-256 of an open file, in hexadecimal digits.
  [[nodiscard]] static std::string sha256_of(int file, fs::path const& path) {
    if (lseek(file, 0, SEEK_SET) < 0) fail_system("cannot read " + path.string());
    auto const sum = run_child({"sha256sum"}, file, "install it (Debian: coreutils) to verify what is fetched");
    if (sum.status != 0 || sum.output.size() < 64)
      throw error(error_code::io,
                  "cannot read " + path.string() + ": sha256sum ended with " + std::to_string(sum.status));
    return sum.output.substr(0, 64);
  }

 private:
  void lock() const {
    if (flock(file_, LOCK_EX | LOCK_NB) == 0) return;
    bool const is_busy = errno == EWOULDBLOCK;
    ::close(file_);
    if (is_busy)
      throw error(error_code::io, path_.string() + ": another process fetches this file; wait until it ends");
    fail_system("cannot lock " + path_.string());
  }
  [[nodiscard]] bool is_at_path() const {
    struct stat open_file {};
    struct stat named {};
    return fstat(file_, &open_file) == 0 && stat(path_.c_str(), &named) == 0 && open_file.st_ino == named.st_ino;
  }
  static int open(fs::path const& path) {
    int const file = ::open(path.c_str(), O_RDWR | O_CREAT, 0666);
    if (file < 0) fail_system("cannot write " + path.string());
    return file;
  }

  fs::path path_;
  int file_ = -1;
};

// What the exit status of curl means.
std::string reason_of(int status) {
  switch (status) {
    case 5:
    case 6: return "the name of the server cannot be resolved: check the network";
    case 7: return "the server cannot be reached: check the network";
    case 18: return "the connection ended before the file was complete; fetch it again to go on";
    case 22: return "the server refuses the file";
    case 23: return "the file cannot be written: check the space on the disk";
    case 28: return "the server does not answer; fetch it again to go on";
    case 37: return "the file cannot be read";
    default: return "curl ended with " + std::to_string(status);
  }
}

// The output is the number of the last answer of HTTP.
child_result run_curl(dataset const& d, partial_file const& part) {
  constexpr auto silence = "60";  // seconds without a byte, after which curl gives up
  std::vector<std::string> arguments{"curl", "--fail", "--globoff", "--location", "--show-error", "--connect-timeout",
                                     "30"};
  for (char const* more :
       {"--speed-limit", "1", "--speed-time", silence, "--continue-at", "-", "--write-out", "%{http_code}"})
    arguments.emplace_back(more);
  arguments.emplace_back(isatty(STDERR_FILENO) != 0 ? "--progress-bar" : "--silent");
  for (std::string const& last : {std::string("--output"), part.path().string(), std::string("--url"), d.url})
    arguments.push_back(last);
  auto const advice = "install curl (Debian: the package curl), or download " + d.url + " in another way to " +
                      fs::path(part.path()).replace_extension().string() + stand_in(d);
  return run_child(arguments, -1, advice);
}

// Whether the server cannot send what comes after the partial file: it sends no parts, or the file is as long or
// shorter.
bool cannot_go_on(child_result const& ran) {
  constexpr int refused = 22;
  constexpr int no_ranges = 33;
  constexpr int bad_resume = 36;
  return ran.status == no_ranges || ran.status == bad_resume || (ran.status == refused && ran.output == "416");
}

void download(dataset const& d, partial_file const& part) {
  child_result ran = run_curl(d, part);
  if (cannot_go_on(ran) && part.bytes() > 0) {  // from the beginning
    part.clear();
    ran = run_curl(d, part);
  }
  if (ran.status == 0) return;
  throw error(error_code::io, "cannot fetch " + d.name + " from " + d.url + ": " + reason_of(ran.status) + stand_in(d));
}

// Whether a file begins as its name says, if that is the name of a compressed file. Where a network wants a login, a
// page comes instead of the file.
bool has_form_of(fs::path const& name, partial_file const& part) {
  using namespace std::string_view_literals;
  constexpr std::pair<std::string_view, std::string_view> known[] = {
      {".gz", "\x1f\x8b"sv},
      {".bz2", "BZh"sv},
      {".xz", "\xfd\x37zXZ\0"sv},
      {".zst", "\x28\xb5\x2f\xfd"sv},
      {".zst", "\x50\x2a\x4d\x18"sv}};  // a frame to be skipped, as pzstd writes them
  bool is_compressed = false;
  for (auto const& [extension, signature] : known) {
    if (name.extension() != extension) continue;
    if (part.starts_with(signature)) return true;
    is_compressed = true;
  }
  return !is_compressed;
}

// What differs from the catalogue; empty: nothing.
std::string difference(dataset const& d, partial_file const& part) {
  auto const bytes = part.bytes();
  if (d.bytes && bytes != *d.bytes)
    return "expected " + std::to_string(*d.bytes) + " bytes, found " + std::to_string(bytes);
  if (d.sha256)
    if (auto const sha256 = part.sha256(); sha256 != *d.sha256)
      return "expected the SHA-256 " + *d.sha256 + ", found " + sha256;
  if (bytes == 0) return "expected a graph, found an empty file";
  if (fs::path const file = d.file(); !has_form_of(file, part))
    return "expected a file in the form of " + file.extension().string() + ", found another, such as a page";
  return {};
}

// False for a symbolic link that leads nowhere: the file replaces it.
bool is_there(fs::path const& file) {
  std::error_code ignored;
  return fs::exists(file, ignored);
}

void fetch_one(dataset const& d, fs::path const& file) {
  partial_file const part(fs::path(file) += ".part");
  if (is_there(file)) return part.remove();  // another process was faster
  // A complete file is left if this program ended before it got its name.
  bool const is_complete = d.bytes && d.sha256 && part.bytes() == *d.bytes && part.sha256() == *d.sha256;
  if (!is_complete) download(d, part);
  auto const wrong = difference(d, part);
  if (!wrong.empty()) {
    part.remove();
    throw error(error_code::bad_input, d.url + ": " + wrong +
                                           "; the file is removed: fetch it again, and if that repeats itself, the "
                                           "server has another file than the catalogue");
  }
  part.rename(file);
}

}  // namespace

void fetch(fetch_command const& c, std::ostream& out) {
  std::vector<dataset const*> selected;
  for (std::string const& name : c.names) {
    dataset const* const d = find_dataset(name);
    if (d == nullptr)
      throw error(error_code::bad_argument, "the catalogue has no graph '" + name + "'; `wyrm datasets` lists all");
    selected.push_back(d);
  }
  fs::path const folder = c.folder.empty() ? cache_folder() : fs::path(c.folder);
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) throw error(error_code::io, "cannot create the folder " + folder.string() + ": " + failed.message());
  for (dataset const* d : selected) {
    fs::path const file = folder / d->file();
    if (!is_there(file)) fetch_one(*d, file);
    out << file.string() << '\n' << std::flush;
  }
}

}  // namespace wyrm::apps
