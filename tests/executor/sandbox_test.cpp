#include "tests/executor/rig.hpp"

#include <doctest/doctest.h>

TEST_CASE("a script runs in the sandbox and its streams and exit status come back") {
    rig::Rig rig;
    CHECK(rig.runner().capabilities().sandbox == "bwrap");
    auto lease = rig::script(jobs::Runtime::sh, "echo out $1; echo err >&2; exit 3\n");
    lease.job.argv = {"x y"};
    const auto finished = rig.run(lease);
    const auto& outcome = finished.outcome;
    if (outcome.error) MESSAGE(outcome.error->message);
    CHECK(outcome.standard_output.text == "out x y\n");
    CHECK(outcome.standard_error.text == "err\n");
    CHECK(outcome.exit_code == 3);
    CHECK(outcome.outcome_class == jobs::OutcomeClass::job);
    CHECK(outcome.sandbox.backend == "bwrap");
}
