#include "base/sha256.hpp"
#include "http/status.hpp"
#include "tests/http/fixture.hpp"
#include "tests/http/raw_peer.hpp"
#include "tests/http/waiting.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <optional>

using http_test::RawPeer;
using http_test::TestServer;

namespace {

constexpr std::size_t much = std::size_t{64} << 20U;
constexpr std::size_t piece_bytes = 65536;

/// `much` bytes in pieces, each with its number at its start.
http::PieceProducer numbered_pieces(std::size_t total) {
    return http::pieces_from([total, made = std::size_t{0}]() mutable -> base::Result<std::string> {
        if (made == total) return std::string();
        std::string piece(std::min(piece_bytes, total - made), 'x');
        piece.replace(0, 10, std::to_string(1'000'000'000 + made));
        made += piece.size();
        return piece;
    });
}

std::string digest_of_pieces(std::size_t total) {
    base::Sha256 hasher;
    for (std::size_t made = 0; made < total; made += piece_bytes) {
        std::string piece(piece_bytes, 'x');
        piece.replace(0, 10, std::to_string(1'000'000'000 + made));
        hasher.update(piece);
    }
    return hasher.finish().hex();
}

http::Task<http::Response> hash_body(http::Request, http::BodyReader reader) {
    base::Sha256 hasher;
    for (;;) {
        auto piece = co_await reader.next();
        if (!piece) co_return http::error_response(piece.error());
        if (piece->empty()) co_return http::text_response(200, hasher.finish().hex());
        hasher.update(*piece);
    }
}

http::Task<http::Response> send_pieces(http::Request request) {
    const bool known = request.query.has("known");
    http::Response response;
    response.headers.add("Content-Type", "application/octet-stream");
    response.stream = http::stream_of(
        numbered_pieces(much), known ? std::optional<std::uint64_t>(much) : std::nullopt
    );
    co_return response;
}

http::Task<base::Result<void>> write_then_fail(http::BodyWriter writer) {
    auto written = co_await writer.write("part");
    if (!written) co_return written;
    co_return base::fail(base::ErrorCode::tamper, "the blob is damaged");
}

http::Task<http::Response> fail_midway(http::Request request) {
    http::Response response;
    const auto length =
        request.query.has("known") ? std::optional<std::uint64_t>(100) : std::nullopt;
    response.stream = http::BodyStream{.length = length, .produce = write_then_fail};
    co_return response;
}

http::Task<http::Response> refuse(http::Request, http::BodyReader) {
    co_return http::error_response({base::ErrorCode::fenced, "the lease is not yours", {}, {}});
}

void routes(http::Router& router) {
    const http::RouteOptions large{.body_bytes_max = 2 * much};
    router.add_stream(http::Method::put, "/hash", hash_body, large);
    router.add_stream(http::Method::put, "/small", hash_body, {.body_bytes_max = 100'000});
    router.add_stream(http::Method::put, "/refuse", refuse, large);
    router.add(http::Method::get, "/pieces", send_pieces);
    router.add(http::Method::get, "/fails", fail_midway);
}

http::Call upload(std::string target, std::size_t bytes, bool known) {
    return {
        .method = http::Method::put,
        .target = std::move(target),
        .upload =
            http::Upload{
                numbered_pieces(bytes), known ? std::optional<std::uint64_t>(bytes) : std::nullopt
            }
    };
}

}  // namespace

TEST_CASE("64 MiB go up and down whole, with or without a known length, in flat memory") {
    TestServer server(routes);
    auto client = server.client();
    const auto expected = digest_of_pieces(much);
    // What threads and allocators take once.
    CHECK(client.send(upload("/hash", piece_bytes, true))->body == digest_of_pieces(piece_bytes));
    http_test::forget_peak();
    const auto before = http_test::peak_kib();
    for (const bool known : {true, false}) {
        const auto up = client.send(upload("/hash", much, known));
        REQUIRE_MESSAGE(up, (up ? "" : up.error().message));
        CHECK(up->body == expected);
        base::Sha256 hasher;
        const auto down = client.download(
            {.target = known ? "/pieces?known" : "/pieces"},
            [&](std::string_view piece) -> base::Result<void> {
                hasher.update(piece);
                return {};
            }
        );
        REQUIRE_MESSAGE(down, (down ? "" : down.error().message));
        CHECK(down->headers.find("content-length").has_value() == known);
        CHECK(hasher.finish().hex() == expected);
    }
    if (http_test::memory_is_telling()) CHECK(http_test::peak_kib() - before < 8 * 1024);
}

TEST_CASE("a body that fails midway is not taken for a whole one") {
    TestServer server(routes);
    auto client = server.client();
    for (const std::string target : {"/fails", "/fails?known"}) {
        const auto answer = client.send({.target = target});
        REQUIRE_FALSE(answer);
        CHECK(answer.error().code == base::ErrorCode::upstream);
    }
}

TEST_CASE("a handler that answers before it has read the body is heard, and the next call works") {
    TestServer server(routes);
    auto client = server.client();
    for (int i = 0; i < 3; ++i) {
        const auto answer = client.send(upload("/refuse", much, i % 2 == 0));
        REQUIRE_MESSAGE(answer, (answer ? "" : answer.error().message));
        CHECK(answer->status == 409);
        CHECK(client.send(upload("/hash", piece_bytes, true))->status == 200);
    }
}

TEST_CASE("a streamed body beyond the route's limit is 413, announced or not") {
    TestServer server(routes);
    auto client = server.client();
    for (const bool known : {true, false}) {
        const auto answer = client.send(upload("/small", much, known));
        REQUIRE_MESSAGE(answer, (answer ? "" : answer.error().message));
        CHECK(answer->status == 413);
    }
}

TEST_CASE("an upload whose length was announced wrongly is refused by the client") {
    TestServer server(routes);
    auto client = server.client();
    auto call = upload("/hash", 1000, true);
    call.upload->length = 2000;
    const auto answer = client.send(std::move(call));
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code == base::ErrorCode::internal);
}

TEST_CASE("a body that ends before its length is an error for the handler") {
    TestServer server(routes);
    RawPeer peer((*server).port());
    peer.send("PUT /hash HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nshort");
    peer.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send);
    CHECK(peer.read_all().starts_with("HTTP/1.1 400 "));
}
