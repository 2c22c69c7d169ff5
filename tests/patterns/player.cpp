#include "tests/patterns/player.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace patterns {
namespace {

constexpr int rounds_max = 1000;  ///< of pumping and answering between two steps

std::pair<std::string_view, std::string_view> first_word(std::string_view text) {
    const auto space = text.find(' ');
    if (space == std::string_view::npos) return {text, {}};
    return {text.substr(0, space), text.substr(space + 1)};
}

std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> all;
    while (!text.empty()) {
        const auto [word, rest] = first_word(text);
        all.emplace_back(word);
        text = rest;
    }
    return all;
}

std::string canonical(std::string_view text) {
    const auto value = base::parse_json(text);
    REQUIRE_MESSAGE(value.has_value(), "not JSON: ", text);
    return base::canonical(*value);
}

base::Duration seconds(std::string_view text) {
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(text.begin(), text.end(), n);
    REQUIRE_MESSAGE((error == std::errc{} && end + 1 == text.end() && *end == 's'), text);
    return base::seconds(n);
}

std::optional<std::string> unless(bool holds, std::string why_not) {
    if (holds) return std::nullopt;
    return why_not;
}

}  // namespace

std::pair<std::string, std::string> addressed(const std::string& step) {
    if (step.size() > 3 && step[1] == ':' && step[2] == ' ') {
        return {step.substr(0, 1), step.substr(3)};
    }
    return {"1", step};
}

bool is_wait(std::string_view step) {
    return step.starts_with("wait ");
}

Player::Player(const Pattern& pattern) : pattern_(pattern) {
    model_.deploy(pattern.document);
    come_to_rest();
}

std::optional<std::string> Player::take(const std::string& who, std::string_view step) {
    const auto [verb, rest] = first_word(step);
    if (verb == "start") return start(who, rest);
    if (verb == "put") return put(who, rest);
    if (verb == "complete") return settle(who, rest, false);
    if (verb == "fail") return settle(who, rest, true);
    if (verb == "late") return late(who, rest);
    if (verb == "cancel") return cancel(who);
    if (verb == "running") return running(who, rest);
    if (verb == "holds") return holds(who, rest);
    if (verb == "dead") return dead(who, rest);
    if (verb == "state") {
        const auto is = name(model_.case_state(case_of(who)));
        return unless(is == rest, fmt::format("the case is {}", is));
    }
    if (verb == "wait") {
        model_.now = model_.now + seconds(rest);
        come_to_rest();
        return std::nullopt;
    }
    FAIL("no such step: ", step);
    return std::nullopt;
}

Player::Refusal Player::start(const std::string& who, std::string_view input) {
    REQUIRE_MESSAGE(!cases_.contains(who), "case ", who, " was started before");
    cases_[who] = model_.start(pattern_.net, input.empty() ? "{}" : input);
    come_to_rest();
    return std::nullopt;
}

Player::Refusal Player::put(const std::string& who, std::string_view rest) {
    const auto [place, data] = first_word(rest);
    const auto done = engine::put_tokens(
        model_.model,
        {pattern_.net, std::string(place)},
        {{canonical(data.empty() ? "{}" : data), case_of(who)}},
        model_.asker()
    );
    come_to_rest();
    return unless(done.has_value(), done ? "" : done.error().message);
}

Player::Refusal Player::settle(const std::string& who, std::string_view rest, bool fails) {
    const auto [name, result] = first_word(rest);
    const Activity key{case_of(who), activity(name)};
    auto& queue = running_[key].empty() ? cancelled_[key] : running_[key];
    if (queue.empty()) {
        return fmt::format("{} does not run; running: {}", name, fmt::join(active(key.first), " "));
    }
    engine::Outcome outcome{.operation = queue.front(), .result = "{}", .meta = "{}"};
    queue.pop_front();
    if (!result.empty()) outcome.result = canonical(result);
    if (fails) {
        outcome.kind = engine::Outcome::Kind::error;
        outcome.error = {base::ErrorCode::upstream, "the script says so", {}, {}};
    }
    const auto settled = engine::settle(model_.model, std::move(outcome), model_.asker());
    come_to_rest();
    return unless(settled == engine::Settled::applied, "the result came too late");
}

Player::Refusal Player::late(const std::string& who, std::string_view rest) {
    const auto [name, result] = first_word(rest);
    auto& queue = cancelled_[{case_of(who), activity(name)}];
    if (queue.empty()) return fmt::format("no run of {} was cancelled", name);
    const auto before = view(who);
    const auto settled = engine::settle(
        model_.model,
        {.operation = queue.front(),
         .result = result.empty() ? "{}" : canonical(result),
         .meta = "{}"},
        model_.asker()
    );
    queue.pop_front();
    come_to_rest();
    if (settled != engine::Settled::late) return "the late result was taken";
    return unless(view(who) == before, "the late result changed the case");
}

