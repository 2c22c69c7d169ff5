#pragma once

#include "cli/exit.hpp"
#include "cli/master_client.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace cli {

/// What every subcommand may be told, and how its result leaves the process.
struct Context {
    std::string data;                  ///< --data of a client; "" = not given
    std::optional<std::string> model;  ///< --model; none = not given
    bool json = false;
    Exit exit = Exit::good;  ///< of the process

    [[nodiscard]] std::string model_name() const { return model.value_or("default"); }
    /// Of the master that `--data`, the environment or the default directory names.
    [[nodiscard]] Outcome<MasterClient> master() const;
    /// Notes how the subcommand ended, and reports a failure on stderr.
    void finish(const Outcome<Exit>& outcome);
    /// Writes the error to stderr, in words or, with --json, as the API's error document.
    void report(const base::Error& error) const;
};

/// Where a master keeps its data when nobody says otherwise.
std::filesystem::path default_data();

/// The text of a file; "-" = stdin.
Outcome<std::string> read_input(const std::string& name);

/// A line to stdout; the process ends quietly when nobody reads any more.
void print(std::string_view line);

}  // namespace cli
