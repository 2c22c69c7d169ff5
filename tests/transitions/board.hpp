#pragma once

#include "transitions/job_board.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <utility>
#include <vector>

/// A job board with one executor, `e1`, and a clock that the test sets.
namespace boards {

using transitions::JobBoard;
using transitions::Task;

inline Task task(
    base::Seq operation, jobs::Effect effect = jobs::Effect::once, std::uint32_t attempt = 1
) {
    Task made{.epoch = 3, .reply = "call"};
    made.job.model = "m";
    made.job.attempt = {{operation}, attempt};
    made.job.effect = effect;
    made.job.binding = jobs::Builtin{"noop"};
    made.job.idempotency_key = "k";
    return made;
}

struct Board {
    JobBoard board{{.master = "m1", .lease_key = "kept"}};
    JobBoard::Now now{base::seconds(100), {1}};
    std::uint64_t seq = 0;
    transitions::Ticket ticket = 0;
    std::uint64_t session = 1;

    jobs::SyncRequest request(std::int64_t capacity) {
        jobs::SyncRequest made{
            .session = session,
            .seq = ++seq,
            .answered = seq - 1,
            .capacity = capacity,
            .wait = base::seconds(20)
        };
        made.introduction = jobs::Introduction{.slots = 4};
        made.introduction->capabilities.builtins = {"noop"};
        made.introduction->capabilities.networks = {"deny"};
        return made;
    }
    std::vector<jobs::SyncReply> sync(jobs::SyncRequest made) {
        REQUIRE(board.sync("e1", ++ticket, std::move(made), now));
        return answers();
    }
    std::vector<jobs::SyncReply> answers() {
        std::vector<jobs::SyncReply> replies;
        for (auto& answer : board.take_answers())
            replies.push_back(std::move(answer.reply));
        return replies;
    }
    template <class Event>
    std::vector<Event> events() {
        std::vector<Event> found;
        for (auto& event : board.take_events()) {
            if (auto* wanted = std::get_if<Event>(&event)) found.push_back(std::move(*wanted));
        }
        return found;
    }
    jobs::Lease lease(base::Seq operation, jobs::Effect effect = jobs::Effect::once) {
        board.offer(task(operation, effect), now);
        const auto replies = sync(request(1));
        REQUIRE(replies.size() == 1);
        REQUIRE(replies[0].leases.size() == 1);
        board.take_events();
        return replies[0].leases[0];
    }
};

/// A lease that an earlier run of the master granted.
inline jobs::LeaseRef sealed(
    std::string_view executor, jobs::Fencing fencing, base::AttemptId attempt
) {
    const transitions::LeaseSeal seal("kept");
    return {seal.id_of(executor, "m", attempt, fencing), fencing, "m", attempt};
}

inline jobs::Outcome outcome(int code = 0) {
    jobs::Outcome made;
    made.exit_code = code;
    return made;
}

}  // namespace boards
