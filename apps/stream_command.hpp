// SPDX-License-Identifier: Apache-2.0
// The command line of `wyrm stream`.
#pragma once

#include "stream.hpp"

namespace CLI {
class App;
}

namespace wyrm::apps {

/// status: the exit status after the command. It and the options must live until the command line is parsed.
void add_stream(CLI::App& program, stream_options& o, int& status);

}  // namespace wyrm::apps
