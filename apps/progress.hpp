// SPDX-License-Identifier: Apache-2.0
// A progress bar on standard error, only when that is a terminal. It erases itself.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>

namespace wyrm::apps {

class progress_bar {
 public:
  explicit progress_bar(std::string what) : what_(std::move(what)), shown_(isatty(STDERR_FILENO) == 1) {}
  ~progress_bar() {
    if (shown_ && percent_ >= 0) std::fprintf(stderr, "\r\033[K");
  }
  progress_bar(progress_bar const&) = delete;
  progress_bar& operator=(progress_bar const&) = delete;

  void operator()(std::size_t done, std::size_t all) {
    int const percent = all == 0 ? 100 : static_cast<int>(static_cast<double>(done) * 100 / static_cast<double>(all));
    if (!shown_ || percent == percent_) return;
    percent_ = percent;
    std::string bar(40, '.');
    bar.replace(0, static_cast<std::size_t>(percent) * 40 / 100, static_cast<std::size_t>(percent) * 40 / 100, '#');
    std::fprintf(stderr, "\r%-10s [%s] %3d %%", what_.c_str(), bar.c_str(), percent);
    std::fflush(stderr);
  }

 private:
  std::string what_;
  bool shown_;
  int percent_ = -1;
};

}  // namespace wyrm::apps
