// The folders in nets/examples: each net compiles and is clean, each tool it calls lies beside it,
// and each tool does with its examples what they say.
#include "base/files.hpp"
#include "nets/lint.hpp"
#include "nets/net.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <set>
#include <string>
#include <sys/wait.h>
#include <vector>

using base::Json;
namespace filesystem = std::filesystem;

namespace {

const filesystem::path examples = filesystem::path(NETWRIGHT_SOURCE_DIR) / "nets/examples";

std::string bytes(const filesystem::path& path) {
    auto text = base::read_file(path, std::size_t{1} << 20U);
    REQUIRE_MESSAGE(text.has_value(), path.string());
    return std::move(*text);
}

Json json(const filesystem::path& path) {
    auto value = base::parse_json(bytes(path));
    REQUIRE_MESSAGE(value.has_value(), path.string());
    return std::move(*value);
}

std::vector<filesystem::path> folders(const filesystem::path& parent) {
    std::vector<filesystem::path> out;
    if (!filesystem::exists(parent)) return out;
    for (const auto& entry : filesystem::directory_iterator(parent))
        if (entry.is_directory()) out.push_back(entry.path());
    std::ranges::sort(out);
    return out;
}

std::vector<filesystem::path> tools() {
    std::vector<filesystem::path> out;
    for (const auto& example : folders(examples))
        for (const auto& tool : folders(example / "tools"))
            out.push_back(tool);
    return out;
}

struct Outcome {
    int exit_code = 0;
    std::string out;
    std::string err;
};

Outcome run(const filesystem::path& tool, const Json& description, Json input) {
    const base::TemporaryFolder folder;
    input["_artifacts_dir"] = folder.path().string();
    const auto in = folder.path() / "in";
    REQUIRE(base::write_file_atomically(in, base::canonical(input)).has_value());
    const auto command = fmt::format(
        "{} '{}' <'{}' >'{}' 2>'{}'",
        description["runtime"].get<std::string>(),
        (tool / description["file"].get<std::string>()).string(),
        in.string(),
        (folder.path() / "out").string(),
        (folder.path() / "err").string()
    );
    const int status = std::system(command.c_str());
    REQUIRE(WIFEXITED(status));
    return {WEXITSTATUS(status), bytes(folder.path() / "out"), bytes(folder.path() / "err")};
}

}  // namespace

TEST_CASE("every example net compiles without findings and takes its inputs") {
    const auto all = folders(examples);
    CHECK(all.size() >= 3);
    for (const auto& example : all) {
        CAPTURE(example.filename().string());
        const auto net = nets::compile(json(example / "net.json"));
        if (!net) FAIL(net.error().details.front().pointer << net.error().details.front().message);
        CHECK(net->name == example.filename().string());
        CHECK(net->start.has_value());
        for (const auto& finding : nets::lint(*net))
            FAIL_CHECK(finding.pointer << " " << finding.message);
        CHECK(json(example / "input.json").is_object());
        CHECK(bytes(example / "README.md").starts_with("# "));
    }
}

TEST_CASE("an example calls exactly the tools that lie beside it") {
    for (const auto& example : folders(examples)) {
        CAPTURE(example.filename().string());
        const auto net = nets::compile(json(example / "net.json"));
        REQUIRE(net.has_value());
        std::set<std::string> called;
        for (const auto& transition : net->transitions) {
            const auto* call = std::get_if<nets::Call>(&transition.action);
            if (call != nullptr) called.insert(call->tool_id);
        }
        std::set<std::string> there;
        for (const auto& tool : folders(example / "tools"))
            there.insert(json(tool / "tool.json")["id"].get<std::string>());
        CHECK(called == there);
    }
}

TEST_CASE("the maintenance net has twenty-one tools") {
    CHECK(folders(examples / "maintenance/tools").size() == 21);
}

TEST_CASE("a tool's directory says what registering it needs") {
    const std::set<std::string> known{
        "id",
        "name",
        "runtime",
        "file",
        "version",
        "description",
        "effect",
        "capabilities",
        "contract",
        "caps",
        "network"
    };
    const std::set<std::string> runtimes{"sh", "bash", "python3", "node"};
    for (const auto& tool : tools()) {
        CAPTURE(tool.string());
        const auto description = json(tool / "tool.json");
        for (const auto& [field, value] : description.items())
            CHECK_MESSAGE(known.contains(field), field);
        CHECK(description["id"] == tool.filename().string());
        CHECK(runtimes.contains(description["runtime"].get<std::string>()));
        CHECK_FALSE(bytes(tool / description["file"].get<std::string>()).empty());
        CHECK(bytes(tool / "README.md").starts_with("# "));
        CHECK(description["contract"]["type"] == "script-io");
        CHECK(description["contract"]["input"].is_string());
    }
}

TEST_CASE("every tool does with its examples what they say") {
    for (const auto& tool : tools()) {
        const auto description = json(tool / "tool.json");
        std::size_t count = 0;
        for (const auto& file : filesystem::directory_iterator(tool / "examples")) {
            CAPTURE(file.path().string());
            const auto example = json(file.path());
            const auto outcome = run(tool, description, example["input"]);
            CHECK(outcome.exit_code == example.value("exitCode", 0));
            CHECK(outcome.err.contains(example.value("stderr", "")));
            if (example.contains("output")) {
                const auto output = base::parse_json(outcome.out);
                REQUIRE_MESSAGE(output.has_value(), outcome.out << outcome.err);
                CHECK(base::canonical(*output) == base::canonical(example["output"]));
            }
            ++count;
        }
        CHECK_MESSAGE(count > 0, tool.string());
    }
}