Player::Refusal Player::cancel(const std::string& who) {
    const auto done = engine::cancel_case(model_.model, case_of(who), model_.asker());
    come_to_rest();
    return unless(done.has_value(), done ? "" : done.error().message);
}

Player::Refusal Player::running(const std::string& who, std::string_view rest) const {
    std::vector<std::string> wanted;
    for (const auto& word : words(rest))
        wanted.push_back(activity(word));
    std::ranges::sort(wanted);
    const auto found = active(case_of(who));
    return unless(found == wanted, fmt::format("running: {}", fmt::join(found, " ")));
}

// "holds PLACE 2": so many tokens; "holds PLACE [1,2]": these.
Player::Refusal Player::holds(const std::string& who, std::string_view rest) const {
    const auto [place, wanted] = first_word(rest);
    const auto found = tokens(case_of(who), place);
    const auto data = fmt::format("[{}]", fmt::join(found, ","));
    const auto is = wanted.starts_with('[') ? data : fmt::format("{}", found.size());
    return unless(is == canonical(wanted), fmt::format("'{}' holds {}", place, data));
}

Player::Refusal Player::dead(const std::string& who, std::string_view code) const {
    const auto letters = tokens(case_of(who), {});
    const auto wanted = fmt::format(R"("code":"{}")", code);
    const bool found =
        std::ranges::any_of(letters, [&](const auto& letter) { return letter.contains(wanted); });
    return unless(found, fmt::format("dead letters: {}", fmt::join(letters, " ")));
}

base::CaseId Player::case_of(const std::string& who) const {
    const auto found = cases_.find(who);
    REQUIRE_MESSAGE(found != cases_.end(), "case ", who, " was not started");
    return found->second;
}

base::CaseId Player::root_of(base::CaseId id) const {
    const auto& state = model_.model.state();
    while (const auto* waiting = state.find_operation(state.find_case(id)->parent))
        id = waiting->case_id;
    return id;
}

std::string Player::activity(std::string_view name) const {
    const auto& net = *model_.model.state().current(pattern_.net)->net;
    const auto found = net.transition(name);
    REQUIRE_MESSAGE(found.has_value(), "no transition ", name);
    REQUIRE_MESSAGE(
        std::holds_alternative<nets::Call>(net.transitions[*found].action),
        name,
        " is no activity: it calls nothing"
    );
    return std::string(name);
}

/// Of a place of the net; without a name, the dead letters.
std::vector<std::string> Player::tokens(base::CaseId id, std::string_view place) const {
    const auto& state = model_.model.state();
    const auto place_id = place.empty() ? std::optional(state.dead_letter())
                                        : state.place({pattern_.net, std::string(place)});
    REQUIRE_MESSAGE(place_id.has_value(), "no place ", place);
    std::vector<std::string> found;
    for (auto slot = state.store.first_in(*place_id); slot != places::no_slot;
         slot = state.store.next_in_place(slot)) {
        const auto& token = state.store.token(slot);
        if (token.case_id == id) found.emplace_back(token.data.view());
    }
    return found;
}

std::vector<std::string> Player::active(base::CaseId id) const {
    std::vector<std::string> names;
    for (const auto& [key, operations] : running_) {
        if (key.first == id) names.insert(names.end(), operations.size(), key.second);
    }
    std::ranges::sort(names);
    return names;
}

std::string Player::view(const std::string& who) const {
    const auto id = case_of(who);
    std::string text{name(model_.case_state(id))};
    for (const auto& place : model_.model.state().current(pattern_.net)->net->places) {
        const auto found = tokens(id, place.name);
        if (!found.empty()) text += fmt::format("; {}: {}", place.name, fmt::join(found, " "));
    }
    return text + fmt::format("; running: {}", fmt::join(active(id), " "));
}

void Player::come_to_rest() {
    for (int round = 0; round < rounds_max; ++round) {
        model_.run();
        const auto effects = model_.model.take_effects();
        if (effects.empty()) return;
        for (const auto& effect : effects) {
            const auto& state = model_.model.state();
            if (const auto* prepare = std::get_if<engine::Prepare>(&effect)) {
                engine::prepared(
                    model_.model,
                    prepare->claim,
                    engine::Prepared{"{}", "once", prepare->tool_id, "v1"},
                    model_.asker()
                );
            } else if (const auto* perform = std::get_if<engine::Perform>(&effect)) {
                const auto* operation = state.find_operation(perform->operation);
                REQUIRE(operation != nullptr);
                const Activity key{root_of(operation->case_id), operation->rules().name};
                running_[key].push_back(operation->id);
            } else if (const auto* cancel = std::get_if<engine::Cancel>(&effect)) {
                for (auto& [key, operations] : running_) {
                    if (std::erase(operations, cancel->operation) > 0) {
                        cancelled_[key].push_back(cancel->operation);
                    }
                }
            }
        }
    }
    FAIL("the net does not come to rest");
}

}  // namespace patterns
