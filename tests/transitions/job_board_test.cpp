#include "tests/transitions/board.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using boards::Board;
using boards::outcome;
using boards::sealed;
using boards::task;

TEST_CASE("work that arrives is granted in the answer to the sync that is open already") {
    Board b;
    CHECK(b.sync(b.request(2)).empty());
    b.board.offer(task(7), b.now);
    const auto replies = b.answers();
    REQUIRE(replies.size() == 1);
    REQUIRE(replies[0].leases.size() == 1);
    CHECK((replies[0].leases[0].fencing >> 32U) == 3);
    CHECK(b.events<transitions::Granted>().size() == 1);
}

TEST_CASE("the same sync gets the same answer") {
    Board b;
    b.board.offer(task(7), b.now);
    auto request = b.request(1);
    const auto first = b.sync(request);
    const auto again = b.sync(request);
    REQUIRE(again.size() == 1);
    CHECK(again[0] == first[0]);
    CHECK(b.board.leased() == 1);
}

TEST_CASE("a result is reported once, and dropped when it is settled") {
    Board b;
    const auto lease = b.lease(7);
    auto request = b.request(1);
    request.done.push_back({lease.ref(), outcome()});
    b.sync(request);
    CHECK(b.events<transitions::Reported>().size() == 1);
    b.board.settled({lease.id, "e1"}, jobs::Verdict::applied, b.now);
    const auto replies = b.answers();
    REQUIRE(replies.size() == 1);
    CHECK(replies[0].drop.front().verdict == jobs::Verdict::applied);
    auto again = b.request(1);
    again.done.push_back({lease.ref(), outcome()});
    CHECK(b.sync(again).front().drop.front().verdict == jobs::Verdict::duplicate);
    auto other = b.request(1);
    other.done.push_back({lease.ref(), outcome(1)});
    CHECK(b.sync(other).front().drop.front().verdict == jobs::Verdict::conflict);
    CHECK(b.events<transitions::Reported>().empty());
}

TEST_CASE("a lease that is not renewed is lost, and its late result is only evidence") {
    Board b;
    const auto lease = b.lease(7);
    b.now.elapsed = b.now.elapsed + base::seconds(31);
    b.board.tick(b.now);
    CHECK(b.events<transitions::Lost>().size() == 1);
    b.board.loss_settled("m", {{7}, 1}, true, b.now);
    auto request = b.request(1);
    request.done.push_back({lease.ref(), outcome()});
    auto replies = b.sync(request);
    const auto reported = b.events<transitions::Reported>();
    REQUIRE(reported.size() == 1);
    CHECK(reported[0].stale);
    b.board.settled({lease.id, "e1", true}, jobs::Verdict::fenced, b.now);
    for (auto& reply : b.answers())
        replies.push_back(std::move(reply));
    for (auto& reply : b.sync(b.request(1)))
        replies.push_back(std::move(reply));
    CHECK(std::ranges::any_of(replies, [](const jobs::SyncReply& reply) {
        return !reply.drop.empty() && reply.drop.front().verdict == jobs::Verdict::fenced;
    }));
    CHECK_FALSE(b.board.in_force("e1", lease.id, lease.fencing));
}

TEST_CASE("a lease that is listed as running goes on") {
    Board b;
    const auto lease = b.lease(7);
    for (int i = 0; i < 5; ++i) {
        b.now.elapsed = b.now.elapsed + base::seconds(20);
        auto request = b.request(0);
        request.running.push_back({.ref = lease.ref()});
        b.sync(request);
        b.board.tick(b.now);
    }
    CHECK(b.events<transitions::Lost>().empty());
    CHECK(b.board.leased() == 1);
}

