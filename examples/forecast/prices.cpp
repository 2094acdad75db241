// SPDX-License-Identifier: MIT
#include "prices.hpp"

#include <tessera/io/file.hpp>

#include <boost/crc.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>

#include <zlib.h>

namespace forecast {
namespace {

constexpr auto columns =
    std::array<char const*, 6>{"Date", "Open", "High", "Low", "Close", "Volume"};

/// Where an error is.
struct place {
  std::string const& name;
  std::size_t row;  ///< of the file from 1, the header among them; of a table from 1

  [[noreturn]] void refuse(std::string const& column, std::string const& what) const {
    throw price_error(name + ": row " + std::to_string(row) + ", column " + column + ": " + what);
  }
};

[[nodiscard]] auto in_quotes(std::string_view text) -> std::string {
  constexpr auto longest = std::size_t{40};
  auto shown = std::string{"\""};
  for (auto const c : text.substr(0, longest))
    shown += static_cast<unsigned char>(c) < 32 ? '?' : c;
  return shown + (text.size() > longest ? "...\"" : "\"");
}

[[nodiscard]] auto trimmed(std::string_view text) -> std::string_view {
  auto const blank = [](char c) { return c == ' ' || c == '\t'; };
  while (not text.empty() && blank(text.front())) text.remove_prefix(1);
  while (not text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Lower case, without blanks at the ends.
[[nodiscard]] auto key_of(std::string_view column) -> std::string {
  auto key = std::string{trimmed(column)};
  for (auto& c : key)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return key;
}

/// Records of a CSV text, as RFC 4180 has them: fields may be quoted, and then hold commas, line
/// ends and doubled quotes.
class csv_reader {
 public:
  csv_reader(std::string_view text, std::string const& name) : text_(text), name_(name) {
    constexpr auto mark = std::string_view{"\xEF\xBB\xBF"};
    if (text_.starts_with(mark)) text_.remove_prefix(mark.size());
  }
  /// The row at which the record that was read last begins, from 1.
  [[nodiscard]] auto row() const -> std::size_t { return row_; }

  /// False at the end; empty lines are passed over.
  [[nodiscard]] auto next(std::vector<std::string>& fields) -> bool {
    for (;;) {
      if (at_ == text_.size()) return false;
      row_ = line_;
      fields.clear();
      auto was_quoted = false;
      while (field(fields, was_quoted)) {
      }
      if (fields.size() > 1 || was_quoted || not trimmed(fields.front()).empty()) return true;
    }
  }

 private:
  /// Reads a field; false where it was the record's last.
  [[nodiscard]] auto field(std::vector<std::string>& fields, bool& was_quoted) -> bool {
    auto& value = fields.emplace_back();
    if (at_ < text_.size() && text_[at_] == '"') {
      was_quoted = true;
      quotation(value);
      while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
      if (at_ < text_.size() &&
          std::string_view{",\r\n"}.find(text_[at_]) == std::string_view::npos)
        throw price_error(name_ + ": row " + std::to_string(row_) +
                          ": expected a comma or the line's end after a quotation, got " +
                          in_quotes(text_.substr(at_, 1)));
    }
    while (at_ < text_.size()) {
      auto const c = text_[at_++];
      if (c == ',') return true;
      if (c == '\n' || c == '\r') {
        if (c == '\r' && at_ < text_.size() && text_[at_] == '\n') ++at_;
        ++line_;
        return false;
      }
      value += c;
    }
    return false;
  }
  void quotation(std::string& value) {
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] != '"') {
        value += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        value += text_[++at_];
      } else {
        ++at_;
        return;
      }
    }
    throw price_error(name_ + ": row " + std::to_string(row_) + ": a quotation has no end");
  }

  std::string_view text_;
  std::string const& name_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t row_ = 1;
};

[[nodiscard]] auto whole_number(std::string_view text) -> std::optional<unsigned> {
  auto value = 0U;
  auto const* const end = text.data() + text.size();
  auto const result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc{} || result.ptr != end) return std::nullopt;
  return value;
}

/// 1999-01-04 or 1/4/1999 -> 1999-01-04.
[[nodiscard]] auto iso_date(std::string_view text) -> std::optional<std::string> {
  auto const by = text.find('/') == std::string_view::npos ? '-' : '/';
  auto const one = text.find(by);
  auto const two = one == std::string_view::npos ? one : text.find(by, one + 1);
  if (two == std::string_view::npos) return std::nullopt;
  auto const a = whole_number(text.substr(0, one));
  auto const b = whole_number(text.substr(one + 1, two - one - 1));
  auto const c = whole_number(text.substr(two + 1));
  if (not a || not b || not c) return std::nullopt;
  auto const [year, month, day] = by == '/' ? std::array{*c, *a, *b} : std::array{*a, *b, *c};
  if (year < 1000 || year > 9999 || month > 12 || day > 31) return std::nullopt;
  auto const date =
      std::chrono::year{static_cast<int>(year)} / std::chrono::month{month} / std::chrono::day{day};
  if (not date.ok()) return std::nullopt;
  char iso[16];
  std::snprintf(iso, sizeof iso, "%04u-%02u-%02u", year, month, day);
  return iso;
}

