#include "base/files.hpp"
#include "base/json.hpp"
#include "base/random.hpp"
#include "base/sha256.hpp"
#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"
#include "http/body.hpp"
#include "http/target.hpp"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace cli {

namespace {

struct PutOptions {
    std::string file;
};
void declare_put(CLI::App& app, PutOptions& options) {
    app.add_option("FILE", options.file, "The file; - = stdin")->required();
}

struct BlobOptions {
    std::string urn;
    std::string out;
};
void declare_stat(CLI::App& app, BlobOptions& options) {
    app.add_option("URN", options.urn, "The blob, or its sha256")->required();
}
void declare_get(CLI::App& app, BlobOptions& options) {
    declare_stat(app, options);
    app.add_option("--out", options.out, "File to write (default: stdout)");
}

struct GcOptions {
    std::string grace;
    bool dry_run = false;
};
void declare_gc(CLI::App& app, GcOptions& options) {
    app.add_option("--grace", options.grace, "Keep blobs put within this time (default: 1h)");
    app.add_flag("--dry-run", options.dry_run, "Only count");
}

std::string blob_target(const std::string& urn) {
    return "/api/blobs/" + http::percent_encode(urn);
}

Outcome<Exit> put(Context& context, const PutOptions& options) {
    base::FileDescriptor file(
        options.file == "-" ? ::dup(0) : ::open(options.file.c_str(), O_RDONLY | O_CLOEXEC)
    );
    if (!file) return wrong_usage(base::errno_error("open " + options.file));
    struct stat info{};
    std::optional<std::uint64_t> size;
    if (::fstat(file.value(), &info) == 0 && S_ISREG(info.st_mode)) {
        size = static_cast<std::uint64_t>(info.st_size);
    }
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    Progress progress("uploading");
    std::uint64_t done = 0;
    const auto next = [&]() -> base::Result<std::string> {
        constexpr std::size_t piece_bytes = std::size_t{256} << 10U;
        std::string piece(piece_bytes, '\0');
        ssize_t count = 0;
        do {
            count = ::read(file.value(), piece.data(), piece.size());
        } while (count < 0 && errno == EINTR);
        if (count < 0) return base::fail(base::errno_error("read " + options.file));
        piece.resize(static_cast<std::size_t>(count));
        done += piece.size();
        progress.show(done, size.value_or(0), "bytes");
        return piece;
    };
    const auto answer =
        master->upload("/api/blobs", {.next = http::pieces_from(next), .length = size});
    return show_answer(context, answer, [&](const base::Json& view) { print(field(view, "urn")); });
}

Outcome<Exit> get(Context& context, const BlobOptions& options) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    // A file of its own: a link that somebody laid under the name would be written through.
    const auto part = options.out + ".part-" + base::random_hex(8);
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    base::FileDescriptor file(
        options.out.empty() ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                            : ::open(part.c_str(), flags, 0644)
    );
    if (!file) return wrong_usage(base::errno_error("open " + part));
    Progress progress("downloading");
    std::uint64_t done = 0;
    base::Sha256 hash;
    auto taken = master->download(blob_target(options.urn), [&](std::string_view bytes) {
        hash.update(bytes);
        done += bytes.size();
        if (!options.out.empty()) progress.show(done, 0, "bytes");
        return base::write_all(file.value(), bytes);
    });
    auto wanted = base::digest_from_urn(options.urn);
    if (!wanted) wanted = base::Digest::from_hex(options.urn);
    if (taken && wanted && hash.finish() != *wanted) {
        taken = failed(
            {base::ErrorCode::tamper, fmt::format("what came is not {}", options.urn), {}, {}}
        );
    }
    if (!taken) {
        if (!options.out.empty()) ::unlink(part.c_str());
        return std::unexpected(std::move(taken.error()));
    }
    if (!options.out.empty() && ::rename(part.c_str(), options.out.c_str()) != 0) {
        return wrong_usage(base::errno_error("write " + options.out));
    }
    return Exit::good;
}

Outcome<Exit> stat_blob(Context& context, const BlobOptions& options) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    const auto answer = master->get(blob_target(options.urn) + "/stat");
    return show_answer(context, answer, [&](const base::Json& view) {
        print(fmt::format(
            "{}: {} bytes, put {}", field(view, "urn"), field(view, "size"), field(view, "at")
        ));
    });
}

Outcome<Exit> gc(Context& context, const GcOptions& options) {
    // It reads every log.
    constexpr auto collection_max = base::seconds(3600);
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    QueryText query;
    query.add_given("grace", options.grace);
    if (options.dry_run) query.add("dryRun", "true");
    const auto answer = master->post("/api/blobs/gc" + query.text(), "", collection_max);
    return show_answer(context, answer, [&](const base::Json& view) {
        print(fmt::format(
            "{} blobs {} removed ({} bytes), {} kept",
            field(view, "collected"),
            options.dry_run ? "would be" : "are",
            field(view, "bytes"),
            field(view, "kept")
        ));
    });
}

}  // namespace

void add_blob(CLI::App& app, Context& context) {
    auto& group = add_group(app, "blob", "The content-addressed store");
    add_command<PutOptions>(
        group, {"put", "Put a file; prints its URN", Takes::master}, context, &declare_put, &put
    );
    add_command<BlobOptions>(
        group, {"get", "The bytes of a blob", Takes::master}, context, &declare_get, &get
    );
    add_command<BlobOptions>(
        group, {"stat", "Size and age of a blob", Takes::master}, context, &declare_stat, &stat_blob
    );
    add_command<GcOptions>(
        group,
        {"gc", "Remove blobs that nothing refers to", Takes::master},
        context,
        &declare_gc,
        &gc
    );
}

}  // namespace cli
