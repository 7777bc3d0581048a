// SPDX-License-Identifier: Apache-2.0
// Output of the results of `wyrm run`, `wyrm stream` and `wyrm cluster` as tables and as JSON (docs/report.md describes
// every field).
#pragma once

#include <iosfwd>
#include <string>

#include "broker.hpp"
#include "cluster.hpp"
#include "run.hpp"
#include "stream.hpp"

namespace wyrm::apps {

void print_table(std::ostream& out, run_options const& o, run_result const& r);

/// `wyrm stream` prints the loaded graph and the head of the table of batches; then one line per batch, which is
/// flushed; then the totals.
void print_stream_head(std::ostream& out, stream_options const& o, std::string const& from, stream_result const& begin);
void print_batch(std::ostream& out, batch_result const& b, stream_result const& begin);
/// A line with a JSON object, which is flushed. docs/streams.md describes the fields.
void print_json(std::ostream& out, batch_result const& b, stream_options const& o, vertex_ids const& ids);
void print_table(std::ostream& out, stream_options const& o, stream_result const& r);

void print_table(std::ostream& out, cluster_options const& o, cluster_result const& r);

/// Prints a degree distribution as part of a table.
void print_degrees(std::ostream& out, degree_summary const& d);

/// `lost`: whether an output of the command, other than the report, could not be written.
[[nodiscard]] std::string json_report(run_options const& o, run_result const& r, bool lost);
[[nodiscard]] std::string json_report(stream_options const& o, stream_result const& r, bool lost);
[[nodiscard]] std::string json_report(cluster_options const& o, cluster_result const& r, bool lost);

/// The fields are described in docs/residency.md.
[[nodiscard]] std::string json_report(broker_command const& c, alloc::residency::broker_status const& s);

}  // namespace wyrm::apps
