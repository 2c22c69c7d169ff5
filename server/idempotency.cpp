#include "server/idempotency.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <utility>
#include <vector>

namespace server {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr std::size_t key_bytes_max = 256;

// Each part with its length before it: no two lists of parts are one text.
void add(base::Sha256& hasher, std::string_view part) {
    hasher.update(fmt::format("{}:", part.size())).update(part);
}

bool changes_something(http::Method method) {
    return method != http::Method::get && method != http::Method::head &&
           method != http::Method::options;
}

http::Response response_of(Result<Answer> answer) {
    if (!answer) return http::error_response(answer.error());
    auto response = http::json_response(answer->status, std::move(answer->body));
    if (!answer->location.empty()) response.headers.set("Location", answer->location);
    return response;
}

std::optional<Answer> answer_of(const http::Response& response) {
    if (response.stream || response.status < 200 || response.status > 299) return std::nullopt;
    return Answer{
        response.status, std::string(response.headers.find("Location").value_or("")), response.body
    };
}

// The right and the duty to answer the others that ask the same, also when the handler throws.
class FirstToAsk {
public:
    FirstToAsk(Answers& answers, Question question)
        : answers_(answers), question_(std::move(question)) {}
    ~FirstToAsk() {
        if (done_) return;
        answers_.give_up(
            question_.key,
            fail(ErrorCode::overloaded, "the same request was not done", "send it again")
        );
    }
    FirstToAsk(const FirstToAsk&) = delete;
    FirstToAsk& operator=(const FirstToAsk&) = delete;

    http::Task<void> give(Answer answer) {
        done_ = true;
        co_await http::await_callback<bool>(http::WaitLimits{}, [&](http::Completion<bool> kept) {
            answers_.give(question_, std::move(answer), [kept] { kept(true); });
        });
    }
    /// The others get the refusal, too.
    void refused(const http::Response& response) {
        done_ = true;
        answers_.give_up(
            question_.key, fail(http::error_from_answer(response.status, response.body))
        );
    }

    void not_kept() {
        done_ = true;
        answers_.give_up(
            question_.key,
            fail(ErrorCode::conflict, "the answer to this request is told once", "ask again")
        );
    }

private:
    Answers& answers_;
    Question question_;
    bool done_ = false;
};

http::Task<http::Response> once(
    Api& api,
    const Question& question,
    http::StopSignal stop,
    std::function<http::Task<http::Response>()> act
) {
    auto reply = co_await http::await_callback<Answers::Reply>(
        http::WaitLimits{.stop = stop},
        [&](http::Completion<Answers::Reply> told) {
            api.answers.ask(question, [told](Answers::Reply reply) { told(std::move(reply)); });
        }
    );
    if (!reply) {
        co_return http::error_response(
            base::Error{ErrorCode::overloaded, "the master is stopping", "try again later", {}}
        );
    }
    if (*reply) co_return response_of(std::move(**reply));
    FirstToAsk first(api.answers, question);
    auto response = co_await act();
    auto answer = answer_of(response);
    if (response.headers.find("Cache-Control") == "no-store") {
        // A secret is told once and written nowhere, under whatever key it was asked for.
        first.not_kept();
    } else if (!answer) {
        first.refused(response);
    } else if (!stop.stopped()) {
        co_await first.give(std::move(*answer));
    }
    // Else the caller has gone: nobody got this answer, and who asks again waits again.
    co_return response;
}

// Parses the body where that decides whether it was asked before.
http::Task<Result<Intake>> take_in(Api& api, const http::Request& request) {
    Intake intake;
    auto key = key_of(request);
    if (!key) co_return fail(std::move(key.error()));
    if (!*key) co_return intake;
    auto parsed = co_await parse_body(api, request.body);
    if (parsed) {
        intake.body = std::make_shared<base::Json>(std::move(*parsed));
        intake.question =
            Question{std::move(**key), question_digest(request, base::canonical(*intake.body))};
    } else {
        intake.question = Question{std::move(**key), question_digest(request, request.body)};
    }
    co_return intake;
}

http::Task<http::Response> run_once(Api& api, http::Request request, const http::Route& route) {
    const auto& handler = std::get<http::Handler>(route.handler);
    if (!changes_something(request.method) || !request.headers.find("Idempotency-Key"))
        co_return co_await handler(std::move(request));
    auto intake = co_await take_in(api, request);
    if (!intake) co_return http::error_response(intake.error());
    const auto question = intake->question;
    const auto stop = request.stop;
    request.intake = std::move(*intake);
    // Shared: a std::function can be copied.
    const auto held = std::make_shared<http::Request>(std::move(request));
    co_return co_await once(api, *question, stop, [&handler, held] {
        return handler(std::move(*held));
    });
}

}  // namespace

http::Around answer_once(Api& api) {
    return [&api](http::Request request, const http::Route& route) {
        return run_once(api, std::move(request), route);
    };
}

http::Task<http::Response> answer_stream_once(
    Api& api,
    const http::Request& request,
    const base::Digest& body,
    std::function<http::Task<http::Response>()> act
) {
    auto key = key_of(request);
    if (!key) co_return http::error_response(key.error());
    if (!*key) co_return co_await act();
    const Question question{std::move(**key), question_digest(request, body.hex())};
    co_return co_await once(api, question, request.stop, std::move(act));
}

Result<std::optional<std::string>> key_of(const http::Request& request) {
    const auto keys = request.headers.all("Idempotency-Key");
    if (keys.empty()) return std::nullopt;
    if (keys.size() > 1) {
        return fail(
            ErrorCode::validation,
            fmt::format("the request has {} Idempotency-Key headers", keys.size()),
            "send one"
        );
    }
    const auto key = keys.front();
    if (key.empty() || key.size() > key_bytes_max || !base::valid_utf8(key)) {
        return fail(
            ErrorCode::validation,
            fmt::format("Idempotency-Key must have 1 to {} bytes of UTF-8", key_bytes_max)
        );
    }
    std::string scope = actor_of(request);
    const bool executor = scope == "executor";
    for (const auto& [name, value] : request.parameters) {
        if (name == "m" || (executor && name == "id")) scope += "/" + http::percent_encode(value);
    }
    return scope + "/" + std::string(key);
}

base::Digest question_digest(const http::Request& request, std::string_view body) {
    base::Sha256 hasher;
    add(hasher, http::name(request.method));
    add(hasher, fmt::format("{}", request.path.size()));
    for (const auto& segment : request.path)
        add(hasher, segment);
    auto query = request.query.items();
    std::erase_if(query, [](const auto& item) { return item.first == "wait"; });
    std::ranges::sort(query);
    for (const auto& [name, value] : query) {
        add(hasher, name);
        add(hasher, value);
    }
    add(hasher, "");
    add(hasher, body);
    return hasher.finish();
}

}  // namespace server
