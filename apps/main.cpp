// SPDX-License-Identifier: Apache-2.0
// The program `wyrm`: its command line and its exit codes.
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "../loaders/output_file.hpp"
#include "../loaders/writers.hpp"
#include "bench_command.hpp"
#include "broker.hpp"
#include "cluster.hpp"
#include "command_line.hpp"
#include "datasets.hpp"
#include "diff.hpp"
#include "generate.hpp"
#include "output_paths.hpp"
#include "page.hpp"
#include "process.hpp"
#include "report.hpp"
#include "run.hpp"
#include "stream_command.hpp"
#include "vertex_values.hpp"
#include "walk.hpp"

namespace {

using namespace wyrm;

constexpr char const* exit_codes =
    "Exit codes: 0 done; 1 unexpected; 2 wrong command line or argument; 3 malformed input file;\n"
    "4 a file cannot be read or written; 5 out of memory; 6 no such device, or it failed; 7 a check failed;\n"
    "130 interrupted by SIGINT, SIGTERM or SIGHUP.";

// From std::thread, or from oneTBB, which has no type of its own for it.
bool is_lack_of_threads(std::exception const& e) {
  auto const* const failed = dynamic_cast<std::system_error const*>(&e);
  if (failed != nullptr && failed->code() == std::errc::resource_unavailable_try_again) return true;
  return std::string_view(e.what()).find("pthread_create") != std::string_view::npos;
}

int exit_code(error_code code) {
  switch (code) {
    case error_code::bad_argument: return 2;
    case error_code::bad_input: return 3;
    case error_code::io: return 4;
    case error_code::out_of_memory: return 5;
    case error_code::device: return 6;
    case error_code::corrupt: return 7;
  }
  return 1;
}

void add_run(CLI::App& program, apps::run_options& o) {
  CLI::App* const run = program.add_subcommand("run", "Build a graph, insert and erase random edges, run algorithms");
  std::vector<std::string> known{"all"};
  std::string help =
      "Names with commas between them, or all [pagerank,triangles]; those for undirected graphs are left out of a "
      "directed one unless they are named:";
  for (apps::algorithm const& a : apps::all_algorithms()) {
    known.emplace_back(a.name);
    help += std::string("\n") + a.name + ": " + a.help + (a.undirected ? " (undirected)" : "");
  }
  apps::add_graph_options(*run, o, known, help);
  run->add_option_function<std::string>(
         "--sources",
         [&o](std::string const& text) { o.sources = text == "all" ? graph::max_vertices : std::stoull(text); },
         "Compute betweenness from all vertices, or from so many that --seed draws, and estimate scores by these [all; "
         "64 if the graph has more than 10,000 vertices]")
      ->check([](std::string const& text) {
        if (text == "all") return std::string();
        return text == "0" || !apps::decimal(text).empty() ? "'" + text + "' is neither a positive number nor all"
                                                           : std::string();
      })
      ->type_name("all|K");
  run->add_option_function<std::string>(
         "--updates",
         [&o](std::string const& kind) {
           o.updates = kind == "random" ? datasets::update_kind::random : datasets::update_kind::pressure;
         },
         "Sources of random edges: random = all vertices, pressure = 1,000 vertices with consecutive ids [random]")
      ->check(CLI::IsMember({"random", "pressure"}));
  apps::add_batch(*run, o.batch, "Edges per batch");
  run->add_option("--rounds", o.rounds, "Number of batches to insert and then erase; 0 = no updates")
      ->check(apps::decimal)
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  run->add_option("--seed", o.seed, "Seed of the random edges, and of --sources")
      ->check(apps::decimal)
      ->capture_default_str();
  run->add_flag("--weighted", o.weighted, "Algorithms that know weights use those in the file");
  run->add_flag("--check", o.check, "Check the invariants of graph and allocator (slow)");
  run->callback([&o] {
    (void)apps::with_files<apps::value_files>(
        o, apps::outputs_of(o), {}, [&o] { return apps::run(o); }, apps::write_values);
  });
}

void add_walk(CLI::App& program, apps::walk_command& c) {
  CLI::App* const walk = program.add_subcommand("walk", "Random walks: uniform, by weights, node2vec, with restarts");
  apps::add_graph_file(*walk, c.file, true);
  apps::add_placement(*walk, c);
  auto const number = [&](char const* name, auto& value, unsigned least, char const* what) {
    walk->add_option(name, value, what)->check(apps::decimal)->check(CLI::Range(least, ~0u))->capture_default_str();
  };
  number("--steps", c.walk.steps, 0, "Maximum number of steps of a walk");
  number("--per-vertex", c.walk.per_vertex, 1, "Number of walks from each start");
  walk->add_option("--seed", c.walk.seed, "Seed of the walks")->check(apps::decimal)->capture_default_str();
  walk->add_option("--starts", c.starts, "Ids of the vertices at which walks begin, with commas between them [all]")
      ->allow_extra_args(false);
  auto const real = [&](char const* name, double& value, char const* what) {
    walk->add_option(name, value, what)->check(apps::not_empty)->capture_default_str();
  };
  real("--stop", c.walk.stop, "Probability that a walk ends before a step: from 0 to less than 1");
  real("--restart", c.walk.restart, "Probability that a step returns to the start: 0 to 1");
  real("-p", c.walk.p, "node2vec: 1/p is the bias of a return to the previous vertex; 0.01 to 100");
  real("-q", c.walk.q, "node2vec: 1/q is the bias of a step away from the previous vertex; 0.01 to 100");
  walk->add_flag("--weighted", c.weighted, "Use the weights in the file");
  walk->add_option("--walks", c.walks, "Write the walks to this file, one per line")->check(apps::not_empty);
  walk->callback([&c] { c.with_hint([&c] { apps::walk(c); }); });
}

void add_cluster(CLI::App& program, apps::cluster_options& o) {
  CLI::App* const cluster = program.add_subcommand("cluster", "Find clusters by random walks");
  apps::add_graph_file(*cluster, o.file, true);
  apps::add_order(*cluster, o.file);
  apps::add_placement(*cluster, o);
  auto const number = [&](char const* name, auto& value, unsigned least, char const* what) {
    cluster->add_option(name, value, what)->check(apps::decimal)->check(CLI::Range(least, ~0u))->capture_default_str();
  };
  cluster->add_option("--seed", o.clustering.seed, "Seed of the walks")->check(apps::decimal)->capture_default_str();
  number("--length", o.clustering.length, 1, "Number of steps of a walk");
  number("--walks", o.clustering.walks, 1, "Number of walks from each vertex");
  number("--iterations", o.clustering.iterations, 0, "Maximum number of voting rounds");
  cluster
      ->add_option_function<std::string>(
          "--objective", [&o](std::string const& name) { o.clustering.objective = apps::objective_of(name); },
          "What clusters are chosen for")
      ->check(CLI::IsMember(apps::objectives()))
      ->default_str("modularity");
  cluster
      ->add_option("--resolution", o.clustering.resolution,
                   "Modularity: factor of the expected links; cpm: least density of links in a cluster")
      ->check(apps::not_empty)
      ->capture_default_str();
  number("--levels", o.clustering.levels, 1, "Map equation: maximum number of levels of clusters");
  cluster->add_flag("--weighted", o.weighted, "Use the weights in the file");
  cluster
      ->add_option("--labels", o.labels,
                   "Write the cluster of each vertex to this file; a line is 'id cluster', with a cluster for each "
                   "level, from the smallest to the largest")
      ->check(apps::not_empty);
  cluster->add_option("--truth", o.truth, "Compare the clusters with the labels in this file; a line is 'id label'")
      ->check(apps::not_empty);
  cluster->add_option("--report", o.report, "Write a JSON report to this file")->check(apps::not_empty);
  cluster->callback([&o] {
    (void)apps::with_files<apps::label_file>(
        o, {{"--labels", o.labels}, {"--report", o.report}}, {{"--truth", o.truth}}, [&o] { return apps::cluster(o); },
        [](apps::label_file& file, apps::cluster_result const& r) { file.write(r.clusters, r.ids); });
  });
}

void add_broker(CLI::App& program, apps::broker_command& c) {
  CLI::App* const broker = program.add_subcommand(
      "broker", "Hand out a device's memory to processes that share it; it ends when it has no clients");
  broker->add_option("--device", c.device, "auto, cpu, cuda or cuda:N")->capture_default_str();
  broker->add_option("--socket", c.socket, "The socket [one for each device and user]")
      ->check(apps::not_empty)
      ->type_name("PATH");
  CLI::Option* const status = broker->add_flag("--status", c.status, "Show who holds how much, instead of serving");
  broker
      ->add_option("--memory", c.memory,
                   "Bytes to hand out, also with K, M or G (powers of 1024) [7/8 of a GPU's memory; on a CPU, half of "
                   "the memory that is available]")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 62))
      ->excludes(status);
  broker->add_option("--idle-seconds", c.idle_seconds, "End after so long without clients; 0 = never")
      ->check(apps::decimal)
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str()
      ->excludes(status);
  broker
      ->add_option_function<std::string>(
          "--format", [&c](std::string const& format) { c.json = format == "json"; },
          "How --status is printed: text or json [text]")
      ->check(CLI::IsMember({"text", "json"}))
      ->needs(status);
  broker->callback([&c] { apps::run_broker(c, std::cout); });
}

