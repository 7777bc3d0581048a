// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <rapidjson/encodings.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include <string_view>

#include "machine.hpp"

namespace wyrm::apps {

namespace {

// One member after the other, into an object that is open.
class json {
 public:
  json() { writer_.StartObject(); }

  void field(char const* name, std::string_view value) {
    writer_.Key(name);
    writer_.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  }
  void field(char const* name, char const* value) { field(name, std::string_view(value)); }
  void field(char const* name, double value) { writer_.Key(name), writer_.Double(value); }
  void field(char const* name, std::uint64_t value) { writer_.Key(name), writer_.Uint64(value); }
  void field(char const* name, unsigned value) { field(name, std::uint64_t{value}); }
  void field(char const* name, bool value) { writer_.Key(name), writer_.Bool(value); }
  void null(char const* name) { writer_.Key(name), writer_.Null(); }
  template <class T, class F>
  void list(char const* name, std::vector<T> const& values, F const& write) {
    writer_.Key(name);
    writer_.StartArray();
    for (T const& value : values) write(writer_, value);
    writer_.EndArray();
  }
  template <class F>
  void object(char const* name, F const& fill) {
    writer_.Key(name);
    writer_.StartObject();
    fill();
    writer_.EndObject();
  }
  [[nodiscard]] std::string_view finish() {
    writer_.EndObject();
    return {buffer_.GetString(), buffer_.GetSize()};
  }

