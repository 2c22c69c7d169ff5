#include "tests/cli/lab.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>

using tests::cli::await;
using tests::cli::Json;
using tests::cli::Lab;

namespace {

Json adding_net() {
    return {
        {"net", "adder"},
        {"version", "1.0.0"},
        {"places", {{"in", Json::object()}, {"out", Json::object()}, {"parked", Json::object()}}},
        {"transitions",
         {{"add",
           {{"in", {{"n", "in"}}},
            {"guard", "has(n.value)"},
            {"out", {{"out", {{"value", "${n.value + 1}"}}}}}}}}},
        {"start", "in"},
        {"end", {"out"}},
    };
}

std::vector<std::string> keys(const Json& object) {
    std::vector<std::string> names;
    for (const auto& [name, value] : object.items())
        names.push_back(name);
    return names;
}

}  // namespace

TEST_CASE("wrong usage ends with 2 and says what is wrong") {
    Lab lab;
    for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
             {},
             {"nonsense"},
             {"net"},
             {"net", "deploy"},
             {"net", "check", "/does/not/exist"},
             {"serve", "--lease", "soon"},
             {"serve", "--listen", "nowhere"},
             {"serve", "--durability", "maybe"},
             {"executor", "--master", "http://127.0.0.1:1"},
             {"executor", "--master", "x", "--token-file", "y", "--work", "z", "--label", "novalue"
             },
             {"case", "start", "n", "--value", "{broken"},
             {"case", "start", "n", "--wait", "a while"},
             {"eval"},
             {"audit", "verify", "--data", "/does/not/exist"},
             {"token", "put", "a/b"},
         }) {
        const auto said = lab.run(arguments);
        const auto line = arguments.empty() ? "" : arguments.back();
        CHECK_MESSAGE(said.exit == 2, line, ": ", said.exit, said.err);
        CHECK_MESSAGE(!said.err.empty(), line);
        CHECK_MESSAGE(said.out.empty(), line);
    }
}

TEST_CASE("with --json wrong usage is JSON too, whatever it is that is wrong") {
    Lab lab;
    for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
             {"--json"},
             {"nonsense", "--json"},
             {"net", "deploi", "--json"},
             {"net", "deploy", "--json"},
             {"net", "deploy", "a", "b", "--json"},
             {"case", "start", "n", "--vaule", "1", "--json"},
             {"case", "start", "n", "--wait", "a while", "--json"},
             {"case", "start", "n", "--value", "{broken", "--json"},
             {"token", "put", "a/b", "--json"},
         }) {
        const auto said = lab.run(arguments);
        CHECK(said.exit == 2);
        const auto error = base::parse_json(said.err);
        REQUIRE_MESSAGE(error, said.err);
        CHECK(error->at("error").at("code") == "validation");
        CHECK(!error->at("error").at("message").get<std::string>().empty());
    }
}

TEST_CASE("a misspelled subcommand or option is answered with the one that was meant") {
    Lab lab;
    const auto hint = [&](const std::vector<std::string>& arguments) {
        return lab.run(arguments).err;
    };
    CHECK(hint({"nte", "list"}).contains("did you mean net?"));
    CHECK(hint({"net", "deplyo", "x"}).contains("did you mean deploy?"));
    CHECK(hint({"case", "start", "n", "--imput", "f"}).contains("did you mean --input?"));
    CHECK(hint({"case", "start", "n", "--imput=f"}).contains("did you mean --input?"));
    CHECK(!hint({"qqqqqqqq"}).contains("did you mean"));
    CHECK(hint({"case", "start", "n", "surplus"}).contains("surplus"));
}

TEST_CASE("a master that is not there ends with 4 and the next step") {
    Lab lab;
    const auto none = lab.run({"net", "list"});
    CHECK(none.exit == 4);
    CHECK(none.err.contains("netwright serve"));
    lab.start_master();
    lab.kill_master();
    const auto killed = lab.run({"net", "list", "--json"});
    CHECK(killed.exit == 4);
    const auto error = base::parse_json(killed.err);
    REQUIRE_MESSAGE(error, killed.err);
    CHECK(error->at("error").contains("next"));
}

TEST_CASE("what the master refuses ends with 3, and every fault is told") {
    Lab lab;
    lab.start_master();
    CHECK(lab.run({"net", "show", "nothing"}).exit == 3);
    CHECK(lab.run({"case", "show", "c99"}).exit == 3);
    CHECK(lab.run({"tool", "show", "nothing"}).exit == 3);
    CHECK(lab.run({"events", "--model", "nobody"}).exit == 3);
    auto net = adding_net();
    net["colour"] = "red";
    net["transitions"]["add"]["out"]["nowhere"] = 1;
    const auto said = lab.run({"net", "deploy", "-"}, net.dump());
    CHECK(said.exit == 3);
    CHECK(said.err.contains("/colour"));
    CHECK(said.err.contains("nowhere"));
    // Looking and failing have made nothing.
    CHECK(lab.get("/api/models").at("items").size() == 1);
}

