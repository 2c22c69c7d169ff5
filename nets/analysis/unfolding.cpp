#include "nets/analysis/unfolding.hpp"

#include "base/result.hpp"
#include "nets/cel/value.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

namespace nets::analysis {
namespace {

using base::Json;

constexpr std::size_t shown_bytes_max = 40;  ///< of a value, in the id of its place

bool takes_one(const InputArc& arc) {
    if (arc.kind == ArcKind::reset) return true;
    const auto* const fixed = std::get_if<FixedWeight>(&arc.take);
    return fixed != nullptr && fixed->count == 1;
}

std::string path_text(const Path& path) {
    std::string text;
    for (const std::string& name : path)
        text += (text.empty() ? "" : ".") + name;
    return text;
}

std::string value_text(const cel::Value& value) {
    std::string text;
    const auto written = cel::append_canonical(text, value);
    base::check(written.has_value(), "what came from JSON is JSON");
    if (text.size() <= shown_bytes_max) return text;
    std::size_t end = shown_bytes_max;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
        --end;
    return text.substr(0, end) + "...";
}

class Chooser {
public:
    explicit Chooser(const Net& net) : net_(net) {}

    Unfolding run() && {
        result_ = folded(net_);
        find_candidates();
        if (std::ranges::find(may_, true) == may_.end()) return std::move(result_);
        read_texts();
        count_mentions();
        while (choose_some())
            follow_values();
        return std::move(result_);
    }

private:
    /// Places of which a value can be told apart, whichever it is.
    void find_candidates() {
        may_.assign(net_.places.size(), false);
        if (std::ranges::any_of(net_.transitions, &Transition::or_join)) return;
        std::vector<bool> fed(net_.places.size(), false);
        for (PlaceIndex p = 0; p < net_.places.size(); ++p)
            fed[p] = !net_.places[p].tokens.empty() || net_.start == p;
        for (const Transition& transition : net_.transitions) {
            for (const OutputRule& rule : transition.out.rules)
                fed[rule.place] = true;
            if (!transition.fail) continue;
            for (const OutputRule& rule : transition.fail->rules)
                fed[rule.place] = true;
        }
        for (PlaceIndex p = 0; p < net_.places.size(); ++p) {
            const Place& place = net_.places[p];
            const bool end = std::ranges::find(net_.end, p) != net_.end.end();
            may_[p] = place.schema && !place.shared && !place.capacity && fed[p] &&
                      !(net_.start == p && end);
        }
        for (const Transition& transition : net_.transitions) {
            for (const InputArc& arc : transition.in) {
                if (!takes_one(arc)) may_[arc.place] = false;
            }
        }
        schemas_.resize(net_.places.size());
        for (PlaceIndex p = 0; p < net_.places.size(); ++p) {
            if (!may_[p]) continue;
            auto schema = base::parse_json(net_.places[p].schema->document);
            may_[p] = schema.has_value();
            if (schema) schemas_[p] = std::move(*schema);
        }
    }

    void read_texts() {
        auto document = base::parse_json(net_.document);
        base::check(document.has_value(), "the document of a net is JSON");
        const auto kept = std::make_shared<const Json>(std::move(*document));
        result_.document = kept;
        const Json none;
        const Json* const all = kept->contains("transitions") ? &(*kept)["transitions"] : nullptr;
        for (const Transition& transition : net_.transitions) {
            const bool known = all != nullptr && all->contains(transition.name);
            result_.texts.push_back(texts_of(transition, known ? (*all)[transition.name] : none));
        }
    }

    void mention(PlaceIndex place, std::vector<Path> paths) {
        if (!may_[place]) return;
        for (Path& path : paths)
            ++mentions_[place][std::move(path)];
    }

    void mention_aliases(const Transition& transition, const cel::Node& tree) {
        for (const InputArc& arc : transition.in)
            if (arc.binds()) mention(arc.place, mentioned(tree, arc.alias));
    }

    void count_mentions() {
        for (std::size_t t = 0; t < net_.transitions.size(); ++t) {
            const Transition& transition = net_.transitions[t];
            const TransitionTexts& texts = result_.texts[t];
            if (texts.guard) mention_aliases(transition, *texts.guard);
            for (const auto& [rule, tree] : texts.when)
                mention_aliases(transition, tree);
            for (std::size_t arc = 0; arc < transition.in.size(); ++arc) {
                if (const auto& tree = texts.where[arc])
                    mention(transition.in[arc].place, mentioned(*tree, token_name));
            }
        }
    }

