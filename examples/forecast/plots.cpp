// SPDX-License-Identifier: MIT
#include "plots.hpp"

#include <tessera/io/file.hpp>
#include <tessera/program/gnuplot.hpp>

#include <algorithm>
#include <array>
#include <cstdio>

namespace forecast {

namespace {

namespace fs = std::filesystem;
using tessera::gnuplot_text;

[[nodiscard]] auto text_of(double x) -> std::string {
  char text[32];
  (void)std::snprintf(text, sizeof text, "%.9g", x);
  return text;
}

/// A script that draws every picture twice, and the tables that it reads.
class drawing {
 public:
  explicit drawing(fs::path folder) : folder_(std::move(folder)) {}

  void table(std::string const& name, std::string const& rows) const {
    tessera::write_file(folder_ / name, rows);
  }
  void picture(std::string const& name, std::string const& title, std::string const& commands) {
    pictures_.push_back({name, title});
    for (auto const* terminal : {"png", "svg"}) {
      script_ += "reset\nset datafile separator ','\nset grid\n";
      script_ += terminal == std::string{"png"}
                     ? "set terminal pngcairo size 900,500 font ',11'\n"
                     : "set terminal svg size 900,500 font 'sans,11' background 'white'\n";
      script_ += "set output " + gnuplot_text(name + '.' + terminal) + "\nset title " +
                 gnuplot_text(title) + '\n' + commands + "unset output\n";
    }
  }
  [[nodiscard]] auto draw() const -> std::vector<forecast::picture> {
    tessera::run_gnuplot(folder_, script_);
    return pictures_;
  }

