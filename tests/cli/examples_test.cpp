#include "tests/cli/lab.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using tests::cli::Json;
using tests::cli::Lab;

namespace {

namespace fs = std::filesystem;

const fs::path examples = NETWRIGHT_SOURCE_DIR "/nets/examples";

std::set<std::string> register_all(Lab& lab, const fs::path& tools, const std::string& model) {
    std::vector<std::string> arguments = {"tool", "register", "--json"};
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(tools)) {
        arguments.push_back(entry.path().string());
        names.insert(entry.path().filename().string());
    }
    if (!model.empty()) arguments.insert(arguments.end(), {"--model", model});
    const auto said = lab.run(std::move(arguments));
    REQUIRE_MESSAGE(said.exit == 0, said.err);
    return names;
}

Json run_case(
    Lab& lab, const fs::path& example, const std::string& input, const std::string& model
) {
    return lab.json(
        {"case",
         "start",
         example.filename().string(),
         "--input",
         (example / input).string(),
         "--wait",
         "60s",
         "--model",
         model}
    );
}

std::set<std::string> ids(const Json& page) {
    std::set<std::string> all;
    for (const auto& item : page.at("items"))
        all.insert(item.at("id").get<std::string>());
    return all;
}

}  // namespace

TEST_CASE("example 1: an order is digested in the sandbox, others are refused or fail on their way"
) {
    Lab lab;
    lab.start_master();
    lab.start_executor("worker", {"--slots", "2"});
    const auto example = examples / "order-intake";
    register_all(lab, example / "tools", "");
    lab.json({"net", "deploy", (example / "net.json").string()});
    const auto tool = lab.json({"tool", "show", "digest"});

    const auto done = run_case(lab, example, "input.json", "default");
    CHECK(done.at("state") == "completed");
    REQUIRE(done.at("end").size() == 1);
    CHECK(done.at("end")[0].at("place") == "done");
    CHECK(done.at("end")[0].at("data").at("lines") == 2);
    CHECK(done.at("end")[0].at("data").at("tool") == tool.at("versionHash"));
    CHECK(done.at("operations")[0].at("versionHash") == tool.at("versionHash"));

    const auto small = run_case(lab, example, "input-too-small.json", "default");
    CHECK(small.at("end")[0].at("place") == "failed");
    CHECK(small.at("operations").empty());

    const auto broken = run_case(lab, example, "input-broken.json", "default");
    CHECK(broken.at("end")[0].at("place") == "failed");
    CHECK(broken.at("end")[0].at("data").at("reason").get<std::string>().contains("exit"));
}

TEST_CASE("example 2: payments and shipments are joined on their order") {
    Lab lab;
    lab.start_master();
    const auto example = examples / "order-join";
    lab.json({"net", "deploy", (example / "net.json").string()});
    const auto all = run_case(lab, example, "input.json", "default");
    std::multiset<std::string> where;
    for (const auto& token : all.at("end"))
        where.insert(token.at("place").get<std::string>());
    CHECK(where == std::multiset<std::string>{"settled", "settled", "disputed"});

    const auto said = lab.run(
        {"case",
         "start",
         "order-join",
         "--input",
         (example / "input-one-missing.json").string(),
         "--wait",
         "200ms",
         "--json"}
    );
    CHECK(said.exit == 5);
    CHECK(base::parse_json(said.out)->at("state") == "waiting");
    const auto why = lab.json({"transition", "show", "order-join", "settle"});
    REQUIRE(!why.at("whyNot").empty());
    CHECK(why.at("whyNot").dump().contains("shipment"));
}

TEST_CASE("example 3: twenty-one local tools serve one model, and the others see none of them") {
    Lab lab;
    lab.start_master();
    lab.start_executor("worker", {"--slots", "4"});
    const auto example = examples / "maintenance";
    const auto names = register_all(lab, example / "tools", "ops");
    CHECK(names.size() == 21);
    lab.json({"net", "deploy", (example / "net.json").string(), "--model", "ops"});
    // 18 checks in six areas and their severity; what is not green is planned and reported, too.
    for (const auto& [input, calls] : {std::pair{"input.json", 21U}, {"input-green.json", 19U}}) {
        const auto done = run_case(lab, example, input, "ops");
        CHECK_MESSAGE(done.at("state") == "completed", done.dump());
        CHECK(done.at("end").size() == 1);
        CHECK(done.at("end")[0].at("place") == "done");
        CHECK(done.at("operations").size() == calls);
        for (const auto& operation : done.at("operations"))
            CHECK_MESSAGE(operation.at("state") == "finalized", operation.dump());
        CHECK_MESSAGE(!done.at("end").dump().contains("unknown"), done.at("end").dump());
    }
    CHECK(std::ranges::includes(ids(lab.json({"tool", "search", "--model", "ops"})), names));
    for (const char* other : {"default", "my-team"}) {
        for (const auto& id : ids(lab.json({"tool", "search", "--model", other})))
            CHECK_MESSAGE(!names.contains(id), id, " is seen from ", other);
    }
    const auto models =
        ids(lab.json({"net", "list", "--model", "ops"}).is_object() ? lab.get("/api/models")
                                                                    : Json::object());
    CHECK(!models.contains("my-team"));
}
