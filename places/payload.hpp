#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace places {

/// The data of a token: immutable bytes of canonical JSON, shared by all who hold them. One pointer
/// wide; copies may live on any thread.
class Payload {
public:
    Payload() = default;
    static Payload make(std::string_view bytes);

    Payload(const Payload& other) noexcept : block_(other.block_) {
        if (block_ != nullptr) block_->references.fetch_add(1, std::memory_order_relaxed);
    }
    Payload(Payload&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
    Payload& operator=(Payload other) noexcept {
        std::swap(block_, other.block_);
        return *this;
    }
    ~Payload() { release(); }

    [[nodiscard]] std::string_view view() const {
        return block_ == nullptr ? std::string_view{}
                                 : std::string_view(block_->bytes(), block_->size);
    }
    [[nodiscard]] bool empty() const { return block_ == nullptr; }

private:
    struct Block {
        std::atomic<std::uint32_t> references{1};
        std::uint32_t size = 0;
        char* bytes() { return reinterpret_cast<char*>(this + 1); }
    };
    void release() noexcept;

    Block* block_ = nullptr;
};

}  // namespace places