[[nodiscard]] auto number_of(std::string_view text, place const& at, char const* column) -> double {
  auto value = 0.0;
  auto digits = text.starts_with('+') ? text.substr(1) : text;
  auto const* const end = digits.data() + digits.size();
  auto const result = std::from_chars(digits.data(), end, value);
  if (digits.empty() || result.ec == std::errc::invalid_argument || result.ptr != end)
    at.refuse(column, "expected a number, got " + in_quotes(text));
  if (result.ec != std::errc{} || not std::isfinite(value))
    at.refuse(column, "expected a finite number, got " + in_quotes(text));
  return value;
}

[[nodiscard]] auto shown(double value) -> std::string {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

/// Of an ISO date.
[[nodiscard]] auto day_of(std::string_view date) -> std::chrono::sys_days {
  auto const part = [&](std::size_t at, std::size_t n) {
    return whole_number(date.substr(at, n)).value_or(1);
  };
  return std::chrono::year{static_cast<int>(part(0, 4))} / std::chrono::month{part(5, 2)} /
         std::chrono::day{part(8, 2)};
}

/// Row i of a table, after which all before it hold.
void check_row(price_table const& p, std::size_t i, place const& at) {
  auto const prices = std::array{p.open[i], p.high[i], p.low[i], p.close[i]};
  for (auto c = std::size_t{0}; c < prices.size(); ++c) {
    if (not std::isfinite(prices[c]))
      at.refuse(columns[c + 1], "expected a finite number, got " + shown(prices[c]));
    if (prices[c] <= 0)
      at.refuse(columns[c + 1], "expected a price above 0, got " + shown(prices[c]));
  }
  if (not(p.volume[i] >= 0 && std::isfinite(p.volume[i])))
    at.refuse("Volume", "expected a finite number of at least 0, got " + shown(p.volume[i]));
  if (p.high[i] < p.low[i])
    at.refuse("High",
              "expected at least the low, " + shown(p.low[i]) + ", got " + shown(p.high[i]));
  constexpr auto rounding = 1e-6;  // of prices that were adjusted
  for (auto const c : {0U, 3U})
    if (prices[c] > p.high[i] * (1 + rounding) || prices[c] < p.low[i] * (1 - rounding))
      at.refuse(columns[c + 1], "expected a price from the low to the high, " + shown(p.low[i]) +
                                    " to " + shown(p.high[i]) + ", got " + shown(prices[c]));
  if (i > 0 && p.dates[i] <= p.dates[i - 1])  // ISO dates are ordered as their texts
    at.refuse("Date", "expected a day after " + p.dates[i - 1] + ", got " + p.dates[i]);
  constexpr auto longest = std::chrono::days{14};  // longer than any holidays
  if (i > 0 && day_of(p.dates[i]) - day_of(p.dates[i - 1]) > longest)
    at.refuse("Date",
              "expected a day at most 14 days after " + p.dates[i - 1] + ", got " + p.dates[i]);
}

/// For each column the place of its field in a record.
[[nodiscard]] auto places_of(std::vector<std::string> const& header, std::string const& name)
    -> std::array<std::size_t, columns.size()> {
  auto places = std::array<std::size_t, columns.size()>{};
  for (auto c = std::size_t{0}; c < columns.size(); ++c) {
    auto const is = [&](std::string const& field) { return key_of(field) == key_of(columns[c]); };
    auto const found = std::ranges::find_if(header, is);
    if (found == header.end())
      throw price_error(name + ": row 1: there is no column " + columns[c] +
                        "; expected Date, Open, High, Low, Close and Volume");
    if (std::ranges::count_if(header, is) > 1)
      throw price_error(name + ": row 1: there are several columns " + columns[c]);
    places[c] = static_cast<std::size_t>(found - header.begin());
  }
  return places;
}

[[nodiscard]] auto bytes_of(std::filesystem::path const& path) -> std::string {
  auto packed = tessera::read_file(path);
  auto text = std::string(packed.size(), '\0');
  std::transform(packed.begin(), packed.end(), text.begin(),
                 [](auto byte) { return static_cast<char>(byte); });
  return text;
}

/// The content of a gzip file; files that were packed one after another count as one.
[[nodiscard]] auto unpacked(std::string packed, std::string const& name) -> std::string {
  constexpr auto largest = std::size_t{1} << 30;  // a small file may claim to be any size
  auto stream = z_stream{};
  if (packed.size() > largest || inflateInit2(&stream, 15 + 16) != Z_OK)
    throw price_error(name + ": cannot be unpacked");
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  auto text = std::string{};
  auto part = std::array<char, 1 << 16>{};
  auto state = Z_OK;
  while (state == Z_OK && text.size() <= largest) {
    stream.next_out = reinterpret_cast<Bytef*>(part.data());
    stream.avail_out = static_cast<uInt>(part.size());
    state = inflate(&stream, Z_NO_FLUSH);
    text.append(part.data(), part.size() - stream.avail_out);
    if (state == Z_STREAM_END && stream.avail_in > 0) state = inflateReset(&stream);
  }
  inflateEnd(&stream);
  if (text.size() > largest) throw price_error(name + ": holds more than 1 GiB");
  if (state != Z_STREAM_END) throw price_error(name + ": is not a whole gzip file");
  return text;
}

}  // namespace

