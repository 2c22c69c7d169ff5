#pragma once

#include "base/json_schema.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace base {

/// One case of a suite that came out otherwise than it says.
struct SchemaSuiteFailure {
    std::string group;
    std::string test;
    bool expected_valid = false;
    std::string found;
};

struct SchemaSuiteReport {
    std::uint64_t passed = 0;
    std::vector<SchemaSuiteFailure> failures;
};

/// Runs groups of `{description, schema, tests: [{description, data, valid}]}`, the form of the
/// official JSON Schema test suite. A schema that does not compile fails all tests of its group.
Result<SchemaSuiteReport> run_schema_suite(const Json& groups, const SchemaOptions& options);

/// The same for a file. When a folder `remotes` lies beside the file's folder, its documents are
/// known as `http://localhost:1234/PATH`, as that suite wants.
Result<SchemaSuiteReport> run_schema_suite_file(
    const std::filesystem::path& file, const SchemaOptions& options
);

}  // namespace base
