#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace base {

/// Every way in which a correct program may be refused or may fail. The names (see `name`) are part
/// of the API; docs/errors.md has a paragraph for each.
enum class ErrorCode : std::uint8_t {
    // the request
    validation,
    not_found,
    conflict,
    too_large,
    unsupported,
    unauthenticated,
    not_permitted,
    overloaded,
    fenced,
    // calling a tool
    policy_denied,
    unprepared,
    rejected,
    expired,
    blocked,
    rate_limited,
    breaker_open,
    budget,
    sandbox_unavailable,
    tamper,
    timeout,
    limit,
    exit_nonzero,
    bad_output,
    upstream,
    auth,
    unrouted,
    uncertain,
    abandoned,
    cancelled,
    // a defect or a broken disk
    internal,
};

std::string_view name(ErrorCode code);
std::optional<ErrorCode> error_code_from_name(std::string_view name);
/// All codes, in the order of the enumeration; for documents and tests.
const std::vector<ErrorCode>& all_error_codes();

/// One fault of a document: where (RFC 6901 JSON pointer, "" = the whole) and what.
struct ErrorDetail {
    std::string pointer;
    ErrorCode code = ErrorCode::validation;
    std::string message;
    bool operator==(const ErrorDetail&) const = default;
};
/// "POINTER: MESSAGE"; the message alone where the pointer is empty.
std::string text(const ErrorDetail& detail);

/// A failure, as told to a person: `message` names the thing, the rule and, with `next`, the way
/// out. `details` lists every fault of a document at once.
struct Error {
    ErrorCode code = ErrorCode::internal;
    std::string message;
    std::string next;
    std::vector<ErrorDetail> details;
    bool operator==(const Error&) const = default;
};

}  // namespace base
