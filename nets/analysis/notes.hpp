#pragma once

#include "nets/analysis/pt_net.hpp"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace nets::analysis {

/// What an abstraction leaves out, each thing once.
class Notes {
public:
    void add(Abstraction made) {
        if (noted_.emplace(made.element, made.what).second) list_.push_back(std::move(made));
    }
    std::vector<Abstraction> take() { return std::move(list_); }

private:
    std::vector<Abstraction> list_;
    std::set<std::pair<std::string, std::string>> noted_;
};

}  // namespace nets::analysis
