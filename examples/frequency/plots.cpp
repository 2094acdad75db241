// SPDX-License-Identifier: MIT
#include "plots.hpp"

#include <tessera/io/file.hpp>
#include <tessera/program/gnuplot.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <sstream>

namespace frequency {

namespace {

using std::filesystem::path;

/// Amplitude of a series at a frequency, by the sum that defines it.
[[nodiscard]] auto amplitude(std::vector<double> const& series, double hertz) -> double {
  auto sum = std::complex<double>{};
  for (auto n = std::size_t{0}; n < series.size(); ++n)
    sum += series[n] *
           std::polar(1.0, -2 * std::numbers::pi * hertz * static_cast<double>(n) / sample_rate);
  auto const both_signs = hertz == 0 ? 1.0 : 2.0;  // of a frequency; the mean has none
  return both_signs * std::abs(sum) / static_cast<double>(series.size());
}

/// Columns of numbers as text, a row for each sample.
template <class F> [[nodiscard]] auto rows(std::size_t n, F const& row) -> std::string {
  auto text = std::ostringstream{};
  for (auto i = std::size_t{0}; i < n; ++i) {
    row(text, i);
    text << '\n';
  }
  return text.str();
}

[[nodiscard]] auto histogram(signal const& s, evaluation const& test) -> std::string {
  auto largest = 1e-6;
  auto const each = [&](auto&& f) {
    for (auto i = std::size_t{0}; i < frequencies.size(); ++i)
      for (auto n = std::size_t{0}; n < test.answers[i].size(); ++n)
        f(i, test.answers[i][n] - s.targets[i][n]);
  };
  each([&](std::size_t, double e) { largest = std::max(largest, std::abs(e)); });
  constexpr auto bins = std::size_t{80};
  auto counts = std::array<std::array<std::size_t, frequencies.size()>, bins>{};
  auto const width = 2 * largest / bins;
  each([&](std::size_t i, double e) {
    ++counts[std::min(bins - 1, static_cast<std::size_t>((e + largest) / width))][i];
  });
  return rows(bins, [&](std::ostream& to, std::size_t b) {
    to << (static_cast<double>(b) + 0.5) * width - largest;
    for (auto const n : counts[b]) to << ' ' << n;
  });
}

/// A plot: its file's stem, its size, and what gnuplot is told.
struct plot {
  char const* stem;
  int height;
  std::string script;
};

[[nodiscard]] auto plots() -> std::vector<plot> {
  auto const frame = std::string{"set grid lc rgb '#dddddd'; set border 3; set tics nomirror\n"};
  auto four = frame +
              "set multiplot layout 2,2 title 'Test signal: the four filters, first second'\n"
              "set xlabel 'time (s)'; set ylabel 'amplitude'; set xrange [0:1]\n"
              "set yrange [-1.6:1.6]; set key top right horizontal samplen 1\n";
  auto spectra = frame +
                 "set multiplot layout 2,2 title 'Amplitude spectra of the test signal'\n"
                 "set xlabel 'frequency (Hz)'; set ylabel 'amplitude'; set xrange [0:10]\n"
                 "set yrange [0:1.2]; set key top right samplen 1\n";
  for (auto i = std::size_t{0}; i < frequencies.size(); ++i) {
    auto const hertz = std::to_string(static_cast<int>(frequencies[i]));
    auto const target = std::to_string(3 + 2 * i);
    auto const answer = std::to_string(4 + 2 * i);
    four += "set title " + tessera::gnuplot_text(hertz + " Hz") +
            "\nplot 'series.dat' u 1:2 w l lc rgb '#bbbbbb' t 'mixture',"
            " '' u 1:" +
            target + " w l lw 2 lc rgb '#1f77b4' t 'target', '' u 1:" + answer +
            " w l lw 1 lc rgb '#d62728' t 'output'\n";
    spectra += "set title " + tessera::gnuplot_text(hertz + " Hz selected") +
               "\nplot 'spectra.dat' u 1:2 w l lw 2 lc rgb '#bbbbbb' t"
               " 'mixture', '' u 1:" +
               target + " w l lw 3 lc rgb '#1f77b4' t 'target', '' u 1:" + answer +
               " w l lw 1 lc rgb '#d62728' t 'output'\n";
  }
  return {
      {"training", 600,
       frame + "set datafile separator ','\nset title 'Training'\nset xlabel 'epoch'\n"
               "set ylabel 'mean squared error'; set logscale y; set format y '%g'\n"
               "set y2label 'learning rate'; set y2tics; set logscale y2; set format y2 '%.0e'\n"
               "set border 11; set key top right\n"
               "plot 'log.csv' skip 1 u 1:3 w l lw 2 lc rgb '#bbbbbb' t 'while training', "
               "'' skip 1 u 1:4 w l lw 2 lc rgb '#1f77b4' t 'frozen weights', "
               "'' skip 1 u 1:2 axes x1y2 w l lw 1 dt 2 lc rgb '#2ca02c' t 'learning rate'\n"},
      {"selected", 500,
       frame +
           "set title 'Test signal, 3 Hz selected'\nset xlabel 'time (s)'\nset ylabel 'amplitude'\n"
           "set xrange [0:2]; set yrange [-1.4:1.6]; set key top right horizontal\n"
           "plot 'series.dat' u 1:2 w l lc rgb '#bbbbbb' t 'mixture', "
           "'' u 1:5 w l lw 3 lc rgb '#1f77b4' t 'target', "
           "'' u 1:6 w l lw 1 lc rgb '#d62728' t 'output'\n"},
      {"all", 800, four + "unset multiplot\n"},
      {"spectra", 800, spectra + "unset multiplot\n"},
      {"errors", 500,
       frame + "set title 'Errors on the test signal'\nset xlabel 'output - target'\n"
               "set ylabel 'samples'\nset key top right\nplot "
               "'errors.dat' u 1:2 w histeps lw 2 t '1 Hz', '' u 1:3 w histeps lw 2 t '3 Hz', "
               "'' u 1:4 w histeps lw 2 t '5 Hz', '' u 1:5 w histeps lw 2 t '7 Hz'\n"}};
}

}  // namespace

auto draw_plots(path const& folder, path const& log, signal const& s, evaluation const& test)
    -> std::vector<path> {
  std::filesystem::create_directories(folder);
  // Under a name of its own, so that gnuplot reads no name that a user chose.
  tessera::write_file(folder / "log.csv", {tessera::read_file(log)});
  auto const length = test.answers[0].size();
  tessera::write_file(folder / "series.dat", rows(length, [&](std::ostream& to, std::size_t n) {
                        to << static_cast<double>(n) / sample_rate << ' ' << s.mixture[n];
                        for (auto i = std::size_t{0}; i < frequencies.size(); ++i)
                          to << ' ' << s.targets[i][n] << ' ' << test.answers[i][n];
                      }));
  tessera::write_file(folder / "spectra.dat", rows(101, [&](std::ostream& to, std::size_t k) {
                        auto const hertz = static_cast<double>(k) / 10;
                        to << hertz << ' ' << amplitude(s.mixture, hertz);
                        for (auto i = std::size_t{0}; i < frequencies.size(); ++i)
                          to << ' ' << amplitude(s.targets[i], hertz) << ' '
                             << amplitude(test.answers[i], hertz);
                      }));
  tessera::write_file(folder / "errors.dat", histogram(s, test));
  auto files = std::vector<path>{};
  auto script = std::string{};
  for (auto const& p : plots()) {
    auto const size = std::to_string(p.height);
    for (auto const& [ending, terminal] :
         {std::pair{".png", "pngcairo size 1000," + size + " font 'sans,11'"},
          std::pair{".svg", "svg size 1000," + size + " font 'sans,11' background rgb 'white'"}}) {
      files.push_back(folder / (std::string{p.stem} + ending));
      script += "reset\nset terminal " + terminal + "\nset output " +
                tessera::gnuplot_text(std::string{p.stem} + ending) + '\n' + p.script +
                "set output\n";
    }
  }
  tessera::run_gnuplot(folder, script);
  return files;
}

}  // namespace frequency
