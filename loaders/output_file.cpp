// SPDX-License-Identifier: Apache-2.0
#include "output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <mutex>
#include <random>
#include <set>
#include <system_error>
#include <utility>

#include "../exec/error.hpp"

namespace wyrm::loaders {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

/// The temporary files of all output files of the process. The mutex also protects their creation and renaming.
struct temporary_files {
  std::mutex mutex;
  std::set<fs::path> paths;
};

temporary_files& unfinished() {
  static auto& all = *new temporary_files;  // never destroyed: a thread may use it until the process ends
  return all;
}

/// Another name in the folder of `path`. It is shortened, because file systems limit names to 255 bytes.
fs::path random_part(fs::path const& path) {
  std::random_device random;
  std::array<char, 16> digits{};
  auto const number = std::uint64_t{random()} << 32 | random();
  auto* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  auto const name = path.filename().string().substr(0, 200) + "." + std::string(digits.data(), end) + ".part";
  return path.parent_path() / name;
}

/// Writes to the disk; file systems without that operation are not an error.
bool sync(int descriptor) { return fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP; }

/// Writes the names in a folder to the disk, where the system permits that.
void sync_folder(fs::path const& file) {
  auto const folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  int const descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  (void)fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

output_file::output_file(std::string what, fs::path path) : what_(std::move(what)), path_(std::move(path)) {
  if (path_.empty()) return;
  try {
    target_ = detail::find_output_target(path_);
  } catch (fs::filesystem_error const& e) {
    fail(e.code().message());
  }
  open();
}

output_file::output_file(std::string what, fs::path path, by_extension)
    : output_file(std::move(what), std::move(path)) {
  if (auto const kind = detail::compression_of(path_.filename()); kind && file_ != nullptr)
    compressor_ = std::make_unique<detail::compressor>(*kind, file_);
}

output_file::~output_file() {
  compressor_.reset();
  if (file_ != nullptr) std::fclose(file_);
  remove_part();
}

void output_file::open() {
  int const descriptor = target_.descriptor >= 0 ? fcntl(target_.descriptor, F_DUPFD_CLOEXEC, 0)
                         : target_.direct        ? ::open(target_.path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC)
                                                 : create_part();
  if (descriptor < 0) fail_system();
  file_ = fdopen(descriptor, "wb");
  if (file_ != nullptr) return;
  ::close(descriptor);
  remove_part();
  fail_system();
}

// Creates the temporary file under a name that nobody else has; -1 and errno when that fails.
int output_file::create_part() {
  struct stat existing {};
  bool const exists = stat(target_.path.c_str(), &existing) == 0;
  mode_t const mode = exists ? existing.st_mode & 0777 : 0666;
  for (int tries = 0; tries < 100; ++tries) {
    auto part = random_part(target_.path);
    std::lock_guard const lock(unfinished().mutex);
    auto const listed = unfinished().paths.insert(part).first;
    int const descriptor = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (descriptor < 0) unfinished().paths.erase(listed);
    if (descriptor < 0 && errno == EEXIST) continue;
    if (descriptor < 0) return -1;
    part_ = std::move(part);
    // Some file systems have no modes. The mode is never wider than the existing one.
    if (exists) (void)fchmod(descriptor, mode);
    return descriptor;
  }
  return -1;
}

void output_file::remove_part() {
  if (part_.empty()) return;
  std::lock_guard const lock(unfinished().mutex);
  std::error_code ignored;
  fs::remove(part_, ignored);
  unfinished().paths.erase(part_);
}

void output_file::write(std::string_view bytes) {
  if (file_ == nullptr) return;
  bytes_ += bytes.size();
  if (bytes.size() < buffer_bytes) {
    buffer_.append(bytes);
    if (buffer_.size() >= buffer_bytes) flush();
    return;
  }
  flush();
  put(bytes);
}

void output_file::write(std::uint64_t number) { append(number); }
void output_file::write(std::int64_t number) { append(number); }
void output_file::write(double number) { append(number); }

template <class T>
void output_file::append(T number) {
  if (file_ == nullptr) return;
  std::array<char, 32> digits{};
  auto* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  write(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
}

void output_file::finish() {
  if (file_ == nullptr) return;
  flush();
  if (compressor_ && !compressor_->finish()) fail_system();
  compressor_.reset();
  if (std::fflush(file_) != 0 || (!target_.direct && !sync(fileno(file_)))) fail_system();
  auto* const file = std::exchange(file_, nullptr);
  if (std::fclose(file) != 0) fail_system();
  complete_ = true;
}

void output_file::commit() {
  if (!complete_ || target_.direct) return;
  std::error_code failed;
  {
    std::lock_guard const lock(unfinished().mutex);
    fs::rename(part_, target_.path, failed);
    if (!failed) unfinished().paths.erase(part_);
  }
  if (failed) fail(failed.message());
  part_.clear();
  sync_folder(target_.path);
}

void output_file::flush() {
  put(buffer_);
  buffer_.clear();
}

void output_file::put(std::string_view bytes) {
  bool const written =
      compressor_ ? compressor_->write(bytes) : std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size();
  if (!written) fail_system();
}

void output_file::fail_system() const { fail(std::generic_category().message(errno)); }

void output_file::fail(std::string const& reason) const {
  throw error(error_code::io, "cannot write " + what_ + " " + path_.string() + ": " + reason +
                                  "; check the name, the permissions and the disk");
}

std::unique_lock<std::mutex> remove_unfinished_files() {
  std::unique_lock lock(unfinished().mutex);
  std::error_code ignored;
  for (auto const& path : unfinished().paths) fs::remove(path, ignored);
  return lock;
}

bool replaces(fs::path const& output, fs::path const& file) {
  std::error_code failed;
  if (output.empty() || file.empty()) return false;
  try {
    auto const first = detail::find_output_target(output);
    auto const second = detail::find_output_target(file);
    if (first.direct && second.direct) return false;
    if (fs::exists(output, failed) && fs::exists(file, failed)) return fs::equivalent(output, file, failed);
    return first.path == second.path;
  } catch (fs::filesystem_error const&) {
    return false;  // opening the file reports the reason
  }
}

}  // namespace wyrm::loaders