TEST_CASE("a grant that the executor never got is offered again, without a lost attempt") {
    Board b;
    const auto lease = b.lease(7);
    // Its process died before the answer came.
    b.session = 2;
    b.seq = 0;
    const auto replies = b.sync(b.request(1));
    REQUIRE(replies.size() == 1);
    REQUIRE(replies[0].leases.size() == 1);
    CHECK(replies[0].leases[0].id != lease.id);
    CHECK(replies[0].leases[0].fencing > lease.fencing);
    CHECK(b.events<transitions::Lost>().empty());
}

TEST_CASE(
    "a silent executor's repeatable jobs go to others at once, its once jobs wait for their lease"
) {
    Board b;
    b.board.offer(task(7, jobs::Effect::once), b.now);
    b.board.offer(task(8, jobs::Effect::pure), b.now);
    const auto granted = b.sync(b.request(2));
    REQUIRE(granted.front().leases.size() == 2);
    auto poll = b.request(0);
    for (const auto& lease : granted.front().leases)
        poll.running.push_back({.ref = lease.ref()});
    CHECK(b.sync(poll).empty());
    b.board.closed(b.ticket, b.now);
    b.now.elapsed = b.now.elapsed + base::seconds(3);
    b.board.tick(b.now);
    const auto lost = b.events<transitions::Lost>();
    REQUIRE(lost.size() == 1);
    CHECK(lost[0].attempt.operation.seq == 8);
    CHECK(b.board.view(b.now).front().state == "silent");
    b.now.elapsed = b.now.elapsed + base::seconds(30);
    b.board.tick(b.now);
    CHECK(b.events<transitions::Lost>().size() == 1);
}

TEST_CASE(
    "after a restart a job that an executor reports stays its; one that nobody knows is offered "
    "when all are back"
) {
    Board b;
    b.board.expect({"e1"});
    b.board.recover(task(7), b.now);
    b.board.recover(task(8), b.now);
    CHECK(b.board.waiting() == 0);
    auto request = b.request(0);
    request.running.push_back({.ref = sealed("e1", 5, {{7}, 1})});
    b.sync(request);
    CHECK(b.board.holder("m", {{7}, 1}) == "e1");
    CHECK(b.board.waiting() == 1);
    CHECK(b.events<transitions::Lost>().empty());
}

TEST_CASE("after a restart a job of an executor that stays away is lost after one lease time") {
    Board b;
    b.board.expect({"e1", "gone"});
    b.board.recover(task(7), b.now);
    b.sync(b.request(1));
    CHECK(b.board.waiting() == 0);
    b.now.elapsed = b.now.elapsed + base::seconds(31);
    b.board.tick(b.now);
    CHECK(b.events<transitions::Lost>().size() == 1);
}

TEST_CASE("an executor is told once to stop what nobody wants any more") {
    Board b;
    const auto lease = b.lease(7);
    auto request = b.request(0);
    request.running.push_back({.ref = lease.ref()});
    CHECK(b.sync(request).empty());
    b.board.withdraw("m", {7}, b.now);
    const auto replies = b.answers();
    REQUIRE(replies.size() == 1);
    CHECK(replies[0].cancel.front().lease == lease.id);
    auto next = b.request(0);
    next.running.push_back({.ref = lease.ref()});
    CHECK(b.sync(next).empty());
}

TEST_CASE("a newer session of the same executor ends the one before") {
    Board b;
    b.sync(b.request(1));
    auto old = b.request(1);
    b.session = 2;
    b.seq = 0;
    b.sync(b.request(1));
    const auto refused = b.board.sync("e1", 99, old, b.now);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == base::ErrorCode::fenced);
}

TEST_CASE("a request of a dead session, late by a restart of the master, is known for what it is") {
    Board b;
    b.session = 7;
    b.sync(b.request(1));
    b.session = 6;
    b.seq = 3;
    const auto refused = b.board.sync("e1", 99, b.request(1), b.now);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == base::ErrorCode::fenced);
}

