#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "http/message.hpp"
#include "http/task.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace http {

/// One Server-Sent Event. `id` and `event` are single lines; `data` may have many.
struct Event {
    std::string id;
    std::string event;
    std::string data;
    bool operator==(const Event&) const = default;
};

inline constexpr base::Duration heartbeat_interval = base::seconds(15);

struct EventBatch {
    std::vector<Event> events;
    /// No more will come after these.
    bool end = false;
};

/// Waits at most that long for events; an empty batch when none came. Asked again only when the
/// last batch has been written, so a slow reader slows its source. Watch `Request::stop` while
/// waiting.
using EventSource = std::function<Task<EventBatch>(base::Duration at_most)>;

/// Streams what `source` makes, with a comment as heartbeat when there is nothing, until it ends,
/// the peer goes or the server stops.
Response event_stream(EventSource source, base::Duration heartbeat = heartbeat_interval);

void append_event(std::string& out, const Event& event);

/// Reads a stream of events that arrives in pieces cut anywhere.
class EventParser {
public:
    static constexpr std::size_t event_bytes_max = std::size_t{32} << 20U;

    /// Appends the events that `bytes` complete; too_large when one exceeds `event_bytes_max`.
    base::Result<void> feed(std::string_view bytes, std::vector<Event>& events);

private:
    void line(std::string_view text, std::vector<Event>& events);

    std::string pending_;
    Event event_;
    bool has_data_ = false;
    std::string last_id_;
    bool skip_newline_ = false;
};

}  // namespace http
