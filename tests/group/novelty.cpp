// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/group/novelty.hpp>

using namespace tessera;

static_assert(trimmed(" \t a b\r\n") == "a b");
static_assert(trimmed(" \n").empty());

TEST_CASE("novelty: words in common, by all words; neither case nor repetition count") {
  CHECK(word_overlap("a b c d", "a b c e") == 3.0 / 5);
  CHECK(word_overlap("The sea, the SEA!", "sea the") == 1);
  CHECK(word_overlap("one", "two") == 0);
  CHECK(word_overlap("", "...") == 1);
  CHECK(word_overlap("", "word") == 0);
  CHECK(word_overlap("na\xC3\xAFve caf\xC3\xA9", "caf\xC3\xA9") == 0.5);
}
