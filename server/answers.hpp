#pragma once

#include "base/guarded.hpp"
#include "base/result.hpp"
#include "base/sha256.hpp"
#include "base/worker_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace server {

/// What was answered to a request.
struct Answer {
    int status = 200;
    std::string location;  ///< "" = none
    std::string body;      ///< JSON
    bool operator==(const Answer&) const = default;
};

/// What was asked under a key. The same question has the same digest.
struct Question {
    std::string key;
    base::Digest digest;
};

/// The first answer to each question that came under an Idempotency-Key, so that whoever asks again
/// gets that one. In two files of `Limits::file_bytes_max` each: when the newer is full, the older
/// is forgotten. They outlive the process; after a loss of power the newest answers may be missing,
/// and whether the request was done is then for the log to say. Thread-safe.
class Answers {
public:
    struct Limits {
        std::uint64_t file_bytes_max = std::uint64_t{32} << 20U;
        std::size_t file_answers_max = 100'000;
        /// A larger one is not kept. At most `file_bytes_max`.
        std::size_t answer_bytes_max = std::size_t{16} << 20U;
        /// Who waits for the answer of a request that is being done under the same key.
        std::size_t waiting_max = 100;
    };
    static base::Result<std::unique_ptr<Answers>> open(
        const std::filesystem::path& folder, const Limits& limits
    );
    ~Answers();
    Answers(const Answers&) = delete;
    Answers& operator=(const Answers&) = delete;

    /// None: the caller is the first, and must call `give` or `give_up`. Otherwise what the first
    /// one gave, now or once it has: an answer, or the error that `give_up` names. `conflict` when
    /// the key was used for another question.
    using Reply = std::optional<base::Result<Answer>>;
    using Told = std::function<void(Reply)>;
    void ask(const Question& question, Told told);
    /// `kept` is called when the answer is in the file, on a thread of this object.
    void give(const Question& question, Answer answer, std::function<void()> kept);
    /// Nothing is kept: the next who asks is the first.
    void give_up(const std::string& key, const base::Result<Answer>& why);

    [[nodiscard]] std::size_t kept() const;

private:
    struct File;
    /// Where an answer stands, or that it is being made.
    struct Entry {
        base::Digest digest;
        std::shared_ptr<File> file;  // shared: a file that is forgotten is read to the end
        std::uint64_t offset = 0;
        std::size_t bytes = 0;
        std::vector<Told> waiting;
    };
    using Entries = std::unordered_map<std::string, Entry>;

    Answers(std::filesystem::path folder, const Limits& limits);
    base::Result<void> load(const std::filesystem::path& path, std::shared_ptr<File>& file);
    base::Result<std::shared_ptr<File>> create() const;
    void write(const Question& question, const Answer& answer);
    base::Result<void> turn();
    static base::Result<Answer> read(const Entry& entry);

    std::filesystem::path folder_;
    Limits limits_;
    base::Guarded<Entries> entries_;
    // of the one thread of `worker_`
    std::shared_ptr<File> newer_;
    std::shared_ptr<File> older_;
    /// Last: its thread ends first.
    std::unique_ptr<base::WorkerPool> worker_;
};

}  // namespace server
