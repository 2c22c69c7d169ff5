#include "tests/cli/binary.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>
#include <yaml-cpp/yaml.h>

using tests::cli::binary_exists;
using tests::cli::project_file;
using tests::cli::run;
using tests::cli::words;

namespace {

/// The packages of scripts/packages.txt for this purpose.
std::set<std::string> packages(const std::string& purpose) {
    std::istringstream lines(project_file("scripts/packages.txt"));
    std::set<std::string> names;
    for (std::string line; std::getline(lines, line);) {
        const auto parts = words(line);
        if (parts.size() == 2 && parts[0] == purpose) names.insert(parts[1]);
    }
    REQUIRE(!names.empty());
    return names;
}

/// Each service's command that runs our binary, without the binary's name.
std::vector<std::vector<std::string>> netwright_commands() {
    const auto compose = YAML::Load(project_file("docker-compose.yml"));
    std::vector<std::vector<std::string>> commands;
    for (const auto& service : compose["services"]) {
        const auto command = service.second["command"];
        if (!command) continue;
        REQUIRE_MESSAGE(command.IsSequence(), service.first.as<std::string>());
        auto parts = command.as<std::vector<std::string>>();
        if (parts.at(0) == "netwright") commands.emplace_back(parts.begin() + 1, parts.end());
    }
    return commands;
}

}  // namespace

TEST_CASE("the compose file has a master, an executor and a registry") {
    const auto compose = YAML::Load(project_file("docker-compose.yml"));
    std::set<std::string> services;
    for (const auto& service : compose["services"])
        services.insert(service.first.as<std::string>());
    CHECK(services == std::set<std::string>{"executor", "master", "registry", "token"});
    for (const auto& service : compose["services"]) {
        for (const auto& needed : service.second["depends_on"])
            CHECK(services.contains(needed.first.as<std::string>()));
        for (const auto& volume : service.second["volumes"]) {
            const auto text = volume.as<std::string>();
            CHECK_MESSAGE(compose["volumes"][text.substr(0, text.find(':'))].IsDefined(), text);
        }
    }
}

TEST_CASE("the executor's service sees the executor's token and nothing else of the master's") {
    const auto compose = YAML::Load(project_file("docker-compose.yml"));
    for (const auto& volume : compose["services"]["executor"]["volumes"])
        CHECK(!volume.as<std::string>().starts_with("data:"));
}

TEST_CASE("the image installs what scripts/packages.txt says and names no package itself") {
    std::istringstream lines(project_file("Dockerfile"));
    std::vector<std::string> installs;
    for (std::string line; std::getline(lines, line);) {
        if (line.contains("apt-get install")) installs.push_back(line);
    }
    const std::string install = " && apt-get install -y --no-install-recommends ";
    const std::vector<std::string> expected = {
        install + "$(awk '$1 == \"build\" { print $2 }' /src/scripts/packages.txt) \\",
        install + "$(awk '$1 == \"run\" { print $2 }' /tmp/packages.txt) \\"
    };
    CHECK(installs == expected);
}

TEST_CASE("every command and option of the compose file exists in the binary") {
    if (!binary_exists()) return;
    const auto commands = netwright_commands();
    REQUIRE(commands.size() == 3);
    for (const auto& command : commands)
        CHECK(tests::cli::unknown_parts(command) == std::vector<std::string>{});
}

TEST_CASE("the libraries that the binary links come from the packages for running it") {
    if (!binary_exists()) return;
    const auto dynamic = run("objdump -p " + tests::cli::binary());
    REQUIRE(dynamic.status == 0);
    auto allowed = packages("run");
    // Of every Debian.
    allowed.insert({"libc6", "libgcc-s1", "libstdc++6", "libm6"});
    std::istringstream lines(dynamic.output);
    std::size_t libraries = 0;
    for (std::string line; std::getline(lines, line);) {
        const auto parts = words(line);
        if (parts.size() != 2 || parts[0] != "NEEDED") continue;
        ++libraries;
        // "package:amd64: /path", one line a match.
        const auto owners = words(run("dpkg -S '*/" + parts[1] + "'").output);
        CHECK_MESSAGE(
            std::ranges::any_of(
                owners,
                [&](const auto& owner) {
                    return allowed.contains(owner.substr(0, owner.find(':')));
                }
            ),
            parts[1],
            " belongs to none of the 'run' packages"
        );
    }
    CHECK(libraries > 0);
}
