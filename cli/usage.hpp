#pragma once

#include "base/error.hpp"

#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace cli {

/// What is wrong with a command line that `app` could not parse: a `validation` error whose `next`
/// names what was probably meant, or the help to read. `app` is in the state that the failed parse
/// left.
base::Error usage_error(const CLI::App& app, const CLI::ParseError& error);

/// The candidate that `word` is most likely a misspelling of; null when none is near. Distance:
/// Damerau-Levenshtein (optimal string alignment), at most a third of the word's length.
const std::string* nearest(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace cli
