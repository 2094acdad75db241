// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <tessera/track/wandb_logger.hpp>

using namespace tessera;

namespace {

constexpr auto block = std::size_t{32768};

struct part {
  std::size_t at;
  std::size_t length;
  int type;

  auto operator==(part const&) const -> bool = default;
};

/// The parts of a log, read by the rules of LevelDB, and the records that they make.
struct parts_of_log {
  std::vector<part> parts;
  std::vector<std::string> records;

  explicit parts_of_log(std::string const& bytes) {
    REQUIRE(bytes.substr(0, 7) == std::string{":W&B\xE1\xBE\0", 7});
    auto const byte = [&](std::size_t i) -> std::size_t {
      return static_cast<unsigned char>(bytes[i]);
    };
    for (auto at = std::size_t{7}; at < bytes.size();) {
      auto const room = block - at % block;
      if (room < 7) {
        REQUIRE(bytes.substr(at, room) == std::string(std::min(room, bytes.size() - at), '\0'));
        at += room;
        continue;
      }
      REQUIRE(bytes.size() - at >= 7);
      auto const length = byte(at + 4) + 256 * byte(at + 5);
      auto const type = static_cast<int>(byte(at + 6));
      REQUIRE(length <= room - 7);
      auto const data = bytes.substr(at + 7, length);
      REQUIRE(bytes.substr(at, 4) ==
              detail::little_endian(detail::crc32_of(static_cast<char>(type), data), 4));
      parts.push_back({at, length, type});
      if (type <= 2) records.emplace_back();
      records.back() += data;
      at += 7 + length;
    }
  }
};

auto written(std::vector<std::size_t> const& lengths) -> parts_of_log {
  auto const folder = test::folder{};
  auto log = detail::record_log{folder / "log"};
  auto expected = std::vector<std::string>{};
  for (auto i = std::size_t{0}; i < lengths.size(); ++i) {
    auto& record = expected.emplace_back(lengths[i], static_cast<char>('a' + i));
    for (auto k = std::size_t{0}; k < record.size(); k += 97) record[k] = static_cast<char>(k);
    log.add(record);
  }
  auto result = parts_of_log{test::text_of(folder / "log")};
  CHECK(result.records == expected);
  return result;
}

}  // namespace

TEST_CASE("wandb_logger: the sum is that of IEEE 802.3 over the type and the data") {
  CHECK(detail::crc32_of('1', "23456789") == 0xCBF43926);
}

TEST_CASE("wandb_logger: a record that fits is whole, the header counted") {
  CHECK(written({5}).parts == std::vector<part>{{7, 5, 1}});
  CHECK(written({block - 14}).parts == std::vector<part>{{7, block - 14, 1}});
  CHECK(written({0, 3}).parts == std::vector<part>{{7, 0, 1}, {14, 3, 1}});
}

TEST_CASE("wandb_logger: a record that does not fit goes on in the next blocks") {
  CHECK(written({block - 13}).parts == std::vector<part>{{7, block - 14, 2}, {block, 1, 4}});
  CHECK(written({3 * block}).parts == std::vector<part>{{7, block - 14, 2},
                                                        {block, block - 7, 3},
                                                        {2 * block, block - 7, 3},
                                                        {3 * block, 28, 4}});
}

TEST_CASE("wandb_logger: the end of a block without room for a heading is zeros") {
  for (auto room = std::size_t{1}; room < 7; ++room)
    CHECK(written({block - 14 - room, 3}).parts ==
          std::vector<part>{{7, block - 14 - room, 1}, {block, 3, 1}});
  // with room for a heading alone, the first part is empty
  CHECK(written({block - 21, 3}).parts ==
        std::vector<part>{{7, block - 21, 1}, {block - 7, 0, 2}, {block, 3, 4}});
}

TEST_CASE("wandb_logger: records of all lengths around a block's end") {
  for (auto length = block - 40; length < block + 40; ++length) (void)written({length, 7, length});
}

TEST_CASE("wandb_logger: one row for a step, in the folder that wandb sync looks for") {
  auto const folder = test::folder{};
  auto log = wandb_logger{{.folder = folder.path(), .id = "abc12345"}};
  log.begin({.name = "a", .project = "p"});
  log.scalars(1, std::vector<named_value>{{"loss", 1}});
  log.text(1, "note", "words");
  log.scalars(2, std::vector<named_value>{{"loss", std::numeric_limits<double>::quiet_NaN()}});
  log.finish(run_state::finished);
  auto const name = log.folder().filename().string();
  CHECK(name.starts_with("offline-run-"));
  CHECK(name.ends_with("-abc12345"));
  CHECK(name.size() == std::string{"offline-run-20260102_030405-abc12345"}.size());
  CHECK(log.folder().parent_path() == folder / "wandb");
  auto const read = parts_of_log{test::text_of(log.folder() / "run-abc12345.wandb")};
  REQUIRE(read.records.size() == 6);  // header, run, two rows, summary, exit
  CHECK(read.records[2].find("\"words\"") != std::string::npos);
  CHECK(read.records[3].find("NaN") != std::string::npos);
}

TEST_CASE("wandb_logger: a flush writes the row, so that it is there after a crash") {
  auto const folder = test::folder{};
  auto log = wandb_logger{{.folder = folder.path()}};
  log.begin({});
  log.scalars(1, std::vector<named_value>{{"loss", 1}});
  log.flush();
  auto const name = log.folder().filename().string();
  auto const id = name.substr(name.rfind('-') + 1);
  CHECK(id.size() == 8);
  CHECK(parts_of_log{test::text_of(log.folder() / ("run-" + id + ".wandb"))}.records.size() == 4);
}

TEST_CASE("wandb_logger: an id that is no name of a file is refused") {
  CHECK_THROWS_WITH(wandb_logger({.id = "../x"}),
                    "wandb_logger: expected an id of a-z and 0-9, got ../x");
}

TEST_CASE("wandb_logger: names that are W&B's own are refused") {
  auto const folder = test::folder{};
  auto log = wandb_logger{{.folder = folder.path()}};
  log.begin({});
  for (auto const* name : {"_step", "_runtime", "_timestamp"}) {
    CHECK_THROWS_WITH(log.scalars(1, std::vector<named_value>{{"a", 1}, {name, 2}}),
                      Catch::Contains(std::string{"expected a name other than "} + name));
    CHECK_THROWS_AS(log.text(1, name, "words"), std::invalid_argument);
  }
  CHECK_NOTHROW(log.scalars(1, std::vector<named_value>{{"step", 1}}));
}
TEST_CASE("wandb_logger: a run that did not finish has the exit code of a failure") {
  for (auto const state : {run_state::finished, run_state::failed, run_state::stopped}) {
    auto const folder = test::folder{};
    auto log = wandb_logger{{.folder = folder.path(), .id = "a"}};
    log.begin({.started = std::chrono::system_clock::now() - std::chrono::seconds{100}});
    log.finish(state);
    auto const last = parts_of_log{test::text_of(log.folder() / "run-a.wandb")}.records.back();
    auto const code = state == run_state::finished ? '\0' : '\1';
    auto const record = std::string{"\x92\x01\x04\x08"} + code + '\x10';  // field 18; 1, 2
    REQUIRE(last.find(record) == last.size() - 7);
    CHECK(last.back() >= 100);
    CHECK(last.back() < 120);
  }
}
