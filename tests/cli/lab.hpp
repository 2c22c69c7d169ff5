#pragma once

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "http/client.hpp"
#include "tests/cli/process.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tests::cli {

using base::Json;

/// How a subcommand ended.
struct Said {
    int exit = -1;
    std::string out;
    std::string err;
};

inline constexpr auto patience = base::seconds(90);

/// Real processes on a data directory of their own: a master, executors, and the command line.
/// Everything is killed and removed when it ends; what the daemons said is shown when a test fails.
class Lab {
public:
    Lab();
    ~Lab();
    Lab(const Lab&) = delete;
    Lab& operator=(const Lab&) = delete;

    [[nodiscard]] std::filesystem::path path(std::string_view name) const {
        return folder_.path() / name;
    }
    [[nodiscard]] std::filesystem::path data() const { return path("netwright"); }

    /// Returns when it listens. `options`: more of them.
    void start_master(std::vector<std::string> options = {});
    /// Without waiting for it.
    Process& launch_master(std::vector<std::string> options = {});
    void kill_master();
    /// SIGTERM; its exit code.
    int stop_master();
    [[nodiscard]] Process& master() { return *master_; }
    /// Waits until the master of this lab answers.
    void await_master();

    /// Returns when the master has heard of it. `name` is its id and that of its work folder.
    Process& start_executor(const std::string& name, std::vector<std::string> options = {});
    /// ... whose way to the master is another one.
    Process& start_executor_by(const std::string& url, const std::string& name);

    /// Without waiting for it; its master may be gone, and come back at the same address.
    Process& launch_executor(const std::string& name, std::vector<std::string> options = {});

    /// The command line trusts the authorities of this PEM file; "" = those of the system again.
    void trust(std::string file) { trusted_ = std::move(file); }
    /// The command line, finding this lab's master by itself.
    Said run(std::vector<std::string> arguments, std::string_view in = {});
    /// ... with --json; it must end well.
    Json json(std::vector<std::string> arguments, std::string_view in = {});

    /// GET of the API as admin; must be answered well.
    Json get(const std::string& target);
    /// The API with a token of one's own.
    http::Response call(http::Call call, const std::string& token);
    [[nodiscard]] std::string url() const;
    [[nodiscard]] std::string admin_token() const;
    /// Access of an executor that was started here, got with its key.
    [[nodiscard]] std::string executor_token(const std::string& name);

    /// A file below the lab's folder; returns its path.
    std::string write(const std::string& name, std::string_view bytes) const;
    /// A tool's directory, registered. `more`: fields beside id, name, runtime.
    Json register_tool(
        const std::string& id, std::string_view script, const Json& more = Json::object()
    );
    void deploy(const Json& net, const std::string& model = "default");
    /// Every record of a model.
    std::vector<Json> events(const std::string& model = "default");

    [[nodiscard]] std::string diary(const std::string& name) const;

private:
    [[nodiscard]] std::map<std::string, std::string> environment() const;

    base::TemporaryFolder folder_;
    std::vector<std::string> master_options_;
    std::string last_url_;
    std::string trusted_;
    std::string executors_url_;  ///< another way to the master, or empty
    std::unique_ptr<Process> master_;
    std::vector<std::unique_ptr<Process>> executors_;
    int runs_ = 0;
};

/// Polls until `holds`; fails the test after `limit`.
void await(
    std::string_view what, const std::function<bool()>& holds, base::Duration limit = patience
);

/// A net of one place in, one tool call, `done` and `failed`.
Json calling_net(const std::string& name, const std::string& tool, const Json& transition = {});

std::string text_of(const std::filesystem::path& file);

}  // namespace tests::cli
