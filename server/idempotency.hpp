#pragma once

#include "base/json.hpp"
#include "server/answers.hpp"
#include "server/api.hpp"

#include <memory>
#include <optional>
#include <string>

namespace server {

/// What is known of a request before its handler runs: `http::Request::intake`.
struct Intake {
    /// None: the request carries no Idempotency-Key.
    std::optional<Question> question;
    /// The body, where it has been parsed. Shared: a std::any can be copied.
    std::shared_ptr<base::Json> body;
};

/// Stands before every handler of whole requests: a request that changes something and carries an
/// Idempotency-Key is answered as the first one under that key was. Only what was done is kept: a
/// request that was refused changed nothing, and may be sent again.
http::Around answer_once(Api& api);

/// For a handler that streams its body: the same, once `body` (its digest) is known. `act` does
/// what the request asks for.
http::Task<http::Response> answer_stream_once(
    Api& api,
    const http::Request& request,
    const base::Digest& body,
    std::function<http::Task<http::Response>()> act
);

/// The one key that the request carries, with the caller's name (an executor's is in its path) and
/// the model that the path names: others may use the same word. Validation when there are several,
/// or it is malformed.
base::Result<std::optional<std::string>> key_of(const http::Request& request);

/// The same for requests that ask for the same: method, path, query and body. How long the answer
/// is waited for (`?wait=`) does not count.
base::Digest question_digest(const http::Request& request, std::string_view body);

}  // namespace server
