#pragma once

#include <filesystem>
#include <string>
#include <vector>

/// A folder of nets/patterns: one workflow pattern as a net, with what it must and must not do.
namespace patterns {

/// Steps that can be taken one after the other; of a script of `refuse`, all but the last.
struct Script {
    std::string that;  ///< what it shows, for people
    std::vector<std::string> steps;
    bool refused = false;
};

struct Pattern {
    std::string folder;
    std::string net;       ///< its name
    std::string document;  ///< net.json
    int number = 0;
    std::string check;  ///< what `net check` must say, canonical JSON
    std::vector<Script> scripts;
    /// Why cases of this net see each other, or empty: they do not.
    std::string cases_meet;
};

std::filesystem::path root();
/// All of them, in order. A file that is missing or not as it must be fails the running test.
std::vector<Pattern> read_all();

}  // namespace patterns
