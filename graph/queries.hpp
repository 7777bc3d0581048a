// SPDX-License-Identifier: Apache-2.0
// Queries in bulk on a graph view: whether edges exist, their values, degrees, neighbours, common neighbours, calls for
// each edge, samples of neighbours. What they share is in query/lookup.hpp; docs/queries.md has all of them with their
// costs.
#pragma once

#include "query/difference.hpp"
#include "query/filter.hpp"
#include "query/lookup.hpp"
#include "query/neighbours.hpp"
#include "query/on_any_graph.hpp"
#include "query/sample.hpp"
#include "query/sample_by_weight.hpp"
#include "query/values.hpp"
