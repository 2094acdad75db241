// SPDX-License-Identifier: MIT
#include "page.hpp"

#include <tessera/io/file.hpp>

#include <boost/archive/iterators/base64_from_binary.hpp>
#include <boost/archive/iterators/transform_width.hpp>

#include <cstdio>

namespace forecast {

namespace {

[[nodiscard]] auto base64(std::vector<std::byte> const& bytes) -> std::string {
  using namespace boost::archive::iterators;
  using letters = base64_from_binary<transform_width<char const*, 6, 8>>;
  auto const* const begin = reinterpret_cast<char const*>(bytes.data());
  auto text = std::string(letters(begin), letters(begin + bytes.size()));
  while (text.size() % 4 != 0) text += '=';
  return text;
}
[[nodiscard]] auto escaped(std::string const& text) -> std::string {
  auto result = std::string{};
  for (auto const letter : text) {
    if (letter == '&')
      result += "&amp;";
    else if (letter == '<')
      result += "&lt;";
    else if (letter == '"')
      result += "&quot;";
    else
      result += letter;
  }
  return result;
}
[[nodiscard]] auto number(char const* form, double x) -> std::string {
  char text[64];
  (void)std::snprintf(text, sizeof text, form, x);
  return text;
}

[[nodiscard]] auto in_brackets(std::string const& reason) -> std::string {
  return reason.empty() ? "" : " (" + escaped(reason) + ")";
}

[[nodiscard]] auto table_of(judged_days const& d) -> std::string {
  auto html = "<h3>" + escaped(d.name) + ", " + d.begin + " to " + d.end +
              "</h3><table><tr><th>forecast<th>mse<th>rmse<th>mae<th>R&sup2;<th>direction"
              "<th>p against the model</tr>";
  for (auto const& s : d.all) {
    auto p = std::string{};
    for (auto const& t : d.tests)
      if (t.against == s.name || (t.against == "HAR" && s.name == "har"))
        p = number("%.3g", stricter(t.result));
    html += "<tr><td>" + escaped(s.name) + "<td>" + number("%.4g", s.figures.mse) + "<td>" +
            number("%.4g", s.figures.rmse) + "<td>" + number("%.4g", s.figures.mae) + "<td>" +
            number("%.4f", s.figures.r2) + "<td>" + number("%.3f", s.figures.direction_accuracy) +
            "<td>" + p + "</tr>";
  }
  return html + "</table><p>Of HAR's squared error: " + number("%.3f", d.ratio_to_har) + ". <b>" +
         escaped(d.judgement.text) + "</b>" + in_brackets(d.judgement.reason) + "</p>";
}
[[nodiscard]] auto row_of(std::string const& name, strategy const& t) -> std::string {
  return "<tr><td>" + name + "<td>" + number("%.2f %%", 100 * t.total_return) + "<td>" +
         number("%.2f %%", 100 * t.volatility) + "<td>" + number("%.2f", t.sharpe) + "<td>" +
         number("%.2f", t.sortino) + "<td>" + number("%.2f %%", 100 * t.maximum_drawdown) + "<td>" +
         std::to_string(t.trades) + "</tr>";
}

}  // namespace

auto make_page(settings const& s, std::vector<target_report> const& reports,
               std::filesystem::path const& plots, std::vector<picture> const& pictures)
    -> std::string {
  auto html = std::string{
      "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Forecast</title><style>"
      "body{font:15px sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}"
      "table{border-collapse:collapse}td,th{padding:.2em .8em;border-bottom:1px solid #ddd;"
      "text-align:right}td:first-child,th:first-child{text-align:left}img{width:100%}"
      "pre{background:#f4f4f4;padding:1em;overflow:auto}</style>"};
  html += "<h1>Forecasts of " + escaped(s.data) + "</h1>";
  for (auto const& r : reports) {
    html += "<h2>" + name_of(r.kind) + "</h2>" + table_of(r.walk_forward) + table_of(r.last_days);
    if (r.solved)
      html +=
          "<p>The model is solved in closed form: it has no epochs, and no curve of losses.</p>";
    if (not r.traded.equity.empty())
      html +=
          "<h3>A strategy by the sign of the forecast</h3><table><tr><th>last days<th>return"
          "<th>volatility<th>Sharpe<th>Sortino<th>drawdown<th>trades</tr>" +
          row_of("by forecast", r.traded) + row_of("held", r.held) + "</table>";
    for (auto const& p : pictures)
      if (p.name.ends_with('-' + name_of(r.kind)))
        html += "<figure><img alt=\"" + escaped(p.title) + "\" src=\"data:image/png;base64," +
                base64(tessera::read_file(plots / (p.name + ".png"))) + "\"></figure>";
    html += "<details><summary>Every fold</summary>";
    for (auto const& f : r.folds) html += table_of(f);
    html += "</details>";
  }
  return html + "<h2>Settings</h2><pre>" + escaped(tessera::to_yaml(s)) + "</pre></html>\n";
}

}  // namespace forecast
