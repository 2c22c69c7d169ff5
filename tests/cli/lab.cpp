#include "tests/cli/lab.hpp"

#include "base/ed25519.hpp"
#include "jobs/enrolment.hpp"
#include "tests/cli/binary.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <sstream>
#include <thread>
#include <utility>

namespace tests::cli {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
    constexpr std::size_t bytes_max = std::size_t{256} << 20U;
    return base::read_file(file, bytes_max).value_or("");
}

void await(std::string_view what, const std::function<bool()>& holds, base::Duration limit) {
    const auto deadline = base::system_clock().elapsed() + limit;
    while (!holds()) {
        const bool late = base::system_clock().elapsed() > deadline;
        REQUIRE_MESSAGE(!late, "waited in vain for ", std::string(what));
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

Lab::Lab() : folder_("netwright-cli") {
    REQUIRE_MESSAGE(fs::exists(binary()), "netwright is not built");
    // A sandbox runs as another user, who must be able to pass.
    fs::permissions(folder_.path(), fs::perms{0755});
}

Lab::~Lab() {
    executors_.clear();
    master_.reset();
    const auto* test = doctest::getContextOptions();
    if (test != nullptr && std::uncaught_exceptions() > 0) {
        for (const auto& entry : fs::directory_iterator(folder_.path())) {
            if (entry.path().extension() == ".log")
                MESSAGE(entry.path().filename().string(), ":\n", text_of(entry.path()));
        }
    }
}

std::map<std::string, std::string> Lab::environment() const {
    return {{"XDG_DATA_HOME", folder_.path().string()}, {"NETWRIGHT_CA_FILE", trusted_}};
}

Process& Lab::launch_master(std::vector<std::string> options) {
    if (!options.empty()) master_options_ = std::move(options);
    std::vector<std::string> arguments = {"serve", "--data", data().string()};
    if (std::ranges::find(master_options_, "--listen") == master_options_.end()) {
        arguments.insert(arguments.end(), {"--listen", "127.0.0.1:0"});
    }
    arguments.insert(arguments.end(), master_options_.begin(), master_options_.end());
    master_ = std::make_unique<Process>(
        ProcessOptions{std::move(arguments), environment(), path("master.log"), path("master.log")}
    );
    return *master_;
}

void Lab::start_master(std::vector<std::string> options) {
    launch_master(std::move(options));
    await_master();
}

void Lab::await_master() {
    await("the master", [this] {
        REQUIRE_MESSAGE(master_->running(), "the master has ended:\n", diary("master"));
        const auto endpoint = base::parse_json(text_of(data() / "endpoint.json"));
        return endpoint && endpoint->at("pid") == master_->pid();
    });
    last_url_ = url();
}

void Lab::kill_master() {
    master_->send(SIGKILL);
    master_->wait();
}

int Lab::stop_master() {
    master_->send(SIGTERM);
    return master_->wait();
}

Process& Lab::launch_executor(const std::string& name, std::vector<std::string> options) {
    std::vector<std::string> arguments = {
        "executor",
        "--master",
        executors_url_.empty() ? last_url_ : executors_url_,
        "--data",
        data().string(),
        "--work",
        path(name).string(),
        "--id",
        name
    };
    arguments.insert(arguments.end(), options.begin(), options.end());
    executors_.push_back(std::make_unique<Process>(ProcessOptions{
        std::move(arguments), environment(), path(name + ".log"), path(name + ".log")
    }));
    return *executors_.back();
}

Process& Lab::start_executor(const std::string& name, std::vector<std::string> options) {
    auto& process = launch_executor(name, std::move(options));
    await("executor " + name, [&] {
        REQUIRE_MESSAGE(process.running(), "the executor has ended:\n", diary(name));
        const auto listed = get("/api/executors");
        for (const auto& item : listed.at("items")) {
            if (item.at("id") == name && item.at("state") == "connected") return true;
        }
        return false;
    });
    return process;
}

Process& Lab::start_executor_by(const std::string& url, const std::string& name) {
    executors_url_ = url;
    auto& process = start_executor(name);
    executors_url_.clear();
    return process;
}

Said Lab::run(std::vector<std::string> arguments, std::string_view in) {
    const auto name = "run-" + std::to_string(++runs_);
    ProcessOptions options{
        std::move(arguments), environment(), path(name + ".out"), path(name + ".err")
    };
    if (!in.empty()) options.in = write(name + ".in", in);
    Process process(options);
    Said said{.exit = process.wait()};
    said.out = text_of(options.out);
    said.err = text_of(options.err);
    return said;
}

Json Lab::json(std::vector<std::string> arguments, std::string_view in) {
    auto line = arguments.empty() ? "" : arguments.front();
    for (std::size_t i = 1; i < arguments.size(); ++i)
        line += " " + arguments[i];
    arguments.emplace_back("--json");
    const auto said = run(std::move(arguments), in);
    REQUIRE_MESSAGE(said.exit == 0, line, " ended with ", said.exit, ": ", said.out, said.err);
    auto value = base::parse_json(said.out, {.bytes_max = std::size_t{64} << 20U});
    REQUIRE_MESSAGE(value, line, " printed no JSON: ", said.out);
    return std::move(*value);
}

std::string Lab::url() const {
    return base::parse_json(text_of(data() / "endpoint.json"))->at("url").get<std::string>();
}

namespace {

std::string first_line(const fs::path& file) {
    const auto text = text_of(file);
    return text.substr(0, text.find('\n'));
}

}  // namespace

std::string Lab::admin_token() const {
    return first_line(data() / "admin.token");
}
std::string Lab::executor_token(const std::string& name) {
    using namespace jobs::enrolment;
    const auto key = base::SigningKey::from_hex(first_line(path(name) / "executor.key"));
    REQUIRE(key);
    const auto post = [&](const char* verb, const Json& body) {
        const auto answer = call(
            {.method = http::Method::post,
             .target = jobs::enrolment::path(name, verb),
             .body = body.dump()},
            ""
        );
        REQUIRE_MESSAGE(answer.status == 200, answer.body);
        return *base::parse_json(answer.body);
    };
    const std::string challenge = post("challenge", Json::object()).at("challenge");
    const auto signature = key->sign(access_message(name, challenge));
    return post("access", {{"challenge", challenge}, {"signature", signature}}).at("token");
}

http::Response Lab::call(http::Call call, const std::string& token) {
    auto client = http::Client::make({.url = url(), .bearer_token = token});
    REQUIRE(client);
    auto answer = client->send(std::move(call));
    REQUIRE_MESSAGE(answer, answer.error().message);
    return std::move(*answer);
}

Json Lab::get(const std::string& target) {
    const auto answer = call({.target = target}, admin_token());
    REQUIRE_MESSAGE(answer.status == 200, target, " answered ", answer.status, ": ", answer.body);
    return *base::parse_json(answer.body, {.bytes_max = std::size_t{64} << 20U});
}

std::string Lab::write(const std::string& name, std::string_view bytes) const {
    const auto file = path(name);
    fs::create_directories(file.parent_path());
    const auto written = base::write_file_atomically(file, bytes);
    REQUIRE_MESSAGE(written, written.error().message);
    return file.string();
}

Json Lab::register_tool(const std::string& id, std::string_view script, const Json& more) {
    Json tool = {{"id", id}, {"name", id}, {"runtime", "sh"}, {"file", "main"}};
    tool.update(more);
    const auto folder = "tools/" + id + std::to_string(++runs_);
    write(folder + "/main", script);
    write(folder + "/tool.json", tool.dump());
    return json({"tool", "register", path(folder).string()});
}

void Lab::deploy(const Json& net, const std::string& model) {
    json({"net", "deploy", "-", "--model", model}, net.dump());
}

std::vector<Json> Lab::events(const std::string& model) {
    const auto said = run({"events", "--json", "--model", model});
    REQUIRE_MESSAGE(said.exit == 0, said.err);
    std::vector<Json> records;
    std::istringstream lines(said.out);
    for (std::string line; std::getline(lines, line);) {
        auto record = base::parse_json(line, {.bytes_max = std::size_t{64} << 20U});
        REQUIRE_MESSAGE(record, line);
        records.push_back(std::move(*record));
    }
    return records;
}

std::string Lab::diary(const std::string& name) const {
    return text_of(path(name + ".log"));
}

Json calling_net(const std::string& name, const std::string& tool, const Json& transition) {
    Json call = {
        {"in", {{"job", "in"}}},
        {"call", {{"toolId", tool}, {"args", {{"input", "${job}"}}}}},
        {"out", {{"done", "${result}"}}},
        {"fail", {{"failed", {{"code", "${error.code}"}, {"reason", "${error.message}"}}}}},
    };
    if (transition.is_object()) call.update(transition);
    return {
        {"net", name},
        {"version", "1.0.0"},
        {"places", {{"in", Json::object()}, {"done", Json::object()}, {"failed", Json::object()}}},
        {"transitions", {{"call", std::move(call)}}},
        {"start", "in"},
        {"end", {"done", "failed"}},
    };
}

}  // namespace tests::cli
