#pragma once

#include "base/result.hpp"
#include "http/router.hpp"

#include <filesystem>
#include <string>

namespace server {

/// Bearer tokens. A token is 64 random hex digits.
struct Tokens {
    std::string admin;
    std::string executor;
};

/// The token in the file, made (0600) when there is none.
base::Result<std::string> token_of(const std::filesystem::path& file);

/// Who may call what: public routes everybody, executor routes the executor token and the admin,
/// all others the admin. Compares in constant time.
http::Guard guard_of(Tokens tokens);

}  // namespace server
