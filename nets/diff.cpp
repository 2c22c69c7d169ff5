#include "nets/diff.hpp"

#include "nets/interpolation.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

namespace nets {

namespace {

// Longer values are only named, not shown.
constexpr std::size_t shown_bytes_max = 60;

bool short_enough(const std::string& text) {
    return text.size() <= shown_bytes_max;
}

base::Json member(const base::Json& object, const char* name) {
    const auto found = object.find(name);
    return found == object.end() ? base::Json::object() : *found;
}

void drop_default(base::Json& object, const char* name, const base::Json& value) {
    const auto found = object.find(name);
    if (found != object.end() && *found == value) object.erase(found);
}

void plain_expression(base::Json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end() || !found->is_string()) return;
    std::string inside(without_braces(found->get_ref<const std::string&>()));
    *found = std::move(inside);
}

base::Json normal_place(base::Json place) {
    drop_default(place, "shared", false);
    drop_default(place, "cases", true);
    drop_default(place, "tokens", base::Json::array());
    return place;
}

base::Json normal_arc(const base::Json& arc) {
    base::Json made = arc.is_string() ? base::Json::object({{"place", arc}}) : arc;
    drop_default(made, "arc", "consume");
    drop_default(made, "take", 1);
    drop_default(made, "order", "fifo");
    drop_default(made, "anyCase", false);
    for (const char* expression : {"where", "key"})
        plain_expression(made, expression);
    return made;
}

base::Json normal_transition(base::Json transition) {
    if (const auto in = transition.find("in"); in != transition.end()) {
        for (auto& arc : *in)
            arc = normal_arc(arc);
    }
    plain_expression(transition, "guard");
    drop_default(transition, "in", base::Json::object());
    drop_default(transition, "priority", 0);
    drop_default(transition, "onMissed", "skip");
    drop_default(transition, "onUncertain", "wait");
    return transition;
}

class Comparison {
public:
    std::vector<Change> take() { return std::move(changes_); }

    void places(const base::Json& before, const base::Json& after) {
        members(before, after, "places", [&](const auto& name, const auto& old, const auto& now) {
            fields(
                base::pointer_child("/places", name),
                fmt::format("place '{}'", name),
                normal_place(old),
                normal_place(now)
            );
        });
    }

    void transitions(const base::Json& before, const base::Json& after) {
        members(
            before,
            after,
            "transitions",
            [&](const auto& name, const auto& old, const auto& now) {
                transition(name, normal_transition(old), normal_transition(now));
            }
        );
    }

    // The other fields of the document.
    void rest(const base::Json& before, const base::Json& after) {
        for (const char* field :
             {"net", "version", "description", "start", "end", "migrate", "layout"}) {
            const auto old = before.find(field);
            const auto now = after.find(field);
            const auto at = std::string("/") + field;
            one_field(
                at,
                fmt::format("'{}'", field),
                old == before.end() ? nullptr : &*old,
                now == after.end() ? nullptr : &*now
            );
        }
    }

private:
    void add(ChangeKind kind, std::string pointer, std::string words) {
        changes_.push_back({kind, std::move(pointer), std::move(words)});
    }

    // What is in only one of two objects, and `changed` for what is in both and differs.
    template <class Changed>
    void members(
        const base::Json& before, const base::Json& after, const char* field, const Changed& changed
    ) {
        const auto old = member(before, field);
        const auto now = member(after, field);
        const auto at = std::string("/") + field;
        const std::string_view kind = std::string_view(field) == "places" ? "place" : "transition";
        for (const auto& [name, value] : old.items()) {
            if (now.contains(name)) continue;
            add(ChangeKind::removed,
                base::pointer_child(at, name),
                fmt::format("{} '{}' is gone", kind, name));
        }
        for (const auto& [name, value] : now.items()) {
            if (!old.contains(name)) {
                add(ChangeKind::added,
                    base::pointer_child(at, name),
                    fmt::format("{} '{}' is new", kind, name));
            } else if (base::canonical(old[name]) != base::canonical(value)) {
                changed(name, old[name], value);
            }
        }
    }

    void one_field(
        std::string at, std::string_view what, const base::Json* old, const base::Json* now
    ) {
        const auto was = old == nullptr ? std::string() : base::canonical(*old);
        const auto is = now == nullptr ? std::string() : base::canonical(*now);
        if (was == is) return;
        if (old == nullptr) {
            const auto value = short_enough(is) ? ": " + is : std::string();
            add(ChangeKind::added, std::move(at), fmt::format("{} is new{}", what, value));
        } else if (now == nullptr) {
            add(ChangeKind::removed, std::move(at), fmt::format("{} is gone", what));
        } else if (short_enough(was) && short_enough(is)) {
            add(ChangeKind::changed, std::move(at), fmt::format("{} was {}, is {}", what, was, is));
        } else {
            add(ChangeKind::changed, std::move(at), fmt::format("{} is different", what));
        }
    }

    // Field by field, and where both are objects, one level deeper.
    void fields(
        const std::string& at, const std::string& what, const base::Json& old, const base::Json& now
    ) {
        auto all = old;
        all.update(now);
        for (const auto& [field, value] : all.items()) {
            const auto before = old.find(field);
            const auto after = now.find(field);
            const auto here = base::pointer_child(at, field);
            const auto called = fmt::format("{} '{}'", what, field);
            const bool both = before != old.end() && after != now.end();
            if (both && before->is_object() && after->is_object() && !what.ends_with(':')) {
                fields(here, called + ":", *before, *after);
                continue;
            }
            one_field(
                here,
                called,
                before == old.end() ? nullptr : &*before,
                after == now.end() ? nullptr : &*after
            );
        }
    }

    void transition(const std::string& name, const base::Json& old, const base::Json& now) {
        const auto what = fmt::format("transition '{}'", name);
        const auto at = base::pointer_child("/transitions", name);
        fields(at + "/in", what + " input", member(old, "in"), member(now, "in"));
        auto old_rest = old;
        auto now_rest = now;
        old_rest.erase("in");
        now_rest.erase("in");
        fields(at, what, old_rest, now_rest);
    }

    std::vector<Change> changes_;
};

std::string_view name(ChangeKind kind) {
    switch (kind) {
        case ChangeKind::added:
            return "added";
        case ChangeKind::removed:
            return "removed";
        case ChangeKind::changed:
            return "changed";
    }
    std::unreachable();
}

}  // namespace

std::vector<Change> diff(const base::Json& before, const base::Json& after) {
    Comparison comparison;
    comparison.places(before, after);
    comparison.transitions(before, after);
    comparison.rest(before, after);
    return comparison.take();
}

std::string in_words(const std::vector<Change>& changes) {
    if (changes.empty()) return "no difference\n";
    std::string out;
    for (const auto& change : changes) {
        const char sign = change.kind == ChangeKind::added     ? '+'
                          : change.kind == ChangeKind::removed ? '-'
                                                               : '~';
        out += fmt::format("{} {}\n", sign, change.words);
    }
    return out;
}

base::Json to_json(const std::vector<Change>& changes) {
    auto out = base::Json::array();
    for (const auto& change : changes) {
        out.push_back(
            {{"kind", name(change.kind)}, {"pointer", change.pointer}, {"words", change.words}}
        );
    }
    return out;
}

}  // namespace nets
