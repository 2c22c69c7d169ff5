#pragma once

#include "base/clock.hpp"
#include "http/stop.hpp"
#include "http/task.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace http {

/// How long a wait may last. Without `at_most` only for what is sure to be answered.
struct WaitLimits {
    std::optional<base::Duration> at_most;
    StopSignal stop;
};

namespace detail {

/// The meeting point of one awaiting coroutine and whoever completes it.
template <class T>
class Wait {
public:
    explicit Wait(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}

    void finish(std::optional<T> value) {
        std::move_only_function<void()> resume;
        {
            const std::scoped_lock lock(mutex_);
            if (done_) return;
            done_ = true;
            value_ = std::move(value);
            resume = std::move(resume_);
        }
        if (resume) boost::asio::post(executor_, std::move(resume));
    }
    /// `resume` is posted once the wait is finished.
    void install(std::move_only_function<void()> resume) {
        {
            const std::scoped_lock lock(mutex_);
            if (!done_) {
                resume_ = std::move(resume);
                return;
            }
        }
        boost::asio::post(executor_, std::move(resume));
    }
    [[nodiscard]] bool done() const {
        const std::scoped_lock lock(mutex_);
        return done_;
    }
    std::optional<T> take() {
        const std::scoped_lock lock(mutex_);
        return std::move(value_);
    }

private:
    boost::asio::any_io_executor executor_;
    mutable std::mutex mutex_;
    bool done_ = false;
    std::optional<T> value_;
    std::move_only_function<void()> resume_;
};

template <class T>
Task<void> until_finished(std::shared_ptr<Wait<T>> wait) {
    return boost::asio::async_initiate<const boost::asio::use_awaitable_t<>&, void()>(
        [](auto handler, std::shared_ptr<Wait<T>> waited) { waited->install(std::move(handler)); },
        boost::asio::use_awaitable,
        std::move(wait)
    );
}

}  // namespace detail

/// The other end of an `await_callback`: call it once, from any thread; later calls and calls after
/// the wait has ended change nothing. Copies are one completion; when the last copy ends without a
/// call, the wait ends empty.
template <class T>
class Completion {
public:
    explicit Completion(std::shared_ptr<detail::Wait<T>> wait)
        : promise_(std::make_shared<Promise>(std::move(wait))) {}
    void operator()(T value) const { promise_->wait->finish(std::move(value)); }

private:
    struct Promise {
        explicit Promise(std::shared_ptr<detail::Wait<T>> met) : wait(std::move(met)) {}
        ~Promise() { wait->finish({}); }
        Promise(const Promise&) = delete;
        Promise& operator=(const Promise&) = delete;
        std::shared_ptr<detail::Wait<T>> wait;
    };
    /// Shared by the copies (a std::function must be copyable).
    std::shared_ptr<Promise> promise_;
};

/// Calls `initiate(Completion<T>)`, then waits without blocking a thread until it is called.
/// Resumes on the awaiting coroutine's executor. Empty = the limit passed, the stop signal was
/// raised, or the completion was dropped. A completion that is called inside `initiate` costs no
/// wait.
template <class T, class Initiate>
Task<std::optional<T>> await_callback(WaitLimits limits, Initiate initiate) {
    const auto executor = co_await boost::asio::this_coro::executor;
    const auto wait = std::make_shared<detail::Wait<T>>(executor);
    initiate(Completion<T>(wait));
    if (!wait->done()) {
        std::optional<boost::asio::steady_timer> timer;
        if (limits.at_most) {
            timer.emplace(executor, std::chrono::microseconds(limits.at_most->us));
            timer->async_wait([wait](const boost::system::error_code& error) {
                if (!error) wait->finish({});
            });
        }
        const StopWatch watch(limits.stop, [wait] { wait->finish({}); });
        co_await detail::until_finished(wait);
    }
    co_return wait->take();
}

}  // namespace http
