#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <sys/mman.h>

namespace nets::analysis {

struct FreeBlock {
    void operator()(void* block) const { std::free(block); }
};
template <class T>
using LargeBlock = std::unique_ptr<T[], FreeBlock>;

/// Uninitialised memory for `count` items, in huge pages where the system has them: tables that are
/// read at random spend most of their time on the translation of addresses otherwise.
template <class T>
LargeBlock<T> large_block(std::size_t count) {
    constexpr std::size_t huge_page = std::size_t{2} << 20U;
    const std::size_t bytes = count * sizeof(T);
    const std::size_t alignment = bytes >= huge_page ? huge_page : std::size_t{64};
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void* const block = std::aligned_alloc(alignment, rounded);
    if (block == nullptr) throw std::bad_alloc();
    // Refused means small pages: slower, not wrong.
    if (alignment == huge_page) (void)::madvise(block, rounded, MADV_HUGEPAGE);
    return LargeBlock<T>(static_cast<T*>(block));
}

}  // namespace nets::analysis
