#include "base/length.hpp"
#include "http/range.hpp"
#include "server/api.hpp"
#include "server/idempotency.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

namespace server {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

namespace {

constexpr std::size_t blob_bytes_max = std::size_t{16} << 30U;

std::string blob_view(const blobstore::BlobStat& stat) {
    return base::canonical(Json{
        {"urn", base::blob_urn(stat.digest)},
        {"sha256", stat.digest.hex()},
        {"size", stat.size},
        {"at", base::rfc3339(stat.put_at)}
    });
}

// A URN or the bare 64 hex digits.
Result<base::Digest> digest_of(const http::Request& request) {
    const std::string& text = request.parameter("b");
    auto digest = base::digest_from_urn(text);
    if (!digest) digest = base::Digest::from_hex(text);
    if (digest) return *digest;
    return fail(
        ErrorCode::validation,
        fmt::format("'{}' is no URN of a blob", text.substr(0, 200)),
        "urn:netwright:blob:sha256:<64 hex digits>"
    );
}

using UploadPtr = std::shared_ptr<blobstore::Upload>;  // shared: a worker's task holds it too

http::Task<http::Response> finish_upload(Api& api, UploadPtr upload) {
    auto stat =
        co_await on_worker<blobstore::BlobStat>(api, [upload]() -> Result<blobstore::BlobStat> {
            auto done = upload->finish();
            if (!done) return fail(std::move(done.error()));
            return done->stat;
        });
    if (!stat) co_return http::error_response(stat.error());
    co_return created(blob_view(*stat), "/api/blobs/" + base::blob_urn(stat->digest));
}

http::Task<http::Response> put_blob(Api& api, http::Request request, http::BodyReader body) {
    if (auto known = request.query.only({"sha256"}); !known)
        co_return http::error_response(known.error());
    const auto hex = request.query.one("sha256");
    if (!hex) co_return http::error_response(hex.error());
    blobstore::UploadOptions options{.bytes_max = blob_bytes_max};
    if (*hex) {
        options.expected = base::Digest::from_hex(**hex);
        if (!options.expected)
            co_return http::error_response(
                base::Error{ErrorCode::validation, "sha256 must be 64 hex digits", {}, {}}
            );
    }
    auto upload = co_await on_worker<UploadPtr>(api, [&api, options]() -> Result<UploadPtr> {
        auto made = api.blobs.upload(options);
        if (!made) return fail(std::move(made.error()));
        return UploadPtr(std::move(*made));
    });
    if (!upload) co_return http::error_response(upload.error());
    base::Sha256 hasher;
    for (;;) {
        auto piece = co_await body.next();
        if (!piece) co_return http::error_response(piece.error());
        if (piece->empty()) break;
        if (request.headers.find("Idempotency-Key")) hasher.update(*piece);
        auto added = co_await on_worker<bool>(
            api,
            [held = *upload, bytes = std::move(*piece)]() -> Result<bool> {
                auto done = held->append(bytes);
                if (!done) return fail(std::move(done.error()));
                return true;
            }
        );
        if (!added) co_return http::error_response(added.error());
    }
    // Only now it is known what was asked; what was asked before is answered without a second blob.
    co_return co_await answer_stream_once(api, request, hasher.finish(), [&api, held = *upload] {
        return finish_upload(api, held);
    });
}

http::Task<http::Response> get_blob(Api& api, http::Request request) {
    if (auto known = request.query.only({}); !known) co_return http::error_response(known.error());
    const auto digest = digest_of(request);
    if (!digest) co_return http::error_response(digest.error());
    struct Opened {
        http::RangeAsked range;
        std::uint64_t size = 0;
        std::shared_ptr<blobstore::Reader> reader;  // shared: the stream outlives this call
    };
    const std::string etag = '"' + digest->hex() + '"';
    auto opened = co_await on_worker<Opened>(
        api,
        [&api, &request, digest = *digest, etag]() -> Result<Opened> {
            const auto stat = api.blobs.stat(digest);
            if (!stat) return fail(stat.error());
            const auto range = http::range_of(request, stat->size, etag);
            if (range.kind == http::RangeAsked::Kind::unsatisfiable)
                return Opened{range, stat->size, nullptr};
            auto reader = range.kind == http::RangeAsked::Kind::part
                              ? api.blobs.read_range(digest, {range.offset, range.length})
                              : api.blobs.read(digest);
            if (!reader) return fail(std::move(reader.error()));
            return Opened{
                range, stat->size, std::shared_ptr<blobstore::Reader>(std::move(*reader))
            };
        }
    );
    if (!opened) co_return http::error_response(opened.error());
    if (!opened->reader) co_return http::range_error(opened->size);
    http::Response response;
    response.headers.set("Content-Type", "application/octet-stream");
    response.headers.set("Accept-Ranges", "bytes");
    response.headers.set("ETag", etag);
    if (opened->range.kind == http::RangeAsked::Kind::part) {
        response.status = 206;
        response.headers.set("Content-Range", http::content_range(opened->range, opened->size));
    }
    response.stream = http::stream_of(
        http::pieces_from([reader = opened->reader]() -> Result<std::string> {
            const auto piece = reader->next();
            if (!piece) return fail(piece.error());
            return std::string(*piece);
        }),
        opened->reader->size()
    );
    co_return response;
}

http::Task<http::Response> stat_blob(Api& api, http::Request request) {
    if (auto known = request.query.only({}); !known) co_return http::error_response(known.error());
    const auto digest = digest_of(request);
    if (!digest) co_return http::error_response(digest.error());
    co_return respond(co_await on_worker<std::string>(
        api,
        [&api, digest = *digest]() -> Result<std::string> {
            const auto found = api.blobs.stat(digest);
            if (!found) return fail(found.error());
            return blob_view(*found);
        }
    ));
}

// Every URN that stands in a record of any log: a blob is kept while a record refers to it.
Result<std::unordered_set<base::Digest>> referenced(Api& api) {
    constexpr std::string_view prefix = "urn:netwright:blob:sha256:";
    std::unordered_set<base::Digest> digests = api.dispatcher.referenced();
    const auto models = api.engine.log().models();
    if (!models) return fail(models.error());
    for (const auto& model : *models) {
        const auto archived = api.engine.log().archived_blobs(model);
        if (!archived) return fail(archived.error());
        digests.insert(archived->begin(), archived->end());
        base::Seq from = 1;
        for (;;) {
            const auto page = api.engine.log().read(model, from, {});
            if (!page) return fail(page.error());
            if (page->records.empty()) break;
            for (const auto& record : page->records) {
                for (auto at = record.bytes.find(prefix); at != std::string_view::npos;
                     at = record.bytes.find(prefix, at + 1)) {
                    if (const auto digest =
                            base::digest_from_urn(record.bytes.substr(at, prefix.size() + 64)))
                        digests.insert(*digest);
                }
            }
            from = page->records.back().seq + 1;
        }
    }
    return digests;
}

http::Task<http::Response> collect_blob(Api& api, http::Request request) {
    if (auto known = request.query.only({"grace", "dryRun"}); !known)
        co_return http::error_response(known.error());
    const auto grace_text = request.query.one("grace");
    const auto dry_text = request.query.one("dryRun");
    if (!grace_text || !dry_text)
        co_return http::error_response(!grace_text ? grace_text.error() : dry_text.error());
    blobstore::Collection collection{.dry_run = *dry_text && **dry_text == "true"};
    if (*grace_text) {
        constexpr auto grace_max = base::seconds(std::int64_t{366} * 86'400);
        const auto grace = base::length_within(**grace_text, {base::Duration{}, grace_max});
        if (!grace)
            co_return http::error_response(
                base::Error{ErrorCode::validation, "grace " + grace.error().message, {}, {}}
            );
        collection.grace = *grace;
    }
    co_return respond(co_await on_worker<std::string>(
        api,
        [&api, collection]() -> Result<std::string> {
            const auto report = api.blobs.collect(collection, [&api] { return referenced(api); });
            if (!report) return fail(report.error());
            return base::canonical(Json{
                {"kept", report->blobs_kept},
                {"collected", report->blobs_collected},
                {"bytes", report->bytes_collected},
                {"dryRun", collection.dry_run}
            });
        }
    ));
}

}  // namespace

void add_blob_routes(http::Router& router, Api& api) {
    using http::Method;
    using http::Request;
    router.add_stream(
        Method::post,
        "/api/blobs",
        [&api](Request r, http::BodyReader body) { return put_blob(api, std::move(r), body); },
        {.body_bytes_max = blob_bytes_max,
         .description = "Put a blob; the body is its bytes. ?sha256= holds them to a digest"}
    );
    router.add(
        Method::get,
        "/api/blobs/{b}",
        [&api](Request r) { return get_blob(api, std::move(r)); },
        {.description = "The bytes of a blob; ranges are taken"}
    );
    router.add(
        Method::get,
        "/api/blobs/{b}/stat",
        [&api](Request r) { return stat_blob(api, std::move(r)); },
        {.description = "Size and age of a blob"}
    );
    router.add(
        Method::post,
        "/api/blobs/gc",
        [&api](Request r) { return collect_blob(api, std::move(r)); },
        {.description = "Remove blobs that no record refers to"}
    );
}

}  // namespace server
