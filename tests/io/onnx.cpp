// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <tessera/io/onnx.hpp>
#include <tessera/random/torch.hpp>
#include <tessera/tensor/packed.hpp>

using namespace tessera;
using namespace std::string_literals;

namespace {

/// The fields of a message: numbers of varints as text, others as their bytes.
class message {
 public:
  explicit message(std::string const& bytes) {
    auto at = std::size_t{0};
    auto const varint = [&] {
      auto value = std::uint64_t{0};
      for (auto shift = 0U;; shift += 7) {
        auto const byte = static_cast<unsigned char>(bytes.at(at++));
        value |= std::uint64_t{byte & 0x7FU} << shift;
        if (byte < 0x80) return value;
      }
    };
    while (at < bytes.size()) {
      auto const tag = varint();
      auto const field = static_cast<int>(tag >> 3U);
      if ((tag & 7U) == 0) {
        fields_[field].push_back(std::to_string(static_cast<std::int64_t>(varint())));
      } else {
        auto const size = (tag & 7U) == 2 ? varint() : 4;
        fields_[field].push_back(bytes.substr(at, static_cast<std::size_t>(size)));
        at += static_cast<std::size_t>(size);
      }
    }
  }
  [[nodiscard]] auto all(int field) const -> std::vector<std::string> {
    auto const found = fields_.find(field);
    return found == fields_.end() ? std::vector<std::string>{} : found->second;
  }
  [[nodiscard]] auto text(int field) const -> std::string { return all(field).at(0); }
  [[nodiscard]] auto inner(int field, std::size_t i = 0) const -> message {
    return message(all(field).at(i));
  }
  /// A field of each of the messages of a field.
  [[nodiscard]] auto each(int field, int of) const -> std::vector<std::string> {
    auto result = std::vector<std::string>{};
    for (auto const& m : all(field)) result.push_back(message(m).text(of));
    return result;
  }

 private:
  std::map<int, std::vector<std::string>> fields_;
};

using names = std::vector<std::string>;
enum graph_field { node = 1, name = 2, initializer = 5, input = 11, output = 12 };

template <class Model, class X>
[[nodiscard]] auto graph_of(onnx_options const& options = {}) -> message {
  static parameters_of<as_layer<Model>, owned<float>> p;
  return message(onnx_bytes<Model, X>(p, options)).inner(7);
}
/// The extents of an input or output.
[[nodiscard]] auto shape_in(message const& value) -> names {
  auto result = names{};
  for (auto const& e : value.inner(2).inner(1).inner(2).all(1)) {
    auto const extent = message(e);
    result.push_back(extent.all(1).empty() ? extent.text(2) : extent.text(1));
  }
  return result;
}

using rows = tensor<float, shape<at_most(3), 2>>;

/// What an operation reads that no input, tensor or operation before it is.
[[nodiscard]] auto dangling(message const& graph) -> names {
  auto known = graph.each(input, 1);
  for (auto const& t : graph.each(initializer, 8)) known.push_back(t);
  auto result = names{};
  auto const look = [&](std::string const& read) {
    if (std::find(known.begin(), known.end(), read) == known.end()) result.push_back(read);
  };
  for (auto const& n : graph.all(node)) {
    for (auto const& read : message(n).all(1)) look(read);
    for (auto const& made : message(n).all(2)) known.push_back(made);
  }
  for (auto const& out : graph.each(output, 1)) look(out);
  return result;
}

namespace mine {
struct token_types {};
/// Carries what comes out.
struct kept : any_shape, without_parameters {
  static constexpr auto forward(auto const&, auto x) { return x; }
};
auto to_onnx(kept const&, auto& at, onnx_value const& x) -> onnx_value {
  auto const y = at.like("Add", x, {x.name});
  if (at.call.carries) {
    at.state_out("last_n", y);
    at.state_out("twice_n", y);
  }
  return y;
}
}  // namespace mine

}  // namespace

