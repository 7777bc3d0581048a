// SPDX-License-Identifier: Apache-2.0
#include "chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace wyrm::apps {

namespace {

// The plot within the picture, in units of its view box.
constexpr double picture_width = 720;
constexpr double left_edge = 80;
constexpr double right_edge = 704;
constexpr double top_edge = 14;
constexpr double bottom_edge = 270;
constexpr double below_plot = 50;  // ticks and title of the x axis

std::string decimals(char const* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}
std::string place(double value) { return decimals("%.1f", value); }

struct tick {
  double value;
  std::string label;
};

std::vector<tick> linear_ticks(axis const& a) {
  double const raw = (a.high - a.low) / 7;
  double const decade = std::pow(10, std::floor(std::log10(raw)));
  double step = decade;
  for (double const factor : {2.0, 5.0, 10.0})
    if (step < raw * 0.999) step = factor * decade;
  std::vector<tick> ticks;
  for (int i = 0; a.low + i * step <= a.high * 1.0001; ++i)
    ticks.push_back({a.low + i * step, short_number(a.low + i * step)});
  return ticks;
}

std::vector<tick> logarithmic_ticks(axis const& a) {
  std::vector<tick> ticks;
  auto const first = static_cast<int>(std::lround(std::log10(a.low)));
  auto const last = static_cast<int>(std::lround(std::log10(a.high)));
  int const step = std::max(1, (last - first + 7) / 8);
  for (int e = first; e <= last; e += step)
    for (double const factor : {1.0, 2.0, 5.0}) {
      double const value = factor * std::pow(10, e);
      bool const is_drawn = factor == 1 || (last - first <= 2 && e < last);
      if (is_drawn) ticks.push_back({value, short_number(value)});
    }
  return ticks;
}

std::vector<tick> ticks_of(axis const& a) { return a.is_logarithmic ? logarithmic_ticks(a) : linear_ticks(a); }

// Where a value lies on an axis, from 0 to 1.
double share_of(axis const& a, double value) {
  double const share =
      a.is_logarithmic ? std::log(value / a.low) / std::log(a.high / a.low) : (value - a.low) / (a.high - a.low);
  return std::clamp(share, 0.0, 1.0);
}
double place_on_x(axis const& a, double value) { return left_edge + share_of(a, value) * (right_edge - left_edge); }

std::string text_at(double x, double y, char const* anchor, std::string const& text, std::string const& more = {}) {
  return "<text x=\"" + place(x) + "\" y=\"" + place(y) + "\" text-anchor=\"" + anchor + '"' + more + '>' +
         markup_text(text) + "</text>\n";
}

std::string line_between(double x1, double y1, double x2, double y2, char const* kind) {
  return "<line class=\"" + std::string(kind) + "\" x1=\"" + place(x1) + "\" y1=\"" + place(y1) + "\" x2=\"" +
         place(x2) + "\" y2=\"" + place(y2) + "\"/>\n";
}

std::string open_picture(std::string const& title, double bottom) {
  return "<svg viewBox=\"0 0 " + place(picture_width) + ' ' + place(bottom + below_plot) + "\" role=\"img\"><title>" +
         markup_text(title) + "</title>\n";
}

std::string draw_x_axis(axis const& x, double bottom) {
  std::string svg;
  for (tick const& t : ticks_of(x)) {
    double const at = place_on_x(x, t.value);
    svg += line_between(at, top_edge, at, bottom, "grid") + text_at(at, bottom + 17, "middle", t.label);
  }
  return svg + line_between(left_edge, bottom, right_edge, bottom, "axis") +
         text_at((left_edge + right_edge) / 2, bottom + 40, "middle", x.title, " class=\"title\"");
}

}  // namespace

std::string markup_text(std::string const& text, std::size_t most) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto const byte = static_cast<unsigned char>(text[i]);
    if (i >= most && (byte & 0xc0) != 0x80) return out + "\xe2\x80\xa6";
    if (byte == '&')
      out += "&amp;";
    else if (byte == '<')
      out += "&lt;";
    else if (byte == '>')
      out += "&gt;";
    else if (byte == '"')
      out += "&quot;";
    else if (byte == '\'')
      out += "&#39;";
    else if (byte < 0x20 || byte == 0x7f)
      out += "\xef\xbf\xbd";
    else
      out += text[i];
  }
  // U+FFFE and U+FFFF are in UTF-8, but not in XML.
  for (char const* none : {"\xef\xbf\xbe", "\xef\xbf\xbf"})
    for (auto at = out.find(none); at != std::string::npos; at = out.find(none)) out[at + 2] = '\xbd';
  return out;
}

