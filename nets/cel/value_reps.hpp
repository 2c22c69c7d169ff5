#pragma once

#include "nets/cel/value.hpp"

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// What owned values share. Only the sources of Value include this.
namespace nets::cel {

struct Counted {
    mutable std::atomic<std::uint32_t> references{1};
};

struct TextRep : Counted {
    explicit TextRep(std::string given) : text(std::move(given)) {}
    std::string text;
};

struct ListRep : Counted {
    explicit ListRep(std::vector<Value> given) : elements(std::move(given)) {}
    std::vector<Value> elements;
};

struct MapRep : Counted {
    std::vector<std::pair<Value, Value>> entries;
    std::vector<std::uint32_t> sorted;  ///< indexes of entries by key; empty when few
};

struct BoxRep : Counted {
    explicit BoxRep(Value given) : value(std::move(given)) {}
    Value value;
};

}  // namespace nets::cel
