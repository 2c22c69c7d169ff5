#include "base/sha256.hpp"
#include "server/open_files.hpp"
#include "tests/server/live_master.hpp"

#include <algorithm>
#include <sys/resource.h>
#include <tuple>

using base::Json;

TEST_CASE("connections leave files to the log, whatever the limit of open files is") {
    for (std::uint64_t files = 1; files < 30'000; files += 7) {
        const auto connections = server::connections_for(files, 10'000);
        CHECK(connections >= 1);
        CHECK(connections <= 10'000);
        if (files >= 2 * server::files_reserve) {
            CHECK(connections + server::files_reserve <= files);
        } else if (files >= 8) {
            CHECK(connections * 4 <= files);
        }
    }
    CHECK(server::connections_for(1U << 20U, 10'000) == 10'000);
}

TEST_CASE("a master takes as many open files as it is allowed") {
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const rlimit few{std::min<rlim_t>(before.rlim_max, 256), before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    const LiveMaster m;
    rlimit after{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &after) == 0);
    CHECK(after.rlim_cur == std::min<rlim_t>(before.rlim_max, 1U << 20U));
}

TEST_CASE("the bytes of a blob are given by range as HTTP says") {
    LiveMaster m;
    const auto put = [&](std::string bytes) {
        const auto answer =
            m.client->send({.method = http::Method::post, .target = "/api/blobs", .body = bytes});
        REQUIRE(answer);
        CHECK(answer->status == 201);
        return "/api/blobs/" + base::blob_urn(base::sha256(bytes));
    };
    const auto get = [&](const std::string& blob, http::Headers headers) {
        auto answer = m.client->send({.target = blob, .headers = std::move(headers)});
        REQUIRE(answer);
        return std::move(*answer);
    };
    const auto ten = put("0123456789");
    const auto nothing = put("");
    struct Row {
        std::string blob;
        const char* range;
        int status;
        const char* content_range;
        const char* body;
    };
    for (const auto& row :
         {Row{ten, "bytes=0-", 206, "bytes 0-9/10", "0123456789"},
          Row{ten, "bytes=2-4", 206, "bytes 2-4/10", "234"},
          Row{ten, "bytes=8-99", 206, "bytes 8-9/10", "89"},
          Row{ten, "bytes=-3", 206, "bytes 7-9/10", "789"},
          Row{ten, "bytes=5-2", 200, "", "0123456789"},
          Row{ten, "bytes=0-1,4-5", 200, "", "0123456789"},
          Row{nothing, "bytes=-3", 200, "", ""}}) {
        CAPTURE(row.range);
        const auto answer = get(row.blob, {{"Range", row.range}});
        CHECK(answer.status == row.status);
        CHECK(answer.headers.find("Content-Range").value_or("") == row.content_range);
        CHECK(answer.body == row.body);
    }
    for (const auto& [blob, range, size] :
         {std::tuple{ten, "bytes=10-", "bytes */10"}, {nothing, "bytes=0-", "bytes */0"}}) {
        const auto answer = get(blob, {{"Range", range}});
        CHECK(answer.status == 416);
        CHECK(answer.headers.find("Content-Range").value_or("") == size);
    }
    const auto whole = get(ten, {});
    const std::string etag(whole.headers.find("ETag").value_or(""));
    CHECK(get(ten, {{"Range", "bytes=0-1"}, {"If-Range", etag}}).status == 206);
    CHECK(get(ten, {{"Range", "bytes=0-1"}, {"If-Range", "\"other\""}}).status == 200);
}

TEST_CASE("an upload that is not what it was announced as is the caller's fault, and leaves nothing"
) {
    LiveMaster m;
    const auto wrong = base::sha256("other");
    const auto answer = m.client->send(
        {.method = http::Method::post, .target = "/api/blobs?sha256=" + wrong.hex(), .body = "bytes"
        }
    );
    REQUIRE(answer);
    CHECK(answer->status == 400);
    CHECK(m.get("/api/blobs/" + base::blob_urn(wrong)).status == 404);
    CHECK(m.get("/api/blobs/" + base::blob_urn(base::sha256("bytes"))).status == 404);
}

TEST_CASE("a place at its capacity is a conflict, for a token and for a case") {
    LiveMaster m;
    m.made(
        "/api/models/team/nets",
        *base::parse_json(R"({"net":"n","version":"1","start":"in","end":["out"],
            "places":{"in":{"capacity":1},"out":{}},
            "transitions":{"t":{"in":{"x":"in"},"out":{"out":"${x}"}}}})")
    );
    REQUIRE(m.post("/api/models/team/nets/n/pause", Json()).status == 200);
    m.made("/api/models/team/nets/n/cases", Json{{"v", 1}});
    CHECK(m.post("/api/models/team/nets/n/cases", Json{{"v", 2}}).status == 409);
    CHECK(m.post("/api/models/team/nets/n/places/in/tokens", Json{{"data", 1}}).status == 409);
}
