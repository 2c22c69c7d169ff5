#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace cli {

/// What a subcommand prints and how the process ends.
struct Printed {
    std::string out;
    std::string err;
    int exit_code = 0;
};

inline constexpr int eval_failed = 1;   ///< the evaluation is an error, or a case fails
inline constexpr int eval_refused = 2;  ///< the expression does not compile, or the input is bad

/// `netwright eval EXPR [--with JSON]`: the value with its kind ("int 42"), or as typed JSON (see
/// nets/cel/typed.hpp). `with` is a JSON object, its keys being the names in scope; "" = none.
Printed eval_expression(std::string_view expression, std::string_view with, bool json);

/// `netwright eval --cases FILE`: how many conformance cases (see nets/cel/conformance.hpp) pass,
/// and which do not; as one line of JSON, or for people.
Printed eval_cases(const std::filesystem::path& file, bool json);

}  // namespace cli
