#include "tests/engine/test_model.hpp"

#include <string>

namespace {

// `out` spends all its steps.
std::string net(std::string_view fail) {
    return R"({"net": "n", "version": "1", "places": {"in": {}, "out": {}, "failed": {}},
        "transitions": {"t": {"in": {"x": "in"},
            "out": {"out": "${x.all(a, x.all(b, x.all(c, true)))}"},
            "fail": {"failed": )" +
           std::string(fail) + "}}}}";
}

std::string numbers() {
    std::string list = "[0";
    for (int i = 1; i < 200; ++i)
        list += "," + std::to_string(i);
    return list + "]";
}

}  // namespace

TEST_CASE("S27: what `out` has spent is not the fail way's") {
    TestModel m;
    m.deploy(net(R"("${error.code} of ${size(x)}")"));
    m.put("n", "in", numbers());
    m.run();
    CHECK(m.in("n", "failed") == std::vector<std::string>{R"("limit of 200")"});
}

TEST_CASE("S27: a dead letter has the first error, and says that the fail way failed too") {
    TestModel m;
    m.deploy(net(R"("${x[1000]}")"));
    m.put("n", "in", numbers());
    m.run();
    const auto letters = m.in("", "p-dead-letter");
    REQUIRE(letters.size() == 1);
    const auto error = base::parse_json(letters[0])->at("error");
    CHECK(error.at("code") == "limit");
    CHECK(error.at("message").get<std::string>().contains("then 'fail' failed"));
}
