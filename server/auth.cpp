#include "server/auth.hpp"

#include "base/files.hpp"
#include "base/random.hpp"
#include "base/sha256.hpp"
#include "server/api.hpp"

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

http::Guard guard_of(Tokens tokens) {
    return [tokens = std::move(tokens
            )](http::Request& request, const http::Route& route) -> Result<void> {
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
        // Both are compared, whatever the first says.
        const bool admin = base::equal_in_constant_time(token, tokens.admin);
        const bool executor = base::equal_in_constant_time(token, tokens.executor);
        if (!admin && !executor)
            return fail(ErrorCode::unauthenticated, "the bearer token is not known");
        request.principal = admin ? Principal::admin : Principal::executor;
        if (admin || route.options.scope == "executor") return {};
        return fail(ErrorCode::not_permitted, "an executor's token opens the executor routes only");
    };
}

}  // namespace server
