// SPDX-License-Identifier: Apache-2.0
#include "bench_command.hpp"

#include <CLI/CLI.hpp>
#include <iostream>
#include <vector>

#include "../graph/any_graph.hpp"
#include "command_line.hpp"
#include "json_output.hpp"

namespace wyrm::apps {

namespace {

// For with_files: a benchmark has no output but its report.
template <class Options>
struct no_files {
  explicit no_files(Options const&) {}
  void commit() {}
};

template <class Options>
void add_allocator(CLI::App& command, Options& o) {
  command.add_option("--allocator", o.allocator, "Allocator of the pages")
      ->check(CLI::IsMember(graph::any_graph::allocators()))
      ->capture_default_str();
  command.add_option("--report", o.report, "Write a JSON report to this file")->check(not_empty);
}

// Runs a benchmark, writes its report, and then throws error(corrupt) if a result is wrong.
template <class Options, class F>
void run_bench(Options const& o, F const& bench) {
  auto const result = with_files<no_files<Options>>(
      o, {{"--report", o.report}}, {}, [&] { return bench(o, std::cout); }, [](auto&, auto const&) {});
  if (!result.passed()) throw error(error_code::corrupt, "a result is wrong; the output says which");
}

void add_gap(CLI::App& bench, gap_options& o) {
  CLI::App* const gap_command = bench.add_subcommand("gap", "The kernels of the GAP benchmark suite, by its rules");
  add_graph_file(*gap_command, o.file, true);
  add_order(*gap_command, o.file);
  add_placement(*gap_command, o);
  std::vector<std::string> const names(std::begin(gap_options::kernel_names), std::end(gap_options::kernel_names));
  gap_command->add_option("--kernels", o.kernels, "bfs, sssp, pr, cc, bc, tc: names with commas between them [all]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(names))
      ->type_name("LIST");
  gap_command
      ->add_option("--trials", o.trials,
                   "Trials of each kernel; 0 = as GAP has them: 64 of bfs and sssp, 16 of pr, cc "
                   "and bc, 3 of tc")
      ->check(decimal)
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  gap_command->add_option("--seed", o.seed, "Seed of the sources, and of weights that the file does not have")
      ->check(decimal)
      ->capture_default_str();
  gap_command->add_flag("--verify,!--no-verify", o.verify, "Check each result on the host [on]");
  gap_command->add_flag("--churned", o.churned,
                        "Before the kernels run, erase all edges, and insert them again, in batches in random order");
  add_allocator(*gap_command, o);
  gap_command->callback([&o] { run_bench(o, gap); });
}

void add_graphalytics(CLI::App& bench, graphalytics_options& o) {
  CLI::App* const command = bench.add_subcommand(
      "graphalytics", "The algorithms of LDBC Graphalytics on the graphs of a folder, validated by reference output");
  command->add_option("DIR", o.file.name, "A folder with NAME.properties, NAME.v, NAME.e, and NAME-BFS and so on")
      ->required()
      ->check(not_empty);
  add_placement(*command, o);
  command->add_option("--trials", o.trials, "Trials of each algorithm; the times are their means")
      ->check(decimal)
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  add_allocator(*command, o);
  command->callback([&o] { run_bench(o, graphalytics); });
}

}  // namespace

void add_bench(CLI::App& program, bench_options& o) {
  CLI::App* const bench = program.add_subcommand("bench", "Run public benchmarks by their rules");
  bench->require_subcommand(1);
  add_gap(*bench, o.gap);
  add_graphalytics(*bench, o.graphalytics);
}

std::string json_report(gap_options const& o, gap_result const& r, bool lost) {
  json j;
  write_surroundings(j, "bench gap", lost);
  j.object("parameters", [&] {
    write_file_parameters(j, o.file, o);
    j.field("allocator", o.allocator);
    j.list("kernels", o.kernels, write_string);
    j.field("trials", std::uint64_t{o.trials});
    j.field("seed", o.seed);
    j.field("verify", o.verify);
    j.field("churned", o.churned);
  });
  j.field("device", r.device);
  j.object("graph", [&] {
    j.field("vertices", r.vertices);
    j.field("edges", r.edges);
    j.field("directed", r.directed);
    j.field("drawn_weights", r.drawn_weights);
    j.field("churn_erased", r.churn_erased);
    j.field("churn_inserted", r.churn_inserted);
  });
  j.object("timings_ms", [&] { j.field("load", r.load_ms); });
  j.objects("kernels", r.kernels, [&](gap_kernel_result const& kernel) {
    j.field("name", kernel.kernel);
    j.field("average_seconds", kernel.average_seconds());
    j.objects("trials", kernel.trials, [&](gap_trial const& trial) {
      j.field("seconds", trial.seconds);
      j.objects("sources", trial.sources, [&](graph::vertex_id v) {
        j.field("vertex", v);
        write_id(j, "id", r.ids, v);
      });
      if (!trial.passed) return j.null("passed");
      j.field("passed", *trial.passed);
    });
  });
  return std::string(j.finish()) + '\n';
}

std::string json_report(graphalytics_options const& o, graphalytics_result const& r, bool lost) {
  json j;
  write_surroundings(j, "bench graphalytics", lost);
  j.object("parameters", [&] {
    write_file_parameters(j, o.file, o);
    j.field("allocator", o.allocator);
    j.field("trials", std::uint64_t{o.trials});
  });
  j.field("device", r.device);
  j.objects("graphs", r.graphs, [&](graphalytics_graph const& g) {
    j.field("name", to_utf8(g.name));
    j.field("vertices", g.vertices);
    j.field("edges", g.edges);
    j.field("directed", g.directed);
    j.object("timings_ms", [&] {
      j.field("load", g.load_ms);
      j.field("build", g.build_ms);
    });
    j.objects("algorithms", g.runs, [&](graphalytics_run const& run) {
      j.field("name", run.algorithm);
      j.field("average_seconds", run.average_seconds());
      j.field("evps", g.evps(run));
      j.list("seconds", run.seconds, write_number);
      if (!run.valid) return j.null("valid");
      j.field("valid", *run.valid);
      if (!*run.valid) j.field("difference", to_utf8(run.difference));
    });
  });
  return std::string(j.finish()) + '\n';
}

}  // namespace wyrm::apps
