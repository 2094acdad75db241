// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <tessera/track/tensorboard_logger.hpp>

using namespace tessera;

namespace {

auto content_of(std::string_view hexadecimal) -> std::string {
  auto bytes = std::string{};
  for (auto i = std::size_t{0}; i < hexadecimal.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string{hexadecimal.substr(i, 2)}, nullptr, 16));
  return bytes;
}
auto time_at(double seconds) {
  return std::chrono::system_clock::time_point{
      std::chrono::duration_cast<std::chrono::system_clock::duration>(
          std::chrono::duration<double>(seconds))};
}
/// Lengths of the records of an event file; each sum is checked.
auto records_of(std::string const& bytes) -> std::vector<std::string> {
  auto records = std::vector<std::string>{};
  for (auto at = std::size_t{0}; at < bytes.size();) {
    REQUIRE(bytes.size() - at > 16);
    auto length = std::size_t{0};
    for (auto i = 8U; i-- > 0;) length = length * 256 + static_cast<unsigned char>(bytes[at + i]);
    auto const data = bytes.substr(at + 12, length);
    REQUIRE(bytes.substr(at, length + 16) == detail::framed_event(data));
    records.push_back(data);
    at += length + 16;
  }
  return records;
}
auto event_file_in(std::filesystem::path const& folder) -> std::string {
  for (auto const& each : std::filesystem::directory_iterator{folder})
    return test::text_of(each.path());
  return {};
}

}  // namespace

TEST_CASE("tensorboard_logger: sums of RFC 3720 and their mask") {
  CHECK(detail::crc32c("123456789") == 0xE3069283);
  CHECK(detail::crc32c(std::string(32, '\0')) == 0x8A9136AA);
  CHECK(detail::crc32c(std::string(32, '\xFF')) == 0x62A8AB43);
  CHECK(detail::masked_crc32c("123456789") == 0xC78AB0E5);
}

TEST_CASE("tensorboard_logger: the bytes that tensorboard 2.21 writes") {
  auto const folder = test::folder{};
  auto log = tensorboard_logger{folder.path()};
  log.begin({.started = time_at(1.5)});
  log.scalars({300, time_at(1.5)}, std::vector<named_value>{{"loss", 0.25}});
  // record_writer.RecordWriter of the same two events
  auto const first = content_of(
      "1800000000000000a37f4b2209000000000000f83f1a0d627261696e2e4576656e743a322a28646c");
  auto const second = content_of(
      "1b000000000000001a0d9e1309000000000000f83f10ac022a0d0a0b0a046c6f7373150000803e9908deed");
  CHECK(event_file_in(folder.path()) == first + second);
}

TEST_CASE("tensorboard_logger: hyperparameters have a session that begins and ends") {
  auto const folder = test::folder{};
  auto log = tensorboard_logger{folder.path()};
  log.begin({.settings = {{"rate", 0.5}}});
  log.hyperparameters({}, std::vector<named_value>{{"loss", 0.25}});
  log.finish(run_state::finished);
  auto const records = records_of(event_file_in(folder.path()));
  REQUIRE(records.size() == 5);
  CHECK(records[1].find("_hparams_/session_start_info") != std::string::npos);
  CHECK(records[2].find("_hparams_/experiment") != std::string::npos);
  CHECK(records[4].find("_hparams_/session_end_info") != std::string::npos);
}

TEST_CASE("tensorboard_logger: two runs in one folder have files of their own") {
  auto const folder = test::folder{};
  auto one = tensorboard_logger{folder.path()};
  auto two = tensorboard_logger{folder.path()};
  one.begin({});
  two.begin({});
  CHECK(folder.files() == 2);
  auto const name = detail::event_file_name(time_at(12));
  CHECK(name.starts_with("events.out.tfevents.0000000012."));
}

TEST_CASE("tensorboard_logger: a histogram without a number leaves the file as it is") {
  auto const folder = test::folder{};
  auto log = tensorboard_logger{folder.path()};
  log.begin({});
  log.histogram(1, "h", std::vector<float>{std::numeric_limits<float>::quiet_NaN()});
  CHECK(records_of(event_file_in(folder.path())).size() == 1);
}
TEST_CASE("tensorboard_logger: the session has the settings that came before it was written") {
  auto const folder = test::folder{};
  auto log = tensorboard_logger{folder.path()};
  log.begin({.settings = {{"rate", 0.5}}});
  log.hyperparameters(std::vector<named_setting>{{"decay", 0.25}}, {});
  log.finish(run_state::finished);
  auto const session = records_of(event_file_in(folder.path())).at(1);
  CHECK(session.find("_hparams_/session_start_info") != std::string::npos);
  CHECK(session.find("rate") != std::string::npos);
  CHECK(session.find("decay") != std::string::npos);
  CHECK(session.find(folder.path().filename().string()) == std::string::npos);
}
TEST_CASE("tensorboard_logger: bytes that are no UTF-8 are replaced, which a reader would refuse") {
  auto const folder = test::folder{};
  auto log = tensorboard_logger{folder.path()};
  log.begin({.settings = {{"Caf\xE9", "Caf\xE9"}}});
  log.scalars(1, std::vector<named_value>{{"Caf\xE9", 1}});
  log.text(1, "Caf\xE9", "Caf\xE9");
  log.finish(run_state::finished);
  auto const bytes = event_file_in(folder.path());
  CHECK(bytes.find("Caf\xE9") == std::string::npos);
  CHECK(bytes.find("Caf\xEF\xBF\xBD") != std::string::npos);
}
TEST_CASE("tensorboard_logger: a session that did not finish is a failure") {
  for (auto const state : {run_state::finished, run_state::failed, run_state::stopped}) {
    auto const folder = test::folder{};
    auto log = tensorboard_logger{folder.path()};
    log.begin({.settings = {{"rate", 0.5}}});
    log.finish(state);
    auto const end = records_of(event_file_in(folder.path())).back();
    CHECK(end.find("_hparams_/session_end_info") != std::string::npos);
    auto const with = [&](char const* status) {
      return end.find(content_of(std::string{"220b08"} + status + "11")) != std::string::npos;
    };
    CHECK(with("01") == (state == run_state::finished));  // STATUS_SUCCESS
    CHECK(with("02") == (state != run_state::finished));  // STATUS_FAILURE
  }
}
