#pragma once

#include <set>
#include <string>
#include <vector>

/// The built binary, asked what it offers.
namespace tests::cli {

struct Ran {
    int status = -1;     ///< as of waitpid
    std::string output;  ///< stdout and stderr
};
/// A line for the shell.
Ran run(const std::string& command);

/// The path of `netwright` in this build.
const std::string& binary();
/// Fails the test when it is not built.
bool binary_exists();

/// Of a command line without the binary's name: what does not exist in the binary, each as a
/// sentence. Subcommands are the leading words in lower case, options begin with `--`.
std::vector<std::string> unknown_parts(const std::vector<std::string>& command);

std::vector<std::string> words(const std::string& line);
/// A file of the project, by its path from the root.
std::string project_file(const std::string& name);

}  // namespace tests::cli
