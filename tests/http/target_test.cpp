#include "http/target.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using Segments = std::vector<std::string>;

TEST_CASE("a target is split before it is decoded") {
    CHECK(http::parse_target("/").value().path.empty());
    CHECK(http::parse_target("/a/b%2Fc/").value().path == Segments{"a", "b/c", ""});
    CHECK(http::parse_target("/%E2%82%AC").value().path == Segments{"\xe2\x82\xac"});
    CHECK(http::parse_target("http://host:1/a").value().path == Segments{"a"});
    CHECK(http::parse_target("http://host").value().path.empty());
    CHECK(http::parse_target("/a+b").value().path == Segments{"a+b"});
}

TEST_CASE("query parameters keep their order and their duplicates") {
    const auto query = http::parse_target("/?a=1&b&a=2&&c=%26%3D+x").value().query;
    CHECK(query.items().size() == 4);
    CHECK(query.all("a") == Segments{"1", "2"});
    CHECK(query.one("b").value() == "");
    CHECK(query.one("c").value() == "&= x");
    CHECK(query.one("d").value() == std::nullopt);
    CHECK_FALSE(query.one("a"));
    CHECK(query.only({"a", "b", "c"}));
    const auto refused = query.only({"a"});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message == "unknown query parameter 'b', 'c'");
}

TEST_CASE("malformed targets are refused") {
    for (const std::string_view bad :
         {"",
          "a",
          "*",
          "/%",
          "/%a",
          "/%ag",
          "/%C3%28",
          "/%00",
          "/?a=%00",
          "/?%zz",
          "/.",
          "/a/..",
          "/%2e%2E/x",
          "/a%0d%0ab",
          "/#",
          "/?a#b",
          "https:/x"}) {
        CAPTURE(bad);
        CHECK_FALSE(http::parse_target(bad));
    }
    CHECK_FALSE(http::parse_target(std::string(200, '/')));
    std::string many = "/?";
    for (int i = 0; i < 300; ++i)
        many += "a=1&";
    CHECK_FALSE(http::parse_target(many));
}

TEST_CASE("a target made from parts reads back as those parts") {
    const std::string odd = "a/b?c=d&e%20 +\xc3\xa4#.";
    const auto target = http::make_target({"api", odd}, {{odd, odd}, {"x", ""}});
    const auto parsed = http::parse_target(target).value();
    CHECK(parsed.path == Segments{"api", odd});
    CHECK(parsed.query.one(odd).value() == odd);
    CHECK(parsed.query.one("x").value() == "");
}
