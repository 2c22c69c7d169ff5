#include "executor/job_folder.hpp"

#include "base/files.hpp"

#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace executor {

namespace {

base::Result<void> make_own(const std::filesystem::path& folder, mode_t mode) {
    if (::mkdir(folder.c_str(), mode) != 0) {
        return base::fail(base::errno_error("make " + folder.string()));
    }
    return {};
}

}  // namespace

base::Result<JobFolder> JobFolder::make(
    const std::filesystem::path& parent, const std::string& name, std::optional<std::uint32_t> owner
) {
    JobFolder folder(parent / name);
    if (auto made = make_own(folder.path_, 0755); !made) return base::fail(made.error());
    if (auto made = make_own(folder.path_ / "tool", 0755); !made) return base::fail(made.error());
    if (auto made = make_own(folder.work(), 0700); !made) return base::fail(made.error());
    if (owner && ::chown(folder.work().c_str(), *owner, *owner) != 0) {
        return base::fail(base::errno_error("chown " + folder.work().string()));
    }
    return folder;
}

JobFolder::~JobFolder() {
    if (path_.empty()) return;
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

base::Result<std::filesystem::path> JobFolder::write_script(
    std::string_view content, const std::string& filename
) {
    auto path = path_ / "tool" / filename;
    if (auto written = base::write_file_atomically(path, content, 0444); !written) {
        return base::fail(written.error());
    }
    return path;
}

}  // namespace executor
