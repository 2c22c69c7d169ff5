#include "transitions/call.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace transitions {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

namespace {

class TokenReader {
public:
    void fault(std::string pointer, std::string message, ErrorCode code = ErrorCode::validation) {
        faults_.push_back({std::move(pointer), code, std::move(message)});
    }
    void size(
        const std::string& pointer, std::string_view what, std::size_t size, std::size_t most
    ) {
        if (size <= most) return;
        fault(pointer, fmt::format("{} {}; the limit is {}", size, what, most), ErrorCode::limit);
    }
    std::string text(const Json& object, const std::string& pointer, const char* key) {
        const auto found = object.find(key);
        if (found == object.end() || !found->is_string()) {
            fault(pointer + "/" + key, "must be a string");
            return {};
        }
        return found->get<std::string>();
    }
    void argv(const Json& value, std::vector<std::string>& into) {
        if (!value.is_array()) return fault("/args/argv", "must be a list of strings");
        for (std::size_t i = 0; i < value.size(); ++i) {
            const std::string pointer = fmt::format("/args/argv/{}", i);
            if (!value[i].is_string()) {
                fault(pointer, "must be a string");
            } else if (value[i].get_ref<const std::string&>().find('\0') != std::string::npos) {
                fault(pointer, "holds a NUL");
            } else {
                into.push_back(value[i]);
                size(pointer, "bytes", into.back().size(), base::limits::argument_bytes_max);
            }
        }
        size("/args/argv", "arguments", into.size(), jobs::argv_count_max);
    }
    void env(const Json& value, std::map<std::string, std::string>& into) {
        if (!value.is_object()) return fault("/args/env", "must be an object of strings");
        for (const auto& [name, setting] : value.items()) {
            const std::string pointer = base::pointer_child("/args/env", name);
            if (!jobs::env_name_allowed(name)) {
                fault(pointer, "may not be set by a job, whose variables begin with TOOL_");
            } else if (!setting.is_string() ||
                       setting.get_ref<const std::string&>().find('\0') != std::string::npos) {
                fault(pointer, "must be a string without NUL");
            } else {
                into[name] = setting;
                size(pointer, "bytes", into[name].size(), base::limits::argument_bytes_max);
            }
        }
        size("/args/env", "variables", into.size(), jobs::env_count_max);
    }
    std::vector<base::ErrorDetail>& faults() { return faults_; }

private:
    std::vector<base::ErrorDetail> faults_;
};

void read_args(const Json& args, CommandToken& command, TokenReader& reader) {
    for (const auto& [key, value] : args.items()) {
        if (key == "argv") {
            reader.argv(value, command.argv);
        } else if (key == "env") {
            reader.env(value, command.env);
        } else if (key == "input") {
            command.input = base::canonical(value);
            reader.size(
                "/args/input", "bytes", command.input->size(), base::limits::input_bytes_max
            );
        } else if (key == "timeoutMs") {
            if (!value.is_number_integer() || value.get<std::int64_t>() < 1) {
                reader.fault(
                    "/args/timeoutMs",
                    fmt::format(
                        "must be a whole number of milliseconds, at least 1{}",
                        value.is_number() ? ", not " + value.dump() : ""
                    )
                );
            } else {
                command.timeout_ms = value.get<std::int64_t>();
            }
        } else if (key == "toolId" && !command.bash) {
            command.tool_id = reader.text(args, "/args", "toolId");
        } else if (key == "version" && !command.bash) {
            command.version = reader.text(args, "/args", "version");
        } else if (key == "script" && command.bash) {
            command.script = reader.text(args, "/args", "script");
        } else {
            reader.fault(base::pointer_child("/args", key), "is unknown");
        }
    }
    if (!command.bash && !args.contains("toolId")) reader.fault("/args/toolId", "is missing");
    if (command.bash && !args.contains("script")) reader.fault("/args/script", "is missing");
    reader.size("/args/script", "bytes", command.script.size(), jobs::command_bytes_max);
    std::size_t together = 0;
    for (const auto& argument : command.argv)
        together += argument.size() + 1;
    for (const auto& [name, value] : command.env)
        together += name.size() + value.size() + 2;
    reader.size(
        "/args", "bytes of argv and env together", together, base::limits::arguments_bytes_max
    );
    if (command.script.contains('\0')) reader.fault("/args/script", "holds a NUL");
}

}  // namespace

Result<CommandToken> read_command(std::string_view json) {
    const auto token = base::parse_json(json, base::limits::stored);
    if (!token) return fail(token.error());
    TokenReader reader;
    CommandToken command;
    if (!token->is_object()) {
        reader.fault("", R"(a command is an object {"executor", "command", "args"})");
    } else {
        const std::string executor = reader.text(*token, "", "executor");
        const std::string verb = reader.text(*token, "", "command");
        command.bash = executor == "bash";
        if (!(executor == "script" && verb == "invoke") &&
            !(executor == "bash" && verb == "exec")) {
            reader.fault(
                "/command",
                fmt::format(
                    "'{} {}' is no command; there are 'script invoke' and 'bash exec'",
                    executor,
                    verb
                )
            );
        }
        for (const auto& [key, value] : token->items()) {
            if (key != "executor" && key != "command" && key != "args")
                reader.fault(base::pointer_child("", key), "is unknown");
        }
        const auto args = token->find("args");
        if (args == token->end() || !args->is_object()) {
            reader.fault("/args", "must be an object");
        } else {
            read_args(*args, command, reader);
        }
    }
    if (reader.faults().empty()) return command;
    const bool malformed = std::ranges::any_of(reader.faults(), [](const auto& fault) {
        return fault.code != ErrorCode::limit;
    });
    std::string message =
        malformed ? "the command token is malformed:" : "the command token is beyond a limit:";
    for (const auto& fault : reader.faults())
        message += fmt::format(" {}: {};", fault.pointer, fault.message);
    return fail(base::Error{
        malformed ? ErrorCode::validation : ErrorCode::limit,
        std::move(message),
        {},
        std::move(reader.faults())
    });
}

}  // namespace transitions
