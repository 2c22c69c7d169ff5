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
    std::string out;  ///< for standard output
    std::string err;  ///< for standard error
    /// 0: no errors; 1: errors were found in the net; 2: the file could not be read as a net.
    int exit_code = 0;
};

CheckOutput run_check(const CheckRequest& request, const ProgressCallback& progress = {});

/// PNML of a net document: its abstraction, without data. The same exit codes.
CheckOutput run_pnml_export(const CheckRequest& request);

}  // namespace nets::analysis
