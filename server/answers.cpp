#include "server/answers.hpp"

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/log.hpp"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace server {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

namespace {

constexpr const char* newer_name = "answers.newer";
constexpr const char* older_name = "answers.older";

std::string line_of(const Question& question, const Answer& answer) {
    return base::canonical(Json{
               {"key", question.key},
               {"digest", question.digest.hex()},
               {"status", answer.status},
               {"location", answer.location},
               {"body", answer.body}
           }) +
           "\n";
}

struct Line {
    Question question;
    Answer answer;
};

std::optional<Line> line_from(std::string_view text) {
    const auto json = base::parse_json(text);
    if (!json || !json->is_object()) return std::nullopt;
    const auto word = [&](const char* name) -> std::optional<std::string> {
        const auto found = json->find(name);
        if (found == json->end() || !found->is_string()) return std::nullopt;
        return found->get<std::string>();
    };
    const auto key = word("key");
    const auto hex = word("digest");
    const auto location = word("location");
    const auto body = word("body");
    const auto status = json->find("status");
    if (!key || !hex || !location || !body || status == json->end() || !status->is_number_integer())
        return std::nullopt;
    const auto digest = base::Digest::from_hex(*hex);
    const auto number = status->get<std::int64_t>();
    if (!digest || number < 200 || number > 299) return std::nullopt;
    return Line{{*key, *digest}, {static_cast<int>(number), *location, *body}};
}

Result<Answer> used_for_another(const std::string& key) {
    return fail(
        ErrorCode::conflict,
        fmt::format(
            "Idempotency-Key '{}' was used for another request", key.substr(key.rfind('/') + 1)
        ),
        "use a new key for a new request"
    );
}

}  // namespace

/// Appended to by one thread, read by any.
struct Answers::File {
    base::FileDescriptor descriptor;
    std::uint64_t bytes = 0;
    std::size_t answers = 0;
};

Answers::Answers(std::filesystem::path folder, const Limits& limits)
    : folder_(std::move(folder)), limits_(limits) {}

Answers::~Answers() = default;

Result<std::unique_ptr<Answers>> Answers::open(
    const std::filesystem::path& folder, const Limits& limits
) {
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
        return fail(base::errno_error("mkdir " + folder.string()));
    std::unique_ptr<Answers> answers(new Answers(folder, limits));
    for (const bool newer : {false, true}) {
        auto loaded = answers->load(
            folder / (newer ? newer_name : older_name), newer ? answers->newer_ : answers->older_
        );
        if (!loaded) return fail(std::move(loaded.error()));
    }
    if (!answers->newer_) {
        auto made = answers->create();
        if (!made) return fail(std::move(made.error()));
        answers->newer_ = std::move(*made);
    }
    answers->worker_ = std::make_unique<base::WorkerPool>(1);
    return answers;
}

/// A line that is not whole, or was not written by `write`, is skipped: its answer is unknown.
Result<void> Answers::load(const std::filesystem::path& path, std::shared_ptr<File>& file) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT) return {};
    if (fd < 0) return fail(base::errno_error("open " + path.string()));
    file = std::make_shared<File>();
    file->descriptor.reset(fd);
    const auto text = base::read_file(path, limits_.file_bytes_max);
    if (!text) return fail(text.error());
    std::size_t begin = 0;
    for (auto end = text->find('\n'); end != std::string::npos; end = text->find('\n', begin)) {
        const std::string_view line(*text);
        const std::size_t bytes = end - begin;
        if (auto read = line_from(line.substr(begin, bytes))) {
            entries_.with([&](Entries& entries) {
                entries[read->question.key] = {read->question.digest, file, begin, bytes, {}};
            });
            ++file->answers;
        }
        begin = end + 1;
    }
    // Behind a torn line the next one could not be read.
    if (begin < text->size() && ::ftruncate(fd, static_cast<off_t>(begin)) != 0)
        return fail(base::errno_error("truncate " + path.string()));
    file->bytes = begin;
    return {};
}

Result<std::shared_ptr<Answers::File>> Answers::create() const {
    const auto path = folder_ / newer_name;
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return fail(base::errno_error("create " + path.string()));
    auto file = std::make_shared<File>();
    file->descriptor.reset(fd);
    return file;
}

