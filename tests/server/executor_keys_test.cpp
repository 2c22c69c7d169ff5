#include "server/executor_keys.hpp"

#include "base/ed25519.hpp"
#include "base/files.hpp"
#include "jobs/enrolment.hpp"

#include <doctest/doctest.h>

using base::SigningKey;
using server::ExecutorKeys;

namespace {

class HandClock final : public base::Clock {
public:
    [[nodiscard]] base::Timestamp now() const override { return {wall.us}; }
    [[nodiscard]] base::Duration elapsed() const override { return since; }
    void pass(base::Duration length) {
        since = since + length;
        wall = wall + length;
    }
    base::Duration since = base::seconds(1000);
    base::Duration wall = base::seconds(1'700'000'000);
};

struct Keys {
    base::TemporaryFolder folder;
    HandClock clock;
    std::unique_ptr<ExecutorKeys> keys;

    Keys() { open(); }
    void open() {
        auto opened = ExecutorKeys::open(file(), clock);
        REQUIRE(opened);
        keys = std::move(*opened);
    }
    [[nodiscard]] std::filesystem::path file() const { return folder.path() / "keys.json"; }

    base::Result<bool> enrol(
        const std::string& id, const std::string& token, const SigningKey& key
    ) {
        const auto public_key = key.public_hex();
        const auto signature = key.sign(jobs::enrolment::text({id, public_key, token}));
        return keys->enrol({id, token, public_key, signature});
    }
    base::Result<std::string> access(const std::string& id, const SigningKey& key) {
        return access(id, key, keys->challenge(id));
    }
    base::Result<std::string> access(
        const std::string& id, const SigningKey& key, const std::string& challenge
    ) {
        return keys->access(
            id, challenge, key.sign(jobs::enrolment::access_message(id, challenge))
        );
    }
};

bool denied(const auto& result) {
    return !result && result.error().code == base::ErrorCode::unauthenticated;
}

}  // namespace

TEST_CASE("a one-time token enrols one executor once, within an hour, also after a restart") {
    Keys k;
    const auto key = SigningKey::make();
    const auto token = *k.keys->invite({{"pool", "a"}});
    CHECK(denied(k.enrol("e1", "made up", key)));
    k.open();
    CHECK(k.enrol("e1", token, key) == false);
    CHECK(k.keys->labels_of("e1").at("pool") == "a");
    CHECK(denied(k.enrol("e2", token, key)));
    const auto late = *k.keys->invite({});
    k.clock.pass(ExecutorKeys::invitation_valid);
    CHECK(denied(k.enrol("e2", late, key)));
}

TEST_CASE("a wall clock that is set back gives a one-time token no more time") {
    Keys k;
    const auto token = *k.keys->invite({});
    k.clock.wall = k.clock.wall - base::seconds(100'000);
    k.clock.since = k.clock.since + ExecutorKeys::invitation_valid;
    CHECK(denied(k.enrol("e1", token, SigningKey::make())));
    k.open();
    k.clock.since = k.clock.since + ExecutorKeys::invitation_valid;
    CHECK(denied(k.enrol("e1", token, SigningKey::make())));
}

TEST_CASE("neither the one-time token nor any secret is in the file, which is its owner's only") {
    Keys k;
    const auto key = SigningKey::make();
    const auto token = *k.keys->invite({});
    REQUIRE(k.enrol("e1", *k.keys->invite({}), key));
    const auto access = *k.access("e1", key);
    const auto text = *base::read_file(k.file(), 100'000);
    for (const auto& secret : {token, access, key.hex()})
        CHECK_FALSE(text.contains(secret));
    CHECK(
        (std::filesystem::status(k.file()).permissions() & std::filesystem::perms::all) ==
        std::filesystem::perms(0600)
    );
}

TEST_CASE("access is for the enrolled key, by a fresh challenge of this executor, for 15 minutes") {
    Keys k;
    const auto key = SigningKey::make();
    REQUIRE(k.enrol("e1", *k.keys->invite({}), key));
    CHECK(denied(k.access("e1", SigningKey::make())));
    CHECK(denied(k.access("e2", key)));
    CHECK(denied(k.access("e1", key, "9999999999-00-00")));
    CHECK(denied(k.access("e1", key, k.keys->challenge("e2"))));
    const auto challenge = k.keys->challenge("e1");
    const auto token = k.access("e1", key, challenge);
    REQUIRE(token);
    CHECK(denied(k.access("e1", key, challenge)));
    const auto old = k.keys->challenge("e1");
    k.clock.pass(ExecutorKeys::challenge_valid);
    CHECK(denied(k.access("e1", key, old)));
    CHECK(k.keys->executor_of(*token) == "e1");
    CHECK_FALSE(k.keys->executor_of("made up"));
    k.clock.pass(ExecutorKeys::access_valid);
    CHECK_FALSE(k.keys->executor_of(*token));
    k.open();
    CHECK(k.access("e1", key));
}

TEST_CASE("a new key for an id needs a one-time token, and ends what the old one has") {
    Keys k;
    const auto old = SigningKey::make();
    const auto fresh = SigningKey::make();
    REQUIRE(k.enrol("e1", *k.keys->invite({}), old));
    const auto token = *k.access("e1", old);
    CHECK(k.enrol("e1", *k.keys->invite({}), old) == false);
    CHECK(k.keys->executor_of(token));
    CHECK(k.enrol("e1", *k.keys->invite({}), fresh) == true);
    CHECK_FALSE(k.keys->executor_of(token));
    CHECK(denied(k.access("e1", old)));
    CHECK(k.access("e1", fresh));
}

TEST_CASE("what was signed before an enrolment, or for another one, opens nothing afterwards") {
    Keys k;
    const auto key = SigningKey::make();
    const auto challenge = k.keys->challenge("e1");
    CHECK(denied(k.access("e1", key, challenge)));
    k.clock.pass(base::milliseconds(1));
    const auto first = *k.keys->invite({});
    REQUIRE(k.enrol("e1", first, key));
    CHECK(denied(k.access("e1", key, challenge)));
    CHECK(k.access("e1", key));
    // The pair of key and signature that was sent with the first token.
    const auto public_key = key.public_hex();
    const auto signature = key.sign(jobs::enrolment::text({"e1", public_key, first}));
    const auto second = *k.keys->invite({{"gpu", "yes"}});
    CHECK(denied(k.keys->enrol({"e1", second, public_key, signature})));
    CHECK(k.keys->labels_of("e1").empty());
}
