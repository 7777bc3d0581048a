// SPDX-License-Identifier: Apache-2.0
// Charts as inline SVG: lines, dots and stacked bars in a plot with titled axes. The style sheet of the page gives
// colours: classes s0 to s7 for series, m0 to m5 for parts of a bar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace wyrm::apps {

/// Text for HTML and SVG: markup is escaped, control characters become U+FFFD, and a text of more than `most` bytes
/// ends with an ellipsis. `text` is UTF-8.
[[nodiscard]] std::string markup_text(std::string const& text, std::size_t most = 120);

/// Three digits and a suffix: 1234567 is "1.23 M". Whole numbers below 1000 have no fraction.
[[nodiscard]] std::string short_number(double value);

/// With commas: 1234567 is "1,234,567".
[[nodiscard]] std::string grouped_number(std::uint64_t number);

struct axis {
  std::string title;  // with its unit
  double low = 0;
  double high = 1;
  bool is_logarithmic = false;  // then low > 0
};

/// An axis from 0 to the maximum; of whole decades around the least and the greatest value above 0.
[[nodiscard]] axis linear_axis(std::string title, double greatest);
[[nodiscard]] axis logarithmic_axis(std::string title, double least, double greatest);

using point = std::pair<double, double>;

class chart {
 public:
  chart(std::string const& title, axis x, axis y);
  /// Series 0 to 7. Points without a place on a logarithmic axis must be left out.
  void line(std::size_t series, bool is_dashed, std::vector<point> const& points);
  void dots(std::size_t series, std::vector<point> const& points);
  [[nodiscard]] std::string finish();

 private:
  [[nodiscard]] std::string at(point const& p) const;
  void draw_axes();

  axis x_;
  axis y_;
  std::string svg_;
};

struct bar {
  std::string label;
  std::vector<double> parts;
};
/// Horizontal bars, from top to bottom, over an axis from 0.
[[nodiscard]] std::string bar_chart(std::string const& title, axis const& x, std::vector<bar> const& bars);

}  // namespace wyrm::apps