// -- bytes: a whole file by hand ------------------------------------------------------------------
TEST_CASE("onnx: a file of one layer, byte by byte") {
  auto p = parameters_of<linear<2, 1>, owned<float>>{};
  p.weight(0, 0) = 1;
  p.weight(0, 1) = -2;
  p.bias(0) = 0.5F;
  using w = protobuf_writer;
  auto const tensor_type = [](std::string const& first, int second) {
    auto const shape = w{}.message(1, w{}.text(2, first)).message(1, w{}.integer(1, second));
    return w{}.message(1, w{}.integer(1, 1).message(2, shape));
  };
  auto const perm = w{}.text(1, "perm").integer(8, 1).integer(8, 0).integer(20, 7);
  auto graph = w{};
  graph.message(node, w{}.text(1, "weight")
                          .text(2, "Transpose")
                          .text(3, "Transpose")
                          .text(4, "Transpose")
                          .message(5, perm));
  graph.message(
      node,
      w{}.text(1, "x").text(1, "Transpose").text(2, "MatMul").text(3, "MatMul").text(4, "MatMul"));
  graph.message(node,
                w{}.text(1, "MatMul").text(1, "bias").text(2, "y").text(3, "Add").text(4, "Add"));
  graph.text(name, "one");
  graph.message(initializer, w{}.integer(1, 1)
                                 .integer(1, 2)
                                 .integer(2, 1)
                                 .text(8, "weight")
                                 .bytes(9, "\x00\x00\x80\x3F\x00\x00\x00\xC0"s));
  graph.message(initializer,
                w{}.integer(1, 1).integer(2, 1).text(8, "bias").bytes(9, "\x00\x00\x00\x3F"s));
  graph.message(input, w{}.text(1, "x").message(2, tensor_type("batch", 2)));
  graph.message(output, w{}.text(1, "y").message(2, tensor_type("batch", 1)));
  auto file = w{};
  file.integer(1, 8).text(2, "tessera").message(7, graph);
  file.message(8, w{}.text(1, "").integer(2, 17));
  file.message(14, w{}.text(1, "at_most.batch").text(2, "3"));
  file.message(14, w{}.text(1, "model").text(2, "one"));
  CHECK(onnx_bytes<linear<2, 1>, rows>(p, {.name = "one", .extents = {"batch"}}) == file.bytes());
}

