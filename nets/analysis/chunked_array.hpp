#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace nets::analysis {

/// An array that grows without ever copying what it holds, so that its peak memory is its size.
/// Items come in groups of `width`, which stay contiguous.
template <class T>
class ChunkedArray {
public:
    explicit ChunkedArray(std::size_t width = 1) : width_(width) {}

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::size_t bytes() const {
        return chunks_.size() * groups_per_chunk * width_ * sizeof(T);
    }

    T* operator[](std::size_t group) {
        return &chunks_[group >> chunk_bits][(group & chunk_mask) * width_];
    }
    const T* operator[](std::size_t group) const {
        return &chunks_[group >> chunk_bits][(group & chunk_mask) * width_];
    }

    /// A new group at the end, to be written by the caller.
    T* append() {
        if ((size_ & chunk_mask) == 0) {
            chunks_.push_back(std::make_unique_for_overwrite<T[]>(groups_per_chunk * width_));
        }
        return (*this)[size_++];
    }

private:
    static constexpr std::size_t chunk_bits = 14;
    static constexpr std::size_t groups_per_chunk = std::size_t{1} << chunk_bits;
    static constexpr std::size_t chunk_mask = groups_per_chunk - 1;

    std::size_t width_;
    std::size_t size_ = 0;
    std::vector<std::unique_ptr<T[]>> chunks_;
};

}  // namespace nets::analysis
