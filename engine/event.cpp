#include "engine/event.hpp"

#include <array>

namespace engine {

namespace {

constexpr std::array type_names = {
    std::string_view{"net.deployed"},         std::string_view{"net.undeployed"},
    std::string_view{"tokens.put"},           std::string_view{"tokens.removed"},
    std::string_view{"case.started"},         std::string_view{"case.ended"},
    std::string_view{"case.cancelled"},       std::string_view{"fired"},
    std::string_view{"operation.invoking"},   std::string_view{"operation.retrying"},
    std::string_view{"operation.uncertain"},  std::string_view{"operation.finalized"},
    std::string_view{"operation.failed"},     std::string_view{"operation.abandoned"},
    std::string_view{"operation.cancelled"},  std::string_view{"operation.late_result"},
    std::string_view{"lease.granted"},        std::string_view{"lease.ended"},
    std::string_view{"dead_letter.added"},    std::string_view{"dead_letter.redriven"},
    std::string_view{"dead_letter.dropped"},  std::string_view{"timer.set"},
    std::string_view{"tool.registered"},      std::string_view{"tool.changed"},
    std::string_view{"tool.tamper_detected"}, std::string_view{"work.claimed"},
    std::string_view{"work.extended"},        std::string_view{"work.released"},
    std::string_view{"scheduling.paused"},    std::string_view{"scheduling.resumed"},
    std::string_view{"operation.returned"},   std::string_view{"operation.progress"},
};

}  // namespace

std::string_view name(EventType type) {
    return type_names[static_cast<std::size_t>(type)];
}

std::optional<EventType> event_type(std::string_view name) {
    for (std::size_t i = 0; i < type_names.size(); ++i) {
        if (type_names[i] == name) return static_cast<EventType>(i);
    }
    return std::nullopt;
}

}  // namespace engine