TEST_CASE("net check tells every fault without a master and ends with 1; a good net with 0") {
    Lab lab;
    auto net = adding_net();
    CHECK(lab.run({"net", "check", "-"}, net.dump()).exit == 0);
    net["colour"] = "red";
    net["transitions"]["add"]["guard"] = "1 +";
    const auto said = lab.run({"net", "check", "-", "--json"}, net.dump());
    CHECK(said.exit == 1);
    const auto report = base::parse_json(said.out);
    REQUIRE(report);
    CHECK(report->at("ok") == false);
    std::string pointers;
    for (const auto& finding : report->at("findings"))
        pointers += finding.at("pointer").get<std::string>() + "\n";
    CHECK(pointers.contains("/colour"));
    CHECK(pointers.contains("/transitions/add/guard"));
    CHECK(base::parse_json(lab.run({"net", "schema"}).out));
}

TEST_CASE("a case is started, waited for, shown, listed and cancelled in the shapes of the API") {
    Lab lab;
    lab.start_master();
    lab.deploy(adding_net());
    const auto started =
        lab.run({"case", "start", "adder", "--value", R"({"value": 41})", "--wait", "--json"});
    CHECK(started.exit == 0);
    const auto done = *base::parse_json(started.out);
    CHECK(
        keys(done) ==
        std::vector<std::string>{
            "deadLetters", "end", "id", "left", "net", "operations", "state", "version"
        }
    );
    CHECK(done.at("state") == "completed");
    CHECK(done.at("end")[0].at("data") == Json{{"value", 42}});
    CHECK(lab.json({"case", "show", done.at("id")}) == done);

    // The id comes before the wait, for whoever interrupts it.
    const auto in_words =
        lab.run({"case", "start", "adder", "--value", R"({"value": 1})", "--wait"});
    CHECK(in_words.out.substr(0, in_words.out.find('\n')).ends_with(" is started"));
    const auto waiting = lab.run({"case", "start", "adder", "--wait=100ms", "--json"});
    CHECK(waiting.exit == 5);
    const auto id = base::parse_json(waiting.out)->at("id").get<std::string>();
    CHECK(lab.json({"case", "list"}).at("items").size() == 3);
    CHECK(lab.json({"case", "list", "--state", "waiting"}).at("items").size() == 1);
    CHECK(lab.json({"case", "cancel", id}).at("state") == "cancelled");
    CHECK(lab.run({"case", "show", id, "--wait", "1s"}).exit == 1);
}

TEST_CASE("a batch of tokens is put whole or not at all") {
    Lab lab;
    lab.start_master();
    lab.deploy(adding_net());
    lab.json(
        {"token", "put", "adder/parked", "--lines", "-"}, "{\"n\":1}\n{\"n\":2}\n\n{\"n\":3}\n"
    );
    CHECK(lab.json({"token", "list", "adder/parked"}).at("items").size() == 3);
    const auto some = lab.json({"token", "list", "adder/parked", "--where", "token.n > 1"});
    CHECK(some.at("items").size() == 2);
    const auto bad =
        lab.run({"token", "put", "adder/parked", "--value", "1", "--value", "2", "--case", "c999"});
    CHECK(bad.exit == 3);
    CHECK(lab.json({"token", "list", "adder/parked"}).at("items").size() == 3);
}

TEST_CASE("the master is found by --data, by the environment, and in the default directory") {
    Lab lab;
    lab.start_master();
    lab.deploy(adding_net());
    CHECK(lab.run({"net", "list", "--data", lab.data().string()}).exit == 0);
    CHECK(lab.run({"case", "start", "adder", "--data", lab.data().string()}).exit == 0);
    CHECK(
        lab.run({"token", "put", "adder/parked", "--value", "1", "--data", lab.data().string()})
            .exit == 0
    );
    CHECK(lab.run({"net", "list"}).exit == 0);
    tests::cli::ProcessOptions options{
        {"net", "list"},
        {{"XDG_DATA_HOME", "/does/not/exist"},
         {"NETWRIGHT_URL", lab.url()},
         {"NETWRIGHT_TOKEN", lab.admin_token()}},
        lab.path("out"),
        lab.path("err")
    };
    CHECK(tests::cli::Process(options).wait() == 0);
    options.environment["NETWRIGHT_TOKEN"] = "wrong";
    CHECK(tests::cli::Process(options).wait() == 3);
}