auto days_of(price_table const& p, std::size_t begin, std::size_t end) -> price_table {
  if (begin > end || end > p.size())
    throw std::out_of_range("days_of: days " + std::to_string(begin) + " to " +
                            std::to_string(end) + " of " + std::to_string(p.size()));
  auto const cut = [&](auto const& all) {
    using list = std::remove_cvref_t<decltype(all)>;
    using offset = typename list::difference_type;
    return list(all.begin() + static_cast<offset>(begin), all.begin() + static_cast<offset>(end));
  };
  return {.dates = cut(p.dates),
          .open = cut(p.open),
          .high = cut(p.high),
          .low = cut(p.low),
          .close = cut(p.close),
          .volume = cut(p.volume)};
}

auto digest_of(price_table const& p) -> std::string {
  auto sum = boost::crc_32_type{};
  for (auto const& date : p.dates) sum.process_bytes(date.data(), date.size());
  for (auto const* list : {&p.open, &p.high, &p.low, &p.close, &p.volume})
    sum.process_bytes(list->data(), list->size() * sizeof(double));
  char checksum[16];
  std::snprintf(checksum, sizeof checksum, "%08x", static_cast<unsigned>(sum.checksum()));
  return std::to_string(p.size()) + " days, " + p.dates.front() + " to " + p.dates.back() +
         ", checksum " + checksum;
}

auto parse_prices(std::string_view text, std::string const& name) -> price_table {
  auto reader = csv_reader{text, name};
  auto header = std::vector<std::string>{};
  if (not reader.next(header)) throw price_error(name + ": is empty; expected a header row");
  auto const places = places_of(header, name);
  auto result = price_table{};
  auto const numbers =
      std::array{&result.open, &result.high, &result.low, &result.close, &result.volume};
  for (auto fields = std::vector<std::string>{}; reader.next(fields);) {
    auto const at = place{name, reader.row()};
    if (fields.size() != header.size())
      throw price_error(name + ": row " + std::to_string(at.row) + ": expected " +
                        std::to_string(header.size()) + " fields, got " +
                        std::to_string(fields.size()));
    auto const date_text = trimmed(fields[places[0]]);
    auto const date = iso_date(date_text);
    if (not date)
      at.refuse("Date", "expected a date as 1999-01-04 or 1/4/1999, got " + in_quotes(date_text));
    result.dates.push_back(*date);
    for (auto c = std::size_t{0}; c < numbers.size(); ++c)
      numbers[c]->push_back(number_of(trimmed(fields[places[c + 1]]), at, columns[c + 1]));
    check_row(result, result.size() - 1, at);
  }
  if (result.size() == 0) throw price_error(name + ": has a header, but no rows");
  return result;
}

auto read_prices(std::filesystem::path const& path) -> price_table {
  auto const name = path.filename().string();
  auto text = bytes_of(path);
  if (text.starts_with("\x1F\x8B")) text = unpacked(std::move(text), name);
  return parse_prices(text, name);
}

void check_prices(price_table const& p, std::string const& name) {
  auto const lists = std::array{&p.open, &p.high, &p.low, &p.close, &p.volume};
  for (auto c = std::size_t{0}; c < lists.size(); ++c)
    if (lists[c]->size() != p.size())
      throw price_error(name + ": column " + columns[c + 1] + ": expected " +
                        std::to_string(p.size()) + " rows, as many as dates, got " +
                        std::to_string(lists[c]->size()));
  if (p.size() == 0) throw price_error(name + ": has no rows");
  for (auto i = std::size_t{0}; i < p.size(); ++i) {
    auto const at = place{name, i + 1};
    if (p.dates[i].size() != 10 || iso_date(p.dates[i]) != p.dates[i])
      at.refuse("Date", "expected a date as 1999-01-04, got " + in_quotes(p.dates[i]));
    check_row(p, i, at);
  }
}

}  // namespace forecast
