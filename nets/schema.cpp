#include "nets/schema.hpp"

namespace nets {

namespace {

constexpr std::string_view schema = R"json({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "Netwright net",
  "type": "object",
  "additionalProperties": false,
  "required": ["net", "places"],
  "properties": {
    "$schema": {"type": "string"},
    "net": {"$ref": "#/$defs/name", "description": "The net's name in its model"},
    "version": {
      "type": "string", "pattern": "^[A-Za-z0-9._+-]{1,64}$",
      "description": "Versions are immutable; without one it is taken from the content"
    },
    "description": {"type": "string"},
    "places": {
      "type": "object", "maxProperties": 100000,
      "propertyNames": {"$ref": "#/$defs/name"},
      "additionalProperties": {"$ref": "#/$defs/place"}
    },
    "transitions": {
      "type": "object", "maxProperties": 100000,
      "propertyNames": {"$ref": "#/$defs/name"},
      "additionalProperties": {"$ref": "#/$defs/transition"}
    },
    "start": {"$ref": "#/$defs/name", "description": "Where a case's input is put"},
    "end": {
      "description": "Where the tokens of a finished case stay",
      "oneOf": [
        {"$ref": "#/$defs/name"},
        {"type": "array", "uniqueItems": true, "items": {"$ref": "#/$defs/name"}}
      ]
    },
    "layout": {"type": "object", "description": "Positions for the view; without meaning"},
    "migrate": {
      "type": "object", "description": "Places that went away: where their tokens go",
      "additionalProperties": {"$ref": "#/$defs/name"}
    }
  },
  "$defs": {
    "name": {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_-]{0,127}$"},
    "expression": {
      "type": "string", "minLength": 1,
      "description": "A CEL expression, bare or as ${...}"
    },
    "duration": {"type": "string", "pattern": "^[0-9]+(ms|s|m|h|d)$"},
    "template": {"description": "JSON whose strings may hold ${expression}; $${ writes ${"},
    "place": {
      "type": "object", "additionalProperties": false,
      "properties": {
        "description": {"type": "string"},
        "schema": {"type": ["object", "boolean"], "description": "Checked when a token arrives"},
        "capacity": {"type": "integer", "minimum": 1, "maximum": 1000000000},
        "tokens": {"type": "array", "description": "What is there from the start"},
        "shared": {"type": "boolean", "description": "The model's place, not the net's"},
        "cases": {"type": "boolean", "description": "false: strips the case from what enters"}
      }
    },
    "transition": {
      "type": "object", "additionalProperties": false,
      "properties": {
        "description": {"type": "string"},
        "in": {
          "type": "object", "maxProperties": 64,
          "propertyNames": {
            "$ref": "#/$defs/name",
            "not": {
              "enum": ["result", "error", "meta", "case", "firing", "now", "token", "each"]
            }
          },
          "additionalProperties": {
            "oneOf": [{"$ref": "#/$defs/name"}, {"$ref": "#/$defs/arc"}]
          }
        },
        "guard": {"$ref": "#/$defs/expression"},
        "join": {"const": "or"},
        "out": {"$ref": "#/$defs/outputs"},
        "choose": {"const": "first"},
        "fail": {"$ref": "#/$defs/outputs"},
        "retry": {"$ref": "#/$defs/retry"},
        "timeout": {"$ref": "#/$defs/duration"},
        "concurrency": {"type": "integer", "minimum": 1, "maximum": 1000000},
        "priority": {"type": "integer", "minimum": -1000000000, "maximum": 1000000000},
        "onMissed": {"enum": ["skip", "once"]},
        "onUncertain": {"enum": ["wait", "fail"]},
        "call": {"$ref": "#/$defs/call"},
        "command": {"$ref": "#/$defs/command"},
        "http": {"$ref": "#/$defs/http"},
        "llm": {"$ref": "#/$defs/llm"},
        "agent": {"$ref": "#/$defs/agent"},
        "net": {"$ref": "#/$defs/net"},
        "every": {"$ref": "#/$defs/duration"},
        "cron": {"oneOf": [{"type": "string"}, {"$ref": "#/$defs/cron"}]},
        "link": {"$ref": "#/$defs/link"}
      }
    },
    "arc": {
      "type": "object", "additionalProperties": false, "required": ["place"],
      "properties": {
        "place": {"$ref": "#/$defs/name"},
        "arc": {"enum": ["consume", "read", "inhibit", "reset"]},
        "take": {
          "oneOf": [
            {"type": "integer", "minimum": 1, "maximum": 1000000},
            {"enum": ["all", "any"]},
            {"type": "string", "pattern": "^\\$\\{"},
            {"$ref": "#/$defs/range"}
          ]
        },
        "where": {"$ref": "#/$defs/expression", "description": "Over 'token' alone"},
        "key": {"$ref": "#/$defs/expression", "description": "Arcs with a key join on equal keys"},
        "order": {
          "type": "string", "minLength": 1,
          "description": "\"fifo\", \"lifo\", or an expression over 'token' to sort by"
        },
        "age": {"$ref": "#/$defs/duration"},
        "anyCase": {"type": "boolean"}
      }
    },
    "range": {
      "type": "object", "additionalProperties": false, "required": ["min", "max"],
      "properties": {
        "min": {"type": "integer", "minimum": 0, "maximum": 1000000},
        "max": {"type": "integer", "minimum": 1, "maximum": 1000000}
      }
    },
    "outputs": {
      "oneOf": [
        {
          "type": "object", "maxProperties": 64,
          "propertyNames": {"$ref": "#/$defs/name"},
          "additionalProperties": {"$ref": "#/$defs/template"}
        },
        {"type": "array", "maxItems": 64, "items": {"$ref": "#/$defs/rule"}}
      ]
    },
    "rule": {
      "type": "object", "additionalProperties": false, "required": ["to"],
      "properties": {
        "to": {"$ref": "#/$defs/name"},
        "token": {"$ref": "#/$defs/template"},
        "when": {"$ref": "#/$defs/expression"},
        "otherwise": {"type": "boolean"},
        "each": {"$ref": "#/$defs/expression", "description": "A list: one token an element"},
        "delay": {"$ref": "#/$defs/duration"}
      }
    },
    "retry": {
      "type": "object", "additionalProperties": false, "required": ["attempts"],
      "properties": {
        "attempts": {"type": "integer", "minimum": 1, "maximum": 1000},
        "backoff": {"$ref": "#/$defs/duration"},
        "factor": {"type": "number", "minimum": 1, "maximum": 1000},
        "maxBackoff": {"$ref": "#/$defs/duration"},
        "on": {
          "type": "array", "minItems": 1, "uniqueItems": true,
          "items": {"type": "string", "description": "An error code"}
        }
      }
    },
    "call": {
      "type": "object", "additionalProperties": false, "required": ["toolId"],
      "properties": {
        "toolId": {
          "type": "string", "maxLength": 128,
          "pattern": "^[a-z][a-z0-9_-]*(\\.[a-z][a-z0-9_-]*)*$"
        },
        "version": {"type": "string", "minLength": 1},
        "args": {"type": ["object", "string"]}
      }
    },
    "command": {
      "type": "object", "additionalProperties": false,
      "properties": {"from": {"$ref": "#/$defs/name"}}
    },
    "http": {
      "type": "object", "additionalProperties": false, "required": ["url"],
      "properties": {
        "method": {"enum": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]},
        "url": {"type": "string"},
        "headers": {"type": "object"},
        "body": {"$ref": "#/$defs/template"},
        "auth": {"type": "string", "description": "The name of a secret"},
        "success": {
          "type": "array", "items": {"type": "integer", "minimum": 100, "maximum": 599}
        },
        "timeout": {"$ref": "#/$defs/duration"}
      }
    },
    "llm": {
      "type": "object", "additionalProperties": false, "required": ["endpoint"],
      "properties": {
        "endpoint": {"type": "string"},
        "model": {"type": "string"},
        "system": {"$ref": "#/$defs/template"},
        "prompt": {"$ref": "#/$defs/template"},
        "messages": {"$ref": "#/$defs/template"},
        "schema": {"type": "object"},
        "temperature": {"type": "number", "minimum": 0, "maximum": 2},
        "maxTokens": {"type": "integer", "minimum": 1, "maximum": 10000000}
      }
    },
    "agent": {
      "type": "object", "additionalProperties": false, "required": ["skill"],
      "properties": {
        "skill": {"type": "string"},
        "persona": {"type": "string"},
        "budget": {"type": "object"},
        "maxSteps": {"type": "integer", "minimum": 1, "maximum": 1000000},
        "input": {"$ref": "#/$defs/template"}
      }
    },
    "net": {
      "type": "object", "additionalProperties": false, "required": ["name"],
      "properties": {
        "name": {"$ref": "#/$defs/name"},
        "version": {"type": "string"},
        "input": {"$ref": "#/$defs/template"}
      }
    },
    "cron": {
      "type": "object", "additionalProperties": false, "required": ["expression"],
      "properties": {
        "expression": {"type": "string"},
        "zone": {"type": "string", "description": "An IANA time zone; UTC without one"}
      }
    },
    "link": {
      "type": "object", "additionalProperties": false, "required": ["type", "from", "to"],
      "properties": {
        "type": {"type": "string"},
        "from": {"$ref": "#/$defs/name"},
        "to": {"$ref": "#/$defs/name"}
      }
    }
  }
}
)json";

}  // namespace

std::string_view document_schema() {
    return schema;
}

}  // namespace nets
