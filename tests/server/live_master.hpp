#pragma once

#include "base/files.hpp"
#include "base/json.hpp"
#include "executor/executor.hpp"
#include "http/client.hpp"
#include "server/master.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>

/// A real master on a folder of its own, and a client that is its admin.
struct LiveMaster {
    std::shared_ptr<base::TemporaryFolder> folder = std::make_shared<base::TemporaryFolder>();
    std::unique_ptr<server::Master> master;
    std::optional<http::Client> client;
    std::unique_ptr<http::StopSource> executor_stop;
    std::thread executor;

    LiveMaster() {
        std::filesystem::permissions(folder->path(), std::filesystem::perms(0755));
        start();
    }
    ~LiveMaster() {
        stop_executor();
        stop();
    }
    [[nodiscard]] std::filesystem::path data() const { return folder->path() / "data"; }
    void start() {
        auto started = server::Master::start({.data = data(), .lease = base::seconds(3)});
        REQUIRE_MESSAGE(started, (started ? "" : started.error().message));
        master = std::move(*started);
        client.emplace(
            *http::Client::make({.url = master->url(), .bearer_token = token("admin.token")})
        );
    }
    void stop() {
        client.reset();
        master.reset();
    }
    [[nodiscard]] std::string token(const char* file) const {
        auto text = *base::read_file(data() / file, 1000);
        text.pop_back();
        return text;
    }
    void start_executor() {
        // The executor looks for it beside its own binary, which is this test.
        ::setenv("NETWRIGHT_SANDBOX_INIT", NETWRIGHT_BINARY_DIR "/netwright-sandbox-init", 1);
        executor_stop = std::make_unique<http::StopSource>();
        executor::Options options{
            .master = master->url(),
            .enrolment = {.token_file = {}, .admin_token_file = data() / "admin.token"},
            .work = folder->path() / "work",
            .slots = 4,
            .id = "e1",
        };
        executor = std::thread([options, signal = executor_stop->signal()] {
            const auto ended = executor::run(options, signal);
            if (!ended) MESSAGE(ended.error().message);
        });
    }
    void stop_executor() {
        if (!executor.joinable()) return;
        executor_stop->raise();
        executor.join();
    }

    struct Reply {
        int status = 0;
        base::Json body;
    };
    Reply call(
        http::Method method,
        const std::string& target,
        const base::Json* body = nullptr,
        http::Headers headers = {}
    ) {
        const auto answer = client->send(
            {.method = method,
             .target = target,
             .headers = std::move(headers),
             .body = body != nullptr ? body->dump() : ""}
        );
        REQUIRE_MESSAGE(answer, (answer ? "" : answer.error().message));
        auto parsed = base::parse_json(answer->body);
        return {answer->status, parsed ? std::move(*parsed) : base::Json(answer->body)};
    }
    Reply get(const std::string& target) { return call(http::Method::get, target); }
    Reply post(const std::string& target, const base::Json& body, http::Headers headers = {}) {
        return call(http::Method::post, target, &body, std::move(headers));
    }
    base::Json made(const std::string& target, const base::Json& body) {
        auto reply = post(target, body);
        REQUIRE_MESSAGE(reply.status < 300, reply.body.dump());
        return std::move(reply.body);
    }
};
