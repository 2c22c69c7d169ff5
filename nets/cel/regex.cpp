#include "nets/cel/regex.hpp"

#include "nets/cel/functions.hpp"

#include <cstdint>
#include <fmt/format.h>
#include <re2/re2.h>

namespace nets::cel {

namespace {

constexpr std::int64_t pattern_memory_bytes_max = std::int64_t{1} << 20U;
constexpr std::size_t pattern_bytes_max = 4096;
constexpr std::uint64_t instructions_per_step = 16;

}  // namespace

base::Result<std::shared_ptr<const re2::RE2>> compile_pattern(std::string_view pattern) {
    if (pattern.size() > pattern_bytes_max) {
        return base::fail(
            base::ErrorCode::validation,
            fmt::format("a pattern of {} bytes; the limit is {}", pattern.size(), pattern_bytes_max)
        );
    }
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(pattern_memory_bytes_max);
    auto compiled =
        std::make_shared<const re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
    if (!compiled->ok()) {
        return base::fail(
            base::ErrorCode::validation,
            fmt::format("the pattern '{}' is not RE2: {}", pattern, compiled->error())
        );
    }
    return compiled;
}

std::uint64_t search_steps(const re2::RE2& pattern, std::string_view text) {
    const auto size = static_cast<std::uint64_t>(pattern.ProgramSize());
    return text.size() / text_bytes_per_step * (1 + size / instructions_per_step);
}

bool found_in(const re2::RE2& pattern, std::string_view text) {
    return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), pattern);
}

}  // namespace nets::cel
