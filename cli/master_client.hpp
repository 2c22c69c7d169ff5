#pragma once

#include "base/clock.hpp"
#include "base/json.hpp"
#include "cli/exit.hpp"
#include "http/client.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace cli {

/// A master's API, as subcommands use it. Answers of 400 and above are failures.
class MasterClient {
public:
    static Outcome<MasterClient> make(const std::string& url, const std::string& token);

    /// The body of the answer. `wait`: how long the master may take on purpose.
    Outcome<std::string> get(std::string target, base::Duration wait = {});
    /// Sent with a fresh Idempotency-Key, so that a second try after a broken connection does not
    /// do it twice.
    Outcome<std::string> post(std::string target, std::string body, base::Duration wait = {});
    Outcome<std::string> remove(std::string target);

    /// The same, parsed.
    Outcome<base::Json> get_json(std::string target, base::Duration wait = {});

    Outcome<std::string> upload(std::string target, http::Upload upload);
    Outcome<void> download(
        std::string target, const std::function<base::Result<void>(std::string_view)>& sink
    );
    /// Follows a stream of events; returns when `sink` says false, or the stream ends or breaks.
    base::Result<http::Response> events(
        http::Call call, const std::function<bool(const http::Event&)>& sink
    );
    void interrupt() { client_.interrupt(); }

private:
    explicit MasterClient(http::Client client) : client_(std::move(client)) {}
    Outcome<std::string> send(http::Call call);

    http::Client client_;
};

/// The answer of a master as JSON.
Outcome<base::Json> parsed(std::string_view answer);

/// `/api/models/MODEL/...`, every segment encoded.
std::string model_target(
    const std::string& model, std::initializer_list<std::string_view> segments
);

/// Builds `?a=b&c=d`.
class QueryText {
public:
    QueryText& add(std::string_view name, std::string_view value);
    /// Nothing when the value is empty.
    QueryText& add_given(std::string_view name, std::string_view value);
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::string text_;
};

}  // namespace cli
