// SPDX-License-Identifier: Apache-2.0
// Comparison of the reports of a graph with those of the model.
#pragma once

#include <gtest/gtest.h>

#include <concepts>

#include "../../graph/update_report.hpp"

namespace wyrm::tests {

inline void expect_equal(graph::update_report const& got, graph::update_report const& want) {
  EXPECT_EQ(got.requested, want.requested);
  EXPECT_EQ(got.inserted, want.inserted);
  EXPECT_EQ(got.updated, want.updated);
  EXPECT_EQ(got.unchanged, want.unchanged);
  EXPECT_EQ(got.erased, want.erased);
  EXPECT_EQ(got.duplicates, want.duplicates);
  EXPECT_EQ(got.missing, want.missing);
  EXPECT_EQ(got.self_loops, want.self_loops);
}
// A template, so that the initializer list of a report is an update_report.
template <std::same_as<graph::removal_report> Report>
void expect_equal(Report const& got, Report const& want) {
  EXPECT_EQ(got.requested, want.requested);
  EXPECT_EQ(got.removed, want.removed);
  EXPECT_EQ(got.missing, want.missing);
  EXPECT_EQ(got.duplicates, want.duplicates);
  EXPECT_EQ(got.edges, want.edges);
}

}  // namespace wyrm::tests
