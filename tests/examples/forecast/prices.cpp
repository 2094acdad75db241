// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/io/file.hpp>

#include <filesystem>
#include <fstream>
#include <limits>

#include "market.hpp"
#include "parts.hpp"

using namespace forecast;

namespace {

auto parse(std::string const& text) -> price_table { return parse_prices(text, "p.csv"); }

auto const header = std::string{"Date,Open,High,Low,Close,Volume\n"};
auto const row = std::string{"2020-01-02,10,12,9,11,100\n"};

/// What a refused text says.
auto refusal(std::string const& text) -> std::string {
  try {
    (void)parse(text);
  } catch (price_error const& e) {
    return e.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("prices: the two indexes, packed") {
  for (auto const index : {"sp500", "nasdaq"}) {
    auto const p = parts::index(index);
    CHECK(p.size() == 5031);
    CHECK(p.dates.front() == "1999-01-04");
    CHECK(p.dates.back() == "2018-12-31");
  }
  auto const p = parts::index("sp500");
  CHECK(p.open[0] == 1229.22998);
  CHECK(p.high[0] == 1248.810059);
  CHECK(p.low[0] == 1219.099976);
  CHECK(p.close[0] == 1228.099976);
  CHECK(p.volume[0] == 877000000);
}
TEST_CASE("prices: order and case of columns, dates, line ends, marks and quotes are free") {
  auto const want = parse(header + row + "2020-01-03,11,13,10,12,200\n");
  CHECK(want.close == std::vector<double>{11, 12});
  auto const same = [&](std::string const& text) { CHECK(parse(text) == want); };
  same("\xEF\xBB\xBF" + header + row + "2020-01-03,11,13,10,12,200");
  same(
      "VOLUME, close "
      ",low,HIGH,open,date\r\n100,11,9,12,10,1/2/2020\r\n200,12,10,13,11,1/3/2020\r\n");
  same(
      "Date,Open,High,Low,Close,Adj Close,Volume\n01/02/2020,10,12,9,11,10.5,100\n\n"
      "2020-1-3,1.1e1,+13,10.0,12,11.5,200\n\n");
  same(
      "\"Date\",Note,Open,High,Low,Close,Volume\n\"2020-01-02\",\"a, "
      "\"\"b\"\"\nc\",10,12,9,11,100\n"
      "2020-01-03,,\"11\",13,10,12,200\n");
}
TEST_CASE("prices: what is refused names its row and column") {
  CHECK(refusal("") == "p.csv: is empty; expected a header row");
  CHECK(refusal(header) == "p.csv: has a header, but no rows");
  CHECK(refusal("Date,Open,High,Close,Volume\n") ==
        "p.csv: row 1: there is no column Low; expected Date, Open, High, Low, Close and Volume");
  CHECK(refusal("Date,Open,High,Low,Close,Volume,open\n") ==
        "p.csv: row 1: there are several columns Open");
  CHECK(refusal(header + row + "2020-01-03,11,13,10,12\n") ==
        "p.csv: row 3: expected 6 fields, got 5");
  CHECK(refusal(header + "2020-01-02,ten,12,9,11,100\n") ==
        "p.csv: row 2, column Open: expected a number, got \"ten\"");
  CHECK(refusal(header + "2020-01-02,10,12,9,11 $,100\n") ==
        "p.csv: row 2, column Close: expected a number, got \"11 $\"");
  CHECK(refusal(header + "2020-01-02,10,,9,11,100\n") ==
        "p.csv: row 2, column High: expected a number, got \"\"");
  CHECK(refusal(header + "2020-01-02,10,12,nan,11,100\n") ==
        "p.csv: row 2, column Low: expected a finite number, got \"nan\"");
  CHECK(refusal(header + "2020-01-02,10,1e999,9,11,100\n") ==
        "p.csv: row 2, column High: expected a finite number, got \"1e999\"");
  CHECK(refusal(header + "2020-01-02,10,12,9,11,-inf\n") ==
        "p.csv: row 2, column Volume: expected a finite number, got \"-inf\"");
  CHECK(refusal(header + "2020-01-02,10,12,9,-11,100\n") ==
        "p.csv: row 2, column Close: expected a price above 0, got -11");
  CHECK(refusal(header + "2020-01-02,10,12,9,11,-1\n") ==
        "p.csv: row 2, column Volume: expected a finite number of at least 0, got -1");
  CHECK(refusal(header + "2020-01-02,10,8,9,11,100\n") ==
        "p.csv: row 2, column High: expected at least the low, 9, got 8");
  CHECK(refusal(header + "2020-01-02,10,12,9,12.1,100\n") ==
        "p.csv: row 2, column Close: expected a price from the low to the high, 9 to 12, got 12.1");
  CHECK(refusal(header + "2020-01-02,8.9,12,9,11,100\n") ==
        "p.csv: row 2, column Open: expected a price from the low to the high, 9 to 12, got 8.9");
  CHECK_NOTHROW(parse_prices(header + "2020-01-02,10,12,9,12.000001,100\n", "p.csv"));
  CHECK(refusal(header + row + row) ==
        "p.csv: row 3, column Date: expected a day after 2020-01-02, got 2020-01-02");
  CHECK(refusal(header + row + "12/31/2019,10,12,9,11,100\n") ==
        "p.csv: row 3, column Date: expected a day after 2020-01-02, got 2019-12-31");
  for (auto const date : {"2020-02-30", "13/1/2020", "2020", "2.1.2020", "-1-1-1", "2020-01-02x"})
    CHECK(refusal(header + date + ",10,12,9,11,100\n") ==
          "p.csv: row 2, column Date: expected a date as 1999-01-04 or 1/4/1999, got \"" +
              std::string{date} + "\"");
  CHECK(refusal(header + "\"2020-01-02,10,12,9,11,100\n") ==
        "p.csv: row 2: a quotation has no end");
  for (auto const* const end : {"x", "\"", " 0"})
    CHECK(refusal(header + "2020-01-02,10,12,9,\"11\"" + end + ",100\n")
              .starts_with(std::string{"p.csv: row 2: "}));
  CHECK(refusal(header + "2020-01-02,10,12,9,\"11\"00,100\n") ==
        "p.csv: row 2: expected a comma or the line's end after a quotation, got \"0\"");
  CHECK_NOTHROW(parse_prices(header + "2020-01-02,10,12,9,11,\"100\"\r\n", "p.csv"));
  CHECK_NOTHROW(parse_prices(header + "2020-01-02,10,12,9,\"11\" \t,\"100\" ", "p.csv"));
  CHECK_NOTHROW(parse_prices(header + "2020-01-02,10,12,9,11,\"100\"", "p.csv"));
  CHECK_NOTHROW(parse_prices(header + row + "2020-01-16,10,12,9,11,100\n", "p.csv"));
  CHECK(
      refusal(header + row + "2020-01-17,10,12,9,11,100\n") ==
      "p.csv: row 3, column Date: expected a day at most 14 days after 2020-01-02, got 2020-01-17");
  CHECK(
      refusal(header + row + "2025-01-03,10,12,9,11,100\n") ==
      "p.csv: row 3, column Date: expected a day at most 14 days after 2020-01-02, got 2025-01-03");
  CHECK(refusal("Date,Open,High,Low,Close,Volume,Note\n2020-01-02,10,12,9,11,100,\"two\nlines\"\n"
                "2020-01-03,x,12,9,11,100,\n") ==
        "p.csv: row 4, column Open: expected a number, got \"x\"");
  CHECK(refusal(header + "\n\n" + row + "2020-01-03,x,12,9,11,100\n") ==
        "p.csv: row 5, column Open: expected a number, got \"x\"");
}
TEST_CASE("prices: files that are not there, cut off or damaged are refused") {
  auto const folder = std::filesystem::temp_directory_path() / "tessera_forecast_prices";
  std::filesystem::create_directories(folder);
  CHECK_THROWS_AS(read_prices(folder / "none.csv"), tessera::file_error);
  auto packed = std::ifstream{std::string{FORECAST_DATA} + "/sp500.csv.gz", std::ios::binary};
  auto bytes = std::string{std::istreambuf_iterator<char>{packed}, {}};
  auto const write = [&](std::string const& content) {
    std::ofstream{folder / "p.csv.gz", std::ios::binary} << content;
    return folder / "p.csv.gz";
  };
  CHECK(read_prices(write(bytes)).size() == 5031);
  CHECK(read_prices(write(header + row)).size() == 1);
  CHECK_THROWS_WITH(read_prices(write(bytes.substr(0, bytes.size() / 2))),
                    "p.csv.gz: is not a whole gzip file");
  bytes[bytes.size() / 2] = static_cast<char>(~bytes[bytes.size() / 2]);
  CHECK_THROWS_AS(read_prices(write(bytes)), price_error);
  std::filesystem::remove_all(folder);
}
TEST_CASE("prices: tables that came by another way are held to the same") {
  auto const good = synthetic_market(40, 2);
  CHECK_NOTHROW(check_prices(good, "request"));
  auto p = good;
  p.close[3] = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(check_prices(p, "request"),
                    "request: row 4, column Close: expected a finite number, got nan");
  p = good;
  p.dates[5] = "1/10/2000";
  CHECK_THROWS_WITH(
      check_prices(p, "request"),
      "request: row 6, column Date: expected a date as 1999-01-04, got \"1/10/2000\"");
  p = good;
  p.dates[5] = p.dates[4];
  CHECK_THROWS_AS(check_prices(p, "request"), price_error);
  p = good;
  p.low.pop_back();
  CHECK_THROWS_WITH(check_prices(p, "request"),
                    "request: column Low: expected 40 rows, as many as dates, got 39");
  CHECK_THROWS_WITH(check_prices({}, "request"), "request: has no rows");
}
TEST_CASE("prices: a digest tells tables apart") {
  auto const p = synthetic_market(40, 2);
  auto const digest = digest_of(p);
  CHECK(digest.starts_with("40 days, 2000-01-03 to 2000-02-25, checksum "));
  CHECK(digest.size() < 60);  // a message shows all of it
  CHECK(digest == digest_of(synthetic_market(40, 2)));
  CHECK(digest != digest_of(synthetic_market(40, 3)));
  auto other = p;
  other.volume[7] += 1;
  CHECK(digest != digest_of(other));
  other = p;
  other.dates[7] = "2000-01-13";
  CHECK(digest != digest_of(other));
}
TEST_CASE("prices: days of a table") {
  auto const p = synthetic_market(10, 2);
  auto const part = days_of(p, 2, 5);
  CHECK(part.size() == 3);
  CHECK(part.dates.front() == p.dates[2]);
  CHECK(part.volume.back() == p.volume[4]);
  CHECK(days_of(p, 0, 10) == p);
  CHECK_THROWS_AS(days_of(p, 5, 11), std::out_of_range);
  CHECK_THROWS_AS(days_of(p, 6, 5), std::out_of_range);
}
