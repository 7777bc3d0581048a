// SPDX-License-Identifier: Apache-2.0
// What the command lines of several commands have in common: options, and the order in which work is done and outputs
// are written.
#pragma once

#include <cstddef>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "../exec/error.hpp"
#include "../loaders/output_file.hpp"
#include "load.hpp"
#include "loaded_graph.hpp"
#include "output_paths.hpp"
#include "placement.hpp"
#include "report.hpp"

namespace wyrm::apps {

/// Adds --device, --memory, --pool-limit and --device-memory.
void add_placement(CLI::App& command, placement& where);

/// Adds the graph file, its placement, and the options of commands that run algorithms on a graph. known: the names
/// that --algorithms accepts; algorithms: the help of --algorithms.
void add_graph_options(CLI::App& command, graph_options& o, std::vector<std::string> const& known,
                       std::string const& algorithms);
/// Adds --batch.
void add_batch(CLI::App& command, std::size_t& batch, char const* what);

/// Throws error(io) when standard output has failed.
void flush_output();

/// The error(io) of write(); nothing if it succeeds.
template <class F>
std::exception_ptr failure_of(F const& write) {
  try {
    write();
    return nullptr;
  } catch (error const& e) {
    if (e.code() != error_code::io) throw;
    return std::current_exception();
  }
}

/// Calls work(), prints its table, and calls write(files, result). All files are opened before the work, and appear
/// only after it succeeded. If the table or the files cannot be written, the report says so, and the error is thrown at
/// the end. `inputs` are those besides the graph.
template <class Files, class Options, class F, class W>
auto with_files(Options const& o, std::vector<named_path> const& outputs, std::vector<named_path> const& inputs,
                F const& work, W const& write) {
  refuse_equal_paths(o.file, outputs, inputs);
  loaders::output_file report("the report", o.report);
  std::optional<Files> files(std::in_place, o);
  auto const result = o.with_hint(work);
  print_table(std::cout, o, result);
  std::exception_ptr lost = failure_of(flush_output);  // before the files, because one may be /dev/stdout
  if (auto const failure = failure_of([&] { write(*files, result); })) {
    files.reset();  // leaves the room on the disk to the report
    if (!lost) lost = failure;
  }
  auto const fill = [&](loaders::output_file& file) {
    file.write(json_report(o, result, lost != nullptr));
    file.finish();
  };
  bool const corrigible = !report.is_direct();  // else it is written once, when all is known
  if (corrigible) fill(report);
  auto const commit_files = [&] {
    if (files) files->commit();
  };
  if (auto const failure = failure_of(commit_files)) {
    lost = failure;
    if (corrigible) {
      loaders::output_file corrected("the report", o.report);
      fill(corrected);
      corrected.commit();
    }
  } else {
    report.commit();
  }
  if (!corrigible) fill(report);
  if (lost) std::rethrow_exception(lost);
  return result;
}

}  // namespace wyrm::apps