 private:
  rapidjson::StringBuffer buffer_;
  rapidjson::PrettyWriter<rapidjson::StringBuffer> writer_{buffer_};
};

auto const write_number = [](auto& writer, auto value) {
  if constexpr (std::is_same_v<decltype(value), double>)
    writer.Double(value);
  else
    writer.Uint64(value);
};
auto const write_string = [](auto& writer, std::string const& value) { writer.String(value.c_str()); };

// The name of a file can be any bytes; JSON is UTF-8. What is none becomes U+FFFD.
std::string to_utf8(std::string const& text) {
  using utf8 = rapidjson::UTF8<>;
  rapidjson::StringBuffer out;
  for (std::size_t at = 0; at < text.size();) {
    rapidjson::MemoryStream in(text.data() + at, text.size() - at);
    unsigned point = 0;
    bool const good = utf8::Decode(in, &point);
    utf8::Encode(out, good ? point : 0xfffd);
    at += good ? in.Tell() : 1;
  }
  return {out.GetString(), out.GetSize()};
}

void write_memory(json& j, char const* name, graph::memory_report const& m) {
  j.object(name, [&] {
    j.field("vertex_table", m.vertex_table);
    j.field("neighbours", m.neighbours);
    j.field("slack", m.slack);
    j.field("pool_free", m.pool_free);
    j.field("pool_committed", m.pool_committed);
    j.field("pool_reserved", m.pool_reserved);
    j.field("allocator_overhead", m.allocator_overhead);
    j.field("scratch", m.scratch);
    j.field("total", m.total());
  });
}

void write_updates(json& j, char const* name, update_result const& u, bool inserts) {
  std::vector<double> const rates = u.rates();
  j.object(name, [&] {
    j.field("batches", std::uint64_t{u.batch_ms.size()});
    j.field("edges", u.sum.requested);
    j.field("edges_per_second", rates.empty() ? 0.0 : rates[rates.size() / 2]);
    j.field("edges_per_second_min", rates.empty() ? 0.0 : rates.front());
    j.field("edges_per_second_max", rates.empty() ? 0.0 : rates.back());
    if (inserts) {
      j.field("inserted", u.sum.inserted);
    } else {
      j.field("erased", u.sum.erased);
      j.field("missing", u.sum.missing);
    }
    j.field("duplicates", u.sum.duplicates);
    j.field("self_loops", u.sum.self_loops);
    j.list("batch_edges", u.batch_edges, write_number);
    j.list("batch_ms", u.batch_ms, write_number);
  });
}

void write_pagerank(json& j, pagerank_summary const& p) {
  j.field("max", p.max);
  j.field("argmax", std::uint64_t{p.argmax});
  j.field("l2", p.l2);
  j.field("sum", p.sum);
  j.field("iterations", p.iterations);
  j.field("converged", p.converged);
  j.field("change", p.change);
  j.field("ms", p.ms);
}

void write_triangles(json& j, triangles_summary const& t) {
  j.field("total", t.total);
  j.field("ms", t.ms);
}

// A result, with the one after the updates inside; null where it was not computed.
template <class T, class F>
void write_before_after(json& j, char const* name, std::optional<T> const& before, std::optional<T> const& after,
                        F const& write) {
  if (!before) return j.null(name);
  j.object(name, [&] {
    write(j, *before);
    if (after)
      j.object("after_updates", [&] { write(j, *after); });
    else
      j.null("after_updates");
  });
}

void write_parameters(json& j, run_options const& o) {
  j.object("parameters", [&] {
    j.field("file", to_utf8(o.file.name));
    j.field("device", o.device);
    j.field("allocator", o.allocator);
    j.field("direction", !o.file.wanted.directed ? "file" : *o.file.wanted.directed ? "directed" : "undirected");
    j.field("updates", o.updates == datasets::update_kind::random ? "random" : "pressure");
    j.field("batch", std::uint64_t{o.batch});
    j.field("rounds", std::uint64_t{o.rounds});
    j.field("seed", o.seed);
    if (o.algorithms)
      j.list("algorithms", *o.algorithms, write_string);
    else
      j.null("algorithms");
    j.field("tolerance", o.tolerance);
  });
}

void write_graph(json& j, run_result const& r) {
  j.object("graph", [&] {
    j.field("vertices", r.vertices);
    j.field("edges", r.edges);
    j.field("arcs", r.arcs);
    j.field("directed", r.directed);
    j.field("duplicates_dropped", r.build.duplicates);
    j.field("self_loops_dropped", r.build.self_loops);
    j.object("degrees", [&] {
      j.field("min", r.degrees.min);
      j.field("median", r.degrees.median);
      j.field("mean", r.degrees.mean);
      j.field("p99", r.degrees.p99);
      j.field("max", r.degrees.max);
      j.field("zero", r.degrees.zero);
      j.list("histogram", r.degrees.histogram, write_number);
    });
  });
}

void write_surroundings(json& j) {
  machine const m = this_machine();
  j.object("machine", [&] {
    j.field("os", m.os);
    j.field("cpu", m.cpu);
    j.field("logical_cores", m.cores);
    j.field("memory_bytes", std::uint64_t{m.memory_bytes});
    j.list("gpus", m.gpus, write_string);
  });
  build const b = this_build();
  j.object("build", [&] {
    j.field("version", b.version);
    j.field("compiler", b.compiler);
    j.field("type", b.type);
    j.field("host_threads", b.host_threads);
    j.field("cuda", b.cuda);
    j.field("checked", b.checked);
  });
}

}  // namespace

std::string json_report(run_options const& o, run_result const& r) {
  json j;
  j.field("schema_version", 1u);
  write_surroundings(j);
  write_parameters(j, o);
  j.field("device", r.device);
  write_graph(j, r);
  j.object("timings_ms", [&] {
    j.field("load", r.load_ms);
    j.field("build", r.build_ms);
  });
  j.object("memory", [&] {
    write_memory(j, "built", r.memory_built);
    write_memory(j, "after_updates", r.memory_after);
  });
  j.object("updates", [&] {
    write_updates(j, "insert", r.insert, true);
    write_updates(j, "erase", r.erase, false);
    j.field("restored", r.restored);
  });
  j.object("algorithms", [&] {
    write_before_after(j, "pagerank", r.before.pagerank, r.after.pagerank, write_pagerank);
    write_before_after(j, "triangles", r.before.triangles, r.after.triangles, write_triangles);
  });

  return std::string(j.finish()) + '\n';
}

}  // namespace wyrm::apps
