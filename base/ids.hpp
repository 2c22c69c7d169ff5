#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace base {

/// Position of a record in its model's log; the first is 1, 0 means "none".
using Seq = std::uint64_t;

/// `t<seq>-<n>`: the record that made the token, and its place in that record (from 0).
struct TokenId {
    Seq seq = 0;
    std::uint32_t n = 0;
    auto operator<=>(const TokenId&) const = default;
};

/// `c<seq>`: the record that started the case. 0 = no case.
struct CaseId {
    Seq seq = 0;
    explicit operator bool() const { return seq != 0; }
    auto operator<=>(const CaseId&) const = default;
};

/// `o<seq>`: the record that began the operation.
struct OperationId {
    Seq seq = 0;
    explicit operator bool() const { return seq != 0; }
    auto operator<=>(const OperationId&) const = default;
};

/// `o<seq>.<n>`: the n-th try of an operation, from 1.
struct AttemptId {
    OperationId operation;
    std::uint32_t n = 0;
    auto operator<=>(const AttemptId&) const = default;
};

std::string text(TokenId id);
std::string text(CaseId id);
std::string text(OperationId id);
std::string text(AttemptId id);
void append_text(std::string& out, TokenId id);
void append_text(std::string& out, CaseId id);
void append_text(std::string& out, OperationId id);

std::optional<TokenId> token_id(std::string_view text);
std::optional<CaseId> case_id(std::string_view text);
std::optional<OperationId> operation_id(std::string_view text);
std::optional<AttemptId> attempt_id(std::string_view text);

/// Names of models, nets, places and transitions: `[A-Za-z][A-Za-z0-9_-]*`, at most 128 bytes.
bool valid_name(std::string_view name);

}  // namespace base

template <>
struct std::hash<base::TokenId> {
    std::size_t operator()(base::TokenId id) const noexcept {
        return (id.seq * 0x9E3779B97F4A7C15U) ^ (id.n * 0xC2B2AE3D27D4EB4FU);
    }
};
template <>
struct std::hash<base::CaseId> {
    std::size_t operator()(base::CaseId id) const noexcept { return id.seq * 0x9E3779B97F4A7C15U; }
};
template <>
struct std::hash<base::OperationId> {
    std::size_t operator()(base::OperationId id) const noexcept {
        return id.seq * 0x9E3779B97F4A7C15U;
    }
};
