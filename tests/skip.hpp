#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>

namespace tests {

/// Says that a test did not run and why, in the form that scripts/test repeats at its end.
inline void skipped(std::string_view why) {
    std::cout << "SKIPPED: " << why << std::endl;  // NOLINT(performance-avoid-endl): may crash next
}

/// Published test data: `../shared/corpora/NAME`, or below NETWRIGHT_CORPORA. Where it is absent
/// the test is skipped, which CI does not accept: there it fails.
inline std::optional<std::filesystem::path> corpus(const std::string& name) {
    namespace fs = std::filesystem;
    const char* const given = std::getenv("NETWRIGHT_CORPORA");
    const fs::path root = given != nullptr
                              ? fs::path(given)
                              : fs::path(NETWRIGHT_SOURCE_DIR) / ".." / "shared" / "corpora";
    if (fs::is_directory(root / name)) return root / name;
    skipped("no test data at " + (root / name).string() + "; NETWRIGHT_CORPORA names its folder");
    CHECK_MESSAGE(std::getenv("CI") == nullptr, "test data is missing in CI: ", name);
    return std::nullopt;
}

}  // namespace tests
