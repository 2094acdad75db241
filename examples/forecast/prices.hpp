// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// Daily prices: from a file, or from text that came by another way.
namespace forecast {

/// A price table that is refused: its file, row and column, what was expected and what came.
struct price_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One row a trading day, oldest first; dates as 1999-01-04.
struct price_table {
  std::vector<std::string> dates;
  std::vector<double> open, high, low, close;
  std::vector<double> volume;

  [[nodiscard]] auto size() const -> std::size_t { return dates.size(); }
  [[nodiscard]] auto operator==(price_table const&) const -> bool = default;
};

/// Days [begin, end).
///
/// Errors  std::out_of_range for days that are not there
[[nodiscard]] auto days_of(price_table const& prices, std::size_t begin, std::size_t end)
    -> price_table;

/// "5031 days, 1999-01-04 to 2018-12-31, checksum 0a1b2c3d": of dates and numbers, for who compares
/// tables of at least one day.
[[nodiscard]] auto digest_of(price_table const& prices) -> std::string;

/// A CSV file, packed by gzip or not: a header of Date, Open, High, Low, Close and Volume in any
/// order and case, among others, and a row for each day. Dates are 1999-01-04 or 1/4/1999.
///
/// Errors  price_error for a missing or repeated column, a row with more or fewer fields, text
///         where a number belongs, NaN, infinity, a price of 0 or below, a volume below 0, a high
///         below the low, dates that repeat, go back or leave out more than 14 days, text behind
///         a quotation, and no rows; tessera::file_error
[[nodiscard]] auto read_prices(std::filesystem::path const& path) -> price_table;

/// The same of text; `name` stands for the file in errors.
[[nodiscard]] auto parse_prices(std::string_view text, std::string const& name) -> price_table;

/// Refuses what parse_prices would refuse of a table that came by another way, which counts its
/// rows from 1; dates must be ISO.
void check_prices(price_table const& prices, std::string const& name);

}  // namespace forecast
