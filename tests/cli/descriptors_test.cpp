#include "tests/cli/lab.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

using tests::cli::await;
using tests::cli::Lab;

namespace {

namespace fs = std::filesystem;

std::vector<pid_t> children(pid_t parent) {
    std::vector<pid_t> found;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
        const auto stat = tests::cli::text_of(entry.path() / "stat");
        const auto end = stat.rfind(')');
        if (end == std::string::npos) continue;
        std::istringstream rest(stat.substr(end + 1));
        std::string state;
        pid_t its_parent = 0;
        rest >> state >> its_parent;
        if (its_parent == parent && state != "Z")
            found.push_back(static_cast<pid_t>(std::stol(entry.path().filename())));
    }
    return found;
}

std::vector<pid_t> descendants(pid_t root) {
    std::vector<pid_t> all = children(root);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto more = children(all[i]);
        all.insert(all.end(), more.begin(), more.end());
    }
    return all;
}

/// Descriptor -> what it is, of those above the standard three.
std::map<int, std::string> descriptors(pid_t pid) {
    std::map<int, std::string> found;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(fmt::format("/proc/{}/fd", pid), ignored)) {
        const int number = std::stoi(entry.path().filename());
        if (number > 2) found[number] = fs::read_symlink(entry.path(), ignored).string();
    }
    return found;
}

bool closes_on_exec(pid_t pid, int descriptor) {
    const auto info = tests::cli::text_of(fmt::format("/proc/{}/fdinfo/{}", pid, descriptor));
    const auto at = info.find("flags:");
    if (at == std::string::npos) return true;  // closed meanwhile
    return (std::stoul(info.substr(at + 6), nullptr, 8) & O_CLOEXEC) != 0;
}

bool alive(pid_t pid) {
    return fs::exists(fmt::format("/proc/{}/exe", pid)) &&
           !tests::cli::text_of(fmt::format("/proc/{}/stat", pid)).contains(") Z ");
}

/// The executor's process, once the master has heard of it.
pid_t own_executor(Lab& lab) {
    await("the executor", [&] {
        const auto listed = lab.get("/api/executors").at("items");
        return !listed.empty() && listed[0].at("state") == "connected";
    });
    const auto found = children(lab.master().pid());
    REQUIRE(found.size() == 1);
    return found[0];
}

}  // namespace

TEST_CASE("no child of a master or of an executor holds a descriptor of its parent") {
    Lab lab;
    lab.start_master({"--with-executor"});
    const auto executor = own_executor(lab);
    const auto below = descendants(executor);
    REQUIRE_FALSE(below.empty());
    for (const pid_t daemon : {lab.master().pid(), executor}) {
        const auto held = descriptors(daemon);
        REQUIRE_FALSE(held.empty());
        for (const auto& [number, what] : held)
            CHECK_MESSAGE(closes_on_exec(daemon, number), "descriptor ", number, ": ", what);
        for (const pid_t child : descendants(daemon)) {
            std::set<std::string> own;
            for (const auto& [number, what] : held) {
                if (what.starts_with("socket:") || what.starts_with("pipe:") || what[0] == '/')
                    own.insert(what);
            }
            for (const auto& [number, what] : descriptors(child))
                CHECK_MESSAGE(!own.contains(what), "child ", child, " holds ", what);
        }
    }
}

TEST_CASE("a killed master takes its executor along, and its port is free at once") {
    Lab lab;
    lab.start_master({"--with-executor"});
    const auto executor = own_executor(lab);
    lab.register_tool("sleeper", "sleep 60");
    lab.deploy(tests::cli::calling_net("sleeping", "sleeper"));
    lab.json({"case", "start", "sleeping", "--value", R"({"a": 1})"});
    await("the job's sandbox", [&] { return descendants(executor).size() > 2; });
    auto processes = descendants(executor);
    processes.push_back(executor);
    const auto url = lab.url();
    lab.kill_master();
    // The kernel does it; a second is for a loaded machine.
    await(
        "the end of the executor, its helper and its jobs",
        [&] { return std::ranges::none_of(processes, alive); },
        base::seconds(1)
    );
    lab.start_master({"--listen", url.substr(url.find("//") + 2)});
    CHECK(lab.url() == url);
}
