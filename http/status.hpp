#pragma once

#include "base/result.hpp"
#include "http/message.hpp"

#include <string>
#include <string_view>

namespace http {

/// The one place where error codes become HTTP statuses.
int status_of(base::ErrorCode code);

/// `{"error": {"code", "message", "next"?, "details"?}}`.
std::string error_json(const base::Error& error);

/// What is answered for `error`: its status, its JSON, and Retry-After or WWW-Authenticate where
/// the code asks for one. The message of an `internal` error is logged and replaced by a reference
/// to the log: it may hold what a stranger may not know.
Response error_response(const base::Error& error);
/// The same with another status, for faults that HTTP itself has a status for (405, 408, 431, ...).
Response error_response(int status, const base::Error& error);

/// Reads an answer of status 400 or above back. A body of another shape (a proxy's page) becomes an
/// error that names the status.
base::Error error_from_answer(int status, std::string_view body);

/// The answer itself when its status is below 400, else the error that it carries.
base::Result<Response> successful(base::Result<Response> answer);

}  // namespace http
