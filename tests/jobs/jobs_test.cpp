#include "base/json.hpp"
#include "jobs/base64.hpp"
#include "jobs/capabilities.hpp"
#include "jobs/job.hpp"
#include "jobs/outcome.hpp"
#include "jobs/routes.hpp"
#include "jobs/sync.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <initializer_list>
#include <string>

namespace {

jobs::Job script_job() {
    const std::string content = "echo hi\n\xFF";
    jobs::Job job;
    job.model = "orders";
    job.attempt = {{7}, 1};
    job.tool_id = "digest";
    job.version_hash = "abc";
    job.effect = jobs::Effect::idempotent;
    job.binding = jobs::Script{
        jobs::Runtime::sh, "digest.sh", base::sha256(content), content.size(), content
    };
    job.argv = {"--fast", "x y"};
    job.env = {{"COLOUR", "blue"}};
    job.input = std::string("\x00\xFF", 2);
    job.args = R"({"a":1})";
    job.caps.memory_mb = 64;
    job.network = jobs::Network::allow;
    job.idempotency_key = "orders/o7";
    return job;
}

jobs::Outcome failed_outcome() {
    jobs::Outcome outcome;
    outcome.outcome_class = jobs::OutcomeClass::limit;
    outcome.signal = 9;
    outcome.standard_output = {900'000, 400'000, 300'000, "begin", "end", base::sha256("x")};
    outcome.standard_error = {3, 3, 0, "\xFF\xFE\n", "", {}};
    outcome.duration_ms = 12;
    outcome.usage = {12, 8, 1 << 20U, 3};
    outcome.limits = {jobs::LimitKind::memory, jobs::LimitKind::output};
    outcome.error = {base::ErrorCode::limit, "memory"};
    outcome.sandbox = {"bwrap", "0.8.0", "hybrid", {{"memory", "cgroup"}}};
    return outcome;
}

jobs::SyncRequest full_request() {
    jobs::SyncRequest request;
    request.session = 1790000000000001;
    request.seq = 5;
    request.answered = 4;
    request.capacity = 3;
    request.wait = jobs::sync_wait_max;
    request.introduction = jobs::Introduction{4, {{"zone", "a"}}, {}};
    request.introduction->capabilities.runtimes = {{"sh", "dash"}};
    request.introduction->capabilities.networks = {"deny"};
    const jobs::LeaseRef ref{{"L1"}, (std::uint64_t{3} << 32U) + 9, "orders", {{7}, 1}};
    request.running = {{ref, jobs::Phase::stopping, {1, 2, 3, 4}, jobs::Progress{40, "half"}}};
    request.done = {{ref, failed_outcome()}};
    request.lost = {ref};
    return request;
}

jobs::SyncReply full_reply() {
    jobs::SyncReply reply;
    reply.master = "m";
    reply.seq = 5;
    reply.held = base::milliseconds(20);
    reply.next_sync = base::seconds(10);
    reply.introduce = true;
    reply.leases = {{{"L2"}, 77, base::seconds(30), script_job()}};
    reply.cancel = {{{"L1"}, jobs::CancelReason::fenced}};
    reply.drop = {{{"L0"}, jobs::Verdict::conflict}};
    return reply;
}

// What the other side reads: the text, not the value.
base::Json over_the_wire(const base::Json& json) {
    return base::parse_json(base::canonical(json)).value();
}

bool names(const base::Error& error, std::initializer_list<const char*> pointers) {
    return std::ranges::all_of(pointers, [&](const char* pointer) {
        return std::ranges::any_of(error.details, [&](const auto& detail) {
            return detail.pointer == pointer;
        });
    });
}

}  // namespace

TEST_CASE("base64 reads back what it wrote, and nothing that it would not write") {
    for (const char* bytes : {"", "f", "fo", "foo", "foob", "fooba", "foobar"}) {
        CHECK(jobs::base64_decode(jobs::base64_encode(bytes)) == bytes);
    }
    CHECK(jobs::base64_encode("foob") == "Zm9vYg==");
    for (const char* text : {"Zg=", "Zh==", "Zg==Zg==", "=g==", "Z===", "Zm9v\n", "Zm-v"}) {
        CHECK_FALSE(jobs::base64_decode(text));
    }
}

TEST_CASE("a job reads back as it was, whatever its binding") {
    auto job = script_job();
    CHECK(jobs::job_from_json(over_the_wire(jobs::to_json(job))) == job);
    job.binding = jobs::Builtin{"noop"};
    CHECK(jobs::job_from_json(over_the_wire(jobs::to_json(job))) == job);
    job.binding = jobs::Command{"echo $1"};
    CHECK(jobs::job_from_json(over_the_wire(jobs::to_json(job))) == job);
}

TEST_CASE("every fault of a job is named at once, with its place") {
    auto json = jobs::to_json(script_job());
    json["attempt"] = "o7";
    json["binding"]["filename"] = "../x";
    json["binding"]["colour"] = 1;
    json["caps"]["pids"] = 0;
    json["env"]["LD_PRELOAD"] = "x";
    json["surprise"] = true;
    json.erase("model");
    const auto job = jobs::job_from_json(json);
    REQUIRE_FALSE(job);
    CHECK(job.error().code == base::ErrorCode::validation);
    CHECK(names(
        job.error(),
        {"/attempt",
         "/binding/filename",
         "/binding/colour",
         "/caps/pids",
         "/env",
         "/surprise",
         "/model"}
    ));
    CHECK(job.error().details.size() == 7);
}

TEST_CASE("a zero byte in what a program is started with is a fault") {
    const std::string zero("a\0b", 3);
    auto command = script_job();
    command.binding = jobs::Command{zero};
    auto argument = script_job();
    argument.argv = {zero};
    auto setting = script_job();
    setting.env = {{"A", zero}};
    for (const auto& job : {command, argument, setting}) {
        const auto read = jobs::job_from_json(jobs::to_json(job));
        REQUIRE_FALSE(read);
        CHECK(read.error().details.at(0).message.contains("zero byte"));
    }
}

TEST_CASE("what a job may set in its environment") {
    for (const char* name : {"TOOL_A", "TOOL_PATH", "TZ", "LC_ALL", "NO_COLOR"})
        CHECK(jobs::env_name_allowed(name));
    for (const char* name :
         {"",
          "1A",
          "A-B",
          "A=B",
          "PATH",
          "HOME",
          "LD_PRELOAD",
          "LD_AUDIT",
          "PYTHONPATH",
          "NODE_OPTIONS",
          "NETWRIGHT_JOB_ID",
          "BASH_ENV",
          "A",
          "SHELLOPTS",
          "PS4",
          "PYTHONWARNINGS",
          "PERL5OPT",
          "GCONV_PATH",
          "IFS",
          "tool_a",
          "TOOL_A-B"}) {
        CHECK_FALSE(jobs::env_name_allowed(name));
    }
}

TEST_CASE("an outcome reads back as it was and keeps its digest") {
    const auto outcome = failed_outcome();
    const auto again = jobs::outcome_from_json(over_the_wire(jobs::to_json(outcome)));
    REQUIRE(again);
    CHECK(*again == outcome);
    CHECK(jobs::digest(*again) == jobs::digest(outcome));
    auto other = outcome;
    other.usage.cpu_ms += 1;
    CHECK(jobs::digest(other) != jobs::digest(outcome));
}

TEST_CASE("an outcome that contradicts itself is refused") {
    auto json = jobs::to_json(failed_outcome());
    json["stdout"]["bytesKept"] = 1'000'000;
    json["stderr"]["bytesKept"] = 2;
    json.erase("error");
    const auto outcome = jobs::outcome_from_json(json);
    REQUIRE_FALSE(outcome);
    CHECK(names(outcome.error(), {"/stdout/bytesKept", "/stderr/text", "/error"}));
}

TEST_CASE("a sync and its answer read back as they were") {
    CHECK(
        jobs::sync_request_from_json(over_the_wire(jobs::to_json(full_request()))) == full_request()
    );
    CHECK(jobs::sync_reply_from_json(over_the_wire(jobs::to_json(full_reply()))) == full_reply());
}

TEST_CASE("faults deep in a sync are named with their place") {
    auto request = jobs::to_json(full_request());
    request["running"][0]["lease"] = "../../etc";
    request["done"][0]["outcome"]["class"] = "good";
    request["lost"][0]["fencing"] = 0;
    request["answered"] = 5;
    const auto read = jobs::sync_request_from_json(request);
    REQUIRE_FALSE(read);
    CHECK(names(
        read.error(), {"/running/0/lease", "/done/0/outcome/class", "/lost/0/fencing", "/answered"}
    ));
    auto reply = jobs::to_json(full_reply());
    reply["drop"] = 1;
    const auto answer = jobs::sync_reply_from_json(reply);
    REQUIRE_FALSE(answer);
    CHECK(names(answer.error(), {"/drop"}));
}

TEST_CASE("a lease that cannot be read is refused alone, and the rest of the answer counts") {
    auto reply = jobs::to_json(full_reply());
    reply["leases"].push_back(reply["leases"][0]);
    reply["leases"][0]["job"]["binding"]["sha256"] = "00";
    reply["leases"][1]["lease"] = "L3";
    const auto answer = jobs::sync_reply_from_json(reply);
    REQUIRE(answer);
    REQUIRE(answer->leases.size() == 1);
    CHECK(answer->leases[0].id.text == "L3");
    CHECK(answer->refused.size() == 1);
    CHECK(answer->drop == full_reply().drop);
}

TEST_CASE("a word that is empty is a fault, not the first of those that are known") {
    auto job = jobs::to_json(script_job());
    job["effect"] = "";
    job["network"] = "";
    job["binding"]["runtime"] = "";
    const auto read = jobs::job_from_json(job);
    REQUIRE_FALSE(read);
    CHECK(names(read.error(), {"/effect", "/network", "/binding/runtime"}));
    auto request = jobs::to_json(full_request());
    request["running"][0]["phase"] = "";
    const auto sync = jobs::sync_request_from_json(request);
    REQUIRE_FALSE(sync);
    CHECK(names(sync.error(), {"/running/0/phase"}));
    auto reply = jobs::to_json(full_reply());
    reply["cancel"][0]["reason"] = "";
    reply["drop"][0]["verdict"] = "";
    const auto answer = jobs::sync_reply_from_json(reply);
    REQUIRE_FALSE(answer);
    CHECK(names(answer.error(), {"/cancel/0/reason", "/drop/0/verdict"}));
}

TEST_CASE("an element of a list, and a number beyond 63 bits, are told with their place") {
    auto json = jobs::to_json(script_job());
    json["argv"] = {"fine", 7};
    json["env"]["COLOUR"] = 7;
    json["caps"]["wallMs"] = UINT64_MAX;
    const auto job = jobs::job_from_json(json);
    REQUIRE_FALSE(job);
    CHECK(names(job.error(), {"/argv/1", "/env/COLOUR", "/caps/wallMs"}));
    CHECK(job.error().details.size() == 3);
    CHECK(std::ranges::any_of(job.error().details, [](const auto& detail) {
        return detail.message.starts_with("is 18446744073709551615;");
    }));
}

TEST_CASE("where nothing was left out of an output, it has no beginning of its own") {
    auto json = jobs::to_json(failed_outcome());
    json["stderr"]["bytesHead"] = 2;
    const auto outcome = jobs::outcome_from_json(json);
    REQUIRE_FALSE(outcome);
    CHECK(names(outcome.error(), {"/stderr/bytesHead"}));
}

TEST_CASE("an executor is unfit for what it lacks, and the reason names it") {
    jobs::Capabilities capabilities;
    capabilities.runtimes = {{"sh", "dash"}};
    capabilities.networks = {"deny"};
    capabilities.memory_mb = 128;
    capabilities.cpus = 2;
    capabilities.builtins = {"noop"};
    auto job = script_job();
    CHECK(jobs::why_unfit(capabilities, job) == "network 'allow' is not available");
    job.network = jobs::Network::deny;
    CHECK_FALSE(jobs::why_unfit(capabilities, job));
    job.caps.memory_mb = 129;
    CHECK(jobs::why_unfit(capabilities, job)->contains("129 MB"));
    job.binding = jobs::Command{"true"};
    CHECK(jobs::why_unfit(capabilities, job) == "the runtime 'bash' is not installed");
    job.binding = jobs::Builtin{"noop"};
    CHECK_FALSE(jobs::why_unfit(capabilities, job));
    job.binding = jobs::Builtin{"other"};
    CHECK(jobs::why_unfit(capabilities, job));
}

TEST_CASE("addresses name the executor, the lease and the fencing number") {
    const jobs::LeaseRef ref{{"L1"}, 12, "orders", {{7}, 1}};
    CHECK(jobs::routes::sync_path("e1") == "/api/executors/e1/sync");
    CHECK(
        jobs::routes::output_path("e1", {ref.lease, jobs::routes::stdout_stream, 12, 5}) ==
        "/api/executors/e1/leases/L1/output/stdout?fencing=12&offset=5"
    );
    CHECK(jobs::routes::content_path("e1", ref, base::sha256("")).ends_with("b855?fencing=12"));
    CHECK_FALSE(jobs::routes::valid_executor_id("../x"));
    CHECK_FALSE(jobs::routes::valid_executor_id("A"));
    CHECK(jobs::routes::valid_executor_id("host-1.example"));
}
