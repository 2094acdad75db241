// SPDX-License-Identifier: MIT
#include <support/folder.hpp>
#include <support/test.hpp>
#include <tessera/io/parameters.hpp>

using namespace tessera;

using model = sequential<lstm<3, 4, lstm_options{.layers = 2}>, linear<4, 2>>;
using values = parameters_of<model, owned<float>>;

namespace {

/// True for a place in the memory of a mapped file.
auto stands_in(mapped_file const& file, void const* place) -> bool {
  auto const* const at = static_cast<std::byte const*>(place);
  return at >= file.bytes().data() && at < file.bytes().data() + file.bytes().size();
}

}  // namespace

TEST_CASE("parameters: saved and loaded, bit for bit, by PyTorch's names") {
  auto const folder = test::folder{};
  auto a = values{};
  auto b = values{};
  test::fill_parameters(a, 1);
  save_parameters(folder / "m.safetensors", a);
  load_parameters(folder / "m.safetensors", b);
  CHECK(test::same_parameters(a, b));
  auto const file = safetensors::read(folder / "m.safetensors");
  CHECK(file.contains("0.weight_hh_l1"));
  CHECK(file["1.weight"].shape == std::vector<std::uint64_t>{2, 4});
  CHECK(file.metadata().at("format") == "pt");
}
TEST_CASE("parameters: texts that no file holds are refused, and the file before remains") {
  auto const folder = test::folder{};
  auto const path = folder / "m.safetensors";
  auto const p = parameters_of<linear<2, 2>, owned<float>>{};
  save_parameters(path, p, {{"made", "here"}});
  CHECK_THROWS_WITH(save_parameters(path, p, {{"made", "th\xE9re"}}),
                    "the metadata's \"made\": expected UTF-8, byte 2 is none");
  CHECK(safetensors::read(path).metadata().at("made") == "here");
  CHECK_THROWS_AS(save_parameters(folder / "none", p, {{"\xFF", ""}}), safetensors_error);
  CHECK_FALSE(std::filesystem::exists(folder / "none"));
}
TEST_CASE("parameters: other floating-point types are converted") {
  auto a = parameters_of<model, owned<double>>{};
  auto b = values{};
  test::fill_parameters(a, 1);
  auto writer = safetensors_writer{};
  add_parameters(writer, a, "model.");
  load_parameters(safetensors::parse(writer.bytes()), b, "model.");
  for_each_parameter(
      [](path_name const&, auto const& x, auto const& y) {
        for (auto i = std::size_t{0}; i < x.size(); ++i)
          CHECK(static_cast<float>(x.data()[i]) == y.data()[i]);
      },
      a, b);

  auto half = tensor<f16, shape<3>>{{f16{0.5F}, f16{-2.0F}, f16{1.0F}}};
  auto brain = tensor<bf16, shape<3>>{{bf16{0.5F}, bf16{-2.0F}, bf16{1.0F}}};
  for (auto const& [type, bytes] :
       {std::pair{dtype::f16, std::as_bytes(std::span{half.data(), 3})},
        std::pair{dtype::bf16, std::as_bytes(std::span{brain.data(), 3})}}) {
    float to[3] = {};
    detail::read_numbers({type, {3}, bytes}, to, 3);
    CHECK(to[0] == 0.5F);
    CHECK(to[1] == -2.0F);
    CHECK(to[2] == 1.0F);
    double wide[3] = {};
    detail::read_numbers({type, {3}, bytes}, wide, 3);
    CHECK(std::equal(to, to + 3, wide));
  }
}
namespace {
auto bytes_of_values(auto const& w) { return std::as_bytes(std::span{w.data(), w.size()}); }
}  // namespace
TEST_CASE("parameters: statistics beside them, by PyTorch's names, whose count is whole") {
  using norm = sequential<linear<3, 4>, batch_norm<4>>;
  auto p = parameters_of<norm, owned<float>>{};
  auto s = statistics_of<norm, owned<float>>{};
  test::fill_parameters(p, 1);
  test::fill_parameters(s, 5);
  auto const batches = std::int64_t{42};
  auto writer = safetensors_writer{};
  add_parameters(writer, p);
  writer.add("1.running_mean", dtype::f32, {4}, bytes_of_values(get<1>(s).running_mean));
  writer.add("1.running_var", dtype::f32, {4}, bytes_of_values(get<1>(s).running_var));
  writer.add("1.num_batches_tracked", dtype::i64, {}, std::as_bytes(std::span{&batches, 1}));
  auto const file = safetensors::parse(writer.bytes());
  auto q = parameters_of<norm, owned<float>>{};
  auto t = statistics_of<norm, owned<float>>{};
  load_parameters(file, q, "", false);
  load_parameters(file, t, "", false);
  CHECK(test::same_parameters(p, q));
  CHECK(get<1>(t).num_batches_tracked.values[0] == 42);
  get<1>(s).num_batches_tracked.values[0] = 42;
  CHECK(test::same_parameters(s, t));
  CHECK_THROWS_WITH(load_parameters(file, q), Catch::Contains("which the model has not"));

  auto const folder = test::folder{};
  save_parameters(folder / "s.safetensors", s);
  auto u = statistics_of<norm, owned<float>>{};
  load_parameters(folder / "s.safetensors", u);
  CHECK(test::same_parameters(s, u));
}
TEST_CASE("parameters: with statistics in one file, all or nothing") {
  using norm = sequential<linear<3, 4>, batch_norm<4>>;
  auto p = parameters_of<norm, owned<float>>{};
  auto s = statistics_of<norm, owned<float>>{};
  test::fill_parameters(p, 1);
  test::fill_parameters(s, 5);
  auto const folder = test::folder{};
  auto const path = folder / "m.safetensors";
  save_parameters(path, p, s, {{"made", "here"}});
  CHECK(safetensors::read(path).metadata().at("made") == "here");
  auto q = parameters_of<norm, owned<float>>{};
  auto t = statistics_of<norm, owned<float>>{};
  load_parameters(path, q, t);
  CHECK(test::same_parameters(p, q));
  CHECK(test::same_parameters(s, t));
  CHECK_THROWS_WITH(load_parameters(path, q), Catch::Contains("which the model has not"));

  auto const file = mapped_file(path);
  auto seen = parameters_of<norm, viewed<float const>>{};
  t = {};
  map_parameters(file, seen, t);
  CHECK(get<0>(seen).weight.data() != nullptr);
  CHECK(test::same_parameters(s, t));
  using X = tensor<float, shape<2, 3>>;
  auto x = X{};
  test::fill(x, 7);
  auto const run = std::make_unique<inference<norm, X>>();
  auto const want = evaluate((*run)(p, s, x) * 1.0F);
  CHECK(test::same_bits((*run)(seen, t, x), want));

  // A file that lacks one of the statistics changes nothing, not the parameters either.
  auto writer = safetensors_writer{};
  add_parameters(writer, p);
  writer.add("1.running_mean", dtype::f32, {4}, bytes_of_values(get<1>(s).running_mean));
  auto const before = q = {};
  auto const statistics_before = t = {};
  CHECK_THROWS_WITH(load_parameters(safetensors::parse(writer.bytes()), q, t),
                    Catch::Contains("1.running_var"));
  CHECK(test::same_parameters(q, before));
  CHECK(test::same_parameters(t, statistics_before));
}
TEST_CASE("parameters: a batch norm of torch's, whose count is whole, there and back") {
  using norm = sequential<batch_norm<6>>;
  using X = tensor<float, shape<8, 6>>;
  auto const g = test::golden("batch_norm");
  auto const path = test::folder{};
  auto arrays = std::map<std::string, std::vector<float>>{};
  auto writer = safetensors_writer{};
  for (auto const* name : {"0.weight", "0.bias", "0.running_mean", "0.running_var"}) {
    auto const of_pass = std::string{name}.find("running") != std::string::npos ? "2" : "";
    auto const& numbers = g["rows." + std::string{of_pass} + name];
    arrays[name].assign(numbers.begin(), numbers.end());
    writer.add(name, dtype::f32, {6}, std::as_bytes(std::span{arrays[name]}));
  }
  auto const batches = std::int64_t{3};
  writer.add("0.num_batches_tracked", dtype::i64, {}, std::as_bytes(std::span{&batches, 1}));
  writer.write(path / "torch.safetensors");

  auto p = parameters_of<norm, owned<float>>{};
  auto s = statistics_of<norm, owned<float>>{};
  load_parameters(path / "torch.safetensors", p, s);
  auto x = X{};
  test::load(x, g["rows.3x"]);
  auto run = inference<norm, X>{};
  CHECK(test::distance(run(p, s, x), g["rows.3y"]) <= 1e-6);
  save_parameters(path / "back.safetensors", p, s);
  auto q = parameters_of<norm, owned<float>>{};
  auto t = statistics_of<norm, owned<float>>{};
  load_parameters(path / "back.safetensors", q, t);
  CHECK(test::same_parameters(p, q));
  CHECK(test::same_parameters(s, t));
  CHECK(get<0>(t).num_batches_tracked.values[0] == 3);
  auto const mapped = mapped_file(path / "torch.safetensors");
  auto seen = parameters_of<norm, viewed<float const>>{};
  map_parameters(mapped, seen, t = {});
  CHECK(test::same_parameters(s, t));
  CHECK(test::distance(run(seen, t, x), g["rows.3y"]) <= 1e-6);
}
TEST_CASE("parameters: a model of doubles takes files of every floating-point type") {
  auto narrow = values{};
  test::fill_parameters(narrow, 1);
  auto writer = safetensors_writer{};
  add_parameters(writer, narrow);
  auto wide = parameters_of<model, owned<double>>{};
  load_parameters(safetensors::parse(writer.bytes()), wide);
  for_each_parameter(
      [](path_name const&, auto const& x, auto const& y) {
        for (auto i = std::size_t{0}; i < x.size(); ++i)
          CHECK(static_cast<double>(x.data()[i]) == y.data()[i]);
      },
      narrow, wide);
}
TEST_CASE("parameters: views of a mapped file are what is loaded, and outlive the file's name") {
  auto const folder = test::folder{};
  auto saved = values{};
  test::fill_parameters(saved, 1);
  save_parameters(folder / "m.safetensors", saved);
  auto loaded = values{};
  load_parameters(folder / "m.safetensors", loaded);
  auto first = mapped_file(folder / "m.safetensors");
  auto seen = parameters_of<model, viewed<float const>>{};
  map_parameters(first, seen);
  auto const file = std::move(first);
  std::filesystem::remove(folder / "m.safetensors");
  for_each_parameter(
      [&](path_name const& path, auto const& w, auto const& v) {
        INFO(path.c_str());
        CHECK(test::same_bits(w, v));
        CHECK(stands_in(file, v.data()));
      },
      loaded, seen);

  using X = tensor<float, shape<6, 2, 3>>;
  auto const run = std::make_unique<inference<model, X>>();
  auto x = X{};
  test::fill(x, 2);
  auto const want = evaluate((*run)(loaded, x) * 1.0F);
  CHECK(test::same_bits((*run)(seen, x), want));
}
TEST_CASE("parameters: what cannot be mapped is named, and no view is set") {
  auto const folder = test::folder{};
  auto seen = parameters_of<model, viewed<float const>>{};
  auto const refused = [&](char const* file, std::string const& words) {
    auto const mapped = mapped_file(folder / file);
    CHECK_THROWS_WITH(map_parameters(mapped, seen),
                      Catch::Contains(std::string{file} + ": ") && Catch::Contains(words));
    for_each_parameter([](path_name const&, auto const& v) { CHECK_FALSE(v.has_memory()); }, seen);
  };
  save_parameters(folder / "double", parameters_of<model, owned<double>>{});
  refused("double", "\"0.weight_ih_l0\": expected dtype F32, got F64; what is mapped is not");
  save_parameters(folder / "other",
                  parameters_of<sequential<lstm<3, 4>, linear<4, 2>>, owned<float>>{});
  refused("other", "has no tensor \"0.weight_ih_l1\"");
  save_parameters(folder / "whole", values{});
  auto text = test::text_of(folder / "whole");
  write_file(folder / "cut", text.substr(0, text.size() - 4));
  refused("cut", "data_offsets");
  // A header that is a byte longer puts every number at an odd address.
  ++text[0];
  text.insert(text.rfind("}}") + 2, " ");
  write_file(folder / "odd", text);
  refused("odd", "is not aligned in the file");
  write_file(folder / "empty", "");
  refused("empty", "expected at least 8 bytes, got 0");
  auto loaded = values{};
  load_parameters(folder / "odd", loaded);
  CHECK(test::same_parameters(loaded, values{}));
}
TEST_CASE("parameters: a number that would be infinite is named, and nothing is loaded") {
  using two_outputs = linear<16, 2>;
  auto const said = [&]<class Storage>(std::type_identity<Storage>, auto number, std::string at) {
    auto writer = safetensors_writer{};
    using T = decltype(number);
    auto weight = std::vector<T>(32, T{1});
    auto bias = std::vector<T>(2, T{1});
    (at == "weight" ? weight[17] : bias[1]) = -number;
    writer.add("weight", dtype_of<T>(), {2, 16}, std::as_bytes(std::span{weight}));
    writer.add("bias", dtype_of<T>(), {2}, std::as_bytes(std::span{bias}));
    auto const folder = test::folder{};
    writer.write(folder / "m");
    auto p = parameters_of<two_outputs, Storage>{};
    try {
      load_parameters(safetensors::read(folder / "m"), p);
    } catch (safetensors_error const& e) {
      CHECK(p.bias.values[0] == 0);
      return std::string{e.what()};
    }
    CHECK(p.bias.values[0] == 1);
    return std::string{"loaded"};
  };
  constexpr auto floats = std::type_identity<owned<float>>{};
  constexpr auto halves = std::type_identity<compact<float, f16>>{};
  constexpr auto brains = std::type_identity<compact<float, bf16>>{};
  CHECK(said(floats, 1e39, "weight") ==
        "\"weight\": has the number -1e+39, which is beyond what F32 holds");
  CHECK(said(floats, 0x1.FFFFFEFFFFFFFp127, "bias") == "loaded");
  CHECK_THAT(said(floats, 0x1.FFFFFFp127, "bias"), Catch::Contains("beyond what F32 holds"));
  CHECK(said(floats, double{INFINITY}, "bias") == "loaded");
  CHECK(said(halves, 65519.0F, "weight") == "loaded");
  CHECK(said(halves, 65520.0F, "weight") ==
        "\"weight\": has the number -65520, which is beyond what F16 holds");
  CHECK(said(halves, 65520.0F, "bias") == "loaded");  // which is kept in float
  CHECK(said(brains, 3.3e38F, "weight") == "loaded");
  CHECK_THAT(said(brains, 3.4e38F, "weight"), Catch::Contains("beyond what BF16 holds"));
  CHECK(said(std::type_identity<owned<double>>{}, 1e300, "bias") == "loaded");
}
TEST_CASE("parameters: a matrix that is transposed is called so") {
  auto const numbers = std::vector<float>(6);
  auto writer = safetensors_writer{};
  writer.add("bias", dtype::f32, {2}, std::as_bytes(std::span{numbers}.first(2)));
  writer.add("weight", dtype::f32, {3, 2}, std::as_bytes(std::span{numbers}));
  auto mine = parameters_of<linear<3, 2>, owned<float>>{};
  CHECK_THROWS_WITH(load_parameters(safetensors::parse(writer.bytes()), mine),
                    "\"weight\": expected shape (2, 3), got (3, 2), which is transposed");
}
TEST_CASE("parameters: what does not fit is named, and nothing is loaded") {
  auto const folder = test::folder{};
  auto other = parameters_of<sequential<lstm<3, 4, lstm_options{.layers = 2}>, linear<4, 3>>,
                             owned<float>>{};
  save_parameters(folder / "other.safetensors", other);
  auto mine = values{};
  test::fill_parameters(mine, 1);
  auto const before = mine;
  CHECK_THROWS_WITH(
      load_parameters(folder / "other.safetensors", mine),
      Catch::Contains("other.safetensors: \"1.weight\": expected shape (2, 4), got (3, 4)"));
  CHECK(test::same_parameters(mine, before));

  auto small = parameters_of<lstm<3, 4>, owned<float>>{};
  save_parameters(folder / "small.safetensors", small);
  CHECK_THROWS_WITH(load_parameters(folder / "small.safetensors", mine),
                    Catch::Contains("has no tensor \"0.weight_ih_l0\""));
  auto writer = safetensors_writer{};
  add_parameters(writer, mine);
  auto const one = 1.0F;
  writer.add("extra", dtype::f32, {}, std::as_bytes(std::span{&one, 1}));
  CHECK_THROWS_WITH(load_parameters(safetensors::parse(writer.bytes()), mine),
                    "has a tensor \"extra\", which the model has not");
  CHECK(test::same_parameters(mine, before));
}
namespace {

/// `p` as a model of bf16 would have saved it.
void save_in_bf16(std::filesystem::path const& path, auto const& p) {
  auto kept = std::vector<std::vector<bf16>>{};
  auto writer = safetensors_writer{};
  for_each_parameter(
      [&](auto const& key, auto const& w) {
        auto& numbers = kept.emplace_back();
        for (auto i = std::size_t{0}; i < w.size(); ++i) numbers.emplace_back(w.data()[i]);
        writer.add(key.c_str(), dtype::bf16, file_shape<shape_of<decltype(w)>>(),
                   std::as_bytes(std::span{numbers}));
      },
      p);
  writer.write(path);
}

}  // namespace
TEST_CASE("parameters: a file of bf16 is seen where it stands, loaded narrow, or widened") {
  auto const folder = test::folder{};
  auto p = values{};
  test::fill_parameters(p, 1);
  save_in_bf16(folder / "m", p);
  load_parameters(folder / "m", p);  // rounded

  auto const file = mapped_file(folder / "m");
  auto seen = parameters_of<model, mapped<float, bf16>>{};
  map_parameters(file, seen);
  CHECK(stands_in(file, get<1>(seen).weight.values));
  CHECK(test::same_bits(get<1>(seen).bias, get<1>(p).bias));
  auto narrow = parameters_of<model, compact<float, bf16>>{};
  load_parameters(folder / "m", narrow);
  auto packed_ones = parameters_of<model, packed<float, bf16>>{};
  load_parameters(folder / "m", packed_ones);

  using X = tensor<float, shape<6, 2, 3>>;
  auto const run = std::make_unique<inference<model, X>>();
  auto x = X{};
  test::fill(x, 2);
  auto const want = evaluate((*run)(p, x) * 1.0F);
  CHECK(test::same_bits((*run)(seen, x), want));
  CHECK(test::same_bits((*run)(narrow, x), want));
  CHECK(test::same_bits((*run)(packed_ones, x), want));
}
TEST_CASE("parameters: bf16 that is multiplied by pairs is seen, packed, and goes out as it came") {
  auto const folder = test::folder{};
  using wide = sequential<linear<48, 16>, tanh_layer, linear<16, 5>>;
  auto p = parameters_of<wide, owned<float>>{};
  test::fill_parameters(p, 1);
  save_in_bf16(folder / "m", p);
  auto const file = mapped_file(folder / "m");
  auto seen = parameters_of<wide, mapped<float, as_stored<bf16>>>{};
  map_parameters(file, seen);
  CHECK(stands_in(file, get<0>(seen).weight.values));
  auto narrow = parameters_of<wide, compact<float, as_stored<bf16>>>{};
  load_parameters(folder / "m", narrow);

  using X = tensor<float, shape<3, 48>>;
  auto const run = std::make_unique<inference<wide, X>>();
  auto x = X{};
  test::fill(x, 2);
  auto const want = evaluate((*run)(narrow, x) * 1.0F);
  CHECK(test::same_bits((*run)(seen, x), want));
  auto widened = parameters_of<wide, owned<float>>{};
  load_parameters(folder / "m", widened);
  auto const near = evaluate((*run)(widened, x) - want);
  for (auto const difference : near) CHECK(std::abs(difference) < 0.02);

  save_parameters(folder / "again", narrow);
  save_parameters(folder / "seen", seen);
  auto back = parameters_of<wide, compact<float, bf16>>{};
  for (auto const* const name : {"again", "seen"}) {
    auto const content = safetensors::read(folder / name);
    CHECK(content["0.weight"].type == dtype::bf16);
    auto const seen_there = safetensors::look(file.bytes());
    CHECK(std::ranges::equal(content["0.weight"].bytes, seen_there["0.weight"].bytes));
    load_parameters(folder / name, back);
  }
  save_parameters(folder / "m", p);  // of F32
  auto const floats = mapped_file(folder / "m");
  CHECK_THROWS_WITH(map_parameters(floats, seen),
                    Catch::Contains("\"0.weight\": expected dtype BF16, got F32"));
}
TEMPLATE_TEST_CASE("parameters: numbers that blocks do not hold are named, and nothing is loaded",
                   "", q8_0, as_stored<q4_1>) {
  auto const folder = test::folder{};
  using layer = linear<64, 2>;
  auto p = parameters_of<layer, owned<float>>{};
  test::fill_parameters(p, 1);
  auto q = parameters_of<layer, compact<float, TestType>>{};
  save_parameters(folder / "good", p);
  load_parameters(folder / "good", q);
  auto const before = q;
  for (auto const& [number, words] :
       {std::pair{std::numeric_limits<float>::infinity(), "one is not finite"},
        {-std::numeric_limits<float>::quiet_NaN(), "one is not finite"},
        {1e30F, "a scale does not go into 16 bits"}}) {
    p.weight(1, 40) = number;
    save_parameters(folder / "bad", p);
    CHECK_THROWS_AS(load_parameters(folder / "bad", q), safetensors_error);
    CHECK_THROWS_WITH(load_parameters(folder / "bad", q),
                      Catch::Contains("\"weight\"") && Catch::Contains(words));
    CHECK(std::memcmp(&q, &before, sizeof q) == 0);
  }
}
TEST_CASE("parameters: packed weights go out as they came in") {
  auto const folder = test::folder{};
  auto p = values{};
  test::fill_parameters(p, 1);
  save_parameters(folder / "m", p);
  auto q = parameters_of<model, packed<float>>{};
  load_parameters(folder / "m", q);
  save_parameters(folder / "q", q);
  CHECK(test::text_of(folder / "q") == test::text_of(folder / "m"));
}
TEST_CASE("parameters: weights of eight bits go out and in with their scales, bit for bit") {
  auto const folder = test::folder{};
  using eight = parameters_of<model, compact<float, std::int8_t>>;
  auto p = values{};
  test::fill_parameters(p, 1);
  auto saved = eight{};
  pack_parameters(p, saved);
  save_parameters(folder / "m", saved);
  auto const content = safetensors::read(folder / "m");
  CHECK(content["1.weight"].type == dtype::i8);
  CHECK(content["1.weight_scale"].shape == std::vector<std::uint64_t>{2, 1});
  CHECK(content["1.bias"].type == dtype::f32);

  auto loaded = eight{};
  load_parameters(folder / "m", loaded);
  auto const same = [](auto const& a, auto const& b) {
    return std::memcmp(a.values, b.values, sizeof a.values) == 0 &&
           std::memcmp(a.scales.scale, b.scales.scale, sizeof a.scales.scale) == 0;
  };
  CHECK(same(get<1>(loaded).weight, get<1>(saved).weight));
  auto const file = mapped_file(folder / "m");
  auto seen = parameters_of<model, mapped<float, std::int8_t>>{};
  map_parameters(file, seen);
  auto by_columns = parameters_of<model, packed<float, std::int8_t>>{};
  load_parameters(content, by_columns);
  using X = tensor<float, shape<6, 2, 3>>;
  auto const run = std::make_unique<inference<model, X>>();
  auto x = X{};
  test::fill(x, 2);
  auto const want = evaluate((*run)(saved, x) * 1.0F);
  CHECK(test::same_bits((*run)(loaded, x), want));
  CHECK(test::same_bits((*run)(seen, x), want));
  CHECK(test::same_bits((*run)(by_columns, x), want));
  save_parameters(folder / "by_columns", by_columns);
  CHECK(test::text_of(folder / "by_columns") == test::text_of(folder / "m"));

  CHECK_THROWS_WITH(load_parameters(folder / "m", p),
                    Catch::Contains("weight_ih_l0\": expected dtype F32, got I8"));

  get<1>(p).weight(1, 2) = NAN;
  save_parameters(folder / "nan", p);
  auto const before = loaded;
  CHECK_THROWS_AS(load_parameters(folder / "nan", loaded), safetensors_error);
  CHECK_THROWS_WITH(load_parameters(folder / "nan", loaded),
                    Catch::Contains("\"1.weight\": has a number that is not finite"));
  CHECK(std::memcmp(&loaded, &before, sizeof loaded) == 0);
}
TEST_CASE("parameters: narrow weights that do not fit are named, and nothing is set") {
  auto const folder = test::folder{};
  auto p = values{};
  test::fill_parameters(p, 1);
  save_parameters(folder / "wide", p);
  auto seen = parameters_of<model, mapped<float, bf16>>{};
  auto const refused = [&](char const* name, auto& to, std::string const& words) {
    auto const file = mapped_file(folder / name);
    CHECK_THROWS_WITH(map_parameters(file, to), Catch::Contains(words));
  };
  refused("wide", seen, "\"0.weight_ih_l0\": expected dtype BF16, got F32; what is mapped is not");
  CHECK_FALSE(get<1>(seen).weight.has_memory());
  CHECK(get<1>(seen).bias(0) == 0);

  using one = linear<2, 3>;
  std::int8_t const numbers[6] = {};
  float many[4] = {};
  auto const bias = std::as_bytes(std::span{many, 3});
  auto eight = parameters_of<one, mapped<float, std::int8_t>>{};
  auto const write = [&](char const* name, std::vector<std::uint64_t> const& scales) {
    auto writer = safetensors_writer{};
    writer.add("weight", dtype::i8, {3, 2}, std::as_bytes(std::span{numbers}));
    writer.add("bias", dtype::f32, {3}, bias);
    if (not scales.empty()) {
      auto n = std::uint64_t{1};
      for (auto const e : scales) n *= e;
      writer.add("weight_scale", dtype::f32, scales,
                 std::as_bytes(std::span{many, static_cast<std::size_t>(n)}));
    }
    writer.write(folder / name);
  };
  write("no_scale", {});
  refused("no_scale", eight, "has no tensor \"weight_scale\"");
  write("transposed", {1, 3});
  refused("transposed", eight, "\"weight_scale\": expected shape (3,), got (1, 3)");
  write("many", {4});
  refused("many", eight, "\"weight_scale\": expected shape (3,), got (4,)");
  many[2] = std::numeric_limits<float>::infinity();
  write("infinite", {3, 1});
  refused("infinite", eight, "\"weight_scale\": has a scale that is not finite");
  CHECK_FALSE(eight.weight.has_memory());

  auto loaded = parameters_of<one, compact<float, std::int8_t>>{};
  CHECK_THROWS_WITH(load_parameters(folder / "infinite", loaded),
                    Catch::Contains("\"weight_scale\": has a scale that is not finite"));
}
TEST_CASE("parameters: two of one name are refused, by a file that has one of them") {
  using layer = named<"fc", linear<2, 2>>;
  auto const folder = test::folder{};
  auto one = parameters_of<sequential<layer>, owned<float>>{};
  test::fill_parameters(one, 1);
  save_parameters(folder / "p", one);
  auto two = parameters_of<sequential<layer, relu_layer, layer>, owned<float>>{};
  CHECK_THROWS_WITH(load_parameters(folder / "p", two),
                    Catch::Contains("\"fc.weight\": is the name of two parameters"));
}
TEST_CASE("parameters: a path that is cut is none of a file") {
  static constexpr char letters[] =
      "a_name_of_forty_letters_and_twice_more_aa.a_name_of_forty_letters_and_twice_more_aa."
      "a_name_of_forty_letters_and_twice_more_aa";
  using long_one = sequential<named<letters, linear<2, 6, linear_options{.bias = false}>>>;
  auto const folder = test::folder{};
  auto p = parameters_of<long_one, owned<float>>{};
  auto const words = Catch::StartsWith("expected paths of parameters of less than 128 letters");
  CHECK_THROWS_WITH(save_parameters(folder / "m", p), words);
  CHECK(folder.files() == 0);
  CHECK_THROWS_WITH(load_parameters(safetensors::of({}), p), words);
}
