#pragma once

#include "base/json.hpp"
#include "cli/exit.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace cli {

/// What registers a tool, and the files that stay behind.
struct ToolDirectory {
    base::Json body;  ///< of POST /api/tool-catalog/scripts
    std::vector<std::string>
        not_uploaded;  ///< files next to the script, as names below the directory
};

/// Reads a tool's directory (its `tool.json` and the script that `file` names), or a file of that
/// form. Regular files of that directory only: no link is followed, nothing outside is read.
Outcome<ToolDirectory> read_tool(const std::filesystem::path& path);

}  // namespace cli
