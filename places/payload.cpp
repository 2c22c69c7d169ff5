#include "places/payload.hpp"

#include "base/result.hpp"

#include <cstring>
#include <limits>
#include <new>

namespace places {

Payload Payload::make(std::string_view bytes) {
    base::check(bytes.size() < std::numeric_limits<std::uint32_t>::max(), "payload of 4 GiB");
    void* memory = ::operator new(sizeof(Block) + bytes.size());
    Payload made;
    made.block_ = new (memory) Block;
    made.block_->size = static_cast<std::uint32_t>(bytes.size());
    std::memcpy(made.block_->bytes(), bytes.data(), bytes.size());
    return made;
}

void Payload::release() noexcept {
    if (block_ == nullptr) return;
    if (block_->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    block_->~Block();
    ::operator delete(block_);
}

}  // namespace places
