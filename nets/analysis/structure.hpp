#pragma once

#include "nets/analysis/pt_net.hpp"

#include <string_view>

namespace nets::analysis {

/// Classes of nets about which more can be said from the drawing alone. Each but `general` is
/// plain with weights of 1; read arcs are in none but `general`.
enum class NetClass : std::uint8_t {
    state_machine,  ///< each transition has one place in and one out: choice, no concurrency
    marked_graph,   ///< each place has one transition in and one out: concurrency, no choice
    free_choice,    ///< transitions that share an input place share all of them
    general
};
std::string_view name(NetClass net_class);
NetClass classify(const PtNet& net);

}  // namespace nets::analysis