 private:
  fs::path folder_;
  std::string script_;
  std::vector<forecast::picture> pictures_;
};

constexpr auto by_date =
    "set xdata time\nset timefmt '%Y-%m-%d'\nset format x '%b %Y'\nset key top left\n";

[[nodiscard]] auto edge(band const& b, bool relative, double forecast, bool high) -> double {
  auto const by = high ? b.high : b.low;
  return relative ? forecast * by : forecast + by;
}
[[nodiscard]] auto band_of(target_report const& r, double share) -> band const& {
  return *std::ranges::find(r.bands, share, &band::share);
}

[[nodiscard]] auto unit_of(target_kind kind) -> std::string {
  if (kind == target_kind::range) return "range: ln(high / low)";
  return kind == target_kind::value_return ? "return: c(t+h) / c(t) - 1" : "1: up, -1: down";
}

void draw_forecasts(drawing& to, judged_part const& last, target_report const& r) {
  auto const name = name_of(r.kind);
  auto rows = std::string{"date,came,forecast,low80,high80,low95,high95\n"};
  for (auto i = std::size_t{0}; i < last.dates.size(); ++i) {
    rows += last.target[i] + ',' + text_of(last.came[i]) + ',' + text_of(last.model[i]);
    for (auto const share : {0.8, 0.95})
      for (auto const high : {false, true})
        rows += ',' + text_of(edge(band_of(r, share), r.relative_bands, last.model[i], high));
    rows += '\n';
  }
  to.table("forecast-" + name + ".csv", rows);
  auto const held = [&](double share) {
    char text[64];
    (void)std::snprintf(text, sizeof text, "%.0f %%, held %.0f %%", 100 * share,
                        100 * band_of(r, share).inside);
    return gnuplot_text(text);
  };
  to.picture(
      "forecast-" + name, "The last days: " + name + ", its forecast and bands of 80 and 95 %",
      std::string{by_date} + "set xtics 60*60*24*61\nset ylabel " + gnuplot_text(unit_of(r.kind)) +
          "\nplot " + gnuplot_text("forecast-" + name + ".csv") +
          " every ::1 using 1:6:7 with filledcurves fc rgb '#dde8f5' title " + held(0.95) +
          ", '' every ::1 using 1:4:5 with filledcurves fc rgb '#b3cde8' title " + held(0.8) +
          ", '' every ::1 using 1:2 with points pt 7 ps 0.5 lc rgb '#333333' title 'observed',"
          " '' every ::1 using 1:3 with lines lw 2 lc rgb '#1f5fa8' title 'forecast'\n");
}
void draw_calibration(drawing& to, target_report const& r) {
  auto const name = name_of(r.kind);
  auto rows = std::string{"share,inside\n"};
  for (auto const& b : r.bands) rows += text_of(b.share) + ',' + text_of(b.inside) + '\n';
  to.table("calibration-" + name + ".csv", rows);
  to.picture("calibration-" + name, "Bands of " + name + ": days inside of them, meant and found",
             "set xrange [0.4:1]\nset yrange [0.4:1]\nset size square\nset key top left\n"
             "set xlabel 'share that was meant'\nset ylabel 'share of the last days'\n"
             "plot x with lines dt 2 lc rgb '#888888' title 'exact', " +
                 gnuplot_text("calibration-" + name + ".csv") +
                 " every ::1 using 1:2 with linespoints pt 7 lw 2 lc rgb '#1f5fa8' notitle\n");
}
void draw_attention(drawing& to, target_study const& study) {
  auto const& a = study.attention;
  if (a.heads == 0) return;
  auto const name = name_of(study.kind);
  auto const days = a.weights.size() / a.heads;
  auto rows = std::string{"days before"};
  for (auto h = std::size_t{0}; h < a.heads; ++h) rows += ",head " + std::to_string(h + 1);
  for (auto t = std::size_t{0}; t < days; ++t) {
    rows += '\n' + std::to_string(days - 1 - t);
    for (auto h = std::size_t{0}; h < a.heads; ++h) rows += ',' + text_of(a.weights[h * days + t]);
  }
  to.table("attention-" + name + ".csv", rows + '\n');
  to.picture("attention-" + name, "Where the model looked for " + name + ", mean of the last days",
             "set xlabel 'days before the forecast'\nset ylabel 'weight'\n"
             "set xrange [*:*] reverse\nplot " +
                 text_of(1 / static_cast<double>(days)) +
                 " with lines dt 2 lc rgb '#888888' title 'all alike', for [h=1:" +
                 std::to_string(a.heads) + "] " + gnuplot_text("attention-" + name + ".csv") +
                 " every ::1 using 1:h+1 with linespoints pt 7 ps 0.5 lw 2 title "
                 "sprintf('head %d', h)\n");
}
void draw_folds(drawing& to, target_study const& study) {
  auto const name = name_of(study.kind);
  auto rows = std::string{"row,begin,end,held out,last\n"};
  auto row = study.parts.size();
  for (auto const& p : study.parts)
    rows += std::to_string(row--) + ',' + p.train_begin + ',' + p.train_end + ',' + p.begin + ',' +
            p.end + '\n';
  to.table("folds-" + name + ".csv", rows);
  auto const line = [&](int begin, int end, char const* color, char const* title) {
    auto const b = std::to_string(begin);
    return gnuplot_text("folds-" + name + ".csv") + " every ::1 using " + b + ":1:(timecolumn(" +
           std::to_string(end) + ",'%Y-%m-%d')-timecolumn(" + b +
           ",'%Y-%m-%d')):(0) with vectors nohead lw 12 lc rgb '" + color + "' title " +
           gnuplot_text(title);
  };
  to.picture("folds-" + name, "What was learned from, and what judged: folds, and the last days",
             std::string{by_date} + "set format x '%Y'\nset key bottom left\nset yrange [0:" +
                 std::to_string(study.parts.size() + 2) + "]\nunset ytics\nplot " +
                 line(2, 3, "#b3cde8", "training") + ", " + line(4, 5, "#d9822b", "judged") + '\n');
}
void draw_losses(drawing& to, target_study const& study) {
  auto const learns = [](judged_part const& p) { return not p.epochs.empty(); };
  if (std::ranges::none_of(study.parts, learns)) return;  // solved, not trained
  static auto const colors =
      std::array<std::string, 6>{"#1f5fa8", "#d9822b", "#3a8f4d", "#a83279", "#5b4fa8", "#555555"};
  auto const name = name_of(study.kind);
  auto rows = std::string{"epoch,training,held out\n"};
  auto curves = std::string{};
  auto index = 0;
  for (auto const& p : study.parts) {
    for (auto const& e : p.epochs)
      rows += std::to_string(e.epoch) + ',' + text_of(e.training_loss) + ',' +
              text_of(e.monitored_loss) + '\n';
    rows += "\n\n";
    auto const from = gnuplot_text("losses-" + name + ".csv") + " index " + std::to_string(index);
    auto const first = index == 0 ? " every ::1 " : " ";
    auto const color =
        " lc rgb '" + colors.at(static_cast<std::size_t>(index) % colors.size()) + "'";
    curves += (index == 0 ? "" : ", ") + from + first + "using 1:2 with lines dt 2" + color +
              (p.name == "test" ? " title 'last days'"
                                : " notitle, " + from + first + "using 1:3 with lines lw 2" +
                                      color + " title " + gnuplot_text("fold " + p.name));
    ++index;
  }
  to.table("losses-" + name + ".csv", rows);
  to.picture(
      "losses-" + name, "Losses of " + name + ": training (dashed) and held out (solid)",
      "set xlabel 'epoch'\nset ylabel 'squared error, in training variances'\nset yrange [0:*]\n"
      "set key below\nplot " +
          curves + '\n');
}
void draw_equity(drawing& to, judged_part const& last, target_report const& r) {
  if (r.traded.equity.empty()) return;
  auto const name = name_of(r.kind);
  auto rows = std::string{"date,model,held\n"};
  // What a position of one day makes is known at the end of the next one.
  auto const n = last.dates.size();
  auto const horizon = static_cast<std::size_t>(std::ranges::find(last.dates, last.target.front()) -
                                                last.dates.begin());
  for (auto i = std::size_t{0}; i < n; ++i)
    rows += (i + 1 < n ? last.dates[i + 1] : last.target[n - horizon]) + ',' +
            text_of(r.traded.equity[i]) + ',' + text_of(r.held.equity[i]) + '\n';
  to.table("equity-" + name + ".csv", rows);
  to.picture("equity-" + name, "The last days traded by the sign of the forecast, after costs",
             std::string{by_date} + "set xtics 60*60*24*61\nset ylabel 'of 1 at the start'\nplot " +
                 gnuplot_text("equity-" + name + ".csv") +
                 " every ::1 using 1:2 with lines lw 2 lc rgb '#1f5fa8' title 'by forecast',"
                 " '' every ::1 using 1:3 with lines lw 2 lc rgb '#888888' title 'held'\n");
}

}  // namespace

auto draw_plots(fs::path const& folder, std::vector<target_study> const& studies,
                std::vector<target_report> const& reports) -> std::vector<picture> {
  fs::create_directories(folder);
  auto to = drawing(folder);
  for (auto i = std::size_t{0}; i < studies.size(); ++i) {
    auto const& last = studies[i].parts.back();
    draw_forecasts(to, last, reports[i]);
    draw_calibration(to, reports[i]);
    draw_attention(to, studies[i]);
    draw_folds(to, studies[i]);
    draw_losses(to, studies[i]);
    draw_equity(to, last, reports[i]);
  }
  return to.draw();
}

}  // namespace forecast
