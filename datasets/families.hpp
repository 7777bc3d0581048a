// SPDX-License-Identifier: Apache-2.0
// All families of generated graphs by name, with their parameters: the interface for programs. docs/generators.md
// describes them. Results are a function of the parameters, and equal on all machines, whatever the device and the
// number of threads.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../exec/device.hpp"
#include "communities.hpp"

namespace wyrm::datasets {

enum class parameter_kind : std::uint8_t {
  whole,  // a whole number, least ... most
  real,   // a decimal number, least ... most
  text,   // a word, or a list of numbers with ':' between them
};

struct parameter {
  std::string_view name;
  parameter_kind kind;
  std::string_view default_value;  // empty: derived, or absent, as `help` says
  double least;
  double most;
  std::string_view help;
};

/// The values of the parameters of a family: those given, and defaults for the others.
class arguments {
 public:
  /// Throws error(bad_argument) for an unknown name, a name that occurs twice, and a value that is not of its kind or
  /// out of range.
  arguments(std::string_view family, std::span<parameter const> parameters,
            std::vector<std::pair<std::string, std::string>> const& given);

  [[nodiscard]] bool has(std::string_view name) const { return !text(name).empty(); }
  [[nodiscard]] std::string const& text(std::string_view name) const { return values_.find(name)->second; }
  [[nodiscard]] std::uint64_t whole(std::string_view name) const;  // 0 without a value
  [[nodiscard]] double real(std::string_view name) const;          // 0 without a value
  [[nodiscard]] std::vector<double> reals(std::string_view name) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

/// A description "name,key=value,key=value". A value cannot have a comma. Throws error(bad_argument) for another text.
struct description {
  explicit description(std::string_view text);
  std::string name;
  std::vector<std::pair<std::string, std::string>> values;
};

struct family {
  std::string_view name;
  std::string_view help;
  bool has_labels;
  std::span<parameter const> parameters;  // besides the common ones
  bool on_device;                         // a GPU can generate it; else `make` always uses the host
  labelled_graph (*make)(arguments const&, exec::any_space const&);
};

/// All families, by name in the order of docs/generators.md.
[[nodiscard]] std::span<family const> families();

/// The parameters of all families: seed, and times with their span.
[[nodiscard]] std::span<parameter const> common_parameters();

/// Throws error(bad_argument), with a list of all names, when there is none of this name.
[[nodiscard]] family const& family_named(std::string_view name);

/// A graph of a family, generated on the space if the family has on_device, else on the host. `values` are
/// "name=value". Throws error: bad_argument; out_of_memory when the graph would not fit the memory of the host, or of
/// the space; io and bad_input for a file of degrees.
[[nodiscard]] labelled_graph generate(std::string_view family, std::vector<std::string> const& values,
                                      exec::any_space const& space = exec::host_space());

/// The same from a description: "rmat,scale=20,seed=7".
[[nodiscard]] labelled_graph generate(std::string_view description, exec::any_space const& space = exec::host_space());

}  // namespace wyrm::datasets
