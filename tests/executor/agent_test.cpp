#include "executor/agent.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <variant>

// The executor's side of the protocol, with a clock turned by hand.

namespace {

using executor::Agent;

base::Duration at(std::int64_t ms) {
    return base::milliseconds(ms);
}

executor::AgentOptions options(std::int64_t slots = 2) {
    executor::AgentOptions options;
    options.session = 1;
    options.introduction.slots = slots;
    options.introduction.labels = {{"zone", "a"}};
    return options;
}

jobs::Lease lease(const std::string& id, std::int64_t ttl_ms = 30'000) {
    jobs::Lease lease;
    lease.id = {id};
    lease.fencing = 7;
    lease.ttl = base::milliseconds(ttl_ms);
    lease.job.model = "default";
    lease.job.attempt = {{9}, 1};
    lease.job.binding = jobs::Builtin{"noop"};
    return lease;
}

jobs::SyncReply reply(const jobs::SyncRequest& request, const std::string& master = "m1") {
    jobs::SyncReply reply;
    reply.master = master;
    reply.seq = request.seq;
    reply.held = request.wait;
    return reply;
}

jobs::Outcome done() {
    jobs::Outcome outcome;
    outcome.exit_code = 0;
    outcome.sandbox.backend = "builtin";
    return outcome;
}

const jobs::SyncRequest& sync(const std::optional<executor::OutgoingSync>& out) {
    REQUIRE(out);
    return *out->request;
}

template <class Wanted>
std::vector<Wanted> of(const executor::Actions& actions) {
    std::vector<Wanted> out;
    for (const auto& action : actions) {
        if (const auto* wanted = std::get_if<Wanted>(&action)) out.push_back(*wanted);
    }
    return out;
}

/// An agent whose first sync was answered at 0, with these leases.
Agent working(std::vector<jobs::Lease> leases, executor::AgentOptions given = options()) {
    Agent agent(std::move(given), {});
    const auto first = agent.next_sync(at(0));
    auto answer = reply(sync(first));
    answer.held = {};
    answer.leases = std::move(leases);
    (void)agent.replied(1, std::move(answer), at(0));
    return agent;
}

executor::SyncFailure unreachable() {
    return {{base::ErrorCode::upstream, "connection refused", {}, {}}, {}};
}

}  // namespace

TEST_CASE("the first sync introduces the executor and a later one does not") {
    Agent agent(options(), {});
    const auto first = agent.next_sync(at(0));
    CHECK(sync(first).seq == 1);
    CHECK(sync(first).introduction == options().introduction);
    CHECK(sync(first).capacity == 2);
    CHECK(sync(first).wait == base::Duration{});
    CHECK_FALSE(agent.next_sync(at(0)));
    (void)agent.replied(1, reply(sync(first)), at(1));
    const auto second = agent.next_sync(at(1));
    CHECK(sync(second).seq == 2);
    CHECK(sync(second).wait == jobs::sync_wait_max);
    CHECK(sync(second).answered == 1);
    CHECK_FALSE(sync(second).introduction);
}

TEST_CASE("a master that restarted asks for the introduction again") {
    auto agent = working({});
    auto answer = reply(sync(agent.next_sync(at(0))), "m2");
    answer.introduce = true;
    (void)agent.replied(2, std::move(answer), at(10));
    CHECK(sync(agent.next_sync(at(10))).introduction);
}

