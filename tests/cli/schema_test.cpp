#include "base/files.hpp"
#include "base/json.hpp"
#include "tests/cli/binary.hpp"
#include "tests/skip.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>

using tests::cli::binary;
using tests::cli::binary_exists;

namespace {

struct Folder {
    base::TemporaryFolder folder;

    std::string write(const std::string& name, const std::string& text) const {
        const auto path = folder.path() / name;
        std::ofstream(path) << text;
        return path.string();
    }
};

struct Checked {
    int exit = -1;
    base::Json said;
};

Checked check(const std::string& arguments) {
    const auto ran = tests::cli::run(binary() + " schema check --json " + arguments);
    Checked checked{WEXITSTATUS(ran.status), {}};
    if (auto parsed = base::parse_json(ran.output)) checked.said = std::move(*parsed);
    return checked;
}

}  // namespace

TEST_CASE("schema check tells every fault of a value with its pointer") {
    if (!binary_exists()) return;
    const Folder folder;
    const auto schema = folder.write("s.json", R"({
        "type": "object", "required": ["id"],
        "properties": {"id": {"type": "string"}, "total": {"minimum": 0}}})");
    const auto good = check("--schema " + schema + " " + folder.write("g.json", R"({"id":"a"})"));
    CHECK(good.exit == 0);
    CHECK(good.said.at("ok") == true);
    const auto bad =
        check("--schema " + schema + " " + folder.write("b.json", R"({"id":1,"total":-2})"));
    CHECK(bad.exit == 1);
    REQUIRE(bad.said.at("errors").size() == 2);
    CHECK(bad.said.at("errors")[0].at("pointer") == "/id");
    CHECK(bad.said.at("errors")[0].at("in") == "data");
    CHECK(bad.said.at("errors")[1].at("pointer") == "/total");
}

TEST_CASE("schema check tells faults of the schema itself, a misspelt keyword among them") {
    if (!binary_exists()) return;
    const Folder folder;
    const auto schema =
        folder.write("s.json", R"({"properties": {"a": {"typ": "string"}}, "minimum": "x"})");
    const auto checked = check("--schema " + schema);
    CHECK(checked.exit == 1);
    REQUIRE(checked.said.at("errors").size() == 2);
    for (const auto& error : checked.said.at("errors"))
        CHECK(error.at("in") == "schema");
    CHECK(check("--schema " + folder.write("t.json", R"({"$ref": "https://x.test/s"})")).exit == 1);
    CHECK(check("--schema " + folder.write("u.json", "{")).exit == 2);
    CHECK(check("--schema " + schema + " --draft draft4").exit == 2);
    CHECK(check("").exit == 2);
}

TEST_CASE("schema check runs a file of the official suite and names what fails") {
    if (!binary_exists()) return;
    const Folder folder;
    const auto suite = folder.write("suite.json", R"([{
        "description": "numbers", "schema": {"type": "number"},
        "tests": [
            {"description": "one", "data": 1, "valid": true},
            {"description": "wrong on purpose", "data": "1", "valid": true}]}])");
    const auto checked = check("--suite " + suite + " --draft draft7");
    CHECK(checked.exit == 1);
    CHECK(checked.said.at("passed") == 1);
    CHECK(checked.said.at("failed") == 1);
    CHECK(checked.said.at("failures")[0].at("test") == "wrong on purpose");

    const auto published = tests::corpus("json-schema");
    if (!published) return;
    const auto official = *published / "draft2020-12" / "refRemote.json";
    const auto passed = check("--suite " + official.string() + " --draft draft2020-12");
    CHECK(passed.exit == 0);
    CHECK(passed.said.at("failed") == 0);
    CHECK(passed.said.at("passed") > 20);
}
