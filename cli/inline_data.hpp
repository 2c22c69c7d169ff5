#pragma once

#include "base/json.hpp"
#include "cli/context.hpp"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cli {

/// The input of `case start` and `token put`.
struct InlineData {
    std::vector<std::string> values;  ///< of --value: JSON texts
    std::string input;                ///< of --input: a file, or - for stdin
};

void declare_inline_data(CLI::App& app, InlineData& given);

/// The values given, in order, that of --input last; none when there is none.
Outcome<std::vector<base::Json>> inline_values(const InlineData& given);

}  // namespace cli
