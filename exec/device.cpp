// SPDX-License-Identifier: Apache-2.0
#include "device.hpp"

#include <charconv>

#include "error.hpp"

namespace wyrm::exec {

namespace {
any_space make_cuda([[maybe_unused]] int device) {
#if WYRM_WITH_CUDA
  return cuda_space(device);
#else
  throw error(error_code::device, "this program was built without CUDA; use --device cpu");
#endif
}
}  // namespace

any_space make_space(std::string_view device) {
  if (device == "cpu") return host_space();
  if (device == "cuda") return make_cuda(0);
  if (device == "auto") {
#if WYRM_WITH_CUDA
    if (cuda_space::device_count() > 0) return cuda_space(0);
#endif
    return host_space();
  }
  if (device.starts_with("cuda:")) {
    int number = 0;
    char const* const end = device.data() + device.size();
    auto const parsed = std::from_chars(device.data() + 5, end, number);
    if (parsed.ec == std::errc() && parsed.ptr == end && number >= 0) return make_cuda(number);
  }
  throw error(error_code::bad_argument,
              "there is no device '" + std::string(device) + "'; there are: auto, cpu, cuda, cuda:N");
}

std::string describe(any_space const& space) {
  return std::visit([](auto const& s) { return s.description(); }, space);
}

}  // namespace wyrm::exec
