// SPDX-License-Identifier: Apache-2.0
#include "stream_command.hpp"

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "../exec/error.hpp"
#include "algorithms.hpp"
#include "command_line.hpp"
#include "generate.hpp"
#include "process.hpp"
#include "report.hpp"
#include "vertex_values.hpp"

namespace wyrm::apps {

namespace {

std::string weight(std::string const& text) {
  double value = 0;
  bool const good = CLI::detail::lexical_cast(text, value) && is_usable_weight(value);
  return good ? "" : "'" + text + "' is not a number from 0 to 1e100";
}

// Seconds: a number with an optional suffix s, m, h or d. Nothing for other texts.
std::optional<double> seconds(std::string const& text) {
  static std::map<char, double> const units{{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
  auto const unit = text.empty() ? units.end() : units.find(text.back());
  double number = 0;
  std::string const digits = unit == units.end() ? text : text.substr(0, text.size() - 1);
  if (digits.find_first_not_of("0123456789.") != std::string::npos) return std::nullopt;
  if (!CLI::detail::lexical_cast(digits, number)) return std::nullopt;
  return number * (unit == units.end() ? 1 : unit->second);
}

CLI::Option* add_seconds(CLI::App& command, char const* name, double& value, double least, char const* what) {
  return command
      .add_option_function<std::string>(
          name, [&value](std::string const& text) { value = *seconds(text); }, what)
      ->check([least](std::string const& text) {
        auto const given = seconds(text);
        if (given && *given >= least && *given <= 1e12) return std::string();
        return "'" + text + "' is not a time of at least " + (least > 0 ? "0.001" : "0") +
               " seconds, and at most 1e12; write a number, with s, m, h or d behind it if you like";
      })
      ->type_name("TIME");
}

void add_window(CLI::App& stream, stream_options& o) {
  CLI::Option* const batch = stream.get_option("--batch");
  add_seconds(
      stream, "--window", o.window, 0.001,
      "Erase an edge so long after its last insertion, by the times of the updates in seconds (or with s, m, h, "
      "d behind the number); a batch is a slide")
      ->excludes(batch);
  add_seconds(stream, "--slide", o.slide, 0.001,
              "Length of a slide; --window is a multiple of it [that of the window]");
  add_seconds(stream, "--late", o.updates.late, 0,
              "How much the time of an update may be before that of an earlier one in a window [0]");
}

void add_weights(CLI::App& stream, stream_options& o) {
  stream.add_flag(
      "--weighted", o.weighted,
      "Keep the weights of updates, and of FILE if it has some, as values of edges (the last one of an edge "
      "counts; without one it is 1); PageRank and sssp use them");
  CLI::Option* const decay = add_seconds(
      stream, "--decay", o.half_life, 0.001,
      "Weights halve in this period, and those of repeated insertions of an edge add up; implies --weighted");
  stream.add_option("--forget", o.forget, "Erase edges of a smaller weight after each batch; needs --decay [0: none]")
      ->check(weight)
      ->needs(decay);
}

void add_emission(CLI::App& stream, stream_options& o) {
  static std::map<std::string, emission> const kinds{
      {"top", emission::top}, {"changes", emission::changes}, {"all", emission::all}};
  stream
      .add_option_function<std::string>(
          "--emit", [&o](std::string const& kind) { o.emit = kinds.at(kind); },
          "Print ranks with each batch for which results are maintained: top = the --top largest, changes = those that "
          "differ by more than --tolerance from what was printed last, all; needs --print json")
      ->check(CLI::IsMember(kinds));
}

void add_update_file(CLI::App& stream, update_file& file) {
  static std::map<std::string, update_format> const formats{
      {"text", update_format::text}, {"csv", update_format::csv}, {"json", update_format::json}};
  static std::map<std::string, on_error> const policies{
      {"stop", on_error::stop}, {"skip", on_error::skip}, {"file", on_error::file}};
  stream
      .add_option_function<std::string>(
          "--updates-format", [&file](std::string const& name) { file.format = formats.at(name); },
          "Format of UPDATES: text, csv (with a header) or json (an object per line) [by the ending: .csv, .json, "
          ".jsonl, .ndjson, or text]")
      ->check(CLI::IsMember(formats));
  stream
      .add_option_function<std::vector<std::string>>(
          "--fields",
          [&file](std::vector<std::string> const& fields) {
            for (std::string const& one : fields) file.name_field(one);
          },
          "Names of CSV columns or JSON members, with commas between them: source=NAME, target=NAME, operation=NAME, "
          "weight=NAME, time=NAME")
      ->delimiter(',')
      ->allow_extra_args(false);
  stream.add_flag("--add-vertices", file.add_vertices, "The insertion of an edge adds the vertices that are unknown");
  stream
      .add_option_function<std::string>(
          "--on-error", [&file](std::string const& name) { file.policy = policies.at(name); },
          "What to do with a line that is refused: stop, skip it, or write it to a file and go on [stop]")
      ->check(CLI::IsMember(policies));
  stream
      .add_option_function<std::string>(
          "--rejected",
          [&file](std::string const& name) {
            file.policy = on_error::file;
            file.rejected = name;
          },
          "The file for refused lines; implies --on-error file [UPDATES.rejected]")
      ->check(not_empty);
}

}  // namespace

void add_stream(CLI::App& program, stream_options& o, int& status) {
  CLI::App* const stream = program.add_subcommand("stream", "Build a graph, apply updates to it, and maintain results");
  std::vector<std::string> known;
  std::string help = "Names with commas between them [pagerank, and triangles of an undirected graph]:";
  for (algorithm const& a : all_algorithms()) {
    if (a.maintain == nullptr) continue;
    known.emplace_back(a.name);
    help += (known.size() > 1 ? ", " : " ") + known.back() + (a.undirected ? " (undirected)" : "");
  }
  known.emplace_back(no_algorithms);
  add_graph_options(*stream, o, known, help + "; or none");
  stream
      ->add_option("UPDATES", o.updates.name,
                   "A file, compressed or not, - for standard input, unix:PATH to listen for a client, or "
                   "gen:random,batches=10,batch=1000 (also pressure, preferential, mix); a line is '+ "
                   "u v', 'u v' or '- u v', with an optional time, or "
                   "weight and time, behind it, or '+v id' or '-v id'; an empty line ends a batch")
      ->capture_default_str();
  add_batch(*stream, o.batch, "Maximum number of updates in a batch");
  add_window(*stream, o);
  add_weights(*stream, o);
  add_emission(*stream, o);
  add_update_file(*stream, o.updates);
  stream
      ->add_option(
          "--save", o.save,
          "Write all updates that were read to this file, as text; compressed if it ends with .gz, .xz or .zst")
      ->check(not_empty);
  stream->add_option("--every", o.every, "Maintain the results every so many batches")
      ->check(decimal)
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
  stream->add_flag("--no-edges", o.no_edges, "Begin with the vertices of FILE, without its edges");
  stream
      ->add_option_function<std::string>(
          "--print", [&o](std::string const& how) { o.json = how == "json"; },
          "table, or json: one JSON object per batch, on a line, and nothing else [table]")
      ->check(CLI::IsMember({"table", "json"}));
  stream->add_flag(
      "--check", o.check,
      "Check the invariants of graph and allocator, and compare final results with recomputed ones (slow)");
  stream->callback([&o, &status] {
    if (o.slide > 0 && o.window == 0)
      throw error(error_code::bad_argument, "--slide divides a window; add --window, or leave --slide out");
    if (o.updates.late > 0 && o.window == 0)
      throw error(error_code::bad_argument, "--late is of a window; add --window, or leave --late out");
    if (o.half_life > 0) {
      o.weighted = true;
      o.combine = graph::combiner::sum;
    }
    o.weights_may_lack = true;
    if (o.names(no_algorithms) && o.algorithms->size() > 1)
      throw error(error_code::bad_argument,
                  "--algorithms: none cannot be combined with other names; leave it, or them, out");
    if (o.emit != emission::none && !o.json)
      throw error(error_code::bad_argument, "--emit prints ranks in lines of JSON; add --print json");
    if (o.emit == emission::top && o.top == 0)
      throw error(error_code::bad_argument, "--emit top prints the --top largest ranks; say how many with --top");
    auto outputs = outputs_of(o);
    std::string const& updates = o.updates.name;
    if (is_generated(updates)) {
      auto const refuse = [](bool is_given, char const* what) {
        if (is_given) throw error(error_code::bad_argument, std::string("generated updates have no ") + what);
      };
      refuse(o.updates.policy != on_error::stop, "lines to refuse; leave out --on-error");
      refuse(o.updates.names_fields(), "columns and members; leave out --fields");
      refuse(o.updates.format != update_format::automatic, "format; leave out --updates-format");
    }
    outputs.push_back({"--save", o.save});
    if (o.updates.policy == on_error::file)
      outputs.push_back({"--rejected", o.updates.rejected.empty() ? updates + ".rejected" : o.updates.rejected});
    auto const result = with_files<value_files>(
        o, outputs, {{"UPDATES", updates == "-" ? "/dev/stdin" : updates}}, [&o] { return apps::stream(o, std::cout); },
        write_values);
    if (result.failure) o.with_hint([&] { std::rethrow_exception(result.failure); });
    if (result.interrupted) status = interrupted_status;
  });
}

}  // namespace wyrm::apps
