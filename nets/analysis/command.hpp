#pragma once

#include "base/clock.hpp"
#include "nets/analysis/limits.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// `netwright net check`, without the command line and the file system.
namespace nets::analysis {

struct CheckRequest {
    enum class Format : std::uint8_t { net, pnml };
    Format format = Format::net;
    std::string_view text;  ///< of the file
    std::string_view file;  ///< its name, for messages
    bool json = false;
    Limits limits{};
};

struct CheckOutput {
    std::string out;       ///< for standard output
    std::string err;       ///< for standard error
    bool negative = true;  ///< errors were found, or it is no net at all
};

CheckOutput run_check(const CheckRequest& request, const ProgressCallback& progress = {});

/// PNML of a net document: its abstraction, without data, one case on its start. What cannot be
/// said in PNML (inhibit and reset arcs, capacities) is an error.
CheckOutput run_pnml_export(const CheckRequest& request);

}  // namespace nets::analysis