    /// Takes the places apart of which a finite field is mentioned, by the one mentioned most.
    bool choose_some() {
        bool any = false;
        for (auto& [place, paths] : mentions_) {
            if (!result_.of(place) && choose(place, paths)) any = true;
            paths.clear();
        }
        return any;
    }

    bool choose(PlaceIndex place, const std::map<Path, std::size_t>& paths) {
        std::optional<FiniteField> best;
        std::size_t times = 0;
        for (const auto& [path, count] : paths) {
            auto field = finite_field(schemas_[place], path);
            if (!field) continue;
            if (field->values.size() > values_max) {
                tell_too_many(place, *field);
            } else if (count > times) {
                best = std::move(field);
                times = count;
            }
        }
        return best && take_apart(place, std::move(*best));
    }

    void tell_too_many(PlaceIndex place, const FiniteField& field) {
        result_.notes.add(
            {.kind = Abstraction::Kind::data,
             .element = net_.places[place].name,
             .what = fmt::format(
                 "'{}' has {} values, and at most {} are told apart",
                 path_text(field.path),
                 field.values.size(),
                 values_max
             )}
        );
    }

    bool take_apart(PlaceIndex place, FiniteField field) {
        UnfoldedPlace made;
        for (const std::string& text : net_.places[place].tokens) {
            const auto token = base::parse_json(text);
            const auto index = token ? field.index_in(*token) : std::nullopt;
            if (!index) return false;
            made.initial.push_back(*index);
        }
        std::set<std::string> taken;
        for (const cel::Value& value : field.values) {
            const std::string shown = value_text(value);
            const std::string field_text = path_text(field.path);
            std::string id = fmt::format(
                "{}[{}{}{}]",
                net_.places[place].name,
                field_text,
                field.path.empty() ? "" : "=",
                shown
            );
            while (!taken.insert(id).second)
                id += '\'';
            made.ids.push_back(std::move(id));
        }
        made.field = std::move(field);
        result_.places[place] = std::move(made);
        return true;
    }

    /// Where templates copy a value into a place that is taken apart, it matters what it was.
    void follow_values() {
        for (std::size_t t = 0; t < net_.transitions.size(); ++t) {
            for (const auto& [rule, source] : result_.texts[t].templates) {
                if (!result_.of(rule->place) || !followed_.insert(rule).second) continue;
                const Written made = written_by(source, result_.places[rule->place]->field.path);
                if (!made.expression) continue;
                for (const InputArc& arc : net_.transitions[t].in) {
                    if (arc.binds()) mention_below(arc, *made.expression, made.below);
                }
            }
        }
    }

    void mention_below(const InputArc& arc, const cel::Node& tree, const Path& below) {
        std::vector<Path> paths = mentioned(tree, arc.alias);
        // A map that is written out is left on the way inwards; nobody here knows where.
        if (!below.empty()) mention(arc.place, paths);
        for (Path& path : paths)
            path.insert(path.end(), below.begin(), below.end());
        mention(arc.place, std::move(paths));
    }

    const Net& net_;
    Unfolding result_;
    std::vector<bool> may_;
    std::vector<Json> schemas_;
    std::map<PlaceIndex, std::map<Path, std::size_t>> mentions_;
    std::set<const OutputRule*> followed_;
};

}  // namespace

bool Unfolding::any() const {
    return std::ranges::any_of(places, [](const auto& place) { return place.has_value(); });
}

void Unfolding::fold_back(const Transition& transition) {
    std::optional<PlaceIndex> widest;
    const auto consider = [&](PlaceIndex place) {
        if (!of(place)) return;
        if (!widest || places[place]->ids.size() > places[*widest]->ids.size()) widest = place;
    };
    for (const InputArc& arc : transition.in)
        consider(arc.place);
    for (const OutputRule& rule : transition.out.rules)
        consider(rule.place);
    if (transition.fail) {
        for (const OutputRule& rule : transition.fail->rules)
            consider(rule.place);
    }
    if (widest) places[*widest].reset();
}

Unfolding folded(const Net& net) {
    Unfolding result;
    result.places.resize(net.places.size());
    return result;
}

Unfolding unfolding_of(const Net& net) {
    return Chooser(net).run();
}

}  // namespace nets::analysis
