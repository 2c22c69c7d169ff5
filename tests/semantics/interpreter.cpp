#include "tests/semantics/interpreter.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <optional>

namespace semantics {

using base::Json;
using nets::ArcKind;

namespace {

constexpr auto elsewhere = std::numeric_limits<nets::PlaceIndex>::max();  // not of this net

std::vector<base::TokenId> ids(const Json& data, const char* field) {
    std::vector<base::TokenId> found;
    if (!data.contains(field)) return found;
    for (const auto& id : data.at(field))
        found.push_back(*base::token_id(id.get<std::string>()));
    return found;
}

std::uint64_t case_of(const Json& data) {
    return data.contains("case") ? base::case_id(data.at("case").get<std::string>())->seq : 0;
}

template <class Ids>
std::vector<base::TokenId> sorted(const Ids& ids) {
    std::vector<base::TokenId> all(ids.begin(), ids.end());
    std::ranges::sort(all);
    return all;
}

}  // namespace

int Interpreter::may_arrive(nets::TransitionIndex t, const Binding& binding) const {
    const auto& rules = net_.transitions[t];
    ArrivalQuestion question{.net = net_, .join = t};
    question.marking.resize(net_.places.size());
    question.held.resize(net_.places.size());
    for (const auto& [id, token] : tokens_) {
        const bool own = token.case_seq == 0 || token.case_seq == binding.case_seq;
        if (!own || token.holder != 0 || token.place == elsewhere) continue;
        if (token.visible > now_) {
            question.late.push_back(token.place);
        } else {
            ++question.marking[token.place];
        }
    }
    for (const auto& [id, running] : running_) {
        const bool own = running.case_seq == 0 || running.case_seq == binding.case_seq;
        if (own) question.running.push_back(running.transition);
    }
    for (std::size_t arc = 0; arc < rules.in.size(); ++arc) {
        const auto& in = rules.in[arc];
        if (!may_stay_empty(rules, in)) continue;
        const auto has = binding.arcs[arc].size();
        question.held[in.place] += static_cast<std::uint32_t>(has);
        const auto* fixed = std::get_if<nets::FixedWeight>(&in.take);
        const auto* range = std::get_if<nets::RangeWeight>(&in.take);
        const bool expression = std::holds_alternative<nets::ExpressionWeight>(in.take);
        const bool served = (fixed != nullptr && has == fixed->count) ||
                            (range != nullptr && has == range->max) || (expression && has != 0);
        if (!served) question.wanted.insert(in.place);
    }
    return semantics::may_arrive(question);
}

void Interpreter::produce(const Json& record) {
    const Json& data = record.at("data");
    if (!data.contains("produced")) return;
    const auto seq = record.at("seq").get<base::Seq>();
    std::uint32_t n = 0;
    for (const auto& made : data.at("produced")) {
        Token token;
        token.id = {seq, n++};
        token.case_seq = made.contains("case") ? case_of(made) : case_of(data);
        token.data = made.at("data");
        token.visible = {made.value("visibleAt", record.at("ts").get<std::int64_t>())};
        const auto place = net_.place(made.at("place").get<std::string>());
        token.place = place.value_or(elsewhere);
        if (place && !net_.places[*place].cases) token.case_seq = 0;  // S3
        tokens_[token.id] = token;
    }
}

std::string Interpreter::take(const Json& record, const char* field, std::uint64_t holder) {
    for (const auto id : ids(record.at("data"), field)) {
        const auto found = tokens_.find(id);
        if (found == tokens_.end()) return "S1: takes " + text(id) + ", which is not there";
        if (holder != found->second.holder && std::string_view(field) == "consumed") {
            return "S1: takes " + text(id) + ", which another firing holds";
        }
        tokens_.erase(found);
    }
    return {};
}

// S15: beside what the firing itself takes.
std::set<base::TokenId> Interpreter::resets(const nets::Transition& rules, const Binding& binding)
    const {
    std::set<base::TokenId> expected;
    const auto own = sorted(bound(rules, binding, ArcKind::consume));
    for (const auto& arc : rules.in) {
        if (arc.kind != ArcKind::reset) continue;
        for (const auto& [id, token] : tokens_) {
            if (token.place != arc.place || std::ranges::binary_search(own, id)) continue;
            const bool visible =
                arc.any_case || token.case_seq == 0 || token.case_seq == binding.case_seq;
            if (!visible || !matches(arc, token.data, binding.key)) continue;
            const bool held = token.holder != 0 || aside_.contains(id);
            if (held && token.case_seq == 0 && !arc.any_case) {
                const auto of =
                    token.holder != 0 ? running_.at(token.holder).case_seq : aside_.at(id);
                if (of != 0 && of != binding.case_seq) continue;
            }
            expected.insert(id);
        }
    }
    return expected;
}

std::string Interpreter::check_reset(
    const Json& record, const nets::Transition& rules, const Binding& binding
) {
    const Json& data = record.at("data");
    // S18
    const auto expected =
        data.contains("error") ? std::set<base::TokenId>{} : resets(rules, binding);
    std::set<std::string> cancelled;
    for (const auto id : expected) {
        const auto holder = tokens_.at(id).holder;
        if (holder != 0) cancelled.insert(text(base::OperationId{holder}));
    }
    if (ids(data, "reset") != sorted(expected)) return "S15: resets other tokens than it should";
    std::set<std::string> told;
    if (data.contains("cancelled")) told = data.at("cancelled").get<std::set<std::string>>();
    if (told != cancelled) return "S16: cancels other firings than it should";
    for (const auto id : expected)
        tokens_.erase(id);
    for (const auto& id : cancelled) {
        const auto seq = base::operation_id(id)->seq;
        for (auto& [token_id, token] : tokens_) {
            if (token.holder == seq) token.holder = 0;
        }
        running_.erase(seq);
    }
    return {};
}

// S26: what the rules make, or nothing when they fail. Of a call only the places are foretold.
std::optional<Json> Interpreter::made(
    const nets::Transition& rules,
    const nets::Outputs& outputs,
    const std::vector<nets::cel::Value>& names,
    base::Timestamp at
) const {
    const bool call = !std::holds_alternative<nets::Map>(rules.action);
    Json made = Json::array();
    const auto apply = [&](const nets::OutputRule& rule) {
        nets::cel::Budget budget;
        const auto make = [&](std::span<const nets::cel::Value> with) {
            std::string out;
            Json token = {{"place", net_.places[rule.place].name}};
            if (!call && rule.token.render(out, with, budget)) token["data"] = Json::parse(out);
            if (rule.delay.us > 0) token["visibleAt"] = at.us + rule.delay.us;
            made.push_back(std::move(token));
        };
        if (!rule.each) return make(names);
        const auto list = rule.each->evaluate(names, budget);
        for (std::size_t i = 0; list && i < list->size(); ++i) {
            auto with = names;
            with[rules.in.size() + static_cast<std::size_t>(nets::FixedName::each)] = list->at(i);
            make(with);
        }
    };
    bool any = false;
    for (const auto& rule : outputs.rules) {
        nets::cel::Budget budget;
        if (rule.otherwise) continue;
        if (rule.when) {
            const auto holds = rule.when->evaluate(names, budget);
            if (!holds || !holds->as_boolean()) continue;
        }
        any = true;
        apply(rule);
        if (outputs.first_only) break;
    }
    for (const auto& rule : outputs.rules) {
        if (any || !rule.otherwise) continue;
        apply(rule);
        any = true;
    }
    if (!any && !outputs.may_be_empty) return std::nullopt;  // unrouted
    for (const auto& [place, count] : counts(made)) {
        const auto& capacity = net_.places[place].capacity;
        if (capacity && count > *capacity) return std::nullopt;  // S5: it would never fit
    }
    return made;
}

// What a call read may be gone by now: it is not foretold what comes out.
bool Interpreter::foretold(const nets::Transition& rules) {
    const bool call = !std::holds_alternative<nets::Map>(rules.action);
    return !call || std::ranges::none_of(rules.in, [](const nets::InputArc& arc) {
        return arc.kind == ArcKind::read;
    });
}

// S26, S27: the places and data of what comes out.
std::string Interpreter::check_made(
    const Json& record, const nets::Transition& rules, const Binding& binding
) {
    if (!foretold(rules)) return {};
    const Json& data = record.at("data");
    const auto names = values(rules, binding);
    const base::Timestamp at{record.at("ts").get<std::int64_t>()};
    const bool call = !std::holds_alternative<nets::Map>(rules.action);
    std::optional<Json> expected;
    const bool failed = data.contains("error");
    if (!call || !failed) expected = made(rules, rules.out, names, at);
    if (!call && expected.has_value() == failed) return "S26: routed, or not, as it should not be";
    if (!expected && rules.fail) expected = made(rules, *rules.fail, names, at);
    const auto& type = record.at("type").get_ref<const std::string&>();
    Json got = data.value("produced", Json::array());
    if (!expected) {
        const bool letter = got.size() == 1 && got[0].at("place") == "p-dead-letter";
        return letter || type == "dead_letter.added" ? "" : "S27: no dead letter";
    }
    // S5: who gives up one that waits for room does not wait either.
    if (type == "operation.abandoned" && got.size() == 1 && got[0].at("place") == "p-dead-letter") {
        return {};
    }
    for (auto& token : got) {
        for (const char* field : {"case", "net", "shared"})
            token.erase(field);
        if (call) token.erase("data");
    }
    if (got != *expected) return fmt::format("S26: made {}, not {}", got.dump(), expected->dump());
    return {};
}

std::string Interpreter::follow_fired(const Json& record) {
    const Json& data = record.at("data");
    const auto t = net_.transition(data.at("transition").get<std::string>());
    if (!t) return "fires a transition that is not there";
    const auto& rules = net_.transitions[*t];
    std::optional<Binding> binding;
    std::string fault = "S7: no clause allows this binding";
    each_binding(*t, now_, [&](const Binding& found) {
        if (found.case_seq != case_of(data)) return false;
        if (bound(rules, found, ArcKind::consume) != ids(data, "consumed")) return false;
        if (bound(rules, found, ArcKind::read) != ids(data, "read")) return false;
        fault = check_made(record, rules, found);
        if (!fault.empty()) return false;
        binding = found;
        return true;
    });
    if (!binding) return fault;
    if (rules.or_join && may_arrive(*t, *binding) == 1) {
        return "S22: the or-join fired although a token may still come";
    }
    if (fault = check_passes_none(*t, *binding); !fault.empty()) return fault;
    fault = check_reset(record, rules, *binding);
    return fault.empty() ? take(record, "consumed", 0) : fault;
}

std::string Interpreter::follow_invoking(const Json& record) {
    const Json& data = record.at("data");
    if (data.contains("operation")) return {};  // a further attempt
    const auto t = net_.transition(data.at("transition").get<std::string>());
    const auto seq = record.at("seq").get<base::Seq>();
    Running running{*t, case_of(data), {}, {}, false, false};
    for (const auto& arc : data.at("reserved")) {
        auto& held = running.arcs.emplace_back();
        for (const auto& id : arc)
            held.push_back(*base::token_id(id.get<std::string>()));
    }
    // Others may have come or gone since it was chosen: what must hold is that the tokens are
    // there, free, of the case, and that nothing inhibits.
    const auto& rules = net_.transitions[*t];
    Binding binding{running.case_seq, {}, running.arcs};
    for (std::size_t arc = 0; arc < rules.in.size(); ++arc) {
        for (const auto id : binding.arcs[arc]) {
            const auto found = tokens_.find(id);
            if (found == tokens_.end()) return "S1: reserves a token that is not there";
            const Token& token = found->second;
            if (token.holder != 0) return "S7: reserves a token that another firing holds";
            const bool own =
                rules.in[arc].any_case || token.case_seq == 0 || token.case_seq == binding.case_seq;
            if (!own || token.place != rules.in[arc].place) return "S2: reserves another case's";
            if (rules.in[arc].key) binding.key = key_of(rules.in[arc], token.data);
        }
        for (const auto id : binding.arcs[arc])
            tokens_.at(id).holder = seq;
    }
    for (const auto id : ids(data, "read")) {
        if (!tokens_.contains(id)) return "S20: read a token that is gone";
    }
    if (inhibited(rules, binding)) return "S20: is inhibited";
    running.key = binding.key;
    running_[seq] = std::move(running);
    return {};
}

std::string Interpreter::follow_returned(const Json& record) {
    const Json& data = record.at("data");
    const auto seq = base::operation_id(data.at("operation").get<std::string>())->seq;
    const auto found = running_.find(seq);
    if (found == running_.end()) return "returns to a firing that is not there";
    if (found->second.returned) return "S5: returns twice";
    found->second.failed = data.contains("error");
    if (foretold(net_.transitions[found->second.transition]) && !waits(seq))
        return "S5: waits although there is room";
    found->second.returned = true;
    return {};
}

std::string Interpreter::follow_over(const Json& record) {
    const Json& data = record.at("data");
    if (!data.contains("operation")) return take(record, "consumed", 0);  // could not be prepared
    const auto seq = base::operation_id(data.at("operation").get<std::string>())->seq;
    const auto found = running_.find(seq);
    if (found == running_.end()) return "ends a firing that is not there";
    const Running running = found->second;
    const auto& rules = net_.transitions[running.transition];
    const Binding binding{running.case_seq, running.key, running.arcs};
    const bool cancelled = record.at("type") == "operation.cancelled";
    // What it returned with is what it ends with.
    if (running.returned && record.at("type") == "operation.finalized" &&
        running.failed != data.contains("error")) {
        return "S5: ends otherwise than it returned";
    }
    if (!cancelled) {
        if (auto fault = check_made(record, rules, binding); !fault.empty()) return fault;
        if (auto fault = check_reset(record, rules, binding); !fault.empty()) return fault;
    }
    if (auto fault = take(record, "consumed", seq); !fault.empty()) return fault;
    running_.erase(seq);
    for (auto& [id, token] : tokens_) {
        if (token.holder == seq) token.holder = 0;
    }
    return {};
}

std::string Interpreter::follow_ended(const Json& record) const {
    const auto of = case_of(record.at("data"));
    for (const auto& [id, token] : tokens_) {
        if (token.case_seq != of || token.place == elsewhere) continue;
        if (std::ranges::find(net_.end, token.place) == net_.end.end()) {
            return "ends a case that has " + text(id) + " left";
        }
    }
    for (const auto& [id, running] : running_) {
        if (running.case_seq == of) return "ends a case with a firing in flight";
    }
    return {};
}

std::string Interpreter::check_places() const {
    for (nets::PlaceIndex place = 0; place < net_.places.size(); ++place) {
        if (!net_.places[place].capacity) continue;
        const auto count = std::ranges::count_if(tokens_, [&](const auto& entry) {
            return entry.second.place == place;
        });
        if (static_cast<std::uint64_t>(count) > *net_.places[place].capacity) {
            return fmt::format("S5: '{}' holds {} tokens", net_.places[place].name, count);
        }
    }
    return {};
}

std::string Interpreter::follow(const Json& record) {
    now_ = {record.at("ts").get<std::int64_t>()};
    const auto& type = record.at("type").get_ref<const std::string&>();
    std::string fault;
    if (type == "fired" || type == "dead_letter.added") {
        fault = follow_fired(record);
    } else if (type == "operation.invoking") {
        fault = follow_invoking(record);
    } else if (type == "operation.returned") {
        fault = follow_returned(record);
    } else if (type == "operation.finalized" || type == "operation.failed" ||
               type == "operation.abandoned" || type == "operation.cancelled") {
        fault = follow_over(record);
    } else if (type == "case.ended") {
        fault = follow_ended(record);
    } else {
        fault = take(record, "consumed", 0);
    }
    if (!fault.empty()) return fault;
    produce(record);
    return check_places();
}

std::string Interpreter::at_rest(base::Timestamp now) const {
    Interpreter later = *this;
    later.now_ = std::max(now, now_);
    later.rested_ = true;
    std::string fault;
    for (nets::TransitionIndex t = 0; t < net_.transitions.size() && fault.empty(); ++t) {
        const auto& rules = net_.transitions[t];
        // Which of several combinations is chosen is S19: it fires for certain only if all have
        // room.
        struct Looked {
            bool may = false;
            bool wants = false;
        };
        std::map<std::pair<std::uint64_t, std::string>, Looked> all;
        later.each_binding(t, later.now_, [&](const Binding& found) {
            auto& looked = all[{found.looking, found.key}];
            looked.wants |= later.wants_room(t, found);
            looked.may |= !rules.or_join || later.may_arrive(t, found) == 0;
            return false;
        });
        for (const auto& [candidate, looked] : all) {
            if (looked.may && !looked.wants)
                fault =
                    fmt::format("S29: '{}' is enabled for case {}", rules.name, candidate.first);
        }
    }
    for (const auto& [id, running] : running_) {
        if (!running.returned || !foretold(net_.transitions[running.transition])) continue;
        if (!later.waits(id)) fault = fmt::format("S5: o{} waits although there is room", id);
    }
    return fault;
}

}  // namespace semantics
