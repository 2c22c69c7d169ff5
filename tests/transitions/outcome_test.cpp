#include "jobs/outcome.hpp"

#include "transitions/call.hpp"

#include <doctest/doctest.h>

using Kind = engine::Outcome::Kind;

namespace {

jobs::Outcome ended(jobs::OutcomeClass outcome_class, base::ErrorCode code) {
    jobs::Outcome made;
    made.outcome_class = outcome_class;
    made.error = jobs::OutcomeError{code, "why"};
    return made;
}

}  // namespace

TEST_CASE("an attempt that its executor stopped for its own reasons is lost, not an error") {
    using jobs::OutcomeClass;
    const transitions::OutcomeContext context{.attempt = {{7}, 1}, .reply = "call"};
    for (const auto outcome_class : {OutcomeClass::interrupted, OutcomeClass::cancelled}) {
        const auto outcome = ended(outcome_class, base::ErrorCode::uncertain);
        const auto made = transitions::to_engine(outcome, context);
        CHECK(made.kind == Kind::lost);
        CHECK_FALSE(made.digest.empty());
    }
    const auto refused = ended(OutcomeClass::rejected, base::ErrorCode::unsupported);
    CHECK(transitions::to_engine(refused, context).kind == Kind::never_started);
    const auto failed = ended(OutcomeClass::job, base::ErrorCode::exit_nonzero);
    CHECK(transitions::to_engine(failed, context).kind == Kind::error);
}