std::string short_number(double value) {
  constexpr std::array suffixes{"", " k", " M", " G", " T", " P", " E"};
  if (value == 0) return "0";
  if (value < 0.001) return decimals("%.2g", value);
  std::size_t i = 0;
  while (value >= 999.5 && i + 1 < suffixes.size()) {
    value /= 1000;
    ++i;
  }
  return decimals("%.3g", value) + suffixes[i];
}

std::string grouped_number(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

axis linear_axis(std::string title, double greatest) {
  return {std::move(title), 0, greatest > 0 ? greatest : 1, false};
}

axis logarithmic_axis(std::string title, double least, double greatest) {
  double low = std::floor(std::log10(least) + 1e-9);
  double high = std::ceil(std::log10(greatest) - 1e-9);
  if (high <= low) high = low + 1;
  return {std::move(title), std::pow(10, low), std::pow(10, high), true};
}

chart::chart(std::string const& title, axis x, axis y)
    : x_(std::move(x)), y_(std::move(y)), svg_(open_picture(title, bottom_edge)) {
  draw_axes();
}

void chart::draw_axes() {
  svg_ += draw_x_axis(x_, bottom_edge);
  for (tick const& t : ticks_of(y_)) {
    double const at = bottom_edge - share_of(y_, t.value) * (bottom_edge - top_edge);
    svg_ += line_between(left_edge, at, right_edge, at, "grid") + text_at(left_edge - 6, at + 4, "end", t.label);
  }
  double const middle = (top_edge + bottom_edge) / 2;
  svg_ +=
      line_between(left_edge, top_edge, left_edge, bottom_edge, "axis") +
      text_at(16, middle, "middle", y_.title, " class=\"title\" transform=\"rotate(-90 16 " + place(middle) + ")\"");
}

std::string chart::at(point const& p) const {
  return place(place_on_x(x_, p.first)) + ',' + place(bottom_edge - share_of(y_, p.second) * (bottom_edge - top_edge));
}

void chart::line(std::size_t series, bool is_dashed, std::vector<point> const& points) {
  if (points.empty()) return;
  svg_ += "<polyline class=\"s" + std::to_string(series) + (is_dashed ? " dashed" : "") + "\" points=\"";
  for (std::size_t i = 0; i < points.size(); ++i) svg_ += (i == 0 ? "" : " ") + at(points[i]);
  svg_ += "\"/>\n";
}

void chart::dots(std::size_t series, std::vector<point> const& points) {
  if (points.empty()) return;
  svg_ += "<path class=\"dots s" + std::to_string(series) + "\" d=\"";
  for (point const& p : points) svg_ += 'M' + at(p) + "h0";
  svg_ += "\"/>\n";
}

std::string chart::finish() { return std::move(svg_) + "</svg>\n"; }

std::string bar_chart(std::string const& title, axis const& x, std::vector<bar> const& bars) {
  constexpr double height = 18;
  constexpr double step = 26;
  double const bottom = top_edge + step * static_cast<double>(bars.size());
  std::string svg = open_picture(title, bottom) + draw_x_axis(x, bottom);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    double const top = top_edge + step * static_cast<double>(i) + (step - height) / 2;
    svg += text_at(left_edge - 6, top + height - 5, "end", bars[i].label);
    double sum = 0;
    for (std::size_t part = 0; part < bars[i].parts.size(); ++part) {
      double const from = place_on_x(x, sum);
      sum += bars[i].parts[part];
      svg += "<rect class=\"m" + std::to_string(part) + "\" x=\"" + place(from) + "\" y=\"" + place(top) +
             "\" width=\"" + place(place_on_x(x, sum) - from) + "\" height=\"" + place(height) + "\"/>\n";
    }
  }
  return svg + line_between(left_edge, top_edge, left_edge, bottom, "axis") + "</svg>\n";
}

}  // namespace wyrm::apps
