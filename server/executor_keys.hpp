#pragma once

#include "base/clock.hpp"
#include "base/guarded.hpp"
#include "base/result.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace server {

/// Who the executors are: their public keys, the one-time tokens by which new ones may enrol, and
/// the access tokens that they have now. Keys and one-time tokens (hashed) are in a file; access
/// tokens end with the process, and are asked for again. Thread-safe. See jobs/enrolment.hpp.
class ExecutorKeys {
public:
    using Labels = std::map<std::string, std::string>;
    static constexpr std::size_t executors_max = 4096;
    static constexpr std::size_t invitations_max = 1024;
    static constexpr base::Duration invitation_valid = base::seconds(3600);
    static constexpr base::Duration challenge_valid = base::seconds(60);
    static constexpr base::Duration access_valid = base::seconds(900);

    static base::Result<std::unique_ptr<ExecutorKeys>> open(
        std::filesystem::path file, const base::Clock& clock
    );

    /// A token with which one executor may enrol once, within `invitation_valid`. Whoever enrols
    /// with it has these labels, whatever it says itself.
    base::Result<std::string> invite(Labels labels);

    struct Enrolment {
        std::string_view executor;
        std::string_view token;
        std::string_view public_key;
        std::string_view signature;
    };
    /// Durable when it returns. True: the executor had another key before, which is void now.
    base::Result<bool> enrol(const Enrolment& enrolment);

    /// Of any id, known or not: what is not known does not show here.
    [[nodiscard]] std::string challenge(std::string_view executor) const;
    base::Result<std::string> access(
        std::string_view executor, std::string_view challenge, std::string_view signature
    );

    /// Whose access token this is; nothing when it is nobody's, or is over.
    [[nodiscard]] std::optional<std::string> executor_of(std::string_view token) const;
    [[nodiscard]] Labels labels_of(std::string_view executor) const;

private:
    struct Executor {
        std::string public_key;
        Labels labels;
        base::Duration enrolled;  ///< by the clock's `elapsed`, in this run; not in the file
    };
    struct Invitation {
        Labels labels;
        base::Timestamp until;      ///< for the file
        base::Duration until_here;  ///< for this process
    };
    struct Access {
        std::string executor;
        base::Duration until;
    };
    struct State {
        std::map<std::string, Executor, std::less<>> executors;
        std::map<std::string, Invitation, std::less<>> invitations;  ///< by the token's sha256
        std::map<std::string, Access, std::less<>> access;           ///< by the token's sha256
        std::map<std::string, base::Duration, std::less<>> used;     ///< challenges, until when
    };

    ExecutorKeys(std::filesystem::path file, const base::Clock& clock);
    base::Result<void> read();
    static void prune(State& state, base::Duration now);
    [[nodiscard]] base::Result<void> save(const State& state) const;
    [[nodiscard]] std::string challenge_made(std::string_view executor, std::string_view text)
        const;

    std::filesystem::path file_;
    const base::Clock& clock_;
    std::string challenge_key_;
    std::mutex writing_;  ///< one at a time changes the file
    base::Guarded<State> state_;
};

}  // namespace server
