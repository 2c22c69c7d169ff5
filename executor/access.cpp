#include "executor/access.hpp"

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "http/status.hpp"
#include "jobs/enrolment.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace executor {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

namespace {

constexpr std::size_t token_bytes_max = 4096;
constexpr base::Duration call_max = base::seconds(20);

}  // namespace

Result<std::string> first_line_of(const std::filesystem::path& file) {
    auto text = base::read_file(file, token_bytes_max);
    if (!text) return text;
    text->resize(std::min(text->size(), text->find_first_of("\r\n")));
    if (text->empty()) return fail(ErrorCode::validation, file.string() + " is empty");
    return text;
}

Result<base::SigningKey> executor_key(const std::filesystem::path& file) {
    const auto text = first_line_of(file);
    if (text) {
        if (const auto key = base::SigningKey::from_hex(*text)) return *key;
        return fail(
            ErrorCode::validation,
            file.string() + " does not hold the key of an executor",
            "remove the file and enrol the executor again"
        );
    }
    if (text.error().code != ErrorCode::not_found) return fail(text.error());
    const auto key = base::SigningKey::make();
    auto written = base::write_file_atomically(file, key.hex() + "\n", 0600);
    if (!written) return fail(std::move(written.error()));
    return key;
}

Access::Access(
    http::Client client, std::string executor, base::SigningKey key, EnrolmentSource source
)
    : client_(std::move(client)),
      executor_(std::move(executor)),
      key_(key),
      source_(std::move(source)) {}

Result<std::unique_ptr<Access>> Access::make(
    http::ClientOptions client, std::string executor, base::SigningKey key, EnrolmentSource source
) {
    auto made = http::Client::make(std::move(client));
    if (!made) return fail(made.error());
    return std::unique_ptr<Access>(
        new Access(std::move(*made), std::move(executor), key, std::move(source))
    );
}

Result<std::string> Access::token(const std::string& refused) {
    const std::scoped_lock lock(asking_);
    // Another thread may have asked meanwhile.
    if (!token_.empty() && token_ != refused) return token_;
    auto given = ask();
    if (!given && given.error().code == ErrorCode::unauthenticated &&
        (source_.token_file || source_.admin_token_file)) {
        if (auto enrolled = enrol(); !enrolled) return fail(std::move(enrolled.error()));
        given = ask();
    }
    if (given) token_ = *given;
    return given;
}

Result<std::string> Access::ask() {
    auto challenge = post(jobs::enrolment::path(executor_, "challenge"), "", "challenge");
    if (!challenge) return challenge;
    const Json body = {
        {"challenge", *challenge},
        {"signature", key_.sign(jobs::enrolment::access_message(executor_, *challenge))}
    };
    return post(jobs::enrolment::path(executor_, "access"), base::canonical(body), "token");
}

Result<void> Access::enrol() {
    const auto token = one_time_token();
    if (!token) return fail(token.error());
    const auto public_key = key_.public_hex();
    const Json body = {
        {"token", *token},
        {"publicKey", public_key},
        {"signature", key_.sign(jobs::enrolment::text({executor_, public_key, *token}))}
    };
    auto done = post(jobs::enrolment::path(executor_, "enrol"), base::canonical(body), "");
    if (!done) return fail(std::move(done.error()));
    base::log_info(fmt::format("executor {} is enrolled", executor_));
    return {};
}

Result<std::string> Access::one_time_token() {
    if (source_.token_file) return first_line_of(*source_.token_file);
    auto admin = first_line_of(*source_.admin_token_file);
    if (!admin) return admin;
    return post("/api/executor-enrolments", "{}", "token", std::move(*admin));
}

Result<std::string> Access::post(
    std::string target, std::string body, std::string_view member, std::string bearer
) {
    http::Call call;
    call.method = http::Method::post;
    call.target = std::move(target);
    call.headers = {{"content-type", "application/json"}};
    if (!bearer.empty()) call.headers.set("authorization", "Bearer " + bearer);
    call.body = std::move(body);
    call.total = call_max;
    auto answer = http::successful(client_.send(std::move(call)));
    if (!answer) return fail(answer.error());
    if (member.empty()) return std::string{};
    const auto json = base::parse_json(answer->body);
    if (!json || !json->is_object() || !json->contains(member) || !json->at(member).is_string()) {
        return fail(ErrorCode::upstream, fmt::format("the answer has no '{}'", member));
    }
    return json->at(member).get<std::string>();
}

}  // namespace executor
