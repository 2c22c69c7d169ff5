#pragma once

#include <string_view>

namespace base {

/// The process's own diary on stderr, for operators: one line an event, `time level message`. Never
/// holds a secret or the data of a token. Thread-safe.
void log_info(std::string_view message);
void log_warning(std::string_view message);
void log_error(std::string_view message);

/// Warnings and errors only (the command line's own subcommands are quiet).
void log_quietly();

}  // namespace base
