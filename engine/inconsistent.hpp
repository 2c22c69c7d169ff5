#pragma once

#include <stdexcept>

namespace engine {

/// Thrown by a decision whose event does not fit the state: a defect, or a log that folds to a
/// state which no decision leads to. The model is half changed and must be thrown away, with all
/// that it has not submitted. Only ModelLane catches it.
class Inconsistent : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace engine
