#pragma once

#include "engine/decide.hpp"
#include "engine/model.hpp"

#include <cstddef>
#include <functional>
#include <string>

namespace bench {

engine::Asker asker();

/// Compiles and deploys; a document with faults ends the process.
void deploy(engine::Model& model, const std::string& document);

/// `count` tokens in batches; `data` says what the n-th one carries, in canonical form.
void put(
    engine::Model& model,
    const engine::PlaceName& place,
    std::size_t count,
    const std::function<std::string(std::size_t)>& data
);

/// 100 bytes of JSON, another for each n.
std::string data_of_100_bytes(std::size_t n);

/// A model that decides and is live, whose records are neither rendered nor kept.
void begin_without_records(engine::Model& model);

/// At least that many; the processor time of one in nanoseconds.
double ns_per_firing(engine::Model& model, std::size_t firings);

/// Resident memory of this process.
std::size_t resident_bytes();

}  // namespace bench
