// Any net that compiles can be checked; and what is proved or refuted of it when the values of its
// tokens are told apart is not the contrary of what is found when they are not.
#include "base/json.hpp"
#include "base/result.hpp"
#include "nets/analysis/abstract.hpp"
#include "nets/analysis/check.hpp"
#include "nets/analysis/check_net.hpp"
#include "nets/analysis/explain.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

namespace analysis = nets::analysis;
using analysis::Answer;
using analysis::Property;

const analysis::Limits limits{.states_max = 2'000, .memory_bytes_max = std::size_t{64} << 20U};

bool certainly_refuted(const analysis::Verdict& verdict) {
    if (verdict.answer != Answer::refuted) return false;
    // That a transition never fires is shown by no sequence.
    return verdict.property == Property::quasi_live || (verdict.trace && verdict.trace->certain);
}

/// Whether what can happen is enough to know: a condition that is taken to go either way then does
/// no harm.
bool about_all_that_happens(Property property) {
    return property == Property::bounded || property == Property::one_safe ||
           property == Property::proper_completion;
}

void compare(const analysis::Report& apart, const analysis::Report& whole) {
    for (const analysis::Verdict& one : apart.verdicts) {
        const analysis::Verdict* const other = whole.verdict(one.property);
        base::check(other != nullptr, "both look at the same properties");
        base::check(
            one.answer != Answer::proved || !certainly_refuted(*other),
            "what is proved with values told apart is not refuted without"
        );
        base::check(
            other->answer != Answer::proved || !about_all_that_happens(one.property) ||
                !certainly_refuted(one),
            "what is proved of all that can happen holds with values told apart"
        );
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto document = base::parse_json({reinterpret_cast<const char*>(data), size});
    if (!document) return 0;
    const auto net = nets::compile(*document);
    if (!net) return 0;
    const analysis::Report apart = analysis::check(*net, limits);
    base::check(!analysis::explained(apart).empty(), "a report can be read");
    base::check(
        base::parse_json(base::canonical(analysis::to_json(apart))).has_value(), "... and sent"
    );
    const analysis::PtNet lost = analysis::abstracted(*net);
    // Where it can do less than the net, its proofs are none.
    if (std::ranges::any_of(lost.abstracted, &analysis::Abstraction::narrows)) return 0;
    compare(apart, analysis::check(lost, limits));
    return 0;
}
