#include "nets/analysis/modes.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace nets::analysis {
namespace {

Mode first_mode(const Transition& transition) {
    Mode mode{.guard = transition.guard ? Holds::maybe : Holds::yes};
    mode.values.resize(transition.in.size());
    for (const InputArc& arc : transition.in)
        mode.where.push_back(arc.where ? Holds::maybe : Holds::yes);
    return mode;
}

bool chooses(const InputArc& arc, const Unfolding& unfolding) {
    return arc.binds() && unfolding.of(arc.place);
}

using ValueChoice = std::vector<std::optional<std::size_t>>;

void add_rivals(std::vector<Mode>& modes) {
    std::set<ValueChoice> possible;
    for (const Mode& mode : modes)
        possible.insert(mode.values);
    for (Mode& mode : modes) {
        for (std::size_t arc = 0; arc < mode.values.size(); ++arc) {
            if (!mode.values[arc]) continue;
            for (std::size_t value = 0; value < values_max; ++value) {
                ValueChoice other = mode.values;
                other[arc] = value;
                if (value != *mode.values[arc] && possible.contains(other))
                    mode.rivals.push_back({.arc = arc, .value = value});
            }
        }
    }
}

}  // namespace

Holds lets_pass(
    const InputArc& arc, const cel::Node& where, std::size_t value, const Unfolding& unfolding
) {
    const UnfoldedPlace& place = *unfolding.places[arc.place];
    const KnownField known{token_name, &place.field.path, &place.field.values[value]};
    return judged(where, {&known, 1});
}

std::vector<KnownField> known_in(
    const Mode& mode, const Transition& transition, const Unfolding& unfolding
) {
    std::vector<KnownField> known;
    for (std::size_t arc = 0; arc < mode.values.size(); ++arc) {
        if (!mode.values[arc]) continue;
        const UnfoldedPlace& place = *unfolding.places[transition.in[arc].place];
        known.push_back(
            {transition.in[arc].alias, &place.field.path, &place.field.values[*mode.values[arc]]}
        );
    }
    return known;
}

std::optional<std::vector<Mode>> modes_of(
    const Transition& transition,
    const TransitionTexts* texts,
    const Unfolding& unfolding,
    std::size_t modes_max
) {
    std::vector<Mode> modes{first_mode(transition)};
    bool any = false;
    for (std::size_t a = 0; a < transition.in.size(); ++a) {
        const InputArc& arc = transition.in[a];
        if (!chooses(arc, unfolding)) continue;
        any = true;
        std::vector<Mode> more;
        for (std::size_t value = 0; value < unfolding.places[arc.place]->field.values.size();
             ++value) {
            const auto& where = texts->where[a];
            const Holds passes = where       ? lets_pass(arc, *where, value, unfolding)
                                 : arc.where ? Holds::maybe
                                             : Holds::yes;
            if (passes == Holds::no) continue;
            for (const Mode& before : modes) {
                Mode& mode = more.emplace_back(before);
                mode.values[a] = value;
                mode.where[a] = passes;
            }
        }
        modes = std::move(more);
        if (modes.size() > modes_max) return std::nullopt;
    }
    if (!any) return modes;
    if (texts->guard) {
        for (Mode& mode : modes)
            mode.guard = judged(*texts->guard, known_in(mode, transition, unfolding));
        std::erase_if(modes, [](const Mode& mode) { return mode.guard == Holds::no; });
    }
    add_rivals(modes);
    return modes;
}

std::string mode_text(const Mode& mode, const Transition& transition, const Unfolding& unfolding) {
    std::string text;
    for (std::size_t arc = 0; arc < mode.values.size(); ++arc) {
        if (!mode.values[arc]) continue;
        const std::string& id = unfolding.places[transition.in[arc].place]->ids[*mode.values[arc]];
        const std::string_view shown = std::string_view(id).substr(id.find('['));
        text += shown;
    }
    return text;
}

}  // namespace nets::analysis
