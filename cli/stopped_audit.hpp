#pragma once

#include "base/json.hpp"
#include "cli/exit.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace cli {

struct AuditWish {
    std::optional<std::string> model;  ///< none = all
    bool state = false;                ///< fold from zero, and hold every snapshot against it
    std::string anchor;                ///< `SEQ:HASH`, of `model`; "" = none
    std::function<void(std::uint64_t done, std::uint64_t of)> progress;
};

/// The same report as GET /api/models/{m}/audit gives, of each model in the directory of a master
/// that does not run; and with `storage`, damage that no record shows.
Outcome<base::Json> audit_stopped(const std::filesystem::path& data, const AuditWish& wish);

}  // namespace cli
