#pragma once

#include "base/json.hpp"
#include "base/sha256.hpp"
#include "executor/executor.hpp"
#include "http/await.hpp"
#include "http/server.hpp"
#include "http/status.hpp"
#include "jobs/enrolment.hpp"
#include "jobs/routes.hpp"
#include "jobs/sync.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace rig {

/// The other end of the wire: a master that keeps the rules of jobs/sync.hpp as far as one executor
/// and a test need them, behind a real server. It holds nothing durable.
class Master {
public:
    struct Uploaded {
        std::uint64_t size = 0;
        base::Sha256 hasher;
        std::optional<base::Digest> sha256;
    };

    Master() {
        using namespace jobs::routes;
        router_.add(
            http::Method::post,
            sync_pattern,
            [this](http::Request request) { return sync(std::move(request)); },
            {.body_bytes_max = jobs::sync_body_bytes_max, .long_poll = true}
        );
        for (const auto pattern :
             {jobs::enrolment::enrol_pattern,
              jobs::enrolment::challenge_pattern,
              jobs::enrolment::access_pattern}) {
            router_.add(http::Method::post, pattern, [this](http::Request request) {
                return identify(std::move(request));
            });
        }
        router_.add(http::Method::post, output_pattern, [this](http::Request request) {
            return output(std::move(request));
        });
        router_.add(http::Method::get, content_pattern, [this](http::Request request) {
            return content(std::move(request));
        });
        auto server = http::Server::start({}, router_);
        REQUIRE(server);
        server_ = std::move(*server);
    }
    ~Master() { server_->stop({}); }
    Master(const Master&) = delete;
    Master& operator=(const Master&) = delete;

    [[nodiscard]] std::string url() const { return server_->url(); }
    void offer(jobs::Lease lease) {
        change([&] { queue_.push_back(std::move(lease)); });
    }
    void cancel(const jobs::LeaseId& lease) {
        change([&] { cancelled_.push_back(lease); });
    }
    /// Everything is answered with this error until it is cleared.
    void refuse(std::optional<base::Error> error) {
        change([&] { refusal_ = std::move(error); });
    }
    /// The executor is to finish what it has and end.
    void drain() {
        change([&] { drain_ = true; });
    }
    /// Nobody is taken for who he says he is.
    void refuse_identity(base::Error error) {
        change([&] { identity_refusal_ = std::move(error); });
    }
    /// Results are heard but not acknowledged.
    void acknowledge(bool yes) {
        change([&] { acknowledges_ = yes; });
    }
    void put_content(std::string bytes) {
        change([&] { contents_[base::sha256(bytes).hex()] = bytes; });
    }

    /// Waits for it, long enough for the slowest machine.
    jobs::Outcome outcome(const std::string& lease) {
        std::unique_lock lock(mutex_);
        REQUIRE(changed_.wait_for(lock, std::chrono::seconds(120), [&] {
            return outcomes_.contains({lease});
        }));
        return outcomes_.at({lease});
    }
    template <class Ready>
    void wait(Ready ready) {
        std::unique_lock lock(mutex_);
        REQUIRE(changed_.wait_for(lock, std::chrono::seconds(120), [&] { return ready(requests_); })
        );
    }
    std::vector<jobs::SyncRequest> requests() {
        const std::scoped_lock lock(mutex_);
        return requests_;
    }
    std::size_t outcomes() {
        const std::scoped_lock lock(mutex_);
        return outcomes_.size();
    }
    std::vector<jobs::SyncReply> replies() {
        const std::scoped_lock lock(mutex_);
        return replies_;
    }
    std::pair<std::uint64_t, std::optional<base::Digest>> uploaded(const std::string& stream) {
        const std::scoped_lock lock(mutex_);
        const auto& upload = uploads_[stream];
        return {upload.size, upload.sha256};
    }

private:
    template <class Change>
    void change(Change make) {
        std::vector<http::Completion<bool>> waiting;
        {
            const std::scoped_lock lock(mutex_);
            make();
            std::swap(waiting, waiting_);
        }
        changed_.notify_all();
        for (const auto& one : waiting)
            one(true);
    }

    // Whoever it is; what the real one demands is tested with the real one.
    http::Task<http::Response> identify(http::Request /*request*/) {
        if (const auto error = identity_refusal()) co_return http::error_response(*error);
        co_return http::json_response(200, R"({"challenge":"1","token":"access","validMs":1})");
    }
    std::optional<base::Error> identity_refusal() {
        const std::scoped_lock lock(mutex_);
        return identity_refusal_;
    }

    http::Task<http::Response> sync(http::Request request) {
        const auto json = base::parse_json(request.body, {jobs::sync_body_bytes_max, 128});
        if (!json) co_return http::error_response(json.error());
        auto read = jobs::sync_request_from_json(*json);
        if (!read) co_return http::error_response(read.error());
        const auto asked = *read;
        const auto start = base::system_clock().elapsed();
        bool refused = false;
        change([&] {
            refused = refusal_.has_value();
            if (refused) return;
            newest_ = std::max(newest_, asked.seq);
            requests_.push_back(asked);
            for (const auto& done : asked.done)
                outcomes_[done.ref.lease] = done.outcome;
        });
        if (refused) co_return http::error_response(*refusal());
        for (;;) {
            const auto held = base::system_clock().elapsed() - start;
            if (const auto reply = answer(asked, held)) {
                co_return http::json_response(200, base::canonical(jobs::to_json(*reply)));
            }
            co_await http::await_callback<bool>(
                {asked.wait - held, request.stop},
                [this](http::Completion<bool> completion) {
                    const std::scoped_lock lock(mutex_);
                    waiting_.push_back(std::move(completion));
                }
            );
            if (request.stop.stopped() || refusal())
                co_return http::error_response(
                    refusal().value_or(base::Error{base::ErrorCode::overloaded, "stopping", {}, {}})
                );
        }
    }

