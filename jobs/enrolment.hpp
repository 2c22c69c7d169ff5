#pragma once

#include <string>
#include <string_view>

/// How an executor becomes somebody. It makes an Ed25519 key of its own and enrols it once, with a
/// token that an operator was given for it; from then on it gets short-lived access tokens by
/// signing a challenge. The private key never leaves the executor's work folder.
namespace jobs::enrolment {

/// `POST`, body `{"token", "publicKey", "signature"}`, the signature over `EnrolMessage`. 401: the
/// token is not known, was used or has expired.
inline constexpr std::string_view enrol_pattern = "/api/executors/{id}/enrol";
/// `POST`, no body; answers `{"challenge"}`, which is good for one minute and one use.
inline constexpr std::string_view challenge_pattern = "/api/executors/{id}/challenge";
/// `POST`, body `{"challenge", "signature"}`, the signature over `access_message`; answers
/// `{"token", "validMs"}`. 401: no such executor, or another key.
inline constexpr std::string_view access_pattern = "/api/executors/{id}/access";

std::string path(std::string_view executor, std::string_view verb);
/// What a new executor signs: also the one-time token, so that the signature of an earlier
/// enrolment is of no use with another one.
struct EnrolMessage {
    std::string_view executor;
    std::string_view public_key;
    std::string_view token;
};
std::string text(const EnrolMessage& message);
std::string access_message(std::string_view executor, std::string_view challenge);

}  // namespace jobs::enrolment
