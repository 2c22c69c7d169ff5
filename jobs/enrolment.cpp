#include "jobs/enrolment.hpp"

#include <fmt/format.h>

namespace jobs::enrolment {

std::string path(std::string_view executor, std::string_view verb) {
    return fmt::format("/api/executors/{}/{}", executor, verb);
}

std::string text(const EnrolMessage& message) {
    return fmt::format(
        "netwright executor enrol 1\n{}\n{}\n{}",
        message.executor,
        message.public_key,
        message.token
    );
}

std::string access_message(std::string_view executor, std::string_view challenge) {
    return fmt::format("netwright executor access 1\n{}\n{}", executor, challenge);
}

}  // namespace jobs::enrolment