    std::optional<base::Error> refusal() {
        const std::scoped_lock lock(mutex_);
        return refusal_;
    }

    std::optional<jobs::SyncReply> answer(const jobs::SyncRequest& asked, base::Duration held) {
        const std::scoped_lock lock(mutex_);
        jobs::SyncReply reply;
        reply.master = "m1";
        reply.seq = asked.seq;
        reply.held = held;
        reply.drain = drain_;
        if (acknowledges_) {
            for (const auto& done : asked.done)
                reply.drop.push_back({done.ref.lease, jobs::Verdict::applied});
        }
        if (asked.seq == newest_) {
            for (auto free = asked.capacity; free > 0 && !queue_.empty(); --free) {
                reply.leases.push_back(std::move(queue_.front()));
                queue_.pop_front();
            }
            for (const auto& running : asked.running) {
                for (const auto& lease : cancelled_) {
                    if (lease == running.ref.lease) {
                        reply.cancel.push_back({lease, jobs::CancelReason::requested});
                    }
                }
            }
        }
        const bool empty =
            !reply.drain && reply.leases.empty() && reply.drop.empty() && reply.cancel.empty();
        if (empty && asked.seq == newest_ && held < asked.wait) return std::nullopt;
        replies_.push_back(reply);
        return reply;
    }

    static std::uint64_t number(const http::Request& request, std::string_view name) {
        const auto text = request.query.one(name).value().value_or("0");
        std::uint64_t value = 0;
        std::from_chars(text.data(), text.data() + text.size(), value);
        return value;
    }

    http::Task<http::Response> output(http::Request request) {
        if (const auto error = refusal()) co_return http::error_response(*error);
        const std::scoped_lock lock(mutex_);
        auto& upload = uploads_[request.parameter("stream")];
        if (number(request, "offset") == upload.size) {
            upload.hasher.update(request.body);
            upload.size += request.body.size();
        }
        if (const auto sha256 = request.query.one("sha256").value(); sha256 && !upload.sha256) {
            upload.sha256 = upload.hasher.finish();
            if (upload.sha256->hex() != *sha256) {
                co_return http::error_response({base::ErrorCode::tamper, "other bytes", {}, {}});
            }
        }
        co_return http::json_response(200, "{\"size\":" + std::to_string(upload.size) + "}");
    }

    http::Task<http::Response> content(http::Request request) {
        const std::scoped_lock lock(mutex_);
        const auto found = contents_.find(request.parameter("sha256"));
        if (found == contents_.end()) {
            co_return http::error_response({base::ErrorCode::not_found, "no such content", {}, {}});
        }
        const std::string range(request.headers.find("range").value_or("bytes=0-"));
        const auto from = std::stoull(range.substr(6));
        // Smaller parts than asked for, so that the executor has to go on.
        const auto part = found->second.substr(from, 100'000);
        auto response = http::text_response(206, part, "application/octet-stream");
        response.headers.set(
            "content-range",
            "bytes " + std::to_string(from) + "-" + std::to_string(from + part.size() - 1) + "/" +
                std::to_string(found->second.size())
        );
        co_return response;
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<http::Completion<bool>> waiting_;
    std::deque<jobs::Lease> queue_;
    std::vector<jobs::LeaseId> cancelled_;
    std::optional<base::Error> refusal_;
    std::optional<base::Error> identity_refusal_;
    bool acknowledges_ = true;
    bool drain_ = false;
    std::uint64_t newest_ = 0;
    std::vector<jobs::SyncRequest> requests_;
    std::vector<jobs::SyncReply> replies_;
    std::map<jobs::LeaseId, jobs::Outcome> outcomes_;
    std::map<std::string, Uploaded, std::less<>> uploads_;
    std::map<std::string, std::string> contents_;
    http::Router router_;
    std::unique_ptr<http::Server> server_;
};

/// An executor that runs until `stop`, in a thread.
class RunningExecutor {
public:
    RunningExecutor(
        const std::string& url, const std::filesystem::path& work, std::int64_t slots = 2
    ) {
        options_.master = url;
        options_.work = work;
        options_.enrolment.token_file = work / "token";
        options_.slots = slots;
        options_.slot_uid_base = 30000 + static_cast<std::uint32_t>(::getpid() % 20000);
        options_.drain = base::seconds(60);
        std::ofstream(*options_.enrolment.token_file) << "token\n";
        ::setenv("NETWRIGHT_SANDBOX_INIT", NETWRIGHT_SANDBOX_INIT_BUILT, 0);
        thread_ = std::thread([this] { result_ = executor::run(options_, stop_.signal()); });
    }
    ~RunningExecutor() { (void)stop(); }
    RunningExecutor(const RunningExecutor&) = delete;
    RunningExecutor& operator=(const RunningExecutor&) = delete;

    base::Result<void> stop() {
        stop_.raise();
        return wait();
    }
    base::Result<void> wait() {
        if (thread_.joinable()) thread_.join();
        return result_;
    }
    [[nodiscard]] const executor::Options& options() const { return options_; }

private:
    executor::Options options_;
    http::StopSource stop_;
    base::Result<void> result_;
    std::thread thread_;
};

}  // namespace rig
