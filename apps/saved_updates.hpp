// SPDX-License-Identifier: Apache-2.0
// Writes the updates of a stream as text while they are read (--save). The text is a stream of the same batches.
#pragma once

#include <string>

#include "../datasets/stream.hpp"
#include "../loaders/output_file.hpp"
#include "update_reader.hpp"
#include "update_stream.hpp"
#include "vertex_ids.hpp"

namespace wyrm::apps {

class saved_updates : public datasets::update_source {
 public:
  /// Opens the file, compressed as its extension says. `ids` are those that `from` follows. Throws error(io), and
  /// error(bad_argument) for the name of another format.
  saved_updates(std::string const& path, update_stream& from, vertex_ids const& ids)
      : file_("the updates", checked(path), loaders::output_file::by_extension{}), from_(from), ids_(ids) {}

  /// Throws error(io); the errors of the source.
  bool next(datasets::update& to) override;
  /// Gives the file its name. Throws error(io).
  void finish();

 private:
  [[nodiscard]] static std::string const& checked(std::string const& path) {
    require_name_of_text("--save", path);
    return path;
  }

  loaders::output_file file_;
  update_stream& from_;
  vertex_ids const& ids_;
};

}  // namespace wyrm::apps
