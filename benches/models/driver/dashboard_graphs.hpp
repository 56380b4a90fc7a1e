// The dashboard's graphs as SVG: bars of a run by suite and compiler, and lines over the runs of an archive.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pace/base/format.hpp"
#include "pace/report/xml.hpp"

namespace pace::benches::models {

/// Bars that stand beside each other, by their names.
struct BarGroup {
  std::string name;
  std::map<std::string, double> bars = {};
};

/// Values at the times of a graph, in their order; none where there is no value.
using LineSeries = std::map<std::string, std::vector<std::optional<double>>>;

namespace detail {

inline constexpr double plot_height = 240, plot_top = 60, plot_left = 60;

/// Colours that differ in lightness, too.
[[nodiscard]] inline const char* colour_of(std::size_t series) {
  static constexpr std::array<const char*, 6> colours{"#1f4e79", "#e08214", "#35978f", "#b2182b", "#8073ac", "#7f7f7f"};
  return colours[series % colours.size()];
}

[[nodiscard]] inline std::string number(double value) { return format_fixed(value, 2); }

[[nodiscard]] inline std::string text_at(double x, double y, const std::string& text, const char* anchor = "middle") {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor + "\">" +
         report::xml_text(text) + "</text>\n";
}

/// From 0 to `most`, with a broken line at `mark`.
class Plot {
 public:
  Plot(double width, double most, std::optional<double> mark) : most_(most > 0 ? most : 1) {
    body_ += "<line class=\"axis\" x1=\"" + number(plot_left) + "\" y1=\"" + number(y_of(0)) + "\" x2=\"" +
             number(plot_left + width) + "\" y2=\"" + number(y_of(0)) + "\" stroke=\"#000\"/>\n";
    for (const double share : {0.0, 0.5, 1.0})
      body_ += text_at(plot_left - 6, y_of(share * most_) + 4, number(share * most_), "end");
    if (!mark || *mark > most_) return;
    body_ += "<line class=\"mark\" x1=\"" + number(plot_left) + "\" y1=\"" + number(y_of(*mark)) + "\" x2=\"" +
             number(plot_left + width) + "\" y2=\"" + number(y_of(*mark)) +
             "\" stroke=\"#000\" stroke-dasharray=\"4 3\"/>\n";
  }

  [[nodiscard]] double height_of(double value) const { return plot_height * std::max(value, 0.0) / most_; }
  [[nodiscard]] double y_of(double value) const { return plot_top + plot_height - height_of(value); }
  void add(const std::string& element) { body_ += element; }

  [[nodiscard]] std::string svg(const std::string& title, const std::set<std::string>& series, double width) const {
    double x = plot_left;
    std::string legend;
    for (std::size_t i = 0; const auto& name : series) {
      legend += "<rect class=\"legend\" x=\"" + number(x) + "\" y=\"30\" width=\"12\" height=\"12\" fill=\"" +
                colour_of(i++) + "\"/>\n" + text_at(x + 18, 41, name, "start");
      x += 36 + 8 * static_cast<double>(name.size());
    }
    const double whole = std::max({plot_left + width + 20, x, plot_left + 9 * static_cast<double>(title.size())});
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(whole) +
           "\" height=\"360\" font-family=\"sans-serif\" font-size=\"12\">\n"
           "<rect class=\"paper\" width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n" +
           text_at(plot_left, 18, title, "start") + legend + body_ + "</svg>\n";
  }

 private:
  double most_;
  std::string body_;
};

/// The end of an axis that has room for `values`.
[[nodiscard]] inline double end_of_axis(double most) { return most > 0 ? 1.1 * most : 1; }

}  // namespace detail

/// Returns an SVG image of bars. Their heights are in proportion to their values; values below 0 have no height.
/// `mark`: where a broken line is, if the bars reach it.
[[nodiscard]] inline std::string bar_graph(const std::string& title, const std::vector<BarGroup>& groups,
                                           std::optional<double> mark = {}) {
  std::set<std::string> series;
  double most = 0, width = 0;
  const auto width_of = [](const BarGroup& group) {
    return std::max(44 * static_cast<double>(group.bars.size()), 8 * static_cast<double>(group.name.size())) + 24;
  };
  for (const auto& group : groups) {
    width += width_of(group);
    for (const auto& [name, value] : group.bars) series.insert(name), most = std::max(most, value);
  }
  detail::Plot plot(width, detail::end_of_axis(most), mark);
  double x = detail::plot_left;
  for (const auto& group : groups) {
    const double middle = x + width_of(group) / 2;
    double left = middle - 22 * static_cast<double>(group.bars.size());
    for (const auto& [name, value] : group.bars) {
      const auto which = static_cast<std::size_t>(std::distance(series.begin(), series.find(name)));
      plot.add("<rect class=\"bar\" x=\"" + detail::number(left + 2) + "\" y=\"" + detail::number(plot.y_of(value)) +
               "\" width=\"40\" height=\"" + detail::number(plot.height_of(value)) + "\" fill=\"" +
               detail::colour_of(which) + "\"><title>" +
               report::xml_text(group.name + ", " + name + ": " + detail::number(value)) + "</title></rect>\n" +
               detail::text_at(left + 22, plot.y_of(value) - 4, detail::number(value)));
      left += 44;
    }
    plot.add(detail::text_at(middle, detail::plot_top + detail::plot_height + 18, group.name));
    x += width_of(group);
  }
  return plot.svg(title, series, width);
}

/// Returns an SVG image of lines over `times`, which are equally far apart. A line has a gap where a value is missing.
[[nodiscard]] inline std::string line_graph(const std::string& title, const std::vector<std::string>& times,
                                            const LineSeries& lines, std::optional<double> mark = {}) {
  std::set<std::string> series;
  double most = 0;
  for (const auto& [name, values] : lines) {
    series.insert(name);
    for (const auto& value : values) most = std::max(most, value.value_or(0));
  }
  constexpr double step = 96;
  const double width = step * static_cast<double>(times.size());
  detail::Plot plot(width, detail::end_of_axis(most), mark);
  const auto x_of = [](std::size_t time) { return detail::plot_left + step * (static_cast<double>(time) + 0.5); };
  for (std::size_t i = 0; i < times.size(); ++i)
    plot.add(detail::text_at(x_of(i), detail::plot_top + detail::plot_height + 18, times[i]));
  for (std::size_t which = 0; const auto& [name, values] : lines) {
    const std::string colour = detail::colour_of(which++);
    std::string points;
    std::size_t joined = 0;
    const auto end_line = [&] {
      if (joined > 1)
        plot.add("<polyline points=\"" + points + "\" fill=\"none\" stroke=\"" + colour + "\" stroke-width=\"2\"/>\n");
      points.clear();
      joined = 0;
    };
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!values[i]) {
        end_line();
        continue;
      }
      const std::string x = detail::number(x_of(i)), y = detail::number(plot.y_of(*values[i]));
      points += (points.empty() ? "" : " ") + x + ',' + y;
      ++joined;
      plot.add("<circle cx=\"" + x + "\" cy=\"" + y + "\" r=\"3\" fill=\"" + colour + "\"><title>" +
               report::xml_text(name + ", " + times[i] + ": " + detail::number(*values[i])) + "</title></circle>\n");
    }
    end_line();
  }
  return plot.svg(title, series, width);
}

}  // namespace pace::benches::models
