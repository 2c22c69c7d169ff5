#pragma once

#include "base/clock.hpp"
#include "cli/exit.hpp"

#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cli {

/// `--wait [DURATION]`, the same in every subcommand that can wait: alone it means 30s.
struct Wait {
    std::string text;
    CLI::Option* option = nullptr;

    [[nodiscard]] bool given() const;
    /// Zero when it is not given.
    [[nodiscard]] Outcome<base::Duration> duration() const;
};

void declare_wait(CLI::App& app, Wait& wait, const std::string& for_what);

}  // namespace cli
