#include "http/events.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace http {

namespace {

// A line break in a one-line field would begin another field.
void append_line(std::string& out, std::string_view field, std::string_view value) {
    out.append(field).append(": ");
    for (const char c : value) {
        if (c != '\n' && c != '\r' && c != '\0') out += c;
    }
    out += '\n';
}

Task<base::Result<void>> write_events(
    EventSource source, base::Duration heartbeat, BodyWriter writer
) {
    const auto stop = writer.stop();
    while (!stop.stopped()) {
        const auto batch = co_await source(heartbeat);
        std::string text;
        for (const auto& event : batch.events)
            append_event(text, event);
        if (text.empty()) text = ":\n\n";
        auto written = co_await writer.write(std::move(text));
        if (!written) co_return written;
        if (batch.end) break;
    }
    co_return base::Result<void>();
}

}  // namespace

void append_event(std::string& out, const Event& event) {
    if (!event.id.empty()) append_line(out, "id", event.id);
    if (!event.event.empty()) append_line(out, "event", event.event);
    std::string_view data = event.data;
    for (;;) {
        const auto end = data.find('\n');
        append_line(out, "data", data.substr(0, end));
        if (end == std::string_view::npos) break;
        data.remove_prefix(end + 1);
    }
    out += '\n';
}

Response event_stream(EventSource source, base::Duration heartbeat) {
    Response response;
    response.headers = {{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-store"}};
    response.stream = BodyStream{
        .length = std::nullopt,
        .produce = [source = std::move(source), heartbeat](BodyWriter writer
                   ) { return write_events(source, heartbeat, writer); },
        .endless = true
    };
    return response;
}

base::Result<void> EventParser::feed(std::string_view bytes, std::vector<Event>& events) {
    while (!bytes.empty()) {
        if (skip_newline_ && bytes.front() == '\n') bytes.remove_prefix(1);
        skip_newline_ = false;
        const auto end = bytes.find_first_of("\r\n");
        if (pending_.size() + event_.data.size() + std::min(end, bytes.size()) > event_bytes_max) {
            return base::fail(
                base::ErrorCode::too_large,
                fmt::format("an event of the stream has more than {} bytes", event_bytes_max)
            );
        }
        if (end == std::string_view::npos) {
            pending_ += bytes;
            return {};
        }
        pending_ += bytes.substr(0, end);
        skip_newline_ = bytes[end] == '\r';
        bytes.remove_prefix(end + 1);
        line(pending_, events);
        pending_.clear();
    }
    return {};
}

void EventParser::line(std::string_view text, std::vector<Event>& events) {
    if (text.empty()) {
        if (has_data_) {
            event_.id = last_id_;
            events.push_back(std::move(event_));
        }
        event_ = {};
        has_data_ = false;
        return;
    }
    const auto colon = text.find(':');
    const auto field = text.substr(0, colon);
    auto value = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (field == "data") {
        if (has_data_) event_.data += '\n';
        event_.data += value;
        has_data_ = true;
    } else if (field == "event") {
        event_.event = value;
    } else if (field == "id") {
        last_id_ = value;
    }
}

}  // namespace http
