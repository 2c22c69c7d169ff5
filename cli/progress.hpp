#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cli {

/// One line on stderr that shows how far a long work is; nothing when that is no terminal. Ends
/// with its object.
class Progress {
public:
    explicit Progress(std::string what);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// `of` 0 = not known.
    void show(std::uint64_t done, std::uint64_t of, std::string_view unit);

private:
    std::string what_;
    bool terminal_;
    std::int64_t shown_us_ = 0;
};

}  // namespace cli
