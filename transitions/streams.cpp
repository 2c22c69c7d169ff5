#include "transitions/streams.hpp"

#include "base/utf8.hpp"

#include <nlohmann/json.hpp>

#include <string_view>
#include <utility>

namespace transitions {

using base::Json;

namespace {

// The digest of the kept bytes: as they were uploaded, or as they are put.
base::Digest digest_of(const jobs::Output& output) {
    return output.sha256 ? *output.sha256 : base::sha256(output.text);
}

bool must_be_kept(const jobs::Output& output) {
    if (output.sha256) return false;
    return output.truncated() || !base::valid_utf8(output.text) ||
           rendered_size(output.text) > recorded_stream_bytes_max;
}

// The beginning and, where something between was left out, the end.
struct Ends {
    std::string head;
    std::string tail;
};

Ends ends_of(const jobs::Output& output, bool whole) {
    const std::string_view text = output.text;
    if (output.sha256) return {base::lossy_utf8(text), base::lossy_utf8(output.tail)};
    if (whole && !output.truncated()) return {base::lossy_utf8(text), {}};
    const bool cut = output.truncated();
    const auto head = cut ? base::without_cut_end(text.substr(0, output.bytes_head)) : text;
    const auto tail = cut ? base::without_cut_start(text.substr(output.bytes_head)) : text;
    if (whole) return {base::lossy_utf8(head), base::lossy_utf8(tail)};
    constexpr auto preview = jobs::output_preview_bytes;
    return {base::preview_head(head, preview), base::preview_tail(tail, preview)};
}

void put_stream(Json& result, const std::string& name, const jobs::Output& output, bool whole) {
    auto ends = ends_of(output, whole);
    const bool complete = whole && !output.sha256 && !output.truncated();
    const bool replaced = complete && !base::valid_utf8(output.text);
    result[name] = std::move(ends.head);
    if (!complete) result[name + "Tail"] = std::move(ends.tail);
    if (!complete || replaced) {
        result[name + "Urn"] = base::blob_urn(digest_of(output));
        result[name + "Bytes"] = output.bytes_kept;
    }
    if (replaced) result[name + "Replaced"] = true;
    if (output.truncated()) {
        result[name + "BytesTotal"] = output.bytes_total;
        result[name + "BytesHead"] = output.bytes_head;
    }
}

Json with_streams(const jobs::Outcome& outcome, Streams whole) {
    Json result = {
        {"exitCode", outcome.exit_code ? Json(*outcome.exit_code) : Json(nullptr)},
        {"durationMs", outcome.duration_ms},
        {"truncated", outcome.standard_output.truncated() || outcome.standard_error.truncated()},
    };
    if (outcome.signal) result["signal"] = *outcome.signal;
    put_stream(result, "stdout", outcome.standard_output, whole.standard_output);
    put_stream(result, "stderr", outcome.standard_error, whole.standard_error);
    return result;
}

}  // namespace

std::size_t rendered_size(std::string_view text) {
    std::string rendered;
    base::append_canonical_string(rendered, base::lossy_utf8(text));
    return rendered.size();
}

Streams to_be_kept(const jobs::Outcome& outcome) {
    return {must_be_kept(outcome.standard_output), must_be_kept(outcome.standard_error)};
}

Json run_json(const jobs::Outcome& outcome, std::size_t bytes_max) {
    Streams whole{true, true};
    const auto out = rendered_size(outcome.standard_output.text);
    const auto err = rendered_size(outcome.standard_error.text);
    for (;;) {
        auto result = with_streams(outcome, whole);
        const bool out_next = whole.standard_output && (out >= err || !whole.standard_error);
        if (!whole.any() || base::canonical(result).size() <= bytes_max) return result;
        (out_next ? whole.standard_output : whole.standard_error) = false;
    }
}

Json recorded_run(const jobs::Outcome& outcome) {
    const auto short_enough = [](const jobs::Output& output) {
        return rendered_size(output.text) <= recorded_stream_bytes_max;
    };
    Json run = with_streams(
        outcome, {short_enough(outcome.standard_output), short_enough(outcome.standard_error)}
    );
    run["usage"] = usage_json(outcome);
    return run;
}

Json usage_json(const jobs::Outcome& outcome) {
    Json usage = jobs::to_json(outcome.usage);
    if (!outcome.limits.empty()) {
        auto& limits = usage["limits"] = Json::array();
        for (const auto limit : outcome.limits)
            limits.push_back(jobs::name(limit));
    }
    return usage;
}

Json cut_answer(const jobs::Output& output) {
    auto ends = ends_of(output, false);
    return {
        {"truncated", true},
        {"preview", std::move(ends.head)},
        {"tail", std::move(ends.tail)},
        {"size", output.bytes_kept},
        {"urn", base::blob_urn(digest_of(output))},
        {"bytesHead", output.bytes_head},
        {"bytesTotal", output.bytes_total},
    };
}

Json long_answer(const jobs::Output& output) {
    return {
        {"preview", ends_of(output, false).head},
        {"size", output.bytes_kept},
        {"urn", base::blob_urn(digest_of(output))},
    };
}

}  // namespace transitions
