#include "engine/snapshot_file.hpp"

#include "base/json.hpp"
#include "base/log.hpp"
#include "engine/little_endian.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

namespace engine {

namespace {

constexpr std::string_view snapshot_magic = "netwright snapshot 2\n";
constexpr std::size_t snapshot_header_bytes_max = 1024;

std::string number_bytes(std::uint64_t value, unsigned bytes) {
    std::string text;
    append_little_endian(text, value, bytes);
    return text;
}

std::string_view digest_bytes(const base::Digest& digest) {
    return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

base::Digest digest_from(std::string_view bytes) {
    base::Digest digest;
    std::memcpy(digest.bytes.data(), bytes.data(), digest.bytes.size());
    return digest;
}

std::string header_line(const SnapshotInfo& info) {
    return base::canonical(
               {{"hash", info.head.hash.hex()},
                {"model", info.model},
                {"seq", static_cast<std::int64_t>(info.head.seq)}}
           ) +
           "\n";
}

}  // namespace

base::Result<SnapshotWriter> SnapshotWriter::State::create(
    std::filesystem::path path, SnapshotInfo info
) {
    auto state = std::make_unique<State>();
    state->info = std::move(info);
    state->temporary = path.string() + ".tmp";
    state->path = std::move(path);
    const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
    state->file.reset(::open(state->temporary.c_str(), flags, 0600));
    if (!state->file) return base::fail(base::errno_error("create " + state->temporary.string()));
    const std::string start = std::string(snapshot_magic) + header_line(state->info);
    if (auto put = state->put(start); !put) return base::fail(put.error());
    return SnapshotWriter(std::move(state));
}

SnapshotWriter::State::~State() {
    if (file) ::unlink(temporary.c_str());
}

base::Result<void> SnapshotWriter::State::put(std::string_view bytes) {
    sum.update(bytes);
    return base::write_all(file.value(), bytes);
}

base::Result<void> SnapshotWriter::State::put_piece() {
    if (piece.empty()) return {};
    if (auto head = put(number_bytes(piece.size(), 4)); !head) return head;
    info.size += piece.size();
    auto body = put(piece);
    piece.clear();
    return body;
}

SnapshotWriter::SnapshotWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
SnapshotWriter::SnapshotWriter(SnapshotWriter&&) noexcept = default;
SnapshotWriter& SnapshotWriter::operator=(SnapshotWriter&&) noexcept = default;
SnapshotWriter::~SnapshotWriter() = default;

base::Result<void> SnapshotWriter::write(std::string_view bytes) {
    while (!bytes.empty()) {
        const std::size_t room = snapshot_piece_bytes - state_->piece.size();
        const auto part = bytes.substr(0, room);
        state_->piece.append(part);
        bytes.remove_prefix(part.size());
        if (state_->piece.size() < snapshot_piece_bytes) continue;
        if (auto put = state_->put_piece(); !put) return put;
    }
    return {};
}

base::Result<SnapshotInfo> SnapshotWriter::finish(const base::Digest& state_hash) {
    State& state = *state_;
    state.info.state_hash = state_hash;
    if (auto put = state.put_piece(); !put) return base::fail(put.error());
    const std::string end = number_bytes(0, 4) + std::string(digest_bytes(state_hash)) +
                            number_bytes(state.info.size, 8);
    if (auto put = state.put(end); !put) return base::fail(put.error());
    const base::Digest sum = state.sum.finish();
    if (auto put = base::write_all(state.file.value(), digest_bytes(sum)); !put) {
        return base::fail(put.error());
    }
    if (::fsync(state.file.value()) != 0) {
        return base::fail(base::errno_error("fsync " + state.temporary.string()));
    }
    if (::rename(state.temporary.c_str(), state.path.c_str()) != 0) {
        return base::fail(base::errno_error("rename to " + state.path.string()));
    }
    state.file.reset();
    if (auto synced = base::sync_folder(state.path.parent_path()); !synced) {
        return base::fail(synced.error());
    }
    // The snapshot stands; old ones that stay behind do no harm.
    if (auto pruned = prune_snapshots(state.path.parent_path()); !pruned) {
        base::log_warning(pruned.error().message);
    }
    return state.info;
}

base::Error SnapshotReader::State::damaged(std::string_view how) const {
    return {base::ErrorCode::tamper, fmt::format("{} is damaged: {}", path.string(), how), {}, {}};
}

base::Result<void> SnapshotReader::State::take(std::string& out, std::size_t count) {
    out.resize(count);
    for (std::size_t have = 0; have < count;) {
        const ssize_t got = ::read(file.value(), out.data() + have, count - have);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return base::fail(base::errno_error("read " + path.string()));
        if (got == 0) return base::fail(damaged("it ends too early"));
        have += static_cast<std::size_t>(got);
    }
    return {};
}

base::Result<void> SnapshotReader::State::read_header(std::string_view model, Seq seq) {
    std::string magic;
    if (auto took = take(magic, snapshot_magic.size()); !took) return took;
    if (magic != snapshot_magic) return base::fail(damaged("it does not begin as a snapshot does"));
    sum.update(magic);
    std::string line;
    for (std::string byte; !line.ends_with('\n'); line += byte) {
        if (line.size() >= snapshot_header_bytes_max) return base::fail(damaged("its header"));
        if (auto took = take(byte, 1); !took) return took;
    }
    sum.update(line);
    const auto json = base::parse_json(std::string_view(line).substr(0, line.size() - 1));
    const bool shaped =
        json && json->is_object() && json->contains("hash") && (*json)["hash"].is_string();
    const auto hash =
        shaped ? base::Digest::from_hex((*json)["hash"].get<std::string>()) : std::nullopt;
    if (!hash) return base::fail(damaged("its header"));
    info = {
        .model = std::string(model),
        .head = {.seq = seq, .hash = *hash},
        .state_hash = {},
        .size = 0
    };
    if (line != header_line(info)) return base::fail(damaged("it is not of this model and seq"));
    return {};
}

base::Result<void> SnapshotReader::State::next_piece() {
    if (ended) return {};
    std::string size_bytes;
    if (auto took = take(size_bytes, 4); !took) return took;
    sum.update(size_bytes);
    const auto count = static_cast<std::size_t>(little_endian(size_bytes));
    if (count > snapshot_piece_bytes) return base::fail(damaged("a piece is too large"));
    if (auto took = take(piece, count); !took) return took;
    size += count;
    sum.update(piece);
    if (count == 0) return read_end();
    return {};
}

base::Result<void> SnapshotReader::State::read_end() {
    ended = true;
    std::string end;
    if (auto took = take(end, 32 + 8); !took) return took;
    sum.update(end);
    info.state_hash = digest_from(end);
    info.size = little_endian(std::string_view(end).substr(32));
    std::string written;
    if (auto took = take(written, 32); !took) return took;
    checked = sum.finish();
    if (checked != digest_from(written) || info.size != size) {
        return base::fail(damaged("its bytes do not have its sha256"));
    }
    char more = 0;
    if (::read(file.value(), &more, 1) != 0) return base::fail(damaged("it does not end"));
    return {};
}

base::Result<SnapshotReader> SnapshotReader::State::open(
    const std::filesystem::path& path, std::string_view model, Seq seq
) {
    auto state = std::make_unique<State>();
    state->path = path;
    state->file.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!state->file) return base::fail(base::errno_error("open " + path.string()));
    if (auto read = state->read_header(model, seq); !read) return base::fail(read.error());
    const off_t content = ::lseek(state->file.value(), 0, SEEK_CUR);
    while (!state->ended) {
        if (auto read = state->next_piece(); !read) return base::fail(read.error());
    }
    // Once more from the start, now for the caller, and checked again at the end.
    const SnapshotInfo checked = state->info;
    if (::lseek(state->file.value(), 0, SEEK_SET) != 0) {
        return base::fail(base::errno_error("seek in " + path.string()));
    }
    if (auto read = state->read_header(model, seq); !read) return base::fail(read.error());
    if (::lseek(state->file.value(), 0, SEEK_CUR) != content) {
        return base::fail(state->damaged("it changes while it is read"));
    }
    state->info = checked;
    state->ended = false;
    state->size = 0;
    state->piece.clear();
    return SnapshotReader(std::move(state));
}

SnapshotReader::SnapshotReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
SnapshotReader::SnapshotReader(SnapshotReader&&) noexcept = default;
SnapshotReader& SnapshotReader::operator=(SnapshotReader&&) noexcept = default;
SnapshotReader::~SnapshotReader() = default;

const SnapshotInfo& SnapshotReader::info() const {
    return state_->info;
}

base::Result<std::string_view> SnapshotReader::read() {
    State& state = *state_;
    if (state.rest.empty()) {
        state.piece.clear();
        if (auto next = state.next_piece(); !next) return base::fail(next.error());
        state.rest = state.piece;
    }
    return std::exchange(state.rest, {});
}

base::Result<void> SnapshotReader::read_exactly(std::string& out, std::size_t size) {
    State& state = *state_;
    while (size > 0) {
        if (state.rest.empty()) {
            state.piece.clear();
            if (auto next = state.next_piece(); !next) return next;
            state.rest = state.piece;
            if (state.rest.empty()) return base::fail(state.damaged("its content is too short"));
        }
        const auto part = state.rest.substr(0, size);
        out.append(part);
        state.rest.remove_prefix(part.size());
        size -= part.size();
    }
    return {};
}

}  // namespace engine
