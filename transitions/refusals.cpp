#include "transitions/refusals.hpp"

#include <algorithm>
#include <utility>

namespace transitions {

namespace {

constexpr base::Duration hold_first = base::milliseconds(500);
constexpr base::Duration hold_max = base::seconds(30);

}  // namespace

void Refusals::add(std::string_view executor, std::string why, base::Duration now) {
    const base::Duration length{std::min(hold_first.us << std::min(count_, 10), hold_max.us)};
    ++count_;
    holds_.insert_or_assign(std::string(executor), Hold{std::move(why), now + length});
}

bool Refusals::hold(std::string_view executor, base::Duration now) const {
    const auto found = holds_.find(executor);
    return found != holds_.end() && found->second.until > now;
}

std::string Refusals::why(std::string_view executor) const {
    const auto found = holds_.find(executor);
    return found == holds_.end() ? std::string{} : found->second.why;
}

void Refusals::release(std::string_view executor) {
    const auto found = holds_.find(executor);
    if (found != holds_.end()) holds_.erase(found);
}

std::optional<base::Duration> Refusals::next(base::Duration now) const {
    std::optional<base::Duration> next;
    for (const auto& [executor, hold] : holds_) {
        if (hold.until > now && (!next || hold.until < *next)) next = hold.until;
    }
    return next;
}

}  // namespace transitions
