#pragma once

#include "base/json.hpp"
#include "base/result.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace nets::cel {

struct ConformanceFailure {
    std::string name;  ///< "section/name"
    std::string expression;
    std::string wanted;  ///< typed JSON, or "an error"
    std::string got;     ///< typed JSON, or the error
};

struct ConformanceResult {
    std::size_t passed = 0;
    std::vector<ConformanceFailure> failures;
};

/// Runs the cases of one file: a list of {section, name, expr, value (see typed.hpp) or error:
/// true, bindings?, container?, disable_check?}. A file of another form is an error.
base::Result<ConformanceResult> run_cases(const base::Json& cases);

}  // namespace nets::cel
