#include "jobs/base64.hpp"
#include "tests/cli/lab.hpp"
#include "tests/cli/proxy.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

using tests::cli::calling_net;
using tests::cli::Json;
using tests::cli::Lab;

namespace {

namespace fs = std::filesystem;

Json run_case(Lab& lab, const std::string& net, const std::string& model = "default") {
    return lab.json(
        {"case", "start", net, "--value", R"({"a": 1})", "--wait", "60s", "--model", model}
    );
}

bool has_event(Lab& lab, const std::string& type, const std::string& model = "default") {
    const auto records = lab.events(model);
    return std::ranges::any_of(records, [&](const Json& record) {
        return record.at("type") == type;
    });
}

/// Files below a folder whose content holds `text`.
std::vector<fs::path> files_with(const fs::path& folder, const std::string& text) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file() && tests::cli::text_of(entry.path()).contains(text)) {
            found.push_back(entry.path());
        }
    }
    return found;
}

void overwrite(const fs::path& file, const std::string& text) {
    fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

}  // namespace

TEST_CASE("a local tool shadows the global one in its model, and only there") {
    Lab lab;
    lab.start_master();
    lab.start_executor("worker", {"--slots", "2"});
    lab.register_tool("greet", R"(echo '{"from": "global"}')");
    lab.register_tool("greet", R"(echo '{"from": "local"}')", {{"model", "my-team"}});
    for (const char* model : {"my-team", "default", "other"})
        lab.deploy(calling_net("greeting", "greet"), model);
    for (const auto& [model, from] :
         {std::pair{"my-team", "local"},
          std::pair{"default", "global"},
          std::pair{"other", "global"}}) {
        const auto done = run_case(lab, "greeting", model);
        CHECK_MESSAGE(done.dump().contains("\"from\":\"" + std::string(from)), model, done.dump());
    }
    std::map<std::string, bool> seen;
    for (const auto& item : lab.json({"tool", "search", "greet", "--model", "my-team"}).at("items"))
        seen[item.at("scope")] = item.at("shadowed");
    CHECK(seen == std::map<std::string, bool>{{"local", false}, {"global", true}});
    // Looking into a catalog makes nothing.
    CHECK(lab.get("/api/tool-catalog?model=nobody").at("items").size() == 2);
    for (const auto& model : lab.get("/api/models").at("items"))
        CHECK(model.at("id") != "nobody");
    CHECK(!has_event(lab, "tool.registered", "other"));
}

TEST_CASE("an unknown tool in one command of several fails that one with the reason") {
    Lab lab;
    lab.start_master();
    lab.start_executor("worker", {"--slots", "2"});
    lab.register_tool("echo", "cat");
    lab.deploy({
        {"net", "commands"},
        {"version", "1.0.0"},
        {"places", {{"in", Json::object()}, {"done", Json::object()}, {"failed", Json::object()}}},
        {"transitions",
         {{"run",
           {{"in", {{"job", "in"}}},
            {"command", {{"from", "job"}}},
            {"out", {{"done", {{"ok", "${result}"}}}}},
            {"fail", {{"failed", {{"code", "${error.code}"}, {"reason", "${error.message}"}}}}}}}}},
    });
    std::string commands;
    for (const char* tool : {"echo", "nobody-knows", "echo"}) {
        const Json args = {{"toolId", tool}, {"input", 1}};
        const Json command = {{"executor", "script"}, {"command", "invoke"}, {"args", args}};
        commands += command.dump() + "\n";
    }
    lab.json({"token", "put", "commands/in", "--lines", "-"}, commands);
    tests::cli::await("all three", [&] {
        return lab.json({"token", "list", "commands/done"}).at("items").size() == 2 &&
               lab.json({"token", "list", "commands/failed"}).at("items").size() == 1;
    });
    const auto failed = lab.json({"token", "list", "commands/failed"}).at("items")[0].at("data");
    CHECK_MESSAGE(failed.dump().contains("nobody-knows"), failed.dump());
}

TEST_CASE("a blob changed under the catalog never ships, and the log says so") {
    Lab lab;
    lab.start_master();
    lab.start_executor("worker");
    const std::string marker = "genuine-7f3a";
    lab.register_tool("pinned", "echo '{\"v\": \"" + marker + "\"}'");
    lab.deploy(calling_net("pinning", "pinned"));
    const auto blobs = files_with(lab.data() / "blobs", marker);
    REQUIRE(blobs.size() == 1);
    auto text = tests::cli::text_of(blobs[0]);
    text.replace(text.find(marker), marker.size(), "tampered-now");
    overwrite(blobs[0], text);
    const auto done = run_case(lab, "pinning");
    CHECK(done.at("end")[0].at("place") == "failed");
    CHECK_MESSAGE(done.at("end")[0].at("data").at("code") == "tamper", done.dump());
    CHECK(has_event(lab, "tool.tamper_detected"));
    CHECK(files_with(lab.path("worker"), "tampered-now").empty());
}

TEST_CASE("a script that is altered on its way is refused by the executor and never runs") {
    Lab lab;
    lab.start_master();
    const auto port = std::stoul(lab.url().substr(lab.url().rfind(':') + 1));
    const std::string script = "echo '{\"v\": \"genuine-47c2\"}'";
    std::string other = script;
    other.replace(other.find("genuine-47c2"), 12, "tampered-47c");
    const tests::cli::AlteringProxy proxy(
        static_cast<std::uint16_t>(port), jobs::base64_encode(script), jobs::base64_encode(other)
    );
    lab.start_executor_by(proxy.url(), "worker");
    lab.register_tool("shipped", script);
    lab.deploy(calling_net("shipping", "shipped"));
    const auto done = run_case(lab, "shipping");
    CHECK(proxy.altered() > 0);
    CHECK(done.at("end")[0].at("place") == "failed");
    CHECK_MESSAGE(done.at("end")[0].at("data").at("code") == "tamper", done.dump());
    CHECK(!done.dump().contains("tampered-47c"));
    CHECK(files_with(lab.path("worker"), "tampered-47c").empty());
}

TEST_CASE("a cached script changed on the executor is rewritten, and the right code runs") {
    Lab lab;
    lab.start_master();
    lab.start_executor("worker");
    const std::string marker = "genuine-91be";
    lab.register_tool("cached", "echo '{\"v\": \"" + marker + "\"}'");
    lab.deploy(calling_net("caching", "cached"));
    CHECK(run_case(lab, "caching").dump().contains(marker));
    const auto files = files_with(lab.path("worker"), marker);
    REQUIRE(!files.empty());
    for (const auto& file : files)
        overwrite(file, "echo '{\"v\": \"tampered\"}'");
    const auto again = run_case(lab, "caching");
    CHECK_MESSAGE(again.at("end").dump().contains(marker), again.dump());
    CHECK(!again.dump().contains("tampered"));
}
