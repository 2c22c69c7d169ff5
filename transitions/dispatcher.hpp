#pragma once

#include "base/clock.hpp"
#include "base/guarded.hpp"
#include "base/worker_pool.hpp"
#include "blobstore/store.hpp"
#include "catalog/catalog.hpp"
#include "engine/engine.hpp"
#include "engine/handler.hpp"
#include "jobs/routes.hpp"
#include "transitions/call.hpp"
#include "transitions/contract.hpp"
#include "transitions/job_board.hpp"
#include "transitions/uploads.hpp"

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <unordered_set>

namespace transitions {

/// Performs the effects of firings: finds tools, makes jobs, hands them to executors over the job
/// board and brings their results back to the engine. Thread-safe.
class Dispatcher final : public engine::TransitionHandler {
public:
    struct Parts {
        blobstore::Store& blobs;
        catalog::Catalog& catalog;
        const base::Clock& clock;
        /// Keeps the names of executors that may hold leases, over restarts.
        std::filesystem::path executors_file;
        std::string lease_key;  ///< kept over restarts: see LeaseSeal
        base::Duration lease = base::seconds(30);
    };
    explicit Dispatcher(const Parts& parts);
    ~Dispatcher() override;
    Dispatcher(const Dispatcher&) = delete;
    Dispatcher& operator=(const Dispatcher&) = delete;

    /// Before the engine opens a model.
    void attach(engine::Engine& engine) { engine_ = &engine; }
    /// Answers every open sync and takes no more; before the engine stops.
    void stop();

    // engine::TransitionHandler
    void opened(const engine::Model& model) override;
    void prepare(
        std::string_view model,
        const engine::Prepare& request,
        std::move_only_function<void(base::Result<engine::Prepared>)> done
    ) override;
    void perform(const engine::Performance& performance) override;
    void cancel(std::string_view model, base::OperationId operation) override;
    void recover(const engine::Performance& performance) override;

    // The executor routes.
    using SyncDone = std::move_only_function<void(base::Result<jobs::SyncReply>)>;
    /// Returns the ticket by which `closed` names this sync.
    Ticket sync(std::string_view executor, jobs::SyncRequest request, SyncDone done);
    void closed(Ticket ticket);
    struct OutputChunk {
        std::string executor;
        jobs::LeaseId lease;
        std::string stream;
        jobs::Fencing fencing = 0;
        std::uint64_t offset = 0;
        std::string bytes;
        std::optional<base::Digest> sha256;  ///< of the last chunk
        std::uint64_t size = 0;              ///< with `sha256`: of the whole
    };
    /// `{"size"}` or `{"size","urn"}`. Blocks on the disk.
    base::Result<std::string> output(OutputChunk chunk);
    /// Content that the job of a lease in force names. Blocks on the disk.
    base::Result<std::string> content(
        std::string_view executor,
        const jobs::LeaseId& lease,
        jobs::Fencing fencing,
        const base::Digest& sha256
    );

    /// See JobBoard.
    base::Result<void> drain(std::string_view executor);
    void renewed(std::string_view executor);

    [[nodiscard]] std::vector<ExecutorView> executors() const;
    /// Why an attempt waits, or who holds it: for why-not and the view of an operation.
    [[nodiscard]] std::string why_waiting(const std::string& model, base::AttemptId attempt) const;
    [[nodiscard]] std::string holder(const std::string& model, base::AttemptId attempt) const;
    struct Load {
        std::size_t waiting = 0;
        std::size_t leased = 0;
    };
    [[nodiscard]] Load load() const;
    /// Blobs that running jobs and uploads refer to: for garbage collection.
    [[nodiscard]] std::unordered_set<base::Digest> referenced() const;

private:
    [[nodiscard]] JobBoard::Now now() const;
    template <class Action>
    void with_board(Action&& action);
    void handle(BoardEvent& event);
    void report(Reported& reported);
    void report_settled(const ReportedLease& report, base::Result<engine::Settled> settled);
    void settle_unreadable(const engine::Performance& performance, const base::Error& why);
    void settle_checked(const Reported& reported, engine::Outcome outcome);
    void settle_with_blobs(const Reported& reported, OutcomeContext context);
    [[nodiscard]] std::shared_ptr<const Contract> contract_of(
        const std::string& model, const OutcomeContext& context
    );
    bool forget_missing(Reported& reported) const;
    void tampered(
        const std::string& model, const engine::Prepared& prepared, const base::Digest& digest
    );
    void ship(Ticket ticket, jobs::SyncReply reply);
    void save_executors();
    void run_timer();
    static base::Result<Task> task_of(const engine::Performance& performance);

    Parts parts_;
    engine::Engine* engine_ = nullptr;
    base::Guarded<JobBoard> board_;
    base::Guarded<std::unordered_map<Ticket, SyncDone>> open_;
    std::atomic<Ticket> last_ticket_{0};
    Uploads uploads_;
    Contracts contracts_;
    std::mutex timer_mutex_;
    std::condition_variable timer_changed_;
    bool stopping_ = false;
    base::WorkerPool workers_{1};  ///< reads content, writes the executors file
    std::thread timer_;
};

}  // namespace transitions
