#include "nets/net.hpp"

#include <algorithm>
#include <utility>

namespace nets {

namespace {

// Places and transitions stand in the order of their names.
template <class Things>
std::optional<std::uint32_t> index_of(const Things& things, std::string_view name) {
    const auto found = std::ranges::lower_bound(things, name, {}, [](const auto& thing) {
        return std::string_view(thing.name);
    });
    if (found == things.end() || found->name != name) return std::nullopt;
    return static_cast<std::uint32_t>(found - things.begin());
}

}  // namespace

std::string_view name(FixedName fixed) {
    switch (fixed) {
        case FixedName::result:
            return "result";
        case FixedName::error:
            return "error";
        case FixedName::meta:
            return "meta";
        case FixedName::case_:
            return "case";
        case FixedName::firing:
            return "firing";
        case FixedName::now:
            return "now";
        case FixedName::each:
            return "each";
    }
    std::unreachable();
}

std::size_t Transition::name_count() const {
    return in.size() + fixed_name_count;
}

std::optional<PlaceIndex> Net::place(std::string_view wanted) const {
    return index_of(places, wanted);
}

std::optional<TransitionIndex> Net::transition(std::string_view wanted) const {
    return index_of(transitions, wanted);
}

}  // namespace nets
