#include "server/executor_keys.hpp"

#include "base/ed25519.hpp"
#include "base/files.hpp"
#include "base/hmac.hpp"
#include "base/json.hpp"
#include "base/random.hpp"
#include "base/sha256.hpp"
#include "jobs/enrolment.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

namespace server {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

namespace {

constexpr std::size_t file_bytes_max = std::size_t{16} << 20U;
constexpr std::size_t access_tokens_max = 4 * ExecutorKeys::executors_max;

std::unexpected<base::Error> refused(std::string message, std::string next) {
    return fail(ErrorCode::unauthenticated, std::move(message), std::move(next));
}

Json labels_json(const ExecutorKeys::Labels& labels) {
    Json json = Json::object();
    for (const auto& [name, value] : labels)
        json[name] = value;
    return json;
}

}  // namespace

ExecutorKeys::ExecutorKeys(std::filesystem::path file, const base::Clock& clock)
    : file_(std::move(file)), clock_(clock), challenge_key_(base::random_hex(32)) {}

Result<std::unique_ptr<ExecutorKeys>> ExecutorKeys::open(
    std::filesystem::path file, const base::Clock& clock
) {
    std::unique_ptr<ExecutorKeys> keys(new ExecutorKeys(std::move(file), clock));
    if (auto done = keys->read(); !done) return fail(std::move(done.error()));
    return keys;
}

Result<void> ExecutorKeys::read() {
    const auto text = base::read_file(file_, file_bytes_max);
    if (!text && text.error().code == ErrorCode::not_found) return {};
    if (!text) return fail(text.error());
    const auto json = base::parse_json(*text, {.bytes_max = file_bytes_max});
    State state;
    try {
        if (!json) throw std::runtime_error(json.error().message);
        for (const auto& [id, executor] : json->at("executors").items())
            state.executors[id] = {
                executor.at("publicKey"), executor.at("labels").get<Labels>(), {}
            };
        for (const auto& [hash, invitation] : json->at("invitations").items()) {
            const base::Timestamp until{invitation.at("untilUs")};
            // Whatever the wall clock does, nothing is valid for longer than it was given.
            const auto left = std::clamp(until - clock_.now(), base::Duration{}, invitation_valid);
            state.invitations[hash] = {
                invitation.at("labels").get<Labels>(), until, clock_.elapsed() + left
            };
        }
    } catch (const std::exception& thrown) {
        return fail(
            ErrorCode::validation,
            fmt::format("{} is not what a master writes: {}", file_.string(), thrown.what()),
            "restore it, or remove it: the executors must then be enrolled again"
        );
    }
    state_.with([&](State& held) { held = std::move(state); });
    return {};
}

Result<void> ExecutorKeys::save(const State& state) const {
    Json executors = Json::object();
    for (const auto& [id, executor] : state.executors) {
        executors[id] = {
            {"publicKey", executor.public_key}, {"labels", labels_json(executor.labels)}
        };
    }
    Json invitations = Json::object();
    for (const auto& [hash, invitation] : state.invitations) {
        invitations[hash] = {
            {"labels", labels_json(invitation.labels)}, {"untilUs", invitation.until.us}
        };
    }
    const Json json = {{"executors", executors}, {"invitations", invitations}};
    return base::write_file_atomically(file_, base::canonical(json) + "\n", 0600);
}

void ExecutorKeys::prune(State& state, base::Duration now) {
    std::erase_if(state.invitations, [&](const auto& entry) {
        return entry.second.until_here <= now;
    });
    std::erase_if(state.access, [&](const auto& entry) { return entry.second.until <= now; });
    std::erase_if(state.used, [&](const auto& entry) { return entry.second <= now; });
}

Result<std::string> ExecutorKeys::invite(Labels labels) {
    const std::scoped_lock writing(writing_);
    const auto now = clock_.elapsed();
    State state = state_.with([&](State& held) {
        prune(held, now);
        return held;
    });
    if (state.invitations.size() >= invitations_max) {
        return fail(
            ErrorCode::overloaded,
            fmt::format("{} one-time tokens wait to be used", invitations_max),
            "they expire within an hour"
        );
    }
    auto token = base::random_hex(32);
    const Invitation invitation{
        std::move(labels), clock_.now() + invitation_valid, now + invitation_valid
    };
    const auto hash = base::sha256(token).hex();
    state.invitations.emplace(hash, invitation);
    if (auto done = save(state); !done) return fail(std::move(done.error()));
    state_.with([&](State& held) { held.invitations.emplace(hash, invitation); });
    return token;
}

Result<bool> ExecutorKeys::enrol(const Enrolment& enrolment) {
    const std::string id(enrolment.executor);
    const auto message = jobs::enrolment::text({id, enrolment.public_key, enrolment.token});
    if (!base::signed_by(enrolment.public_key, message, enrolment.signature)) {
        return refused("the signature is not of the public key", "sign with the private key");
    }
    const std::scoped_lock writing(writing_);
    State state = state_.with([&](State& held) {
        prune(held, clock_.elapsed());
        return held;
    });
    const auto hash = base::sha256(enrolment.token).hex();
    const auto invitation = state.invitations.extract(hash);
    if (invitation.empty()) {
        return refused(
            "the one-time token is not known to this master, was used or has expired",
            "get another one where the master runs: netwright executor enrol"
        );
    }
    if (state.executors.size() >= executors_max && !state.executors.contains(id)) {
        return fail(
            ErrorCode::overloaded,
            fmt::format("{} executors are enrolled, and no more can be", executors_max)
        );
    }
    const Executor executor{
        std::string(enrolment.public_key), invitation.mapped().labels, clock_.elapsed()
    };
    const auto before = state.executors.find(id);
    const bool renewed =
        before != state.executors.end() && before->second.public_key != executor.public_key;
    state.executors.insert_or_assign(id, executor);
    if (auto done = save(state); !done) return fail(std::move(done.error()));
    state_.with([&](State& held) {
        held.invitations.erase(hash);
        held.executors.insert_or_assign(id, executor);
        if (renewed)
            std::erase_if(held.access, [&](const auto& one) { return one.second.executor == id; });
    });
    return renewed;
}

std::string ExecutorKeys::challenge_made(std::string_view executor, std::string_view text) const {
    const auto mac = base::hmac_sha256(challenge_key_, fmt::format("{}\n{}", executor, text));
    return fmt::format("{}-{}", text, mac.hex());
}

// It proves itself, so that whoever asks for many does not make the master remember them.
std::string ExecutorKeys::challenge(std::string_view executor) const {
    const auto until = clock_.elapsed() + challenge_valid;
    return challenge_made(executor, fmt::format("{}-{}", until.us, base::random_hex(16)));
}

Result<std::string> ExecutorKeys::access(
    std::string_view executor, std::string_view challenge, std::string_view signature
) {
    const auto now = clock_.elapsed();
    base::Duration until;
    std::from_chars(challenge.data(), challenge.data() + challenge.size(), until.us);
    const auto text = challenge.substr(0, challenge.rfind('-'));
    const bool ours =
        base::equal_in_constant_time(challenge_made(executor, text), challenge) && until > now;
    if (!ours) return refused("the challenge has expired", "ask for another one");
    const auto known = state_.with([&](const State& state) {
        const auto found = state.executors.find(executor);
        return found == state.executors.end() ? Executor{} : found->second;
    });
    // A challenge from before the enrolment may have been answered, refused and recorded.
    const bool later = until - challenge_valid >= known.enrolled;
    const auto message = jobs::enrolment::access_message(executor, challenge);
    if (!later || !base::signed_by(known.public_key, message, signature)) {
        return refused(
            fmt::format("this master knows no executor '{}' with this key", executor),
            "enrol it: netwright executor enrol where the master runs"
        );
    }
    auto token = base::random_hex(32);
    return state_.with([&](State& state) -> Result<std::string> {
        prune(state, now);
        if (!state.used.emplace(challenge, until).second) {
            return refused("the challenge was used before", "ask for another one");
        }
        if (state.access.size() >= access_tokens_max) {
            return fail(ErrorCode::overloaded, "too many access tokens are in use");
        }
        state.access.emplace(
            base::sha256(token).hex(), Access{std::string(executor), now + access_valid}
        );
        return token;
    });
}

std::optional<std::string> ExecutorKeys::executor_of(std::string_view token) const {
    // Found by its hash, so that the time taken tells nothing about the token.
    const auto hash = base::sha256(token).hex();
    return state_.with([&](const State& state) -> std::optional<std::string> {
        const auto found = state.access.find(hash);
        if (found == state.access.end() || found->second.until <= clock_.elapsed())
            return std::nullopt;
        return found->second.executor;
    });
}

ExecutorKeys::Labels ExecutorKeys::labels_of(std::string_view executor) const {
    return state_.with([&](const State& state) {
        const auto found = state.executors.find(executor);
        return found == state.executors.end() ? Labels{} : found->second.labels;
    });
}

}  // namespace server
