#include "base/sha256.hpp"
#include "tests/cli/lab.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <sstream>

using tests::cli::await;
using tests::cli::calling_net;
using tests::cli::Json;
using tests::cli::Lab;

namespace {

/// Peak resident memory of a process, in KiB.
std::int64_t peak_kib(pid_t pid) {
    const auto status = tests::cli::text_of("/proc/" + std::to_string(pid) + "/status");
    const auto at = status.find("VmHWM:");
    REQUIRE(at != std::string::npos);
    return std::stoll(status.substr(at + 6));
}

std::string start_case(Lab& lab, const std::string& net) {
    return lab.json({"case", "start", net, "--value", R"({"a": 1})"}).at("id");
}

}  // namespace

TEST_CASE("an executor's token opens the executor's routes and nothing else") {
    Lab lab;
    lab.start_master();
    lab.start_executor("worker");
    const auto token = lab.executor_token("worker");
    for (const char* target :
         {"/api/models",
          "/api/models/default/events",
          "/api/tool-catalog",
          "/api/executors",
          "/api/blobs/"
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}) {
        CHECK_MESSAGE(lab.call({.target = target}, token).status == 403, target);
        CHECK_MESSAGE(lab.call({.target = target}, "nonsense").status == 401, target);
        CHECK_MESSAGE(lab.call({.target = target}, "").status == 401, target);
    }
    const auto posted = lab.call(
        {.method = http::Method::post, .target = "/api/models/default/nets", .body = "{}"}, token
    );
    CHECK(posted.status == 403);
    // A lease that it does not hold.
    const auto stolen = lab.call(
        {.method = http::Method::get,
         .target = "/api/executors/worker/leases/m1-default-1/content/" + std::string(64, 'a') +
                   "?fencing=1"},
        token
    );
    CHECK_MESSAGE((stolen.status == 409 || stolen.status == 404), stolen.status);
}

TEST_CASE("an idle executor gets a job in the answer to the poll that it has open") {
    Lab lab;
    lab.start_master();
    lab.start_executor("worker");
    lab.deploy(calling_net("measuring", "noop"));
    lab.json({"case", "start", "measuring", "--value", "{}", "--wait", "30s"});
    // A poll is open now for up to 25 s: a job that had to wait for the next one would take long.
    std::int64_t fastest = INT64_MAX;
    for (int i = 0; i < 5; ++i) {
        const auto before = base::system_clock().elapsed();
        const auto done =
            lab.json({"case", "start", "measuring", "--value", "{}", "--wait", "60s"});
        CHECK(done.at("state") == "completed");
        fastest = std::min(fastest, (base::system_clock().elapsed() - before).ms());
    }
    CHECK(fastest < 3000);
}