TEST_CASE("leases that are under way to an executor count against the room that it tells") {
    Board b;
    b.sync(b.request(1));
    b.board.offer(task(7), b.now);
    b.board.offer(task(8), b.now);
    const auto granted = b.answers().at(0).leases;
    REQUIRE(granted.size() == 1);
    // Sent before that answer arrived: the slot looks free.
    auto next = b.request(1);
    next.answered = 0;
    CHECK(b.sync(next).empty());
    // Now it has arrived, and there is room for one more.
    auto later = b.request(1);
    later.running.push_back({.ref = granted[0].ref()});
    const auto replies = b.sync(later);
    REQUIRE(replies.size() == 2);
    CHECK(replies[0].leases.empty());
    CHECK(replies[1].leases.size() == 1);
}

TEST_CASE("a lease that was given back is offered again, as if never granted") {
    Board b;
    b.board.offer(task(7), b.now);
    const auto lease = b.sync(b.request(1)).at(0).leases.at(0);
    auto next = b.request(1);
    jobs::Outcome full;
    full.outcome_class = jobs::OutcomeClass::infra;
    full.error = {base::ErrorCode::overloaded, "all slots are taken"};
    next.done.push_back({lease.ref(), full});
    const auto answer = b.sync(next).at(0);
    REQUIRE(answer.leases.size() == 1);
    CHECK(answer.leases[0].job.attempt == lease.job.attempt);
    CHECK(answer.leases[0].id != lease.id);
    REQUIRE(answer.drop.size() == 1);
    CHECK(answer.drop[0].lease == lease.id);
    for (const auto& event : b.board.take_events())
        CHECK_FALSE(std::holds_alternative<transitions::Reported>(event));
}

TEST_CASE("a job that no executor can take says why") {
    Board b;
    b.board.offer(task(7), b.now);
    CHECK(b.board.why_waiting("m", {{7}, 1}, b.now) == "no executor is connected");
    auto request = b.request(1);
    request.introduction->capabilities.builtins.clear();
    b.sync(request);
    CHECK(b.board.why_waiting("m", {{7}, 1}, b.now).find("noop") != std::string::npos);
}

TEST_CASE("however long it was quiet, a lease is granted whole and its executor counts it right") {
    for (const int quiet_s : {0, 9, 19, 24}) {
        CAPTURE(quiet_s);
        Board b;
        auto poll = b.request(1);
        poll.wait = base::seconds(25);
        CHECK(b.sync(poll).empty());
        b.now.elapsed = b.now.elapsed + base::seconds(quiet_s);
        b.board.offer(task(7), b.now);
        const auto replies = b.answers();
        REQUIRE(replies.size() == 1);
        // The executor counts from when it sent the request, and this much later.
        CHECK(replies[0].held == base::seconds(quiet_s));
        const auto ref = replies[0].leases.at(0).ref();
        b.now.elapsed = b.now.elapsed + base::seconds(29);
        CHECK(b.board.next_due(b.now) == b.now.elapsed + base::seconds(1));
        b.board.tick(b.now);
        CHECK(b.events<transitions::Lost>().empty());
        CHECK(b.board.in_force("e1", ref.lease, ref.fencing));
    }
}

namespace {

jobs::Outcome not_begun(const std::string& why) {
    jobs::Outcome made;
    made.outcome_class = jobs::OutcomeClass::rejected;
    made.error = {base::ErrorCode::limit, why};
    return made;
}

}  // namespace

TEST_CASE("what an executor could not begin another one gets, and it itself only later") {
    Board b;
    const auto lease = b.lease(7);
    auto next = b.request(1);
    next.introduction.reset();
    next.done.push_back({lease.ref(), not_begun("the disk is full")});
    const auto answer = b.sync(next).at(0);
    CHECK(answer.leases.empty());
    REQUIRE(answer.drop.size() == 1);
    CHECK(answer.drop[0].verdict == jobs::Verdict::applied);
    CHECK(b.events<transitions::Reported>().empty());
    CHECK(b.board.why_waiting("m", {{7}, 1}, b.now).contains("could not begin it: the disk is full")
    );
    // Another one has it at once.
    auto other = b.request(1);
    other.seq = 1;
    other.answered = 0;
    REQUIRE(b.board.sync("e2", ++b.ticket, other, b.now));
    const auto granted = b.answers();
    REQUIRE(granted.size() == 1);
    CHECK(granted[0].leases.size() == 1);
}

