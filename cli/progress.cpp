#include "cli/progress.hpp"

#include "base/clock.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

namespace cli {

Progress::Progress(std::string what) : what_(std::move(what)), terminal_(::isatty(2) == 1) {}

Progress::~Progress() {
    if (terminal_ && shown_us_ != 0) std::fputs("\r\x1b[K", stderr);
}

void Progress::show(std::uint64_t done, std::uint64_t of, std::string_view unit) {
    constexpr auto interval = base::milliseconds(100);
    if (!terminal_) return;
    const auto now = base::system_clock().elapsed();
    if (shown_us_ != 0 && now.us - shown_us_ < interval.us) return;
    shown_us_ = now.us;
    std::string line;
    if (of == 0) {
        line = fmt::format("\r\x1b[K{} {} {}", what_, done, unit);
    } else {
        constexpr std::uint64_t width = 30;
        const auto share = std::min(done, of);
        const auto filled = static_cast<std::size_t>(share * width / of);
        line = fmt::format(
            "\r\x1b[K{} [{}{}] {} of {} {}",
            what_,
            std::string(filled, '#'),
            std::string(width - filled, ' '),
            share,
            of,
            unit
        );
    }
    std::fputs(line.c_str(), stderr);
}

}  // namespace cli