TEST_CASE("50 MB of output are spilled in flat memory; the token has preview, size and URN") {
    Lab lab;
    lab.start_master();
    auto& executor = lab.start_executor("worker");
    constexpr std::size_t bytes = 50'000'000;
    lab.register_tool("small", "echo '{}'");
    lab.register_tool(
        "flood",
        "import sys\nfor i in range(50):\n    sys.stdout.write('x' * 999_999 + '\\n')\n",
        {{"runtime", "python3"},
         {"effect", "once"},
         {"caps", {{"outputBytes", 64 << 20}, {"wallMs", 200'000}, {"cpuMs", 60'000}}}}
    );
    lab.deploy(calling_net("warming", "small"));
    lab.deploy(calling_net("flooding", "flood"));
    lab.json({"case", "start", "warming", "--value", "{}", "--wait", "60s"});
    const auto master_before = peak_kib(lab.master().pid());
    const auto executor_before = peak_kib(executor.pid());
    const auto done = lab.json({"case", "start", "flooding", "--value", "{}", "--wait", "200s"});
    constexpr std::int64_t growth_kib_max = 16 << 10;
    CHECK(peak_kib(lab.master().pid()) - master_before < growth_kib_max);
    CHECK(peak_kib(executor.pid()) - executor_before < growth_kib_max);
    const auto text = done.dump();
    CHECK(text.size() < 100'000);
    const auto at = text.find("urn:netwright:blob:sha256:");
    REQUIRE_MESSAGE(at != std::string::npos, text.substr(0, 4000));
    const auto urn = text.substr(at, 26 + 64);
    CHECK(lab.json({"blob", "stat", urn}).at("size") == bytes);
    std::string line(999'999, 'x');
    line += '\n';
    base::Sha256 hash;
    for (int i = 0; i < 50; ++i)
        hash.update(line);
    CHECK(urn == base::blob_urn(hash.finish()));
}

TEST_CASE("an executor that sleeps past its lease is fenced: its late result is evidence only") {
    Lab lab;
    lab.start_master({"--lease", "3s"});
    auto& sleeper = lab.start_executor("sleeper");
    // Whoever runs it waits until the file is there.
    lab.register_tool("slow", "sleep 2; echo '{\"ok\": true}'", {{"effect", "idempotent"}});
    lab.deploy(calling_net("slowly", "slow"));
    const auto id = start_case(lab, "slowly");
    const auto leased_to = [&](const std::string& name) {
        for (const auto& record : lab.events()) {
            if (record.at("type") == "lease.granted" && record.at("data").at("executor") == name) {
                return true;
            }
        }
        return false;
    };
    await("the lease", [&] { return leased_to("sleeper"); });
    sleeper.send(SIGSTOP);
    lab.start_executor("helper");
    const auto done = lab.json({"case", "show", id, "--wait", "120s"});
    CHECK_MESSAGE(done.at("state") == "completed", done.dump());
    CHECK(done.at("end").size() == 1);
    CHECK(leased_to("helper"));
    sleeper.send(SIGCONT);
    await("the late result as evidence", [&] {
        for (const auto& record : lab.events()) {
            if (record.at("type") == "operation.late_result") return true;
        }
        return false;
    });
    CHECK(lab.json({"case", "show", id}) == done);
    int finalized = 0;
    for (const auto& record : lab.events())
        finalized += record.at("type") == "operation.finalized" ? 1 : 0;
    CHECK(finalized == 1);
}

TEST_CASE("an executor killed in the middle of a job: a pure call is made again") {
    Lab lab;
    lab.start_master({"--lease", "3s"});
    auto& first = lab.start_executor("first");
    lab.register_tool("nap", "sleep 1; echo '{}'", {{"effect", "pure"}});
    lab.deploy(calling_net("napping", "nap"));
    const auto id = start_case(lab, "napping");
    await("the lease", [&] { return lab.get("/api/executors").dump().contains("\"attempt\""); });
    first.send(SIGKILL);
    first.wait();
    lab.start_executor("second");
    CHECK(lab.json({"case", "show", id, "--wait", "120s"}).at("state") == "completed");
}

TEST_CASE("a call of a once-tool whose executor is gone is visibly uncertain, and can be abandoned"
) {
    Lab lab;
    lab.start_master({"--lease", "2s"});
    auto& only = lab.start_executor("only");
    lab.register_tool("nap", "sleep 5; echo '{}'");
    lab.deploy(calling_net("napping", "nap"));
    const auto id = start_case(lab, "napping");
    await("the lease", [&] { return lab.get("/api/executors").dump().contains("\"attempt\""); });
    only.send(SIGKILL);
    only.wait();
    std::string operation;
    await("the uncertainty", [&] {
        const auto shown = lab.json({"case", "show", id});
        operation = shown.at("operations")[0].at("id");
        return shown.at("operations")[0].at("state") == "uncertain";
    });
    lab.json({"operation", "abandon", operation, "--reason", "looked: it did not happen"});
    const auto over = lab.json({"case", "show", id});
    CHECK_MESSAGE(over.at("state") == "completed", over.dump());
    CHECK(over.at("end")[0].at("place") == "failed");
}

TEST_CASE("a one-time token enrols one executor; a used or wrong one ends it with its own exit code"
) {
    Lab lab;
    lab.start_master();
    const auto file = (lab.data() / "once.token").string();
    lab.json({"executor", "enrol", "--label", "pool=a", "--out", file});
    lab.start_executor("first", {"--token-file", file, "--label", "pool=b"});
    const auto listed = lab.get("/api/executors/first");
    CHECK(listed.at("labels").at("pool") == "a");
    constexpr int denied = 6;
    CHECK(lab.launch_executor("second", {"--token-file", file}).wait() == denied);
    CHECK(lab.diary("second").contains("the one-time token is not known to this master"));
    const auto wrong = lab.write("wrong.token", std::string(64, '0') + "\n");
    CHECK(lab.launch_executor("third", {"--token-file", wrong}).wait() == denied);
    CHECK(lab.diary("third").contains("netwright executor enrol"));
}

TEST_CASE("a drained executor finishes what it has and ends; its job is not taken from it") {
    Lab lab;
    lab.start_master();
    auto& worker = lab.start_executor("worker");
    lab.register_tool("nap", "sleep 1; echo '{}'");
    lab.deploy(calling_net("napping", "nap"));
    const auto id = start_case(lab, "napping");
    await("the lease", [&] { return lab.get("/api/executors").dump().contains("\"attempt\""); });
    CHECK(lab.run({"executor", "drain", "nobody"}).exit == 3);
    lab.json({"executor", "drain", "worker"});
    CHECK(worker.wait() == 0);
    CHECK(lab.json({"case", "show", id, "--wait", "60s"}).at("state") == "completed");
}

TEST_CASE(
    "an executor that stands still is shown as silent within three seconds, and why-not says so"
) {
    Lab lab;
    lab.start_master();
    auto& worker = lab.start_executor("worker");
    const auto stopped = base::system_clock().elapsed();
    worker.send(SIGSTOP);
    await("its silence", [&] { return lab.get("/api/executors/worker").at("state") == "silent"; });
    // Three seconds as the master sees it; how soon a busy machine asks it is another thing.
    CHECK((base::system_clock().elapsed() - stopped).ms() < 10'000);
    lab.deploy(calling_net("measuring", "noop"));
    start_case(lab, "measuring");
    await("the reason", [&] {
        return lab.get("/api/models/default/nets/measuring/transitions/call")
            .dump()
            .contains("executor 'worker' is silent");
    });
    worker.send(SIGCONT);
    await("its return", [&] {
        return lab.get("/api/executors/worker").at("state") == "connected";
    });
}
