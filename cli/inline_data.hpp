#pragma once

#include "base/json.hpp"
#include "cli/context.hpp"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace cli {

/// The input of `case start` and `token put`. Their `--data` is a JSON value; where it names a
/// directory, it is that of a master, as everywhere else.
struct InlineData {
    std::vector<std::string> data;  ///< of --data, as given
    std::string input;              ///< of --input: a file, or - for stdin
};

void declare_inline_data(CLI::App& app, InlineData& given);

/// The values given, none when there is none; notes a directory in the context.
Outcome<std::vector<base::Json>> inline_values(Context& context, const InlineData& given);

}  // namespace cli
