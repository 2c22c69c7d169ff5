#include "transitions/uploads.hpp"

#include <fmt/format.h>
#include <utility>

namespace transitions {

using base::ErrorCode;
using base::fail;
using base::Result;

std::shared_ptr<Uploads::Stream> Uploads::stream_of(const Key& key) {
    return streams_.with([&](auto& streams) {
        auto& entry = streams[key];
        if (!entry) entry = std::make_shared<Stream>();
        return entry;
    });
}

Result<Uploads::State> Uploads::add(Chunk chunk) {
    const auto stream = stream_of(Key{chunk.lease, chunk.stream});
    const std::scoped_lock lock(stream->busy);
    if (stream->done) {
        if (chunk.sha256 && *chunk.sha256 != stream->done->stat.digest) {
            return fail(ErrorCode::conflict, "the stream was finished with other bytes");
        }
        return State{stream->done->stat.size, true};
    }
    if (!stream->upload) {
        auto upload = store_.upload({.bytes_max = chunk.bytes_max});
        if (!upload) return fail(std::move(upload.error()));
        stream->upload = std::move(*upload);
    }
    const std::uint64_t held = stream->upload->offset();
    if (chunk.offset > held) {
        return fail(base::Error{
            ErrorCode::conflict,
            fmt::format("the master holds {} bytes of this stream, not {}", held, chunk.offset),
            "go on from there",
            {{"/offset", ErrorCode::conflict, std::to_string(held)}}
        });
    }
    // What is already there comes again when an answer was lost; the digest at the end judges it.
    const std::uint64_t skip = held - chunk.offset;
    if (skip < chunk.bytes.size()) {
        auto added = stream->upload->append(std::string_view(chunk.bytes).substr(skip));
        if (!added) {
            stream->upload.reset();
            return fail(std::move(added.error()));
        }
    }
    if (chunk.sha256) return finish(*stream, chunk);
    return State{stream->upload->offset(), false};
}

Result<Uploads::State> Uploads::finish(Stream& stream, const Chunk& chunk) {
    const auto upload = std::exchange(stream.upload, nullptr);
    const std::uint64_t size = upload->offset();
    auto done = upload->finish();
    if (!done) return fail(std::move(done.error()));
    if (done->stat.digest != *chunk.sha256 || size != chunk.size) {
        return fail(
            ErrorCode::conflict,
            fmt::format(
                "{} bytes of sha256 {} came, not what was announced", size, done->stat.digest.hex()
            ),
            "send the stream anew from offset 0"
        );
    }
    stream.done = std::move(*done);
    return State{size, true};
}

Result<void> Uploads::keep(
    const jobs::LeaseId& lease, const std::string& stream, std::string_view bytes
) {
    const auto entry = stream_of(Key{lease, stream});
    const std::scoped_lock lock(entry->busy);
    entry->upload.reset();
    auto upload = store_.upload({.bytes_max = bytes.size()});
    if (!upload) return fail(std::move(upload.error()));
    if (auto added = (*upload)->append(bytes); !added) return fail(std::move(added.error()));
    auto done = (*upload)->finish();
    if (!done) return fail(std::move(done.error()));
    entry->done = std::move(*done);
    return {};
}

bool Uploads::has(const jobs::LeaseId& lease, const std::string& stream, const base::Digest& digest)
    const {
    const auto found = streams_.with([&](const auto& streams) -> std::shared_ptr<Stream> {
        const auto entry = streams.find(Key{lease, stream});
        return entry == streams.end() ? nullptr : entry->second;
    });
    if (!found) return false;
    const std::scoped_lock lock(found->busy);
    return found->done && found->done->stat.digest == digest;
}

void Uploads::forget(const jobs::LeaseId& lease) {
    std::vector<std::shared_ptr<Stream>> gone;
    streams_.with([&](auto& streams) {
        for (const char* stream : {"stdout", "stderr"}) {
            const auto entry = streams.find(Key{lease, stream});
            if (entry == streams.end()) continue;
            gone.push_back(std::move(entry->second));
            streams.erase(entry);
        }
    });
}

std::unordered_set<base::Digest> Uploads::referenced() const {
    std::unordered_set<base::Digest> digests;
    const auto all = streams_.with([](const auto& streams) {
        std::vector<std::shared_ptr<Stream>> copies;
        for (const auto& [key, stream] : streams)
            copies.push_back(stream);
        return copies;
    });
    for (const auto& stream : all) {
        const std::scoped_lock lock(stream->busy);
        if (stream->done) digests.insert(stream->done->stat.digest);
    }
    return digests;
}

}  // namespace transitions
