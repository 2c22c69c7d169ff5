#include "cli/exit.hpp"

#include "http/status.hpp"

#include <utility>

namespace cli {

std::unexpected<Failure> failed(base::Error error) {
    constexpr int server_errors = 500;
    const auto exit =
        http::status_of(error.code) < server_errors ? Exit::refused : Exit::unreachable;
    return std::unexpected(Failure{std::move(error), exit});
}

std::unexpected<Failure> wrong_usage(base::Error error) {
    return std::unexpected(Failure{std::move(error), Exit::usage});
}

std::unexpected<Failure> wrong_usage(std::string message, std::string next) {
    return wrong_usage(
        base::Error{base::ErrorCode::validation, std::move(message), std::move(next), {}}
    );
}

}  // namespace cli
