#include "http/status.hpp"

#include "base/files.hpp"
#include "base/json.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>

TEST_CASE("every error reads back from its answer as it was") {
    for (const auto code : base::all_error_codes()) {
        const base::Error error{
            code,
            "the \"message\"",
            "the next step",
            {{"/a/0", base::ErrorCode::not_found, "first"}, {"", code, "second"}}
        };
        CAPTURE(base::name(code));
        CHECK(http::error_from_answer(http::status_of(code), http::error_json(error)) == error);
        const base::Error bare{code, "m", {}, {}};
        CHECK(http::error_from_answer(http::status_of(code), http::error_json(bare)) == bare);
        CHECK(http::status_of(code) >= 400);
        CHECK(http::status_of(code) < 600);
    }
}

TEST_CASE("the statuses are those of docs/errors.md") {
    const auto page = base::read_file(NETWRIGHT_SOURCE_DIR "/docs/errors.md", 1 << 20U);
    REQUIRE(page);
    for (const auto code : base::all_error_codes()) {
        const auto heading = "\n### `" + std::string(base::name(code)) + "` (" +
                             std::to_string(http::status_of(code)) + ")\n";
        CAPTURE(heading);
        CHECK(page->find(heading) != std::string::npos);
    }
}

TEST_CASE("an overloaded server and a spent rate say when to come again") {
    using base::ErrorCode;
    const auto retry = [](ErrorCode code) {
        return http::error_response({code, "m", {}, {}}).headers.find("Retry-After").has_value();
    };
    CHECK(retry(ErrorCode::overloaded));
    CHECK(retry(ErrorCode::rate_limited));
    CHECK_FALSE(retry(ErrorCode::conflict));
}

TEST_CASE("what an internal error knows stays in the log") {
    const auto response =
        http::error_response({base::ErrorCode::internal, "password hunter2", "look at /etc", {}});
    CHECK(response.status == 500);
    CHECK(response.body.find("hunter2") == std::string::npos);
    CHECK(response.body.find("/etc") == std::string::npos);
}

TEST_CASE("an answer that is not of this program still becomes an error") {
    const auto page = http::error_from_answer(502, "<html>Bad gateway</html>");
    CHECK(page.code == base::ErrorCode::upstream);
    CHECK(page.message.find("502") != std::string::npos);
    CHECK(http::error_from_answer(404, R"({"error": "gone"})").code == base::ErrorCode::not_found);
    CHECK(
        http::error_from_answer(401, R"({"error": {"code": "new_one"}})").code ==
        base::ErrorCode::unauthenticated
    );
}

TEST_CASE("a message with bytes that are not UTF-8 is answered as JSON all the same") {
    const auto text = http::error_json({base::ErrorCode::validation, "bad \xff byte", {}, {}});
    CHECK(base::parse_json(text));
}
