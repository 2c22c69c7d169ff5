#include "bench/ceiling.hpp"

#include "base/guarded.hpp"
#include "base/result.hpp"
#include "bench/figure.hpp"
#include "http/client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <rocksdb/db.h>

#include <ctime>
#include <deque>
#include <functional>
#include <pthread.h>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace bench {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;

constexpr std::size_t polls_open = 16;
constexpr std::size_t record_bytes = 290;
constexpr std::size_t read_bytes = 900;  // as much as a catalog entry has

struct Record {
    std::uint64_t seq = 0;
    std::string text;
    std::function<void()> durable;
};

struct Waiting {
    std::vector<Record> records;
    bool ended = false;
};

/// Everything that has gathered since the last sync goes into the next one.
class GroupCommit {
public:
    GroupCommit(const std::filesystem::path& folder, asio::io_context& context)
        : context_(context) {
        rocksdb::Options options;
        options.create_if_missing = true;
        options.error_if_exists = true;
        options.compression = rocksdb::kNoCompression;
        rocksdb::DB* opened = nullptr;
        const auto status = rocksdb::DB::Open(options, folder.string(), &opened);
        base::check(status.ok(), "the ceiling opens its database");
        database_.reset(opened);
        thread_ = std::jthread([this] { run(); });
    }
    ~GroupCommit() {
        waiting_.with([](Waiting& all) { all.ended = true; });
        waiting_.notify();
    }
    GroupCommit(const GroupCommit&) = delete;
    GroupCommit& operator=(const GroupCommit&) = delete;

    /// `durable` is called on the context.
    void add(std::string text, std::function<void()> durable) {
        waiting_.with([&](Waiting& all) {
            all.records.push_back({++seq_, std::move(text), std::move(durable)});
        });
        waiting_.notify();
    }

private:
    void run() {
        rocksdb::WriteOptions synced;
        synced.sync = true;
        for (;;) {
            auto group = waiting_.wait(
                [](const Waiting& all) { return !all.records.empty() || all.ended; },
                [](Waiting& all) { return std::exchange(all.records, {}); }
            );
            if (group.empty()) return;
            rocksdb::WriteBatch batch;
            for (const auto& record : group) {
                char key[8];
                for (unsigned b = 0; b < 8; ++b)
                    key[b] = static_cast<char>(record.seq >> (56U - 8U * b));
                batch.Put({key, sizeof key}, record.text);
            }
            base::check(database_->Write(synced, &batch).ok(), "the ceiling commits");
            asio::post(context_, [done = std::move(group)] {
                for (const auto& record : done)
                    record.durable();
            });
        }
    }

    asio::io_context& context_;
    std::unique_ptr<rocksdb::DB> database_;
    base::Guarded<Waiting> waiting_;
    std::uint64_t seq_ = 0;
    std::jthread thread_;
};

class Session;

/// Jobs and those who wait; on the server's thread.
struct Board {
    GroupCommit& log;
    std::uint64_t last_job = 0;
    std::deque<std::string> ready;
    std::deque<std::shared_ptr<Session>> polls;
    std::unordered_map<std::string, std::shared_ptr<Session>> starts;

    void start(std::shared_ptr<Session> session, const std::string& body);
    void poll(std::shared_ptr<Session> session, const std::string& done);
};

/// Shared: the operation in progress, or who waits on the board, keeps it.
class Session : public std::enable_shared_from_this<Session> {
public:
    Session(tcp::socket socket, Board& board) : socket_(std::move(socket)), board_(board) {
        socket_.set_option(tcp::no_delay(true));
    }
    void read() {
        request_ = {};
        beast::http::async_read(
            socket_,
            buffer_,
            request_,
            [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
                if (!error) self->take();
            }
        );
    }
    void answer(std::string body) {
        response_ = {beast::http::status::ok, 11};
        response_.set(beast::http::field::content_type, "application/json");
        response_.body() = std::move(body);
        response_.prepare_payload();
        beast::http::async_write(
            socket_,
            response_,
            [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
                if (!error) self->read();
            }
        );
    }

private:
    void take() {
        if (request_.method() == beast::http::verb::get)
            return answer(std::string(read_bytes, ' '));
        if (request_.target() == "/start") return board_.start(shared_from_this(), request_.body());
        board_.poll(shared_from_this(), request_.body());
    }

    tcp::socket socket_;
    Board& board_;
    beast::flat_buffer buffer_;
    beast::http::request<beast::http::string_body> request_;
    beast::http::response<beast::http::string_body> response_;
};

std::string padded(std::string text) {
    text.resize(std::max(text.size(), record_bytes), ' ');
    return text;
}

void Board::start(std::shared_ptr<Session> session, const std::string& body) {
    std::string job = std::to_string(++last_job);
    starts.emplace(job, std::move(session));
    log.add(padded(body), [this, job = std::move(job)] {
        if (polls.empty()) return ready.push_back(job);
        const auto poller = std::move(polls.front());
        polls.pop_front();
        poller->answer(job);
    });
}

void Board::poll(std::shared_ptr<Session> session, const std::string& done) {
    if (!done.empty()) {
        log.add(padded("done " + done), [this, done] {
            const auto starter = starts.extract(done);
            starter.mapped()->answer("{}");
        });
    }
    if (ready.empty()) return polls.push_back(std::move(session));
    session->answer(std::move(ready.front()));
    ready.pop_front();
}

void accept(tcp::acceptor& acceptor, Board& board) {
    acceptor.async_accept([&](const boost::system::error_code& error, tcp::socket socket) {
        if (error) return;
        std::make_shared<Session>(std::move(socket), board)->read();
        accept(acceptor, board);
    });
}

http::Task<void> work(http::AsyncClient& client) {
    std::string done;
    for (;;) {
        auto answer = co_await client.send(
            {.method = http::Method::post,
             .target = "/poll",
             .body = std::move(done),
             .idle = base::seconds(3600)}
        );
        if (!answer) co_return;  // the end
        done = std::move(answer->body);
    }
}

}  // namespace

struct Ceiling::Parts {
    explicit Parts(const std::filesystem::path& folder) : log(folder, context) {}

    asio::io_context context{1};
    GroupCommit log;
    Board board{.log = log};
    tcp::acceptor acceptor{context, {asio::ip::make_address("127.0.0.1"), 0}};
    asio::io_context worker_context{1};
    std::thread server;
    std::thread worker;
    clockid_t worker_clock{};
};

Ceiling::Ceiling(const std::filesystem::path& folder) : parts_(std::make_unique<Parts>(folder)) {
    accept(parts_->acceptor, parts_->board);
    parts_->server = std::thread([parts = parts_.get()] { parts->context.run(); });
    parts_->worker = std::thread([parts = parts_.get(), where = url()] {
        auto client = http::AsyncClient::make(
            parts->worker_context.get_executor(), {.url = where, .idle_connections_max = polls_open}
        );
        base::check(client.has_value(), "the worker's client is made");
        for (std::size_t i = 0; i < polls_open; ++i)
            asio::co_spawn(parts->worker_context, work(*client), asio::detached);
        parts->worker_context.run();
    });
    ::pthread_getcpuclockid(parts_->worker.native_handle(), &parts_->worker_clock);
}

Ceiling::~Ceiling() {
    parts_->worker_context.stop();
    parts_->worker.join();
    parts_->context.stop();
    parts_->server.join();
}

std::string Ceiling::url() const {
    return "http://127.0.0.1:" + std::to_string(parts_->acceptor.local_endpoint().port());
}

double Ceiling::worker_cpu_seconds() const {
    timespec used{};
    ::clock_gettime(parts_->worker_clock, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

}  // namespace bench
