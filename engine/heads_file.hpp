#pragma once

#include "base/files.hpp"
#include "base/guarded.hpp"
#include "engine/log.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

inline constexpr std::size_t heads_file_bytes_max = std::size_t{1} << 28U;

/// The head of every model, kept apart from the log so that a log that has lost its tail is seen. A
/// file of slots of 256 bytes, each written in place after a commit and not synced: after a loss of
/// power it may lag, it is never ahead. A slot that is damaged is an error for the model it names,
/// and for every model that has no slot: it may have been theirs. Thread-safe.
class HeadsFile {
public:
    /// Made when it does not exist and `writable`; otherwise a missing file is an empty one.
    static base::Result<HeadsFile> open(const std::filesystem::path& path, bool writable);

    /// seq 0 = none; `tamper` as said above.
    [[nodiscard]] base::Result<LogHead> find(std::string_view model) const;
    [[nodiscard]] std::vector<std::string> models() const;
    /// No slot is damaged.
    [[nodiscard]] bool whole() const;
    base::Result<void> note(std::string_view model, const LogHead& head);
    base::Result<void> sync();

private:
    struct Slot {
        std::size_t index = 0;
        LogHead head;
    };
    struct Slots {
        std::map<std::string, Slot, std::less<>> good;
        /// As far as the name can be read.
        std::vector<std::string> damaged;
        std::size_t count = 0;
    };

    HeadsFile(std::filesystem::path path, base::FileDescriptor file, Slots slots);

    std::filesystem::path path_;
    base::FileDescriptor file_;
    std::unique_ptr<base::Guarded<Slots>> slots_;
};

}  // namespace engine
