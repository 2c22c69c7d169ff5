#pragma once

#include "tests/engine/test_model.hpp"
#include "tests/patterns/pattern.hpp"

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patterns {

/// Plays steps on a model that runs one pattern. The activities of a net are its calls; they run
/// until a step answers them. All else fires by itself. What runs in a child case counts as its
/// parent's.
class Player {
public:
    explicit Player(const Pattern& pattern);

    /// Takes the step for the case of that name. Why not, if it cannot be taken; a step that makes
    /// no sense for the net fails the running test.
    std::optional<std::string> take(const std::string& who, std::string_view step);
    /// All that can be seen of a case: its state, its tokens by place, what runs.
    [[nodiscard]] std::string view(const std::string& who) const;
    void check_fold() { model_.check_fold(); }

private:
    using Refusal = std::optional<std::string>;
    using Activity = std::pair<base::CaseId, std::string>;

    Refusal start(const std::string& who, std::string_view input);
    Refusal put(const std::string& who, std::string_view rest);
    Refusal settle(const std::string& who, std::string_view rest, bool fails);
    Refusal late(const std::string& who, std::string_view rest);
    Refusal cancel(const std::string& who);
    Refusal running(const std::string& who, std::string_view rest) const;
    Refusal holds(const std::string& who, std::string_view rest) const;
    Refusal dead(const std::string& who, std::string_view code) const;

    [[nodiscard]] base::CaseId case_of(const std::string& who) const;
    [[nodiscard]] base::CaseId root_of(base::CaseId id) const;
    [[nodiscard]] std::string activity(std::string_view name) const;
    [[nodiscard]] std::vector<std::string> tokens(base::CaseId id, std::string_view place) const;
    [[nodiscard]] std::vector<std::string> active(base::CaseId id) const;
    void come_to_rest();

    const Pattern& pattern_;
    TestModel model_;
    std::map<std::string, base::CaseId> cases_;
    std::map<Activity, std::deque<base::OperationId>> running_;
    std::map<Activity, std::deque<base::OperationId>> cancelled_;
};

/// "2: put a 1" is of case "2"; without a number, of case "1".
std::pair<std::string, std::string> addressed(const std::string& step);
bool is_wait(std::string_view step);

}  // namespace patterns
