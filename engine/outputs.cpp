#include "engine/outputs.hpp"

#include "base/json.hpp"
#include "engine/arrival.hpp"
#include "engine/model.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace engine {

using base::ErrorCode;
using base::fail;
using base::Result;
using nets::FixedName;

namespace {

class Evaluation {
public:
    Evaluation(
        const Deployment& deployment, Scope& scope, base::CaseId case_id, base::Timestamp now
    )
        : deployment_(deployment), scope_(scope), case_id_(case_id), now_(now) {}

    Result<Produced> run(const nets::Outputs& outputs) {
        bool taken = false;
        for (const auto& rule : outputs.rules) {
            if (rule.otherwise) continue;
            const auto holds = applies(rule);
            if (!holds) return fail(holds.error());
            if (!*holds) continue;
            taken = true;
            if (auto made = apply_rule(rule); !made) return fail(std::move(made.error()));
            if (outputs.first_only) break;
        }
        for (const auto& rule : outputs.rules) {
            if (taken || !rule.otherwise) continue;
            if (auto made = apply_rule(rule); !made) return fail(std::move(made.error()));
            taken = true;
            break;
        }
        if (!taken && !outputs.may_be_empty) {
            return fail(
                ErrorCode::unrouted,
                "no output rule takes the result",
                "add a rule with \"otherwise\": true"
            );
        }
        if (auto fits = fits_capacities(); !fits) return fail(std::move(fits.error()));
        return std::move(produced_);
    }

private:
    // More than a place can ever hold is not waited for.
    Result<void> fits_capacities() {
        if (!capped_) return {};
        for (const auto& [id, count] : by_place(produced_)) {
            const auto& place = scope_.state().store.place(id);
            if (!place.capacity || count <= *place.capacity) continue;
            return fail(
                ErrorCode::limit,
                fmt::format(
                    "{} tokens for place '{}' whose capacity is {}",
                    count,
                    place.name,
                    *place.capacity
                ),
                "raise the capacity, or make fewer tokens at a time"
            );
        }
        return {};
    }

    Result<bool> applies(const nets::OutputRule& rule) {
        if (!rule.when) return true;
        const auto value = rule.when->evaluate(scope_.values(*rule.when), scope_.budget);
        if (!value) return fail(value.error());
        if (!value->is(nets::cel::Kind::boolean)) {
            return fail(
                ErrorCode::validation, fmt::format("when '{}' is not a bool", rule.when->source())
            );
        }
        return value->as_boolean();
    }

    Result<void> apply_rule(const nets::OutputRule& rule) {
        if (!rule.each) return make(rule);
        const auto list = rule.each->evaluate(scope_.values(*rule.each), scope_.budget);
        if (!list) return fail(list.error());
        if (!list->is(nets::cel::Kind::list)) {
            return fail(
                ErrorCode::validation, fmt::format("each '{}' is not a list", rule.each->source())
            );
        }
        for (std::size_t i = 0; i < list->size(); ++i) {
            scope_.set(FixedName::each, list->at(i));
            if (auto made = make(rule); !made) return made;
        }
        return {};
    }

    Result<void> make(const nets::OutputRule& rule) {
        if (produced_.size() >= produced_max) {
            return fail(
                ErrorCode::limit, fmt::format("a firing makes at most {} tokens", produced_max)
            );
        }
        NewToken token;
        token.place = deployment_.places[rule.place];
        token.case_id = case_id_;
        if (rule.delay.us > 0) token.visible_at = now_ + rule.delay;
        const int bare = rule.token.bare_name();
        const places::Payload* shared = bare >= 0 && static_cast<std::size_t>(bare) < scope_.arcs()
                                            ? scope_.payload(static_cast<std::size_t>(bare))
                                            : nullptr;
        if (shared != nullptr) {
            token.data = *shared;
        } else {
            text_.clear();
            auto done = rule.token.render(text_, scope_.values(rule.token), scope_.budget);
            if (!done) return done;
            if (text_.size() > token_bytes_max) {
                return fail(
                    ErrorCode::too_large,
                    fmt::format(
                        "a token of {} bytes; the inline limit is {}", text_.size(), token_bytes_max
                    ),
                    "put the bytes into a blob and let the token carry its URN"
                );
            }
            token.data = places::Payload::make(text_);
        }
        const auto& place = scope_.state().store.place(token.place);
        capped_ |= place.capacity.has_value();
        if (place.schema) {
            if (auto fits = may_arrive(place, token.data.view()); !fits) return fits;
        }
        produced_.push_back(std::move(token));
        return {};
    }

    const Deployment& deployment_;
    Scope& scope_;
    base::CaseId case_id_;
    base::Timestamp now_;
    Produced produced_;
    bool capped_ = false;  // a token for a place with a capacity is among them
    std::string text_;
};

}  // namespace

Result<Produced> evaluate(
    const nets::Outputs& outputs,
    const Deployment& deployment,
    Scope& scope,
    base::CaseId case_id,
    base::Timestamp now
) {
    return Evaluation(deployment, scope, case_id, now).run(outputs);
}

std::vector<std::pair<places::PlaceId, std::uint64_t>> by_place(const Produced& produced) {
    std::vector<std::pair<places::PlaceId, std::uint64_t>> counts;
    for (const auto& token : produced) {
        const auto found = std::ranges::find(
            counts, token.place, &std::pair<places::PlaceId, std::uint64_t>::first
        );
        if (found == counts.end()) {
            counts.emplace_back(token.place, 1);
        } else {
            ++found->second;
        }
    }
    return counts;
}

NewToken dead_letter_token(const DeadLetter& letter) {
    base::Json tokens = base::Json::array();
    for (const auto slot : letter.tokens) {
        const auto& token = letter.state.store.token(slot);
        const auto& place = letter.state.store.place(token.place);
        base::Json entry = {{"id", text(token.id)}, {"place", place.name}};
        if (!place.net.empty()) entry["net"] = place.net;
        if (token.case_id) entry["case"] = text(token.case_id);
        entry["data"] = *base::parse_json(token.data.view());
        tokens.push_back(std::move(entry));
    }
    base::Json data = {
        {"net", letter.net},
        {"transition", letter.transition},
        {"error", *base::parse_json(letter.error)},
        {"tokens", std::move(tokens)},
    };
    if (letter.operation) data["operation"] = text(letter.operation);
    NewToken made;
    made.place = letter.state.dead_letter();
    made.case_id = letter.case_id;
    made.data = places::Payload::make(base::canonical(data));
    return made;
}

}  // namespace engine
