#include "executor/ending.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <vector>

namespace {

executor::Ending exited(int code) {
    executor::Ending ending;
    ending.started = true;
    ending.exit_code = code;
    return ending;
}

executor::Ending signalled(int number) {
    executor::Ending ending;
    ending.started = true;
    ending.signal = number;
    return ending;
}

const jobs::Caps caps;

}  // namespace

using jobs::LimitKind;
using jobs::OutcomeClass;

TEST_CASE("exit status 0 is done, another one and a signal are the job's own failure") {
    CHECK(executor::classify(exited(0), caps).outcome_class == OutcomeClass::done);
    CHECK_FALSE(executor::classify(exited(0), caps).error);
    CHECK(executor::classify(exited(3), caps).outcome_class == OutcomeClass::job);
    CHECK(executor::classify(signalled(SIGSEGV), caps).outcome_class == OutcomeClass::job);
    CHECK(executor::classify(signalled(SIGSEGV), caps).signal == SIGSEGV);
}

TEST_CASE("what stopped a job decides its class, even when it then exits with 0") {
    auto ending = exited(0);
    ending.stop = executor::StopReason::wall;
    auto outcome = executor::classify(ending, caps);
    CHECK(outcome.outcome_class == OutcomeClass::limit);
    CHECK(outcome.error->code == base::ErrorCode::timeout);
    CHECK(outcome.limits == std::vector{LimitKind::wall});
    ending.stop = executor::StopReason::requested;
    outcome = executor::classify(ending, caps);
    CHECK(outcome.outcome_class == OutcomeClass::cancelled);
    CHECK(outcome.exit_code == 0);
}

TEST_CASE("a job stopped for its lease or a shutdown is interrupted; unstarted, it is given back") {
    for (const auto reason : {executor::StopReason::lease, executor::StopReason::shutdown}) {
        auto ending = signalled(SIGTERM);
        ending.stop = reason;
        const auto outcome = executor::classify(ending, caps);
        CHECK(outcome.outcome_class == OutcomeClass::interrupted);
        CHECK(outcome.error->code == base::ErrorCode::uncertain);
        CHECK_FALSE(outcome.given_back());
        ending = {};
        ending.stop = reason;
        CHECK(executor::classify(ending, caps).given_back());
        CHECK(executor::classify_stop_before_start(reason).given_back());
    }
    const auto requested = executor::classify_stop_before_start(executor::StopReason::requested);
    CHECK(requested.outcome_class == OutcomeClass::cancelled);
}

TEST_CASE("a process killed for memory spoils the job, refused forks only a job that failed") {
    auto ending = exited(0);
    ending.group.memory_kills = 1;
    CHECK(executor::classify(ending, caps).outcome_class == OutcomeClass::limit);
    ending = exited(0);
    ending.group.pids_refused = 5;
    CHECK(executor::classify(ending, caps).outcome_class == OutcomeClass::done);
    CHECK(executor::classify(ending, caps).limits == std::vector{LimitKind::pids});
    ending.exit_code = 1;
    CHECK(executor::classify(ending, caps).outcome_class == OutcomeClass::limit);
    // The whole sandbox, with the one who would report: the counter still tells.
    executor::Ending silent;
    silent.started = true;
    silent.group.memory_kills = 3;
    CHECK(executor::classify(silent, caps).limits == std::vector{LimitKind::memory});
}

TEST_CASE("output beyond its cap is noted and does no harm") {
    auto ending = exited(0);
    ending.output_over_cap = true;
    const auto outcome = executor::classify(ending, caps);
    CHECK(outcome.outcome_class == OutcomeClass::done);
    CHECK(outcome.limits == std::vector{LimitKind::output});
}

TEST_CASE("signals of the kernel's own limits are those limits") {
    CHECK(executor::classify(signalled(SIGXCPU), caps).limits == std::vector{LimitKind::cpu});
    CHECK(executor::classify(signalled(SIGXFSZ), caps).limits == std::vector{LimitKind::disk});
    auto ending = signalled(SIGKILL);
    CHECK(executor::classify(ending, caps).outcome_class == OutcomeClass::job);
    ending.group.cpu_us = caps.cpu_ms * 1000;
    CHECK(executor::classify(ending, caps).limits == std::vector{LimitKind::cpu});
}

TEST_CASE("only a job that was never started is a failure of the set-up") {
    executor::Ending ending;
    ending.start_error = "bwrap: no";
    auto outcome = executor::classify(ending, caps);
    CHECK(outcome.outcome_class == OutcomeClass::infra);
    CHECK(outcome.error->message.contains("bwrap: no"));
    ending.started = true;
    outcome = executor::classify(ending, caps);
    CHECK(outcome.outcome_class == OutcomeClass::job);
}
