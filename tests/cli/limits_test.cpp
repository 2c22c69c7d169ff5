#include "tests/cli/lab.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using tests::cli::Json;
using tests::cli::Lab;

namespace {

struct Question {
    std::string target;
    std::string body;
    std::vector<std::string> named;  ///< what the answer must name: pointer, value, limit
};

}  // namespace

TEST_CASE("a number or a duration beyond its limits is refused with its pointer, value and limit") {
    Lab lab;
    lab.start_master();
    auto net = tests::cli::calling_net("calling", "noop");
    net["transitions"].begin().value()["timeout"] = "99999999999999999999d";
    const std::string big = "9223372036854775808";
    const std::string days = "999999999999999999d";
    const std::string cases = "/api/models/default/nets/n/cases";
    const std::string claim = "/api/models/default/work/o1/claim";
    const std::vector<Question> questions = {
        {"/api/models/default/nets", net.dump(), {"timeout", "99999999999999999999d", "366d"}},
        {cases, R"({"value":{"a":[1,)" + big + "]}}", {"/value/a/1", big, "9223372036854775807"}},
        {cases + "?wait=" + days, "{}", {"wait", days, "1m"}},
        {claim, R"({"agent":"a","lease":")" + days + R"("})", {"/lease", days, "1d"}},
        {claim, R"({"agent":"a","lease":"25h"})", {"/lease", "25h", "1d"}},
        {"/api/blobs/gc?grace=" + days, "", {"grace", days, "366d"}},
        {"/api/tool-catalog/scripts",
         R"({"id":"t","name":"T","runtime":"sh","content":"cat","caps":{"wallMs":300001}})",
         {"/caps/wallMs", "300001", "300000"}},
    };
    for (const auto& question : questions) {
        const auto answer = lab.call(
            {.method = http::Method::post, .target = question.target, .body = question.body},
            lab.admin_token()
        );
        CHECK_MESSAGE(answer.status == 400, question.target, ": ", answer.body);
        for (const auto& part : question.named)
            CHECK_MESSAGE(answer.body.contains(part), part, " is not in ", answer.body);
    }
    for (const char* option : {"--lease", "--time"}) {
        const auto command =
            option == std::string("--lease")
                ? std::vector<std::string>{"serve", "--data", lab.path("x").string()}
                : std::vector<std::string>{"net", "check", "-"};
        auto arguments = command;
        arguments.insert(arguments.end(), {option, days});
        const auto said = lab.run(arguments);
        CHECK(said.exit == 2);
        CHECK_MESSAGE(said.err.contains(days), said.err);
    }
}

TEST_CASE("a zero byte in the body of a request is refused, and nothing before it is done") {
    Lab lab;
    lab.start_master();
    const auto net = tests::cli::calling_net("calling", "noop").dump();
    const auto answer = lab.call(
        {.method = http::Method::post,
         .target = "/api/models/default/nets",
         .body = net + std::string("\0{}", 3)},
        lab.admin_token()
    );
    CHECK(answer.status == 400);
    CHECK(answer.body.contains("zero byte"));
    CHECK(lab.run({"net", "show", "calling"}).exit == 3);
}

TEST_CASE("what a request asks twice is refused: a wait of the past, a version as of a seq") {
    Lab lab;
    lab.start_master();
    for (const char* target :
         {"/api/models/default/cases/c1?wait=1s&asOf=1", "/api/tool-catalog/noop?version=1&asOf=1"
         }) {
        const auto answer = lab.call({.target = target}, lab.admin_token());
        CHECK_MESSAGE(answer.status == 400, target, ": ", answer.body);
        CHECK(answer.body.contains("exclude each other"));
    }
}
