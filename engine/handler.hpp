#pragma once

#include "base/result.hpp"
#include "engine/model.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace engine {

/// One attempt of an operation that is to be performed, or that a restart found under way.
struct Performance {
    std::string model;
    base::OperationId operation;
    std::uint32_t attempt = 1;
    Epoch epoch = 0;  ///< of the model: fencing numbers begin with it
    std::string net;
    std::string transition;
    base::CaseId case_id;
    std::string call;    ///< what `prepare` answered
    std::string effect;  ///< pure | idempotent | once
    std::string tool_id;
    std::string version_hash;
    base::Timestamp started;
    std::uint64_t fencing = 0;  ///< found at a restart: of the newest lease in its log; 0 = none
};

/// Whoever performs the effects of firings: the engine asks, and gets the outcome back as an input
/// (`Engine::settle`). Called on a model's strand: must not block, and may call the engine back.
class TransitionHandler {
public:
    virtual ~TransitionHandler() = default;

    /// The model was opened, or reopened after a failed commit: whatever was derived from it before
    /// is void. On its strand, before anything else of it.
    virtual void opened(const Model& model) = 0;
    /// Finds out what the call or command would run: who may, which version, is the content right.
    /// Nothing may have an effect yet. `done` is called once, from any thread.
    virtual void prepare(
        std::string_view model,
        const Prepare& request,
        std::move_only_function<void(base::Result<Prepared>)> done
    ) = 0;
    /// That the attempt is invoked is durable: begin.
    virtual void perform(const Performance& performance) = 0;
    /// The operation was cancelled or abandoned: stop what runs. Its late result will be refused.
    virtual void cancel(std::string_view model, base::OperationId operation) = 0;
    /// The attempt was invoked in an earlier life of the master, and may be running still.
    virtual void recover(const Performance& performance) = 0;
};

}  // namespace engine
