#pragma once

#include <boost/asio/awaitable.hpp>

namespace http {

/// A coroutine of this folder and of its callers. It runs on the executor of the connection or
/// client that awaits it, which is one thread at a time.
template <class T>
using Task = boost::asio::awaitable<T>;

}  // namespace http
