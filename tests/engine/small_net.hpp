#pragma once

#include "tests/engine/test_model.hpp"

/// Tests that say only what matters of a net, and answer its calls themselves.
using Tokens = std::vector<std::string>;

/// A net 'n' from place 's' to place 'o'; further places and the transitions as in the document.
inline std::string net(const char* places, const char* transitions) {
    return std::string(R"({"net":"n","version":"1","places":{"s":{},"o":{},)") + places +
           R"(},"transitions":{)" + transitions + R"(},"start":"s","end":["o"]})";
}

inline engine::Prepared prepared_call() {
    return {.call = "{}", .effect = "once", .tool_id = "tool", .version_hash = "abc"};
}

/// Answers what is prepared, and returns the operations that are invoked by that.
inline std::vector<base::OperationId> invoke(TestModel& m) {
    m.run();
    for (const auto& asked : m.effects<engine::Prepare>())
        engine::prepared(m.model, asked.claim, prepared_call(), m.asker());
    m.run();
    std::vector<base::OperationId> begun;
    for (const auto& performed : m.effects<engine::Perform>())
        begun.push_back(performed.operation);
    return begun;
}

inline engine::Settled answer(TestModel& m, base::OperationId operation) {
    const auto settled = engine::settle(
        m.model, {.operation = operation, .result = R"({"w":2})", .meta = "{}"}, m.asker()
    );
    m.run();
    return settled;
}
