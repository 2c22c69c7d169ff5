#include "base/error.hpp"

#include <array>
#include <utility>

namespace base {

namespace {

constexpr std::array code_names = {
    std::pair{ErrorCode::validation, std::string_view{"validation"}},
    std::pair{ErrorCode::not_found, std::string_view{"not_found"}},
    std::pair{ErrorCode::conflict, std::string_view{"conflict"}},
    std::pair{ErrorCode::too_large, std::string_view{"too_large"}},
    std::pair{ErrorCode::unsupported, std::string_view{"unsupported"}},
    std::pair{ErrorCode::unauthenticated, std::string_view{"unauthenticated"}},
    std::pair{ErrorCode::not_permitted, std::string_view{"not_permitted"}},
    std::pair{ErrorCode::overloaded, std::string_view{"overloaded"}},
    std::pair{ErrorCode::fenced, std::string_view{"fenced"}},
    std::pair{ErrorCode::policy_denied, std::string_view{"policy_denied"}},
    std::pair{ErrorCode::unprepared, std::string_view{"unprepared"}},
    std::pair{ErrorCode::rejected, std::string_view{"rejected"}},
    std::pair{ErrorCode::expired, std::string_view{"expired"}},
    std::pair{ErrorCode::blocked, std::string_view{"blocked"}},
    std::pair{ErrorCode::rate_limited, std::string_view{"rate_limited"}},
    std::pair{ErrorCode::breaker_open, std::string_view{"breaker_open"}},
    std::pair{ErrorCode::budget, std::string_view{"budget"}},
    std::pair{ErrorCode::sandbox_unavailable, std::string_view{"sandbox_unavailable"}},
    std::pair{ErrorCode::tamper, std::string_view{"tamper"}},
    std::pair{ErrorCode::timeout, std::string_view{"timeout"}},
    std::pair{ErrorCode::limit, std::string_view{"limit"}},
    std::pair{ErrorCode::exit_nonzero, std::string_view{"exit_nonzero"}},
    std::pair{ErrorCode::bad_output, std::string_view{"bad_output"}},
    std::pair{ErrorCode::upstream, std::string_view{"upstream"}},
    std::pair{ErrorCode::auth, std::string_view{"auth"}},
    std::pair{ErrorCode::unrouted, std::string_view{"unrouted"}},
    std::pair{ErrorCode::uncertain, std::string_view{"uncertain"}},
    std::pair{ErrorCode::abandoned, std::string_view{"abandoned"}},
    std::pair{ErrorCode::cancelled, std::string_view{"cancelled"}},
    std::pair{ErrorCode::internal, std::string_view{"internal"}},
};

}  // namespace

std::string_view name(ErrorCode code) {
    return code_names[static_cast<std::size_t>(code)].second;
}

std::string text(const ErrorDetail& detail) {
    return detail.pointer.empty() ? detail.message : detail.pointer + ": " + detail.message;
}

std::optional<ErrorCode> error_code_from_name(std::string_view name) {
    for (const auto& [code, code_name] : code_names) {
        if (code_name == name) return code;
    }
    return std::nullopt;
}

const std::vector<ErrorCode>& all_error_codes() {
    static const std::vector<ErrorCode> codes = [] {
        std::vector<ErrorCode> all;
        for (const auto& [code, code_name] : code_names)
            all.push_back(code);
        return all;
    }();
    return codes;
}

}  // namespace base
