#pragma once

#include "base/result.hpp"
#include "http/router.hpp"

#include <filesystem>
#include <string>

namespace server {

class ExecutorKeys;

/// The token in the file, made (0600) when there is none.
base::Result<std::string> token_of(const std::filesystem::path& file);

/// Who may call what: public routes everybody; an executor's routes the executor that the path
/// names, with its access token, and nobody else; all others the admin. `executors` outlives it.
http::Guard guard_of(std::string admin_token, const ExecutorKeys& executors);

}  // namespace server
