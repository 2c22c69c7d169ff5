#include "tests/transitions/board.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

using boards::Board;
using boards::outcome;
using boards::sealed;
using boards::task;

TEST_CASE("a once job that may have started is not offered again on its executor's word") {
    struct Word {
        const char* name;
        jobs::Phase phase;
        bool new_session;
    };
    for (const Word& word :
         {Word{"it had it", jobs::Phase::preparing, false},
          Word{"a new session had it", jobs::Phase::preparing, true},
          Word{"it ran it", jobs::Phase::running, false},
          Word{"a new session ran it", jobs::Phase::running, true}}) {
        CAPTURE(word.name);
        for (const auto effect : {jobs::Effect::once, jobs::Effect::pure}) {
            Board b;
            const auto lease = b.lease(7, effect);
            auto poll = b.request(0);
            poll.running.push_back({.ref = lease.ref(), .phase = word.phase});
            b.sync(poll);
            if (word.new_session) {
                b.session = 2;
                b.seq = 0;
            }
            const auto replies = b.sync(b.request(1));
            const bool offered = std::ranges::any_of(replies, [](const auto& reply) {
                return !reply.leases.empty();
            });
            CHECK(offered == (effect != jobs::Effect::once));
            CHECK(b.events<transitions::Lost>().size() == (offered ? 0 : 1));
        }
    }
}

TEST_CASE("a once job that was told to run is not taken for never started") {
    for (const auto outcome_class : {jobs::OutcomeClass::infra, jobs::OutcomeClass::rejected}) {
        Board b;
        const auto lease = b.lease(7);
        auto poll = b.request(0);
        poll.running.push_back({.ref = lease.ref(), .phase = jobs::Phase::running});
        b.sync(poll);
        auto told = b.request(1);
        auto unstarted = outcome();
        unstarted.outcome_class = outcome_class;
        unstarted.error = {base::ErrorCode::overloaded, "all slots are taken"};
        told.done.push_back({lease.ref(), unstarted});
        b.sync(told);
        const auto reported = b.events<transitions::Reported>();
        REQUIRE(reported.size() == 1);
        CHECK(reported[0].outcome.outcome_class == jobs::OutcomeClass::interrupted);
    }
}

TEST_CASE("what an executor says of another's lease changes nothing and is not recorded") {
    Board b;
    const auto lease = b.lease(7);
    auto poll = b.request(0);
    poll.running.push_back({.ref = lease.ref()});
    b.sync(poll);
    auto thief = b.request(1);
    thief.session = jobs::session_max;
    thief.seq = 1;
    thief.answered = 0;
    thief.done.push_back({lease.ref(), outcome(1)});
    thief.lost.push_back(lease.ref());
    thief.running.push_back({.ref = lease.ref()});
    REQUIRE(b.board.sync("thief", 99, thief, b.now));
    const auto told = b.answers();
    REQUIRE(told.size() == 1);
    REQUIRE(told[0].drop.size() == 1);
    CHECK(told[0].drop[0].verdict == jobs::Verdict::unknown);
    CHECK(b.events<transitions::Reported>().empty());
    CHECK(b.board.holder("m", {{7}, 1}) == "e1");
    CHECK_FALSE(b.board.in_force("thief", lease.id, lease.fencing));
    CHECK(b.board.in_force("e1", lease.id, lease.fencing));
    // Neither its session nor its real result has suffered.
    auto done = b.request(1);
    done.done.push_back({lease.ref(), outcome()});
    b.sync(done);
    const auto reported = b.events<transitions::Reported>();
    REQUIRE(reported.size() == 1);
    CHECK_FALSE(reported[0].stale);
}

TEST_CASE("a verdict about evidence does not end a lease in force") {
    Board b;
    const auto lease = b.lease(7);
    b.board.settled({lease.id, "e1", true}, jobs::Verdict::fenced, b.now);
    b.board.settled({lease.id, "thief", true}, jobs::Verdict::fenced, b.now);
    b.board.settled({lease.id, "thief"}, jobs::Verdict::applied, b.now);
    CHECK(b.board.in_force("e1", lease.id, lease.fencing));
}

TEST_CASE("after a restart only a lease that proves itself and is the newest is believed") {
    const auto newest = sealed("e1", 5, {{7}, 1});
    auto made_up = newest;
    made_up.lease.text = "m1-m-5";
    auto other_fencing = newest;
    other_fencing.fencing = 6;
    auto other_attempt = newest;
    other_attempt.attempt = {{8}, 1};
    for (const auto& ref :
         {made_up,
          other_fencing,
          other_attempt,
          sealed("e2", 5, {{7}, 1}),
          sealed("e1", 4, {{7}, 1}),
          newest}) {
        CAPTURE(ref.lease.text);
        Board b;
        b.board.expect({"e1", "e2"});
        auto known = task(7, jobs::Effect::pure);
        known.fencing = 5;
        b.board.recover(known, b.now);
        b.board.recover(task(8), b.now);
        auto request = b.request(0);
        request.done.push_back({ref, outcome()});
        b.sync(request);
        const auto reported = b.events<transitions::Reported>();
        const bool in_force = !reported.empty() && !reported[0].stale;
        CHECK(in_force == (ref == newest));
    }
}

