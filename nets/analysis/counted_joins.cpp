#include "nets/analysis/counted_joins.hpp"

#include "base/json.hpp"
#include "nets/interpolation.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace nets::analysis {
namespace {

using base::Json;

std::string text_of(const Json& object, const char* field) {
    const auto at = object.find(field);
    return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

std::string place_of(const Json& arc) {
    return arc.is_string() ? arc.get<std::string>() : text_of(arc, "place");
}

// The document's transitions, and which of them have to do with a place.
class Document {
public:
    explicit Document(const Net& net) {
        if (auto parsed = base::parse_json(net.document)) document_ = std::move(*parsed);
        for (const auto& [name, transition] : document_["transitions"].items()) {
            for (const auto& [alias, arc] : transition.value("in", Json::object()).items())
                takers_[place_of(arc)].insert(name);
            for (const char* way : {"out", "fail"}) {
                const auto at = transition.find(way);
                if (at == transition.end()) continue;
                for (const auto& [key, rule] : at->items())
                    makers_[at->is_object() ? key : text_of(rule, "to")].insert(name);
            }
        }
    }

    [[nodiscard]] const Json& transitions() const { return document_.at("transitions"); }
    [[nodiscard]] std::optional<std::string> only_maker(const std::string& place) const {
        return only(makers_, place);
    }
    [[nodiscard]] std::optional<std::string> only_taker(const std::string& place) const {
        return only(takers_, place);
    }

private:
    using Users = std::map<std::string, std::set<std::string>>;
    static std::optional<std::string> only(const Users& users, const std::string& place) {
        const auto at = users.find(place);
        if (at == users.end() || at->second.size() != 1) return std::nullopt;
        return *at->second.begin();
    }

    Json document_ = Json::object();
    Users makers_;
    Users takers_;
};

// Places between a fan-out and its join.
struct Counted {
    std::string fan_out;
    std::string join;
    std::set<std::string> places;
};

// Makes one token in `to` of each in the place it takes from, whatever happens: that place.
std::optional<std::string> passes_on(const Json& transition, const std::string& to) {
    const auto in = transition.value("in", Json::object());
    if (in.size() != 1 || transition.contains("guard") || transition.contains("fail"))
        return std::nullopt;
    const Json& arc = in.begin().value();
    const bool plain = arc.is_string() || (arc.size() == 1 && arc.contains("place"));
    const auto out = transition.find("out");
    if (!plain || out == transition.end() || !out->is_object() || !out->contains(to))
        return std::nullopt;
    return place_of(arc);
}

// The fan-out that makes `parts`, and writes how many there are into `field` of `plan`.
bool fans_out(
    const Json& transition,
    const std::string& parts,
    const std::string& plan,
    std::string_view field
) {
    const auto out = transition.find("out");
    if (out == transition.end() || !out->is_array() || transition.contains("choose")) return false;
    std::string list;
    std::string count;
    for (const auto& rule : *out) {
        const auto to = text_of(rule, "to");
        if (to != parts && to != plan) continue;
        if (rule.contains("when") || rule.contains("otherwise")) return false;
        std::string& into = to == parts ? list : count;
        if (!into.empty()) return false;  // two rules for one place
        if (to == parts) {
            into = without_braces(text_of(rule, "each"));
        } else if (rule.contains("each") || !rule.contains("token")) {
            return false;
        } else {
            into = without_braces(text_of(rule.at("token"), std::string(field).c_str()));
        }
    }
    return !list.empty() && count == fmt::format("size({})", list);
}

std::optional<Counted> counted_join(
    const Document& document, const std::string& name, const Json& join
) {
    const auto in = join.value("in", Json::object());
    for (const auto& [alias, arc] : in.items()) {
        const auto take = arc.is_object() ? text_of(arc, "take") : std::string();
        const std::string path(without_braces(take));
        const auto dot = path.find('.');
        if (dot == std::string::npos || !in.contains(path.substr(0, dot))) continue;
        const auto plan = place_of(in.at(path.substr(0, dot)));
        std::string parts = place_of(arc);
        Counted found{.fan_out = {}, .join = name, .places = {plan, parts}};
        if (document.only_taker(parts) != name || document.only_taker(plan) != name) continue;
        const auto fan_out = document.only_maker(plan);
        if (!fan_out) continue;
        // Back over what makes one of one.
        for (auto maker = document.only_maker(parts); maker && maker != fan_out;
             maker = document.only_maker(parts)) {
            const auto before = passes_on(document.transitions().at(*maker), parts);
            if (!before || document.only_taker(*before) != maker) break;
            if (!found.places.insert(*before).second) break;
            parts = *before;
        }
        if (document.only_maker(parts) != fan_out) continue;
        if (!fans_out(document.transitions().at(*fan_out), parts, plan, path.substr(dot + 1)))
            continue;
        found.fan_out = *fan_out;
        return found;
    }
    return std::nullopt;
}

// What is left where it should not be is left between the two only.
bool by_number(const Net& net, const Counted& counted, const std::optional<Trace>& trace) {
    if (!trace || trace->certain) return false;
    bool between = false;
    for (const auto& [place, count] : trace->marking) {
        const auto index = net.place(place);
        if (index && std::ranges::find(net.end, *index) != net.end.end()) continue;
        if (!counted.places.contains(place)) return false;
        between = true;
    }
    return between;
}

}  // namespace

void mind_counted_joins(const Net& net, Report& report) {
    const Document document(net);
    for (const auto& [name, transition] : document.transitions().items()) {
        const auto counted = counted_join(document, name, transition);
        if (!counted) continue;
        std::erase_if(report.findings, [&](const Finding& finding) {
            return finding.severity != Severity::error && by_number(net, *counted, finding.trace);
        });
        for (Verdict& verdict : report.verdicts) {
            const bool about_cases = verdict.property == Property::option_to_complete ||
                                     verdict.property == Property::proper_completion ||
                                     verdict.property == Property::sound;
            if (!about_cases || verdict.answer != Answer::refuted) continue;
            if (!by_number(net, *counted, verdict.trace)) continue;
            verdict.answer = Answer::unknown;
            verdict.reason = fmt::format(
                "'{}' takes as many tokens as '{}' makes; other numbers were tried, too",
                counted->join,
                counted->fan_out
            );
            verdict.trace.reset();
        }
    }
}

}  // namespace nets::analysis
