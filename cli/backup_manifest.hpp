#pragma once

#include "base/result.hpp"
#include "base/sha256.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

/// SHA256SUMS, the last member of a backup: what `sha256sum -c` reads.
namespace cli {

inline constexpr std::string_view manifest_name = "SHA256SUMS";
inline constexpr std::size_t manifest_bytes_max = std::size_t{4} << 30U;

/// Name in the archive -> sha256 of its content.
using Manifest = std::map<std::string, base::Digest, std::less<>>;

std::string manifest_text(const Manifest& manifest);

/// Compares the files below `folder` with the SHA256SUMS in it: each file is listed, each listed
/// one is there, and each has the bytes that were archived. `tamper` with all that differs.
/// not_found when there is no SHA256SUMS.
base::Result<void> verify_manifest(const std::filesystem::path& folder);

}  // namespace cli