TEST_CASE("eval prints the typed value, and ends with 1 or 2 where there is none") {
    Lab lab;
    CHECK(lab.run({"eval", "a + 1", "--with", R"({"a": 1})"}).out == "int 2\n");
    CHECK(lab.run({"eval", "1 / 0"}).exit == 1);
    CHECK(lab.run({"eval", "b + 1"}).exit == 2);
}

TEST_CASE("events are paged, and followed until the process is told to stop") {
    Lab lab;
    lab.start_master();
    lab.deploy(adding_net());
    for (int i = 0; i < 3; ++i)
        lab.json({"case", "start", "adder", "--value", R"({"value": 1})", "--wait"});
    const auto records = lab.events();
    for (std::size_t i = 0; i < records.size(); ++i)
        CHECK(records[i].at("seq") == i + 1);
    tests::cli::Process follower(
        {{"events", "--follow", "--json", "--from", "2"},
         {{"XDG_DATA_HOME", lab.data().parent_path().string()}},
         lab.path("followed"),
         lab.path("followed.err")}
    );
    const auto lines = [&] {
        const auto text = tests::cli::text_of(lab.path("followed"));
        return static_cast<std::size_t>(std::ranges::count(text, '\n'));
    };
    await("what was there", [&] { return lines() == records.size() - 1; });
    lab.json({"case", "start", "adder", "--value", R"({"value": 1})", "--wait"});
    await("what came", [&] { return lines() > records.size(); });
    follower.send(SIGTERM);
    CHECK(follower.wait() == 0);
}

TEST_CASE("a blob comes back as it was put, and one that nothing refers to is collected") {
    Lab lab;
    lab.start_master();
    std::string bytes(3'000'000, 'x');
    bytes[1'234'567] = 'y';
    const auto file = lab.write("blob.bin", bytes);
    const auto put = lab.json({"blob", "put", file});
    const auto urn = put.at("urn").get<std::string>();
    CHECK(put.at("size") == bytes.size());
    CHECK(lab.run({"blob", "get", urn, "--out", lab.path("back").string()}).exit == 0);
    CHECK(tests::cli::text_of(lab.path("back")) == bytes);
    CHECK(lab.json({"blob", "stat", urn}).at("size") == bytes.size());
    CHECK(lab.json({"blob", "gc"}).at("collected") == 0);
    CHECK(lab.json({"blob", "gc", "--grace", "0s"}).at("collected") == 1);
    CHECK(lab.run({"blob", "stat", urn}).exit == 3);
}

TEST_CASE("master and executor stop on SIGTERM, and at once when idle") {
    Lab lab;
    lab.start_master();
    auto& executor = lab.start_executor("worker");
    const auto before = base::system_clock().elapsed();
    executor.send(SIGTERM);
    CHECK(executor.wait() == 0);
    CHECK(lab.stop_master() == 0);
    CHECK((base::system_clock().elapsed() - before).ms() < 5000);
    CHECK(!std::filesystem::exists(lab.data() / "endpoint.json"));
}

TEST_CASE("serve --with-executor runs a tool, and stops both") {
    Lab lab;
    lab.start_master({"--with-executor"});
    lab.register_tool("echo", "cat");
    lab.deploy(tests::cli::calling_net("echoing", "echo"));
    const auto done =
        lab.json({"case", "start", "echoing", "--value", R"({"a": 1})", "--wait", "20s"});
    CHECK(done.at("state") == "completed");
    CHECK(done.at("end")[0].at("place") == "done");
    CHECK(lab.stop_master() == 0);
}

TEST_CASE("a backup of a running or a stopped master is restored whole") {
    Lab lab;
    lab.start_master();
    lab.deploy(adding_net());
    const auto done = lab.json({"case", "start", "adder", "--value", R"({"value": 1})", "--wait"});
    const auto running = lab.run({"backup", lab.path("b.tar.zst").string()});
    CHECK(running.exit == 0);
    const auto early = lab.path("early").string();
    lab.json({"restore", lab.path("b.tar.zst").string(), "--data", early});
    CHECK(lab.run({"audit", "verify", "--state", "--data", early}).exit == 0);
    lab.stop_master();
    lab.json({"backup", lab.path("b.tar.zst").string(), "--force"});
    const auto there = lab.path("restored").string();
    lab.json({"restore", lab.path("b.tar.zst").string(), "--data", there});
    CHECK(lab.run({"audit", "verify", "--state", "--data", there}).exit == 0);
    CHECK(lab.run({"restore", lab.path("b.tar.zst").string(), "--data", there}).exit == 2);
    tests::cli::Process again(
        {{"serve", "--data", there, "--listen", "127.0.0.1:0"},
         {},
         lab.path("again.log"),
         lab.path("again.log")}
    );
    await("the restored master", [&] {
        return std::filesystem::exists(std::filesystem::path(there) / "endpoint.json");
    });
    CHECK(lab.json({"case", "show", done.at("id"), "--data", there}) == done);
}
