#include "server/auth.hpp"

#include "base/files.hpp"
#include "base/random.hpp"
#include "base/sha256.hpp"
#include "server/api.hpp"
#include "server/executor_keys.hpp"

#include <fmt/format.h>
#include <utility>

namespace server {

using base::ErrorCode;
using base::fail;
using base::Result;

Result<std::string> token_of(const std::filesystem::path& file) {
    constexpr std::size_t token_bytes_max = 4096;
    auto text = base::read_file(file, token_bytes_max);
    if (text) {
        while (!text->empty() && (text->back() == '\n' || text->back() == '\r'))
            text->pop_back();
        if (text->size() >= 32) return text;
        return fail(
            ErrorCode::validation,
            file.string() + " holds no token",
            "remove the file, and a new one is made"
        );
    }
    if (text.error().code != ErrorCode::not_found) return text;
    std::string made = base::random_hex(32);
    auto written = base::write_file_atomically(file, made + "\n", 0600);
    if (!written) return fail(std::move(written.error()));
    return made;
}

http::Guard guard_of(std::string admin_token, const ExecutorKeys& executors) {
    return [admin_token = std::move(admin_token),
            &executors](http::Request& request, const http::Route& route) -> Result<void> {
        if (route.options.scope == "public") return {};
        const auto header = request.headers.find("Authorization");
        constexpr std::string_view scheme = "Bearer ";
        if (!header || !header->starts_with(scheme)) {
            return fail(
                ErrorCode::unauthenticated,
                "a bearer token is missing",
                "send 'Authorization: Bearer TOKEN'"
            );
        }
        const std::string_view token = header->substr(scheme.size());
        const bool executors_only = route.options.scope == "executor";
        if (base::equal_in_constant_time(token, admin_token)) {
            request.principal = Principal::admin;
            if (!executors_only) return {};
            return fail(
                ErrorCode::not_permitted, "this route is for the executor that its path names only"
            );
        }
        const auto executor = executors.executor_of(token);
        if (!executor) {
            return fail(
                ErrorCode::unauthenticated, "the bearer token is not known, or has expired"
            );
        }
        request.principal = Principal::executor;
        if (!executors_only) {
            return fail(ErrorCode::not_permitted, "an executor's token opens its own routes only");
        }
        if (request.parameter("id") == *executor) return {};
        return fail(
            ErrorCode::not_permitted,
            fmt::format(
                "this token is of executor '{}', not of '{}'", *executor, request.parameter("id")
            )
        );
    };
}

}  // namespace server