TEST_CASE("an executor that refused is asked again after a while, or when it can do more") {
    for (const bool introduces : {false, true}) {
        Board b;
        const auto lease = b.lease(7);
        auto next = b.request(1);
        next.introduction.reset();
        next.done.push_back({lease.ref(), not_begun("the disk is full")});
        CHECK(b.sync(next).at(0).leases.empty());
        auto poll = b.request(1);
        if (!introduces) poll.introduction.reset();
        const auto at_once = b.sync(poll);
        if (introduces) {
            REQUIRE(at_once.size() == 1);
            CHECK(at_once[0].leases.size() == 1);
            continue;
        }
        CHECK(at_once.empty());
        const auto due = b.board.next_due(b.now);
        REQUIRE(due);
        b.now.elapsed = *due;
        b.board.tick(b.now);
        const auto later = b.answers();
        REQUIRE(later.size() == 1);
        CHECK(later[0].leases.size() == 1);
    }
}

TEST_CASE("a job that nobody can begin ends in the end, with the last reason") {
    Board b;
    b.board.offer(task(7), b.now);
    std::vector<transitions::Reported> reported;
    int refusals = 0;
    for (; reported.empty() && refusals < 100; ++refusals) {
        const auto answers = b.sync(b.request(1));
        REQUIRE(answers.size() == 1);
        REQUIRE(answers[0].leases.size() == 1);
        auto next = b.request(0);
        next.done.push_back({answers[0].leases[0].ref(), not_begun("no such interpreter")});
        b.sync(next);
        reported = b.events<transitions::Reported>();
        b.board.answer_all(b.now);
        b.answers();
    }
    CHECK(refusals == transitions::Refusals::refusals_max + 1);
    REQUIRE(reported.size() == 1);
    CHECK(reported[0].outcome.error->message == "no such interpreter");
}

TEST_CASE("what an executor said to run it cannot give back, and a bad pin is told to nobody else"
) {
    for (const bool tampered : {false, true}) {
        Board b;
        const auto lease = b.lease(7);
        auto running = b.request(0);
        if (!tampered) running.running.push_back({lease.ref(), jobs::Phase::running, {}, {}});
        auto next = b.request(1);
        if (!tampered) b.sync(running);
        auto outcome = not_begun("no");
        if (tampered) outcome.error->code = base::ErrorCode::tamper;
        next.done.push_back({lease.ref(), outcome});
        b.sync(next);
        CHECK(b.events<transitions::Reported>().size() == 1);
    }
}

TEST_CASE("progress is told when it changes, at most once a second, and the last one always") {
    Board b;
    const auto lease = b.lease(7);
    const auto tell = [&](std::int64_t percent) {
        auto request = b.request(0);
        request.running.push_back(
            {lease.ref(), jobs::Phase::running, {}, jobs::Progress{percent, "on"}}
        );
        b.sync(request);
        return b.events<transitions::Progressed>().size();
    };
    CHECK(tell(10) == 1);
    CHECK(tell(10) == 0);
    CHECK(tell(20) == 0);
    b.now.elapsed = b.now.elapsed + base::seconds(1);
    CHECK(tell(30) == 1);
    auto request = b.request(0);
    auto done = outcome();
    done.progress = {100, "all"};
    request.done.push_back({lease.ref(), done});
    b.sync(request);
    const auto last = b.events<transitions::Progressed>();
    REQUIRE(last.size() == 1);
    CHECK(last[0].progress.percent == 100);
}