TEST_CASE("a once job whose lease the log knows is lost when no executor knows it after a restart"
) {
    for (const jobs::Fencing fencing : {0U, 5U}) {
        Board b;
        b.board.expect({"e1"});
        auto known = task(7);
        known.fencing = fencing;
        b.board.recover(known, b.now);
        b.sync(b.request(0));
        CHECK(b.board.waiting() == (fencing == 0 ? 1 : 0));
        CHECK(b.events<transitions::Lost>().size() == (fencing == 0 ? 0 : 1));
    }
}

TEST_CASE("an executor that was enrolled again has lost what it held") {
    Board b;
    b.lease(7);
    b.board.renewed("e1", b.now);
    CHECK(b.events<transitions::Lost>().size() == 1);
    CHECK(b.board.leased() == 0);
}

TEST_CASE("an executor that asks no more is silent within three seconds, wherever it stopped") {
    for (const bool between_two_syncs : {false, true}) {
        Board b;
        const auto lease = b.lease(7);
        auto poll = b.request(0);
        poll.wait = base::seconds(1000);
        poll.running.push_back({.ref = lease.ref()});
        if (!between_two_syncs) CHECK(b.sync(poll).empty());
        CHECK(b.board.view(b.now).front().state == "connected");
        const auto stopped = b.now.elapsed;
        while (b.board.view(b.now).front().state == "connected") {
            b.now.elapsed = b.now.elapsed + base::milliseconds(100);
            b.board.tick(b.now);
        }
        CHECK(b.now.elapsed - stopped <= base::seconds(3));
        CHECK(b.board.view(b.now).front().state == "silent");
        CHECK(b.board.why_waiting("m", {{7}, 1}, b.now).contains("'e1', which has it, is silent"));
        b.board.offer(task(8), b.now);
        CHECK(b.board.why_waiting("m", {{8}, 1}, b.now).contains("'e1' is silent"));
        b.sync(b.request(0));
        CHECK(b.board.view(b.now).front().state == "connected");
    }
}

TEST_CASE("an answer has a budget of bytes; what does not fit goes with the next") {
    constexpr int jobs_offered = 40;
    Board b;
    for (int i = 0; i < jobs_offered; ++i) {
        auto large = task(static_cast<base::Seq>(i + 1));
        large.job.input = std::string(std::size_t{1} << 20U, '\x01');
        b.board.offer(large, b.now);
    }
    std::vector<jobs::LeaseRef> held;
    while (held.size() < jobs_offered) {
        auto request = b.request(jobs_offered);
        for (const auto& ref : held)
            request.running.push_back({.ref = ref});
        const auto replies = b.sync(request);
        REQUIRE(replies.size() == 1);
        REQUIRE_FALSE(replies[0].leases.empty());
        CHECK(base::canonical(jobs::to_json(replies[0])).size() <= jobs::sync_body_bytes_max);
        for (const auto& lease : replies[0].leases)
            held.push_back(lease.ref());
    }
}

TEST_CASE("an executor that is to drain gets no more work and is told so at once") {
    Board b;
    CHECK(b.sync(b.request(2)).empty());
    CHECK(b.board.drain("nobody", b.now).error().code == base::ErrorCode::not_found);
    REQUIRE(b.board.drain("e1", b.now));
    const auto told = b.answers();
    REQUIRE(told.size() == 1);
    CHECK(told[0].drain);
    b.board.offer(task(7), b.now);
    CHECK(b.sync(b.request(2)).empty());
    CHECK(b.board.view(b.now).front().state == "draining");
    CHECK(b.board.why_waiting("m", {{7}, 1}, b.now) == "executor 'e1' is draining");
    b.session = 2;
    b.seq = 0;
    CHECK(b.sync(b.request(2)).at(0).leases.size() == 1);
}

TEST_CASE("an executor that acknowledges nothing is refused before the answers pile up") {
    Board b;
    bool refused = false;
    for (int i = 0; i < 1000 && !refused; ++i) {
        auto request = b.request(0);
        request.answered = 0;
        request.wait = {};
        refused = !b.board.sync("e1", ++b.ticket, request, b.now);
        b.answers();
    }
    CHECK(refused);
}
