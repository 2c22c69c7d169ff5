#include "base/plural.hpp"

#include <doctest/doctest.h>

using base::plural;

TEST_CASE("a number and its noun agree") {
    CHECK(plural(1, "token") == "1 token");
    CHECK(plural(0, "token") == "0 tokens");
    CHECK(plural(2, "entry") == "2 entries");
    CHECK(plural(3, "key") == "3 keys");
    CHECK(plural(2, "process") == "2 processes");
}
