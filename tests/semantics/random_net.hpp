#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace semantics {

/// Numbers of one seed, the same everywhere.
class Dice {
public:
    explicit Dice(std::uint64_t seed) : engine_(seed) {}
    /// 0 to below - 1.
    std::uint64_t below(std::uint64_t limit) { return engine_() % limit; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }

private:
    std::mt19937_64 engine_;
};

/// A small net with arcs of all kinds; canonical JSON of its document.
std::string random_net(Dice& dice);
/// `{"k": 0..2, "n": 0..3}`
std::string random_token(Dice& dice);

}  // namespace semantics
