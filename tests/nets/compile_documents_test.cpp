// The tables in tests/nets/documents: each case alters a base document and says every fault that
// must be told, by pointer, code and a piece of the message.
#include "base/files.hpp"
#include "nets/net.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <vector>

using base::Json;

namespace {

Json table(const std::filesystem::path& path) {
    const auto text = base::read_file(path, std::size_t{1} << 20U);
    REQUIRE(text.has_value());
    return Json::parse(*text);  // one case holds an integer that the project's own reader refuses
}

Json altered(Json document, const Json& test) {
    if (test.contains("remove")) {
        for (const auto& pointer : test["remove"]) {
            const Json::json_pointer at(pointer.get<std::string>());
            document[at.parent_pointer()].erase(at.back());
        }
    }
    if (!test.contains("set")) return document;
    for (const auto& [pointer, value] : test["set"].items())
        document[Json::json_pointer(pointer)] = value;
    return document;
}

std::string told(const base::ErrorDetail& detail) {
    return fmt::format("{} {}: {}", detail.pointer, base::name(detail.code), detail.message);
}

// Takes the first fault that fits the expected one out of `faults`.
bool take(std::vector<base::ErrorDetail>& faults, const Json& expected) {
    const auto fits = [&](const base::ErrorDetail& detail) {
        return detail.pointer == expected[0].get<std::string>() &&
               base::name(detail.code) == expected[1].get<std::string>() &&
               detail.message.contains(expected[2].get<std::string>());
    };
    const auto found = std::ranges::find_if(faults, fits);
    if (found == faults.end()) return false;
    faults.erase(found);
    return true;
}

void run(const Json& base_document, const Json& test) {
    CAPTURE(test["name"].get<std::string>());
    const auto net = nets::compile(altered(base_document, test));
    auto faults = net ? std::vector<base::ErrorDetail>() : net.error().details;
    CHECK(net.has_value() == test["faults"].empty());
    std::string all;
    for (const auto& fault : faults)
        all += "\n  " + told(fault);
    CAPTURE(all);
    for (const auto& expected : test["faults"])
        CHECK_MESSAGE(take(faults, expected), "not told: " << expected.dump());
    for (const auto& fault : faults)
        FAIL_CHECK("told, but not expected: " << told(fault));
}

}  // namespace

TEST_CASE("every part of the document is accepted, or refused at its place, all faults at once") {
    const auto folder = std::filesystem::path(NETWRIGHT_SOURCE_DIR) / "tests/nets/documents";
    std::size_t count = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        const auto tests = table(file.path());
        CAPTURE(file.path().filename().string());
        for (const auto& test : tests["cases"]) {
            run(tests["base"], test);
            ++count;
        }
    }
    CHECK(count > 100);
}
