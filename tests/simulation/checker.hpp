#pragma once

#include "base/ids.hpp"
#include "base/json.hpp"
#include "jobs/lease.hpp"
#include "tests/simulation/world.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace simulation {

/// Reads the durable records of one model and holds them against the invariants of the engine. It
/// knows nothing of the engine's own fold: it is a second opinion.
class LogChecker {
public:
    void record(base::Seq seq, std::string_view bytes);

    [[nodiscard]] base::Seq last() const { return last_; }
    [[nodiscard]] bool invoked(base::AttemptId attempt) const { return invoked_.contains(attempt); }
    [[nodiscard]] std::set<base::TokenId> tokens() const;
    [[nodiscard]] const std::map<std::string, base::Seq>& keys() const { return keys_; }

private:
    struct Operation {
        std::string state;
        std::string effect;
        std::uint32_t attempt = 1;
        std::uint64_t fencing = 0;
        std::set<base::TokenId> reserved;
    };
    void tokens_of(base::Seq seq, const base::Json& data, base::OperationId operation);
    void operation(base::Seq seq, const std::string& edge, const base::Json& data);
    void begin(base::Seq seq, const base::Json& data);
    void lease(const base::Json& data);
    void remember_key(base::Seq seq, const std::string& type, const base::Json& record);

    base::Seq last_ = 0;
    std::map<base::TokenId, base::OperationId> tokens_;  ///< and who reserved it
    std::map<base::OperationId, Operation> operations_;  ///< ever begun
    std::set<base::AttemptId> invoked_;
    std::map<std::string, base::Seq> keys_;
    std::set<std::pair<std::string, std::string>> done_;  ///< key and type of what it asked for
};

/// What really happened outside, which no crash undoes.
class Ledger {
public:
    /// `logs`: what is durable, by model.
    explicit Ledger(const std::map<std::string, LogChecker>& logs) : logs_(logs) {}

    /// The process of a job begins.
    void effect(const std::string& executor, const jobs::Lease& lease);
    [[nodiscard]] std::size_t effects() const { return effects_; }

private:
    const std::map<std::string, LogChecker>& logs_;
    std::map<std::pair<std::string, base::AttemptId>, std::string> by_attempt_;
    std::map<std::pair<std::string, base::OperationId>, std::string> once_;
    std::size_t effects_ = 0;
};

}  // namespace simulation
