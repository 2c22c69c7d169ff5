#pragma once

#include "base/json.hpp"
#include "cli/exit.hpp"

#include <filesystem>

namespace cli {

/// What a tool's directory (its `tool.json` and the script that `file` names), or a file of that
/// form, registers: the body of POST /api/tool-catalog/scripts.
Outcome<base::Json> read_tool(const std::filesystem::path& path);

}  // namespace cli