void Answers::ask(const Question& question, Told told) {
    std::optional<Reply> reply;
    std::optional<Entry> kept;
    entries_.with([&](Entries& entries) {
        auto [at, first] = entries.try_emplace(question.key);
        Entry& entry = at->second;
        if (first) {
            entry.digest = question.digest;
            reply.emplace();
        } else if (entry.digest != question.digest) {
            reply.emplace(used_for_another(question.key));
        } else if (entry.file) {
            kept = Entry{entry.digest, entry.file, entry.offset, entry.bytes, {}};
        } else if (entry.waiting.size() < limits_.waiting_max) {
            entry.waiting.push_back(std::move(told));
        } else {
            reply.emplace(Result<Answer>(fail(
                ErrorCode::overloaded, "too many wait for the answer under this Idempotency-Key"
            )));
        }
    });
    if (reply) return told(std::move(*reply));
    if (!kept) return;
    worker_->post([kept = std::move(*kept), told = std::move(told)] { told(read(kept)); });
}

Result<Answer> Answers::read(const Entry& entry) {
    std::string text(entry.bytes, '\0');
    const auto got = ::pread(
        entry.file->descriptor.value(), text.data(), text.size(), static_cast<off_t>(entry.offset)
    );
    if (got == static_cast<ssize_t>(text.size())) {
        if (auto line = line_from(text)) return std::move(line->answer);
    }
    return fail(
        ErrorCode::conflict,
        "the request under this Idempotency-Key was done, and its answer cannot be read any more",
        "look at what it changed; use a new key for a new request"
    );
}

void Answers::give(const Question& question, Answer answer, std::function<void()> kept) {
    worker_->post([this, question, answer = std::move(answer), kept = std::move(kept)] {
        write(question, answer);
        kept();
    });
}

void Answers::write(const Question& question, const Answer& answer) {
    const std::string line = line_of(question, answer);
    if (line.size() > limits_.answer_bytes_max) return give_up(question.key, answer);
    auto ready = newer_->bytes + line.size() > limits_.file_bytes_max ||
                         newer_->answers >= limits_.file_answers_max
                     ? turn()
                     : Result<void>();
    const std::uint64_t offset = newer_->bytes;
    if (ready && ::lseek(newer_->descriptor.value(), static_cast<off_t>(offset), SEEK_SET) < 0)
        ready = fail(base::errno_error("seek in the kept answers"));
    if (ready) ready = base::write_all(newer_->descriptor.value(), line);
    if (!ready) {
        // The request is done all the same. Its record in the log, if it has one, knows the key.
        base::log_warning("an answer is not kept: " + ready.error().message);
        return give_up(question.key, answer);
    }
    newer_->bytes += line.size();
    ++newer_->answers;
    std::vector<Told> waiting;
    entries_.with([&](Entries& entries) {
        Entry& entry = entries[question.key];
        waiting = std::exchange(entry.waiting, {});
        entry = {question.digest, newer_, offset, line.size() - 1, {}};
    });
    for (const auto& told : waiting)
        told(Result<Answer>(answer));
}

/// The newer file becomes the older one.
Result<void> Answers::turn() {
    const auto newer = folder_ / newer_name;
    // Absent: it was renamed before, and no new one could be made.
    if (::rename(newer.c_str(), (folder_ / older_name).c_str()) != 0 && errno != ENOENT)
        return fail(base::errno_error("rename " + newer.string()));
    const auto forgotten = older_ != newer_ ? std::exchange(older_, newer_) : nullptr;
    entries_.with([&](Entries& entries) {
        std::erase_if(entries, [&](const auto& entry) {
            return forgotten && entry.second.file == forgotten;
        });
    });
    auto made = create();
    if (!made) return fail(std::move(made.error()));
    newer_ = std::move(*made);
    return {};
}

void Answers::give_up(const std::string& key, const Result<Answer>& why) {
    std::vector<Told> waiting;
    entries_.with([&](Entries& entries) {
        const auto found = entries.find(key);
        if (found == entries.end()) return;
        waiting = std::move(found->second.waiting);
        entries.erase(found);
    });
    for (const auto& told : waiting)
        told(why);
}

std::size_t Answers::kept() const {
    return entries_.with([](const Entries& entries) { return entries.size(); });
}

}  // namespace server
