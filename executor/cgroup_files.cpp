#include "executor/cgroup_files.hpp"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace executor::cgroup_files {

namespace {

constexpr std::size_t control_file_bytes_max = std::size_t{1} << 20U;
constexpr int remove_tries = 400;
constexpr std::chrono::milliseconds remove_pause{5};

std::optional<std::int64_t> parse(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc{} || end == text.data()) return std::nullopt;
    return value;
}

}  // namespace

base::Result<void> write(const Path& file, std::string_view value) {
    const base::FileDescriptor handle(::open(file.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    if (!handle) return base::fail(base::errno_error("open " + file.string()));
    if (::write(handle.value(), value.data(), value.size()) < 0) {
        return base::fail(base::errno_error("write to " + file.string()));
    }
    return {};
}

std::optional<std::int64_t> number(const Path& file) {
    const auto text = base::read_file(file, control_file_bytes_max);
    if (!text) return std::nullopt;
    return parse(*text);
}

std::optional<std::int64_t> keyed_number(const Path& file, std::string_view key) {
    const auto text = base::read_file(file, control_file_bytes_max);
    if (!text) return std::nullopt;
    std::string_view rest(*text);
    while (!rest.empty()) {
        const auto line = rest.substr(0, rest.find('\n'));
        if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ' ') {
            return parse(line.substr(key.size() + 1));
        }
        rest.remove_prefix(line.size() == rest.size() ? line.size() : line.size() + 1);
    }
    return std::nullopt;
}

std::vector<pid_t> processes(const Path& group) {
    std::vector<pid_t> out;
    const auto text = base::read_file(group / "cgroup.procs", control_file_bytes_max);
    if (!text) return out;
    std::string_view rest(*text);
    while (!rest.empty()) {
        const auto line = rest.substr(0, rest.find('\n'));
        if (const auto pid = parse(line)) out.push_back(static_cast<pid_t>(*pid));
        rest.remove_prefix(line.size() == rest.size() ? line.size() : line.size() + 1);
    }
    return out;
}

base::Result<void> make_folder(const Path& folder) {
    if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
        return base::fail(base::errno_error("make " + folder.string()));
    }
    return {};
}

bool remove_folder(const Path& folder) {
    for (int i = 0; i < remove_tries; ++i) {
        if (::rmdir(folder.c_str()) == 0 || errno == ENOENT) return true;
        if (errno != EBUSY) return false;
        std::this_thread::sleep_for(remove_pause);
    }
    return false;
}

std::vector<std::string> children(const Path& folder) {
    std::vector<std::string> out;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
        std::error_code ignored;
        if (entry.is_directory(ignored)) out.push_back(entry.path().filename().string());
    }
    return out;
}

base::Result<base::FileDescriptor> open_entry(const Path& group) {
    const auto file = group / "cgroup.procs";
    base::FileDescriptor handle(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
    if (!handle) return base::fail(base::errno_error("open " + file.string()));
    return handle;
}

}  // namespace executor::cgroup_files
