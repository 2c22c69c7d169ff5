#include "server/open_files.hpp"

#include "base/log.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/resource.h>

namespace server {

namespace {

/// More are of no use, and some programs walk over all of them.
constexpr rlim_t open_files_max = 1U << 20U;

}  // namespace

std::uint64_t raise_open_files() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return files_reserve;
    const rlim_t wanted = std::min(limit.rlim_max, open_files_max);
    if (limit.rlim_cur >= wanted) return limit.rlim_cur;
    const rlimit raised{wanted, limit.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) return wanted;
    base::log_warning(
        fmt::format("the limit of open files stays {}: {}", limit.rlim_cur, std::strerror(errno))
    );
    return limit.rlim_cur;
}

std::size_t connections_for(std::uint64_t open_files, std::size_t wanted) {
    const std::uint64_t fit =
        open_files >= 2 * files_reserve ? open_files - files_reserve : open_files / 4;
    return static_cast<std::size_t>(std::clamp<std::uint64_t>(fit, 1, wanted));
}

}  // namespace server
