#pragma once

#include "base/clock.hpp"
#include "engine/state.hpp"
#include "nets/cel/cel.hpp"

#include <boost/container/small_vector.hpp>
#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// What an arc looks into: the place's own queue by case, or an index where the arc has a filter, a
/// join key or disregards cases.
struct ArcSource {
    places::PlaceId place = 0;
    places::Index* index = nullptr;  ///< the store's; null = the place's own queue
    bool keyed = false;
    bool any_case = false;
};

/// The tokens chosen for one firing: by arc, in order.
struct Binding {
    using Tokens = boost::container::small_vector<places::Slot, 1>;
    base::CaseId case_id;
    boost::container::small_vector<Tokens, 3> arcs;
};

/// Which tokens are looked for: those of one case (and those without one), with one join key.
struct Candidate {
    std::uint64_t case_seq = 0;
    std::string key;
    bool operator==(const Candidate&) const = default;
};

/// What the expressions of a transition see. Tokens are parsed only when an expression asks for
/// them. Lives for one decision; borrows the state.
class Scope {
public:
    Scope(const State& state, const nets::Transition& rules);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    void bind(const Binding& binding, base::CaseId case_id);
    /// An arc's value given as canonical JSON (an operation's read arc).
    void bind_text(std::size_t arc, std::string_view json);
    void set(nets::FixedName name, nets::cel::Value value);
    /// Canonical JSON becomes the value of the name; the text is copied.
    base::Result<void> set_json(nets::FixedName name, std::string_view json);

    /// The values for a program or template that uses the names that `uses(i)` says.
    template <class Uses>
    std::span<const nets::cel::Value> values(const Uses& uses) {
        for (std::size_t i = 0; i < rules_.in.size(); ++i) {
            if (uses.uses(i)) load(i);
        }
        return values_;
    }
    /// The only token of the arc, when it is bound to one token and not to a list.
    [[nodiscard]] const places::Payload* payload(std::size_t arc) const;
    [[nodiscard]] std::size_t arcs() const { return rules_.in.size(); }

    [[nodiscard]] const State& state() const { return state_; }

    nets::cel::Budget budget;

private:
    void load(std::size_t arc);
    const base::Json& keep(std::string_view text);

    const State& state_;
    const nets::Transition& rules_;
    const Binding* binding_ = nullptr;
    std::vector<nets::cel::Value> values_;
    std::vector<bool> loaded_;
    std::vector<std::unique_ptr<base::Json>> kept_;
};

/// Why a candidate cannot fire now.
struct Unbound {
    enum class Reason : std::uint8_t { arc, guard } reason;
    std::size_t arc = 0;
};

/// A token that must be part of the binding.
struct Fixed {
    std::size_t arc;
    places::Slot slot;
};

/// The first binding in order of arrival for which the guard holds.
struct BindRequest {
    const State& state;
    const nets::Transition& rules;
    const std::vector<ArcSource>& sources;
    const Candidate& candidate;
    std::optional<Fixed> fixed;
    base::Timestamp now;
};
std::expected<Binding, Unbound> bind(const BindRequest& request);

/// Guards tried for one candidate before it is put off.
inline constexpr std::size_t guard_tries_max = 10'000;

/// The join key of a token on an arc ("" without one), or nothing when the arc's filter refuses it
/// or an expression fails.
std::optional<std::string> classify(const nets::InputArc& arc, const places::Token& token);

}  // namespace engine
