#include "executor/public_folder.hpp"

#include "base/files.hpp"
#include "base/sha256.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>

namespace executor {

base::Result<PublicFolder> PublicFolder::make(
    const std::filesystem::path& parent, std::string_view purpose, const std::filesystem::path& work
) {
    std::error_code ignored;
    const auto id = base::sha256(std::filesystem::absolute(work, ignored).string()).hex();
    auto path = parent / fmt::format("netwright-{}-{}", purpose, id.substr(0, 16));
    std::filesystem::remove_all(path, ignored);
    // Must not exist: in a folder that everybody may write to it could be somebody's trap.
    if (::mkdir(path.c_str(), 0755) != 0) {
        return base::fail(base::errno_error("make " + path.string()));
    }
    return PublicFolder(std::move(path));
}

PublicFolder::~PublicFolder() {
    if (path_.empty()) return;
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace executor