TEST_CASE("a lease in the answer to the open poll starts its job at once") {
    Agent agent(options(), {});
    (void)agent.replied(1, reply(sync(agent.next_sync(at(0)))), at(0));
    auto answer = reply(sync(agent.next_sync(at(0))));
    answer.held = base::seconds(20);
    answer.leases = {lease("L1")};
    const auto starts = of<executor::StartJob>(agent.replied(2, std::move(answer), at(20'000)));
    REQUIRE(starts.size() == 1);
    CHECK(starts[0].lease == lease("L1"));
    const auto next = agent.next_sync(at(20'000));
    REQUIRE(sync(next).running.size() == 1);
    CHECK(sync(next).running[0].ref == lease("L1").ref());
    CHECK(sync(next).capacity == 1);
}

TEST_CASE("a finished job is told at once on a second connection while the poll stays open") {
    auto agent = working({lease("L1")});
    CHECK(sync(agent.next_sync(at(0))).seq == 2);
    CHECK_FALSE(agent.next_sync(at(10)));
    agent.finished({"L1"}, done());
    const auto second = agent.next_sync(at(10));
    CHECK(sync(second).seq == 3);
    CHECK(sync(second).answered == 1);
    REQUIRE(sync(second).done.size() == 1);
    CHECK(sync(second).done[0].ref == lease("L1").ref());
    CHECK(sync(second).running.empty());
    CHECK(sync(second).capacity == 2);
    // Two are open: a third has to wait, whatever happens.
    CHECK_FALSE(agent.next_sync(at(11)));
}

TEST_CASE("nothing is told beside the first sync of a session, which says what is left") {
    executor::LeftOver left;
    left.pending = {lease("L0").ref()};
    Agent agent(options(), left);
    const auto first = agent.next_sync(at(0));
    REQUIRE(sync(first).running.size() == 1);
    CHECK(sync(first).running[0].phase == jobs::Phase::collecting);
    agent.finished({"L0"}, done());
    CHECK_FALSE(agent.next_sync(at(1)));
    (void)agent.replied(1, reply(sync(first)), at(2));
    CHECK(sync(agent.next_sync(at(2))).done.size() == 1);
}

TEST_CASE("what an earlier run left is told first: results, and leases without one") {
    executor::LeftOver left;
    left.done = {{lease("L1").ref(), done()}};
    left.lost = {lease("L2").ref()};
    Agent agent(options(), left);
    const auto first = agent.next_sync(at(0));
    CHECK(sync(first).done.size() == 1);
    REQUIRE(sync(first).lost.size() == 1);
    CHECK(sync(first).lost[0].lease.text == "L2");
    auto answer = reply(sync(first));
    answer.drop = {{{"L1"}, jobs::Verdict::applied}};
    const auto forget = of<executor::ForgetLease>(agent.replied(1, std::move(answer), at(1)));
    CHECK(forget.size() == 2);
    const auto next = agent.next_sync(at(1));
    CHECK(sync(next).done.empty());
    CHECK(sync(next).lost.empty());
}

TEST_CASE("a sync that failed is sent again with the same number and body, ever later") {
    auto agent = working({lease("L1")});
    const auto out = agent.next_sync(at(0));
    agent.failed(2, unreachable(), at(1000));
    CHECK_FALSE(agent.next_sync(at(1000)));
    const auto again_at = agent.wake_at(at(1000));
    CHECK(again_at > at(1000));
    CHECK(again_at <= at(1100));
    const auto again = agent.next_sync(again_at);
    CHECK(sync(again) == sync(out));
    base::Duration last = again_at;
    for (int i = 0; i < 3; ++i) {
        agent.failed(2, unreachable(), last);
        last = agent.wake_at(last);
        CHECK(sync(agent.next_sync(last)).seq == 2);
    }
    CHECK(last > at(1500));
}

TEST_CASE("the pause that the master asks for is kept") {
    auto agent = working({});
    (void)agent.next_sync(at(0));
    auto failure = unreachable();
    failure.retry_after = base::seconds(40);
    agent.failed(2, failure, at(0));
    CHECK(agent.wake_at(at(0)) == at(40'000));
    CHECK_FALSE(agent.next_sync(at(39'999)));
    CHECK(agent.next_sync(at(40'000)));
}

TEST_CASE("an answer to a connection that was given up changes nothing") {
    Agent agent(options(), {});
    const auto first = agent.next_sync(at(0));
    agent.failed(1, unreachable(), at(10));
    auto answer = reply(sync(first));
    answer.leases = {lease("L1")};
    CHECK(agent.replied(1, answer, at(11)).empty());
    CHECK(sync(agent.next_sync(agent.wake_at(at(11)))).seq == 1);
    CHECK(of<executor::StartJob>(agent.replied(1, answer, at(500))).size() == 1);
    CHECK(agent.replied(1, answer, at(501)).empty());
}

TEST_CASE("a result is sent until it is dropped, and named in between") {
    auto agent = working({lease("L1")});
    agent.finished({"L1"}, done());
    const auto second = agent.next_sync(at(0));
    CHECK(sync(second).done.size() == 1);
    (void)agent.replied(2, reply(sync(second)), at(100));
    // Answered but not dropped: the master has it; it is named so that nobody takes it for lost.
    const auto third = agent.next_sync(at(100));
    CHECK(sync(third).done.empty());
    REQUIRE(sync(third).running.size() == 1);
    CHECK(sync(third).running[0].phase == jobs::Phase::collecting);
    // After a while it is sent again.
    const auto later = agent.wake_at(at(100));
    CHECK(later == at(5100));
    const auto fourth = agent.next_sync(later);
    CHECK(sync(fourth).done.size() == 1);
    auto answer = reply(sync(fourth));
    answer.drop = {{{"L1"}, jobs::Verdict::duplicate}};
    const auto forget = of<executor::ForgetLease>(agent.replied(4, std::move(answer), at(5200)));
    REQUIRE(forget.size() == 1);
    CHECK(forget[0].verdict == jobs::Verdict::duplicate);
}

TEST_CASE("a result that was not dropped is sent again when the master has restarted") {
    auto agent = working({lease("L1")});
    agent.finished({"L1"}, done());
    (void)agent.replied(2, reply(sync(agent.next_sync(at(0)))), at(1));
    (void)agent.replied(3, reply(sync(agent.next_sync(at(1))), "m2"), at(2));
    CHECK(sync(agent.next_sync(at(2))).done.size() == 1);
}

TEST_CASE("a poll with running jobs is answered soon enough to renew their leases") {
    auto agent = working({lease("L1", 30'000)});
    const auto out = agent.next_sync(at(0));
    CHECK(sync(out).wait == jobs::sync_wait_max);
    CHECK(out->timeout < base::seconds(20));
}

TEST_CASE("a lease counts from when the sync that renewed it was first sent") {
    auto agent = working({lease("L1", 30'000)});  // until 30 s
    const auto renewal = agent.next_sync(at(1000));
    agent.failed(2, unreachable(), at(9000));
    const auto again = agent.next_sync(agent.wake_at(at(9000)));
    CHECK(sync(again).seq == 2);
    (void)agent.replied(2, reply(sync(renewal)), at(12'000));  // until 31 s, not 42 s
    CHECK(agent.tick(at(25'900)).empty());
    const auto stops = of<executor::StopJob>(agent.tick(at(26'000)));
    REQUIRE(stops.size() == 1);
    CHECK(stops[0].order.reason == executor::StopReason::lease);
    // Dead before the end: the grace fits into the margin.
    CHECK(stops[0].order.grace <= base::milliseconds(2500));
    CHECK(agent.tick(at(27'000)).empty());
}

TEST_CASE("a grant counts from when the master wrote it, at the earliest") {
    Agent agent(options(), {});
    const auto first = agent.next_sync(at(0));
    auto answer = reply(sync(first));
    answer.held = base::seconds(20);
    answer.leases = {lease("L1", 6000)};
    CHECK(of<executor::StartJob>(agent.replied(1, std::move(answer), at(20'100))).size() == 1);
    CHECK(agent.tick(at(24'900)).empty());
    CHECK(of<executor::StopJob>(agent.tick(at(25'000))).size() == 1);
}

TEST_CASE("a lease that comes when it is nearly over is given back without starting it") {
    Agent agent(options(), {});
    const auto first = agent.next_sync(at(0));
    auto answer = reply(sync(first));
    answer.held = {};
    answer.leases = {lease("L1", 6000)};
    CHECK(of<executor::StartJob>(agent.replied(1, std::move(answer), at(5500))).empty());
    const auto next = agent.next_sync(at(5500));
    REQUIRE(sync(next).done.size() == 1);
    CHECK(sync(next).done[0].outcome.outcome_class == jobs::OutcomeClass::infra);
}

TEST_CASE("more leases than slots are given back") {
    Agent agent(options(1), {});
    auto answer = reply(sync(agent.next_sync(at(0))));
    answer.leases = {lease("L1"), lease("L2")};
    CHECK(of<executor::StartJob>(agent.replied(1, std::move(answer), at(1))).size() == 1);
    const auto next = agent.next_sync(at(1));
    REQUIRE(sync(next).done.size() == 1);
    CHECK(sync(next).done[0].ref.lease.text == "L2");
    CHECK(sync(next).capacity == 0);
}

TEST_CASE("a cancel stops the job once, however often it is repeated, and its outcome is told") {
    auto agent = working({lease("L1")});
    auto answer = reply(sync(agent.next_sync(at(0))));
    answer.cancel = {{{"L1"}, jobs::CancelReason::requested}, {{"L9"}, jobs::CancelReason::fenced}};
    const auto stops = of<executor::StopJob>(agent.replied(2, std::move(answer), at(5)));
    REQUIRE(stops.size() == 1);
    CHECK(stops[0].order.reason == executor::StopReason::requested);
    auto repeated = reply(sync(agent.next_sync(at(5))));
    repeated.cancel = {{{"L1"}, jobs::CancelReason::requested}};
    CHECK(agent.replied(3, std::move(repeated), at(6)).empty());
    agent.finished({"L1"}, done());
    CHECK(sync(agent.next_sync(at(6))).done.size() == 1);
}

TEST_CASE("a fenced session ends for good") {
    auto agent = working({lease("L1")});
    (void)agent.next_sync(at(0));
    agent.failed(2, {{base::ErrorCode::fenced, "a newer session", {}, {}}, {}}, at(1));
    REQUIRE(agent.ended());
    CHECK(agent.ended()->message == "a newer session");
    CHECK_FALSE(agent.next_sync(at(1000)));
}

TEST_CASE("a master that answers at once with nothing is not asked in a tight loop") {
    auto agent = working({});
    int syncs = 0;
    base::Duration now = at(0);
    while (now < at(10'000)) {
        if (const auto out = agent.next_sync(now)) {
            ++syncs;
            auto answer = reply(*out->request);
            answer.held = {};
            (void)agent.replied(out->request->seq, std::move(answer), now);
        } else {
            now = agent.wake_at(now);
        }
    }
    CHECK(syncs > 5);
    CHECK(syncs < 40);
}

TEST_CASE("the pace that the master sets is kept, but for news") {
    auto agent = working({lease("L1")});
    auto answer = reply(sync(agent.next_sync(at(0))));
    answer.next_sync = base::seconds(3);
    (void)agent.replied(2, std::move(answer), at(100));
    CHECK_FALSE(agent.next_sync(at(100)));
    CHECK(agent.wake_at(at(100)) == at(3100));
    agent.finished({"L1"}, done());
    CHECK(agent.next_sync(at(200)));
}

TEST_CASE("a draining executor says so at once, takes nothing, and is done when all is acknowledged"
) {
    auto agent = working({lease("L1")});
    CHECK(sync(agent.next_sync(at(0))).seq == 2);
    agent.drain();
    CHECK_FALSE(agent.drained());
    const auto told = agent.next_sync(at(1));
    CHECK(sync(told).draining);
    CHECK(sync(told).capacity == 0);
    CHECK(sync(told).wait == base::Duration{});
    (void)agent.replied(3, reply(sync(told)), at(2));
    agent.finished({"L1"}, done());
    const auto last = agent.next_sync(at(3));
    CHECK(sync(last).done.size() == 1);
    CHECK_FALSE(agent.drained());
    auto answer = reply(sync(last));
    answer.drop = {{{"L1"}, jobs::Verdict::applied}};
    (void)agent.replied(sync(last).seq, std::move(answer), at(4));
    CHECK(agent.drained());
}

TEST_CASE("results beyond the size of a sync wait for the next and are named meanwhile") {
    executor::LeftOver left;
    auto large = done();
    large.standard_output.text.assign(jobs::output_inline_bytes_max, 'x');
    large.standard_output.bytes_total = large.standard_output.bytes_kept =
        large.standard_output.text.size();
    for (int i = 0; i < 100; ++i)
        left.done.push_back({lease("L" + std::to_string(i)).ref(), large});
    Agent agent(options(), left);
    const auto first = agent.next_sync(at(0));
    CHECK(sync(first).done.size() > 10);
    CHECK(sync(first).done.size() < 100);
    CHECK(sync(first).done.size() + sync(first).running.size() == 100);
    (void)agent.replied(1, reply(sync(first)), at(1));
    CHECK_FALSE(sync(agent.next_sync(at(1))).done.empty());
}

TEST_CASE("many builtin jobs need one sync for all of them, back and forth") {
    auto agent = working({}, options(128));
    base::Duration now = at(0);
    std::uint64_t finished = 0;
    std::vector<jobs::Drop> drops;
    for (int round = 0; round < 100; ++round) {
        const auto out = agent.next_sync(now);
        auto answer = reply(sync(out));
        answer.held = {};
        for (const auto& one : sync(out).done)
            answer.drop.push_back({one.ref.lease, jobs::Verdict::applied});
        for (std::int64_t i = 0; i < sync(out).capacity; ++i)
            answer.leases.push_back(lease("R" + std::to_string(round) + "-" + std::to_string(i)));
        const auto seq = sync(out).seq;
        for (const auto& start :
             of<executor::StartJob>(agent.replied(seq, std::move(answer), now))) {
            agent.finished(start.lease.id, done());
            ++finished;
        }
    }
    CHECK(finished == 12'800);
}
