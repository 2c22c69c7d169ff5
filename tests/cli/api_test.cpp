#include "http/events.hpp"
#include "tests/cli/lab.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

// What a program relies on over the API and the command line, and no other test touches.

using tests::cli::await;
using tests::cli::Json;
using tests::cli::Lab;

namespace {

/// Divides; a token of 0 becomes a dead letter.
Json dividing_net() {
    return {
        {"net", "divider"},
        {"version", "1.0.0"},
        {"places", {{"in", Json::object()}, {"out", Json::object()}}},
        {"transitions",
         {{"divide", {{"in", {{"n", "in"}}}, {"out", {{"out", {{"by", "${12 / n.by}"}}}}}}}}},
        {"start", "in"},
        {"end", {"out"}},
    };
}

/// A self-signed certificate for 127.0.0.1, and its key.
void make_certificate(const Lab& lab) {
    const auto command =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
        "-subj /CN=netwright-test -addext subjectAltName=IP:127.0.0.1 -keyout " +
        lab.path("key.pem").string() + " -out " + lab.path("chain.pem").string() + " 2>/dev/null";
    REQUIRE(std::system(command.c_str()) == 0);
}

/// The ids of the first `count` events that follow the one named.
std::vector<std::string> events_after(Lab& lab, const std::string& id, std::size_t count) {
    auto client = http::Client::make({.url = lab.url(), .bearer_token = lab.admin_token()});
    REQUIRE(client);
    http::Call call{.target = "/api/models/default/events"};
    call.headers.add("Accept", "text/event-stream");
    if (!id.empty()) call.headers.add("Last-Event-ID", id);
    std::vector<std::string> ids;
    const auto answer = client->events(std::move(call), [&](const http::Event& event) {
        ids.push_back(event.id);
        return ids.size() < count;
    });
    REQUIRE_MESSAGE(answer, answer.error().message);
    return ids;
}

}  // namespace

TEST_CASE("a dead letter is listed, redriven where it came from, and dropped") {
    Lab lab;
    lab.start_master();
    lab.deploy(dividing_net());
    const auto failed = lab.run({"case", "start", "divider", "--value", R"({"by": 0})", "--wait"});
    CHECK(failed.exit == 1);
    const auto letters = lab.json({"dead-letter", "list"}).at("items");
    REQUIRE(letters.size() == 1);
    const auto first = letters[0].at("id").get<std::string>();
    const auto id = letters[0].at("case").get<std::string>();

    lab.json({"dead-letter", "redrive", first});
    await("the letter that the same token becomes again", [&] {
        const auto again = lab.json({"dead-letter", "list"}).at("items");
        return again.size() == 1 && again[0].at("id") != first;
    });
    CHECK(lab.run({"dead-letter", "redrive", first}).exit == 3);
    const auto second = lab.json({"dead-letter", "list"}).at("items")[0].at("id");
    lab.json({"dead-letter", "drop", second});
    CHECK(lab.json({"dead-letter", "list"}).at("items").empty());
    CHECK(lab.run({"dead-letter", "drop", second}).exit == 3);
    CHECK(lab.json({"case", "show", id}).at("deadLetters").empty());
}

TEST_CASE("the ancestry of a token leads back to the record that started its case") {
    Lab lab;
    lab.start_master();
    lab.deploy(dividing_net());
    const auto done = lab.json({"case", "start", "divider", "--value", R"({"by": 3})", "--wait"});
    const auto token = done.at("end")[0].at("id").get<std::string>();
    const auto records = lab.json({"token", "ancestry", token}).at("items");
    REQUIRE(records.size() == 2);
    CHECK(records[0].at("type") == "fired");
    CHECK(records[1].at("type") == "case.started");
    CHECK(lab.run({"token", "ancestry", "t999-1"}).exit == 3);
}

TEST_CASE("a follower that comes back with Last-Event-ID misses no record and sees none twice") {
    Lab lab;
    lab.start_master();
    lab.deploy(dividing_net());
    for (int i = 1; i <= 3; ++i)
        lab.json({"case", "start", "divider", "--value", R"({"by": 3})", "--wait"});
    const auto last = lab.events().size();
    REQUIRE(last > 5);
    CHECK(events_after(lab, "", 2) == std::vector<std::string>{"1", "2"});
    CHECK(events_after(lab, "2", 2) == std::vector<std::string>{"3", "4"});
    CHECK(
        events_after(lab, std::to_string(last - 1), 1) ==
        std::vector<std::string>{std::to_string(last)}
    );
    http::Call call{.target = "/api/models/default/events"};
    call.headers.add("Accept", "text/event-stream");
    call.headers.add("Last-Event-ID", "yesterday");
    CHECK(lab.call(std::move(call), lab.admin_token()).status == 400);
}

TEST_CASE("serve with a certificate: client, executor and a case over TLS") {
    Lab lab;
    make_certificate(lab);
    const auto chain = lab.path("chain.pem").string();
    lab.trust(chain);
    lab.start_master(
        {"--with-executor", "--tls-cert", chain, "--tls-key", lab.path("key.pem").string()}
    );
    CHECK(lab.url().starts_with("https://"));
    lab.register_tool("echo", "cat");
    lab.deploy(tests::cli::calling_net("echoing", "echo"));
    const auto done =
        lab.json({"case", "start", "echoing", "--value", R"({"a": 1})", "--wait", "60s"});
    CHECK(done.at("state") == "completed");
    lab.trust("");
    const auto distrusted = lab.run({"net", "list"});
    CHECK(distrusted.exit == 4);
    CHECK(distrusted.err.contains("not trusted"));
    CHECK(lab.stop_master() == 0);
}
