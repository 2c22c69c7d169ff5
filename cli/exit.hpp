#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <expected>
#include <string>

namespace cli {

/// How the process ends; docs/cli.md tells programs the same.
enum class Exit : std::uint8_t {
    good = 0,
    negative = 1,     ///< the case failed, the check or the verification found errors
    usage = 2,        ///< wrong arguments, or a file that they name
    refused = 3,      ///< 4xx
    unreachable = 4,  ///< the master cannot be reached, or answered 5xx
    waited = 5,       ///< the wait ran out
};

struct Failure {
    base::Error error;
    Exit exit = Exit::refused;
};

template <class T>
using Outcome = std::expected<T, Failure>;

/// `refused` or `unreachable`, as the status of its code says.
std::unexpected<Failure> failed(base::Error error);
std::unexpected<Failure> wrong_usage(base::Error error);
std::unexpected<Failure> wrong_usage(std::string message, std::string next = {});

}  // namespace cli