// -- structure ------------------------------------------------------------------------------------
TEST_CASE("onnx: tensors have torch's names, and extents of outputs those of inputs") {
  using model =
      sequential<transposed_layer, named<"lstm", lstm<3, 4>>, last_step, named<"fc", linear<4, 2>>>;
  using X = tensor<float, shape<at_most(5), at_most(7), 3>>;
  auto const g = graph_of<model, X>({.extents = {"batch", "time"}});
  CHECK(g.each(node, 4) ==
        names{"Transpose", "LSTM", "Squeeze", "Gather", "Transpose", "MatMul", "Add"});
  auto const tensors = g.each(initializer, 8);
  for (auto const* const key :
       {"lstm.weight_ih_l0", "lstm.weight_hh_l0", "lstm.bias_l0", "fc.weight", "fc.bias"})
    CHECK(std::count(tensors.begin(), tensors.end(), key) == 1);
  CHECK(shape_in(g.inner(input)) == names{"batch", "time", "3"});
  CHECK(shape_in(g.inner(output)) == names{"batch", "2"});
}
TEST_CASE("onnx: extents without a name are called after their axes") {
  using X = tensor<float, shape<at_most(5), 7, at_most(3), 2>>;
  CHECK(shape_in(graph_of<linear<2, 1>, X>().inner(input)) == names{"axis_0", "7", "axis_2", "2"});
}
TEST_CASE("onnx: of extents with one name the smallest bound is told, and by nothing else") {
  using X = tensor<float, shape<at_most(5), at_most(3), 2>>;
  auto const p = parameters_of<linear<2, 1>, owned<float>>{};
  auto const told = [&](onnx_options const& options) {
    auto const file = message(onnx_bytes<linear<2, 1>, X>(p, options));
    return std::pair{file.each(14, 1), file.each(14, 2)};
  };
  CHECK(told({.extents = {"n", "n"}}) ==
        std::pair{names{"at_most.n", "model"}, names{"3", "model"}});
  CHECK_THROWS_WITH(
      told({.extents = {"n", "m"}, .metadata = {{"at_most.m", "9"}}}),
      "save_onnx: expected 3 for \"at_most.m\" in the metadata, the bound of an extent, "
      "got \"9\"");
  CHECK(told({.extents = {"n", "m"}, .metadata = {{"at_most.m", "3"}}}).second ==
        names{"3", "5", "model"});
}
TEST_CASE("onnx: a number that float does not hold is named") {
  auto p = parameters_of<named<"fc", linear<2, 1>>, owned<double>>{};
  p.weight.values[1] = 1e39;
  CHECK_THROWS_WITH((onnx_bytes<named<"fc", linear<2, 1>>, tensor<double, shape<3, 2>>>(p)),
                    "save_onnx: expected numbers that float holds, got 1e+39 in \"weight\"");
}
TEST_CASE("onnx: state comes in and goes out where it is asked for, y first") {
  using model = named<"", gru<2, 3>>;
  using X = tensor<float, shape<at_most(4), 5, 2>>;
  CHECK(graph_of<model, X>().each(input, 1) == names{"x"});
  auto const g = graph_of<model, X>({.input = "prices", .output = "forecast", .state = true});
  CHECK(g.each(input, 1) == names{"prices", "h_0_l0"});
  CHECK(g.each(output, 1) == names{"forecast", "h_n_l0"});
  CHECK(shape_in(g.inner(input, 1)) == names{"5", "3"});
  CHECK(shape_in(g.inner(output, 1)) == names{"5", "3"});
  CHECK(graph_of<restarted<model>, X>({.state = true}).each(input, 1) == names{"x"});
}
TEST_CASE("onnx: a causal convolution with state sees more samples than come in") {
  using model = conv1d<2, 4, 3, conv1d_options{.causal = true}>;
  auto const has = [](message const& graph, char const* key) {
    auto const all = graph.each(initializer, 8);
    return std::count(all.begin(), all.end(), key) == 1;
  };
  auto const alone = graph_of<model, tensor<float, shape<8, 2>>>({.state = true});
  CHECK(has(alone, "integers 10 1 2"));
  CHECK(has(alone, "integers 8 4"));
  CHECK(shape_in(alone.inner(output)) == names{"8", "4"});
  auto const lanes = graph_of<model, tensor<float, shape<4, 2, 3, 2>>>({.state = true});
  CHECK(has(lanes, "integers 6 6 2"));
}
TEST_CASE("onnx: a state that is an output, too, or two of them") {
  for (auto const state : {false, true}) {
    auto const last = graph_of<sequential<linear<2, 2>, mine::kept>, rows>({.state = state});
    CHECK(dangling(last).empty());
    CHECK(last.each(output, 1) == (state ? names{"y", "1.last_n", "1.twice_n"} : names{"y"}));
    CHECK(dangling(graph_of<sequential<mine::kept, linear<2, 2>>, rows>({.state = state})).empty());
  }
}
TEST_CASE("onnx: a tag of one's own is no other tag of that name") {
  using E = tensor<float, shape<at_most(4)>>;
  using X = tensor<float, shape<at_most(4), 5>>;
  auto const reads_condition = []<class Tag>(Tag) {
    using model =
        with<tag::condition, identity, Tag, sequential<token_type_embedding<3, 5>, linear<5, 2>>>;
    static parameters_of<model, owned<float>> p;
    auto const bytes = onnx_bytes<model, X, given_as<tag::condition, E>>(p);
    for (auto const& n : message(bytes).inner(7).all(node))
      for (auto const& read : message(n).all(1))
        if (read == "condition") return true;
    return false;
  };
  CHECK(reads_condition(tag::token_types{}));
  CHECK_FALSE(reads_condition(mine::token_types{}));
}
TEST_CASE("onnx: names that the user chose do not meet those of operations") {
  CHECK(graph_of<linear<2, 2>, rows>({.output = "Add"}).each(output, 1) == names{"Add"});
  auto const g = graph_of<sequential<gelu_layer, linear<2, 2>>, rows>({.input = "number 1"});
  CHECK(g.each(input, 1) == names{"number 1"});
  CHECK(dangling(g).empty());
}
TEST_CASE("onnx: gates stand in the order of ONNX") {
  auto p = parameters_of<lstm_layer<1, 1>, owned<float>>{};
  for (auto i = std::size_t{0}; i < 4; ++i) p.weight_ih.data()[i] = static_cast<float>(i);
  auto const g = message(onnx_bytes<lstm_layer<1, 1>, tensor<float, shape<1, 1, 1>>>(p)).inner(7);
  auto const bytes = g.inner(initializer).text(9);
  float w[4];
  REQUIRE(bytes.size() == sizeof w);
  std::memcpy(w, bytes.data(), sizeof w);
  CHECK(std::vector(w, w + 4) == std::vector{0.F, 3.F, 1.F, 2.F});  // input, output, forget, cell
}
TEST_CASE("onnx: a model that leaves its input as it is") {
  auto const g = graph_of<dropout<0.5>, rows>();
  CHECK(g.each(node, 4) == names{"Identity"});
  CHECK(g.each(output, 1) == names{"y"});
}

