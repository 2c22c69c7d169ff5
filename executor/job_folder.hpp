#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace executor {

/// The folder of a job that runs without a sandbox: `work` belongs to the job, `tool` (a copy of
/// the script) does not. Removed with the object.
class JobFolder {
public:
    static base::Result<JobFolder> make(
        const std::filesystem::path& parent,
        const std::string& name,
        std::optional<std::uint32_t> owner
    );
    ~JobFolder();
    JobFolder(JobFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
    JobFolder& operator=(JobFolder&& other) noexcept {
        std::swap(path_, other.path_);
        return *this;
    }

    [[nodiscard]] std::filesystem::path work() const { return path_ / "work"; }
    base::Result<std::filesystem::path> write_script(
        std::string_view content, const std::string& filename
    );

private:
    explicit JobFolder(std::filesystem::path path) : path_(std::move(path)) {}
    std::filesystem::path path_;
};

}  // namespace executor
