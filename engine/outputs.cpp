#include "engine/outputs.hpp"

#include "base/limits.hpp"
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

// A token in a dead letter, which wraps it three times; a record and a view wrap that once more.
constexpr base::JsonLimits quoted_limits{
    .bytes_max = base::limits::letter_bytes_max,
    .depth_max = base::limits::stored.depth_max - 16,
};

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
        bytes_ += token.data.view().size();
        if (bytes_ > base::limits::firing_bytes_max) {
            return fail(
                ErrorCode::limit,
                fmt::format(
                    "the tokens of one firing have more than {} bytes together",
                    base::limits::firing_bytes_max
                ),
                "produce fewer tokens at a time, or put their bytes into blobs"
            );
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
    std::size_t bytes_ = 0;
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
    auto produced = Evaluation(deployment, scope, case_id, now).run(outputs);
    if (scope.unreadable()) return fail(*scope.unreadable());
    return produced;
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

namespace {

// One token as a dead letter quotes it. Without its data when that would make the letter
// unreadable: then it says so, and the record that produced the token still has it.
void append_quoted(std::string& out, const DeadLetter& letter, places::Slot slot, bool whole) {
    const auto& token = letter.state.store.token(slot);
    const auto& place = letter.state.store.place(token.place);
    out += '{';
    if (token.case_id) out += fmt::format(R"("case":"{}",)", text(token.case_id));
    if (whole) {
        out += R"("data":)";
        out += token.data.view();
        out += ',';
    }
    out += fmt::format(R"("id":"{}",)", text(token.id));
    if (!place.net.empty()) {
        out += R"("net":)";
        base::append_canonical_string(out, place.net);
        out += ',';
    }
    if (!whole) out += fmt::format(R"("omittedBytes":{},)", token.data.view().size());
    out += R"("place":)";
    base::append_canonical_string(out, place.name);
    out += '}';
}

}  // namespace

NewToken dead_letter_token(const DeadLetter& letter) {
    std::string data = R"({"error":)";
    data += letter.error;
    data += R"(,"net":)";
    base::append_canonical_string(data, letter.net);
    if (letter.operation) data += fmt::format(R"(,"operation":"{}")", text(letter.operation));
    data += R"(,"tokens":[)";
    std::size_t bytes = 0;
    for (const auto slot : letter.tokens) {
        const auto quoted = letter.state.store.token(slot).data.view();
        const bool whole = bytes + quoted.size() <= base::limits::letter_bytes_max &&
                           base::parse_json(quoted, quoted_limits).has_value();
        if (whole) bytes += quoted.size();
        if (data.back() != '[') data += ',';
        append_quoted(data, letter, slot, whole);
    }
    data += R"(],"transition":)";
    base::append_canonical_string(data, letter.transition);
    data += '}';
    NewToken made;
    made.place = letter.state.dead_letter();
    made.case_id = letter.case_id;
    made.data = places::Payload::make(data);
    return made;
}

}  // namespace engine
