#pragma once

#include <filesystem>
#include <memory>
#include <string>

namespace bench {

/// The program against which round trips are measured, with nothing of an engine in it: a Beast
/// server on one thread, and a thread that commits what has gathered to RocksDB, synced, a key a
/// record. `POST /start` is answered once its job is done: two records an operation, one when it
/// begins (before the job is given away) and one when it ends. Its worker has some connections on
/// one thread; a poll gives back the last job and takes the next. Any GET is answered at once with
/// a body of the size of a catalog entry.
class Ceiling {
public:
    /// `folder` must not exist.
    explicit Ceiling(const std::filesystem::path& folder);
    ~Ceiling();
    Ceiling(const Ceiling&) = delete;
    Ceiling& operator=(const Ceiling&) = delete;

    [[nodiscard]] std::string url() const;
    /// Processor time of the worker's thread so far.
    [[nodiscard]] double worker_cpu_seconds() const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace bench
