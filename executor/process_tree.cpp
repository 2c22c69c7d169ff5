#include "executor/process_tree.hpp"

#include "base/files.hpp"

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>

namespace executor {

namespace {

constexpr std::size_t stat_bytes_max = 4096;

struct ProcessStat {
    pid_t parent = 0;
    std::int64_t cpu_ticks = 0;
    std::int64_t rss_pages = 0;
};

// proc(5): after the command in parentheses come state, ppid, ...; utime to cstime are 14 to 17 and
// rss is 24, counted from 1.
std::optional<ProcessStat> read_stat(const std::string& pid) {
    const auto text = base::read_file("/proc/" + pid + "/stat", stat_bytes_max);
    if (!text) return std::nullopt;
    const auto close = text->rfind(')');
    if (close == std::string::npos) return std::nullopt;
    std::string_view rest = std::string_view(*text).substr(close + 1);
    ProcessStat stat;
    for (int field = 3; field <= 24 && !rest.empty(); ++field) {
        rest.remove_prefix(1);
        const auto word = rest.substr(0, rest.find(' '));
        std::int64_t value = 0;
        std::from_chars(word.data(), word.data() + word.size(), value);
        if (field == 4) stat.parent = static_cast<pid_t>(value);
        if (field >= 14 && field <= 17) stat.cpu_ticks += value;
        if (field == 24) stat.rss_pages = value;
        rest.remove_prefix(word.size());
    }
    return stat;
}

std::map<pid_t, ProcessStat> all_processes() {
    std::map<pid_t, ProcessStat> out;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", failed)) {
        const auto name = entry.path().filename().string();
        pid_t pid = 0;
        const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (wrong != std::errc{} || end != name.data() + name.size()) continue;
        if (const auto stat = read_stat(name)) out.emplace(pid, *stat);
    }
    return out;
}

}  // namespace

TreeUsage process_tree_usage(pid_t root) {
    const auto processes = all_processes();
    std::multimap<pid_t, pid_t> children;
    for (const auto& [pid, stat] : processes)
        children.emplace(stat.parent, pid);
    const std::int64_t us_per_tick = 1'000'000 / ::sysconf(_SC_CLK_TCK);
    const std::int64_t page_bytes = ::sysconf(_SC_PAGESIZE);
    TreeUsage usage;
    std::vector<pid_t> open{root};
    while (!open.empty()) {
        const auto found = processes.find(open.back());
        open.pop_back();
        if (found == processes.end()) continue;
        usage.cpu_us += found->second.cpu_ticks * us_per_tick;
        usage.rss_bytes += found->second.rss_pages * page_bytes;
        usage.processes += 1;
        const auto [first, last] = children.equal_range(found->first);
        for (auto child = first; child != last; ++child)
            open.push_back(child->second);
    }
    return usage;
}

}  // namespace executor