void add_diff(CLI::App& program, apps::diff_options& o) {
  CLI::App* const diff = program.add_subcommand(
      "diff", "Write the difference between two graph files as updates: `wyrm stream OLD UPDATES` makes NEW of OLD");
  apps::add_graph_file(*diff, o.from, true, "OLD");
  apps::add_graph_name(*diff, "NEW", o.to, true);
  diff->add_option("-o,--output", o.updates,
                   "Write the updates to this file; compressed if it ends with .gz, .xz or .zst [standard output]")
      ->check(apps::not_empty)
      ->type_name("UPDATES");
  diff->callback([&o] { apps::diff(o); });
}

void add_generate(CLI::App& program, apps::generate_command& c) {
  CLI::App* const generate = program.add_subcommand(
      "generate", "Write a generated graph; without a family, list the families and their parameters");
  generate->add_option("FAMILY", c.family, "A family of graphs")->check(apps::not_empty);
  generate->add_option("VALUES", c.values, "Parameters of the family")->type_name("NAME=VALUE");
  generate->add_option("-o,--output", c.output, "The file of the graph, in a format that `wyrm convert` writes")
      ->check(apps::not_empty)
      ->type_name("FILE");
  generate
      ->add_option("--labels", c.labels, "Write the community of each vertex to this file; a line is 'id community'")
      ->check(apps::not_empty);
  generate->add_option("--device", c.device, "auto, cpu, cuda or cuda:N; families without a kernel always use the CPU")
      ->capture_default_str();
  generate->add_option("--threads", c.threads, "Number of threads of the CPU; 0 = one per core")
      ->check(apps::decimal)
      ->capture_default_str();
  generate->callback([&c] { apps::generate(c, std::cout); });
}