TEST_CASE("onnx: weights are the same from every storage") {
  using model = sequential<lstm<3, 4>, linear<4, 2>>;
  using X = tensor<float, shape<2, 1, 3>>;
  auto p = parameters_of<model, owned<float>>{};
  auto generator = torch_generator(1);
  model::initialize(p, generator);
  auto packed_ones = parameters_of<model, packed<float>>{};
  pack_parameters(p, packed_ones);
  CHECK(onnx_bytes<model, X>(packed_ones) == onnx_bytes<model, X>(p));

  auto narrow = parameters_of<model, compact<float, bf16>>{};
  pack_parameters(p, narrow);
  auto rounded = p;
  pack_parameters(narrow, rounded);
  CHECK(onnx_bytes<model, X>(narrow) == onnx_bytes<model, X>(rounded));
}
TEST_CASE("onnx: statistics are tensors beside the parameters, frozen parameters, too") {
  using model = sequential<batch_norm<2>, frozen<named<"fixed", linear<2, 2>>>>;
  auto const p = parameters_of<model, owned<float>>{};
  auto const s = statistics_of<model, owned<float>>{};
  auto const tensors = message(onnx_bytes<model, rows>(p, s)).inner(7).each(initializer, 8);
  CHECK(tensors ==
        names{"0.weight", "0.bias", "0.running_mean", "0.running_var", "1.weight", "1.bias"});
}

// -- files ----------------------------------------------------------------------------------------
TEST_CASE("onnx: a file has the bytes, and says what it is") {
  auto const folder = test::folder{};
  auto const p = parameters_of<linear<2, 1>, owned<float>>{};
  auto const options = onnx_options{.name = "fc", .metadata = {{"version", "3"}}};
  save_onnx<linear<2, 1>, rows>(folder / "m.onnx", p, options);
  auto const bytes = test::text_of(folder / "m.onnx");
  CHECK(bytes == onnx_bytes<linear<2, 1>, rows>(p, options));
  CHECK(folder.files() == 1);
  auto const file = message(bytes);
  CHECK(file.text(2) == "tessera");
  CHECK(file.inner(7).text(name) == "fc");
  CHECK(file.each(14, 1) == names{"at_most.axis_0", "model", "version"});
  CHECK(file.each(14, 2) == names{"3", "fc", "3"});
}
TEST_CASE("onnx: what cannot be a file is refused before anything is written") {
  auto const folder = test::folder{};
  using huge = linear<30'000, 30'000>;
  auto const views = parameters_of<huge, viewed<float>>{};
  CHECK_THROWS_WITH((save_onnx<huge, tensor<float, shape<1, 30'000>>>(folder / "m.onnx", views)),
                    "save_onnx: a file holds at most 2147483647 bytes, and this model has "
                    "3600120000");
  auto const p = parameters_of<linear<2, 1>, owned<float>>{};
  auto const save = [&](onnx_options const& options) {
    save_onnx<linear<2, 1>, rows>(folder / "m.onnx", p, options);
  };
  CHECK_THROWS_WITH(save({.extents = {"batch", "time"}}),
                    "save_onnx: expected names of 1 bounded extents, got 2");
  CHECK_THROWS_WITH(save({.input = "y"}), "save_onnx: two values of the graph are called \"y\"");
  for (auto const& options : {onnx_options{.name = ""}, onnx_options{.extents = {""}}})
    CHECK_THROWS_WITH(save(options),
                      "save_onnx: expected names of the model and its extents, got an empty one");
  for (auto const& options : {onnx_options{.input = ""}, onnx_options{.output = ""}})
    CHECK_THROWS_WITH(save(options), "save_onnx: expected a name of a value, got an empty one");
  using twice_the_same = sequential<named<"a", linear<2, 2>>, named<"a", linear<2, 2>>>;
  CHECK_THROWS_WITH(
      (onnx_bytes<twice_the_same, rows>(parameters_of<twice_the_same, owned<float>>{})),
      "save_onnx: two values of the graph are called \"a.weight\"");
  using no_text = sequential<named<"\xFF", linear<2, 2>>>;
  CHECK_THROWS_WITH((onnx_bytes<no_text, rows>(parameters_of<no_text, owned<float>>{})),
                    Catch::Contains("the name of a value, \"\xEF\xBF\xBD.weight\"") &&
                        Catch::Contains("expected UTF-8"));
  auto graph = onnx_graph{};
  CHECK_THROWS_WITH(graph.tensor("w", {2, 2}, {1, 2, 3}),
                    "save_onnx: \"w\" has extents of 4 numbers, got 3");
  using remembering =
      attention_layer<4, attention_options{.causal = true, .context = 8}, llama_projections>;
  auto const q = parameters_of<remembering, owned<float>>{};
  CHECK_THROWS_WITH((onnx_bytes<remembering, tensor<float, shape<2, 1, 4>>>(q, {.state = true})),
                    "save_onnx: the cache of an attention does not come in and go out");
  CHECK(folder.files() == 0);
}
