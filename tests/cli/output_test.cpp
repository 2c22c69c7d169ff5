#include "base/sha256.hpp"
#include "tests/cli/lab.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>

// What a job printed, from its pipe to its token and back: real processes.

using tests::cli::await;
using tests::cli::calling_net;
using tests::cli::Json;
using tests::cli::Lab;

namespace {

/// What the call of a tool ended with.
Json ended(Lab& lab, const std::string& net, const Json& input) {
    const auto done = lab.json({"case", "start", net, "--value", input.dump(), "--wait", "60s"});
    CHECK_MESSAGE(done.at("state") == "completed", done.dump().substr(0, 2000));
    REQUIRE(done.at("end").size() == 1);
    return done;
}

const Json& token_of(const Json& done) {
    return done.at("end")[0].at("data");
}

std::string operation_of(const Json& done) {
    return done.at("operations")[0].at("id");
}

}  // namespace

TEST_CASE("an answer of every size up to the cap is a value or names its bytes, and is read back") {
    Lab lab;
    lab.start_master();
    lab.start_executor("worker");
    lab.register_tool(
        "letters",
        "n=$(sed 's/[^0-9]//g'); head -c $n /dev/zero | tr '\\0' x",
        {{"caps", {{"outputBytes", 200'000}}}}
    );
    lab.deploy(calling_net("printing", "letters"));
    for (const int size :
         {0, 1, 122'868, 122'869, 122'870, 131'000, 131'060, 131'070, 131'072, 131'073, 200'000}) {
        CAPTURE(size);
        const auto done = ended(lab, "printing", {{"n", size}});
        CHECK(done.at("end")[0].at("place") == "done");
        const auto& token = token_of(done);
        const std::string text(static_cast<std::size_t>(size), 'x');
        if (token.contains("text")) {
            CHECK(token.at("text") == text);
        } else {
            CHECK(token.at("size") == size);
            CHECK(token.at("urn") == base::blob_urn(base::sha256(text)));
            CHECK(lab.json({"blob", "stat", token.at("urn")}).at("size") == size);
        }
        const auto logs = lab.run({"run", "logs", operation_of(done)});
        CHECK(logs.exit == 0);
        CHECK(logs.out == text);
        CHECK(logs.err.empty());
    }
    const auto cut = ended(lab, "printing", {{"n", 200'001}});
    CHECK(cut.at("end")[0].at("place") == "failed");
    const auto& error = cut.at("operations")[0].at("error");
    CHECK(error.at("code") == "bad_output");
    CHECK(error.at("details").at("stdoutBytesTotal") == 200'001);
    CHECK(error.at("usage").at("limits") == Json::array({"output"}));
    CHECK(error.at("usage").at("cpuMs").is_number_integer());
    const auto logs = lab.run({"run", "logs", operation_of(cut)});
    CHECK(logs.out.size() == 200'000);
    CHECK(logs.err.contains("stdout was cut: of 200001 bytes the first 134464"));
}

TEST_CASE("a run's two streams, exact bytes and progress are read back, in words and as JSON") {
    Lab lab;
    lab.start_master();
    lab.start_executor("worker");
    lab.register_tool(
        "speaking",
        "echo '::progress 40 half' >&2; printf 'caf\\351 \\377'; sleep 2; "
        "echo '::progress 90 nearly' >&2"
    );
    lab.deploy(calling_net("speaking", "speaking"));
    const auto done = ended(lab, "speaking", Json::object());
    const auto& token = token_of(done);
    CHECK(token.at("text") == "caf\uFFFD \uFFFD");
    CHECK(token.at("replaced") == true);
    const auto operation = operation_of(done);
    CHECK(lab.run({"run", "logs", operation, "--stream", "stdout"}).out == "caf\xE9 \xFF");
    const auto both = lab.run({"run", "logs", operation});
    CHECK(both.out == "caf\xE9 \xFF");
    CHECK(both.err == "::progress 40 half\n::progress 90 nearly\n");
    const auto json = lab.json({"run", "logs", operation});
    const auto& attempt = json.at("attempts").at(0);
    CHECK(attempt.at("executor") == "worker");
    CHECK(attempt.at("output").at("exitCode") == 0);
    CHECK(attempt.at("output").at("usage").at("wallMs") >= 2000);
    REQUIRE(attempt.at("progress").size() == 2);
    CHECK(attempt.at("progress")[0].at("percent") == 40);
    CHECK(attempt.at("progress")[1].at("message") == "nearly");
    const auto shown = lab.json({"operation", "show", operation});
    CHECK(shown.at("state") == "finalized");
    CHECK(shown.at("executor") == "worker");
    CHECK(shown.at("toolId") == "speaking");
    CHECK(lab.run({"run", "logs", "o99999"}).exit != 0);
}

TEST_CASE("operation show tells of a result that came too late: exit code, error and output") {
    Lab lab;
    lab.start_master({"--lease", "4s"});
    auto& sleeper = lab.start_executor("sleeper");
    lab.register_tool("slow", "echo '::progress 1 begun' >&2; sleep 3; echo too late; exit 3");
    lab.deploy(calling_net("slowly", "slow"));
    const std::string id = lab.json({"case", "start", "slowly", "--value", "{}"}).at("id");
    await("the start", [&] {
        return std::ranges::any_of(lab.events(), [](const Json& record) {
            return record.at("type") == "operation.progress";
        });
    });
    sleeper.send(SIGSTOP);
    std::string operation;
    await("the uncertainty", [&] {
        const auto shown = lab.json({"case", "show", id});
        operation = shown.at("operations")[0].at("id");
        return shown.at("operations")[0].at("state") == "uncertain";
    });
    sleeper.send(SIGCONT);
    Json late;
    await("the late result", [&] {
        const auto shown = lab.json({"operation", "show", operation});
        late = shown.value("lateResults", Json::array());
        return !late.empty();
    });
    REQUIRE(late.size() == 1);
    CHECK(late[0].at("executor") == "sleeper");
    CHECK(late[0].at("outcome") == "error");
    CHECK(late[0].at("output").at("stdout").is_string());
    CHECK(late[0].at("error").at("usage").contains("cpuMs"));
    lab.json({"operation", "abandon", operation, "--reason", "it came too late"});
    CHECK(lab.json({"operation", "show", operation}).at("lateResults") == late);
    CHECK(lab.json({"operation", "show", operation}).at("state") == "abandoned");
}
