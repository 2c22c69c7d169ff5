#pragma once

#include "http/message.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

struct Load {
    std::string url;
    std::string token = {};  ///< bearer
    http::Method method = http::Method::post;
    std::string target;
    std::string body = {};
    std::string expected = {};  ///< must stand in every answer
    std::size_t in_flight = 1;
    std::size_t operations = 1000;
};

struct LoadResult {
    double per_second = 0;
    std::vector<double> milliseconds;  ///< of each operation
    /// Processor time an operation: of this process without the thread that made the requests, and
    /// of that thread.
    double server_cpu_ms = 0;
    double client_cpu_ms = 0;
};

/// Sends the request `operations` times, `in_flight` at a time, each on a connection that is kept.
/// Runs on the calling thread. An answer other than 2xx with `expected` in it ends the process.
LoadResult drive(const Load& load);

}  // namespace bench