int run_program(int argc, char** argv) {
  CLI::App program("Dynamic graphs on GPUs and CPUs");
  program.set_version_flag("--version", "wyrm " WYRM_VERSION);
  program.require_subcommand(1);
  program.footer(exit_codes);
  apps::run_options options;
  add_run(program, options);
  apps::stream_options stream;
  int status = 0;
  apps::add_stream(program, stream, status);
  apps::walk_command walk;
  add_walk(program, walk);
  apps::cluster_options cluster;
  add_cluster(program, cluster);
  apps::bench_options bench;
  apps::add_bench(program, bench);
  apps::broker_command broker;
  add_broker(program, broker);
  apps::diff_options diff;
  add_diff(program, diff);
  apps::generate_command generate;
  add_generate(program, generate);
  apps::datasets_command datasets;
  add_datasets(program, datasets);
  apps::fetch_command fetch;
  add_fetch(program, fetch);
  apps::page_command page;
  add_page(program, page);
  apps::graph_file file;
  CLI::App* const info =
      program.add_subcommand("info", "Describe a graph file; without a file, describe this program and the machine");
  apps::add_graph_file(*info, file, false);
  info->callback([&] { apps::info(file); });
  apps::graph_file from;
  std::string to;
  CLI::App* const convert = program.add_subcommand("convert", "Write a graph file in another format");
  apps::add_graph_file(*convert, from, true);
  apps::add_order(*convert, from);
  convert->add_option("OUT", to, std::string("The new file; its extension is its format: ") + loaders::written_formats)
      ->required();
  convert->callback([&] { apps::convert(from, to); });
  try {
    program.parse(argc, argv);
    apps::flush_output();
    return status;
  } catch (CLI::ParseError const& e) {
    if (program.exit(e) == 0) {  // --help or --version
      apps::flush_output();
      return 0;
    }
    if (program.get_subcommands().empty() && argc > 1) std::cerr << "There is no subcommand '" << argv[1] << "'.\n";
    return 2;
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);  // nothing else writes to standard output
  try {
    apps::set_up_process();
    return run_program(argc, argv);
  } catch (error const& e) {
    std::cerr << "wyrm: " << e.what() << '\n';
    return exit_code(e.code());
  } catch (std::bad_alloc const&) {
    std::cerr << "wyrm: the host is out of memory\n";
    return 5;
  } catch (std::exception const& e) {
    if (is_lack_of_threads(e)) {
      std::cerr << "wyrm: the system refuses another thread; raise the limit of processes (ulimit -u) or of addresses "
                   "(ulimit -v)\n";
      return 5;
    }
    std::cerr << "wyrm: unexpected: " << e.what() << '\n';
    return 1;
  }
}
