#include "nets/faults.hpp"

#include "base/json.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace nets {

namespace {

// Longer names are not compared: nobody mistypes those, and the work is quadratic.
constexpr std::size_t compared_bytes_max = 40;
constexpr std::size_t quoted_bytes_max = 80;

// Levenshtein's distance, or `limit` + 1 when it is more.
std::size_t distance(std::string_view left, std::string_view right, std::size_t limit) {
    const auto longer = std::max(left.size(), right.size());
    const auto shorter = std::min(left.size(), right.size());
    if (longer - shorter > limit || longer > compared_bytes_max) return limit + 1;
    std::vector<std::size_t> row(right.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < left.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t k = 0; k < right.size(); ++k) {
            const std::size_t changed = diagonal + (left[i] == right[k] ? 0 : 1);
            diagonal = row[k + 1];
            row[k + 1] = std::min({changed, row[k] + 1, diagonal + 1});
        }
    }
    return row.back();
}

}  // namespace

std::string At::pointer() const {
    std::vector<const At*> chain;
    for (const At* at = this; at->up_ != nullptr; at = at->up_)
        chain.push_back(at);
    std::string out;
    for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
        out = (*at)->key_.data() == nullptr ? fmt::format("{}/{}", out, (*at)->index_)
                                            : base::pointer_child(out, (*at)->key_);
    }
    return out;
}

void Faults::add(const At& at, std::string message, base::ErrorCode code) {
    if (full()) {
        ++count_;
        return;
    }
    add({at.pointer(), code, std::move(message)});
}

void Faults::add(base::ErrorDetail detail) {
    if (!full()) told_.push_back(std::move(detail));
    ++count_;
}

void Faults::add_all(const At& at, const base::Error& error, std::string_view prefix) {
    for (const auto& detail : error.details)
        add(at, fmt::format("{}{}", prefix, detail.message), detail.code);
    if (error.details.empty()) add(at, fmt::format("{}{}", prefix, error.message), error.code);
}

base::Error Faults::error(std::string_view what) const {
    using enum base::ErrorCode;
    const bool only_unsupported =
        std::ranges::all_of(told_, [](const auto& detail) { return detail.code == unsupported; });
    base::Error made;
    made.code = only_unsupported ? unsupported : validation;
    made.message = count_ == 1 ? fmt::format("{}: {}", what, told_.front().message)
                               : fmt::format("{} has {} faults", what, count_);
    made.details = told_;
    if (count_ > told_.size()) {
        made.details.push_back(
            {"", made.code, fmt::format("and {} more faults", count_ - told_.size())}
        );
    }
    return made;
}

std::string in_quotes(std::string_view text) {
    if (text.size() <= quoted_bytes_max) return fmt::format("'{}'", text);
    std::size_t end = quoted_bytes_max;
    while ((static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80)
        --end;
    return fmt::format("'{}...'", text.substr(0, end));
}

std::string did_you_mean(std::string_view wrong, const std::vector<std::string_view>& names) {
    const std::size_t limit = wrong.size() <= 3 ? 1 : 2;
    std::size_t best = limit + 1;
    std::string_view nearest;
    for (const auto name : names) {
        const std::size_t far = distance(wrong, name, limit);
        if (far < best) {
            best = far;
            nearest = name;
        }
    }
    return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

}  // namespace nets
