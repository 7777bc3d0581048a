// SPDX-License-Identifier: Apache-2.0
#include "json_output.hpp"

#include <rapidjson/encodings.h>
#include <rapidjson/memorystream.h>

#include "machine.hpp"

namespace wyrm::apps {

namespace {

char const* direction(graph_file const& file) {
  if (!file.settings.directed) return "file";
  return *file.settings.directed ? "directed" : "undirected";
}

}  // namespace

std::string to_utf8(std::string_view text) {
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

void write_surroundings(json& j, char const* command, bool lost) {
  j.field("schema_version", 2u);
  j.field("command", command);
  j.field("output_lost", lost);
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

void write_file_parameters(json& j, graph_file const& file, placement const& where) {
  j.field("file", to_utf8(file.name));
  j.field("device", where.device);
  j.field("memory", exec::to_string(where.memory));
  j.field("device_memory", std::uint64_t{where.device_memory});
  j.field("shares_device", where.shares_device);
  j.field("direction", direction(file));
  j.field("ids", file.ids == id_kind::file ? "file" : "internal");
  j.field("order", name_of(file.settings.order));
}

}  // namespace wyrm::apps
