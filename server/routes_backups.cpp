#include "base/random.hpp"
#include "server/api.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fmt/format.h>
#include <system_error>

namespace server {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

// A copy of the log that stands still, for whoever archives the directory: blobs and snapshots are
// immutable, so only the log needs one.
http::Task<http::Response> hold_copy(Api& api, http::Request request) {
    if (auto known = request.query.only({}); !known) co_return http::error_response(known.error());
    const std::string id = base::random_hex(8);
    auto answer = co_await on_worker<std::string>(api, [&api, id]() -> Result<std::string> {
        auto copied = api.engine.log().copy_to(api.backups / id / "log");
        if (!copied) return fail(std::move(copied.error()));
        return base::canonical(base::Json{{"id", id}, {"log", "backups/" + id + "/log"}});
    });
    co_return created(std::move(answer), "/api/backups/" + id);
}

http::Task<http::Response> release_copy(Api& api, http::Request request) {
    if (auto known = request.query.only({}); !known) co_return http::error_response(known.error());
    const std::string id = request.parameter("id");
    const bool good =
        id.size() == 16 && id.find_first_not_of("0123456789abcdef") == std::string::npos;
    co_return respond(co_await on_worker<std::string>(
        api,
        [&api, id, good]() -> Result<std::string> {
            std::error_code failed;
            if (!good || std::filesystem::remove_all(api.backups / id, failed) == 0) {
                return fail(ErrorCode::not_found, fmt::format("backup '{}' is unknown", id));
            }
            return base::canonical(base::Json{{"id", id}, {"released", true}});
        }
    ));
}

http::Task<http::Response> archive(Api& api, http::Request request) {
    if (auto known = request.query.only({"before"}); !known)
        co_return http::error_response(known.error());
    const auto before = request.query.one("before");
    if (!before) co_return http::error_response(before.error());
    if (!*before) {
        co_return http::error_response(base::Error{
            ErrorCode::validation,
            "before is missing",
            "say which records: ?before=SEQ, or ?before=2026-01-01T00:00:00Z",
            {}
        });
    }
    const std::string model = request.parameter("m");
    if (api.engine.durable(model) == 0) {
        co_return http::error_response(unknown_model(model));
    }
    co_return respond(co_await on_worker<std::string>(
        api,
        [&api, model, before = **before]() -> Result<std::string> {
            const auto seq = seq_of(api, model, "before", before);
            if (!seq) return fail(seq.error());
            const auto done = api.engine.log().archive(model, *seq);
            if (!done) return fail(done.error());
            return base::canonical(base::Json{
                {"model", model},
                {"records", done->records},
                {"bytes", done->bytes},
                {"blobs", done->blobs}
            });
        }
    ));
}

}  // namespace

void add_backup_routes(http::Router& router, Api& api) {
    router.add(
        http::Method::post,
        "/api/backups",
        [&api](http::Request r) { return hold_copy(api, std::move(r)); },
        {.description = "Hold a consistent copy of the log in the data directory, for a backup"}
    );
    router.add(
        http::Method::post,
        "/api/models/{m}/archive",
        [&api](http::Request r) { return archive(api, std::move(r)); },
        {.description =
             "Move records before a seq or a time into the blob store; they stay readable"}
    );
    router.add(
        http::Method::delete_,
        "/api/backups/{id}",
        [&api](http::Request r) { return release_copy(api, std::move(r)); },
        {.description = "Let go of the copy"}
    );
}

}  // namespace server
