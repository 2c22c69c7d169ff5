#include "base/json_schema_documents.hpp"

#include <nlohmann/json.hpp>

// The metaschemas of draft-07 and 2020-12, as json-schema.org publishes them (Copyright JSON Schema
// Specification Authors, BSD 3-clause), without titles, comments and white space.
namespace base::schema {

namespace {

constexpr std::string_view draft7_text =
    R"~({"$schema":"http://json-schema.org/draft-07/schema#",)~"
    R"~("$id":"http://json-schema.org/draft-07/schema#","definitions":{"schemaArray":{)~"
    R"~("type":"array","minItems":1,"items":{"$ref":"#"}},"nonNegativeInteger":{)~"
    R"~("type":"integer","minimum":0},"nonNegativeIntegerDefault0":{"allOf":[{)~"
    R"~("$ref":"#/definitions/nonNegativeInteger"},{"default":0}]},"simpleTypes":{)~"
    R"~("enum":["array","boolean","integer","null","number","object","string"]},"stringArray":{)~"
    R"~("type":"array","items":{"type":"string"},"uniqueItems":true,"default":[]}},)~"
    R"~("type":["object","boolean"],"properties":{"$id":{"type":"string",)~"
    R"~("format":"uri-reference"},"$schema":{"type":"string","format":"uri"},"$ref":{)~"
    R"~("type":"string","format":"uri-reference"},"$comment":{"type":"string"},"title":{)~"
    R"~("type":"string"},"description":{"type":"string"},"default":true,"readOnly":{)~"
    R"~("type":"boolean","default":false},"examples":{"type":"array","items":true},)~"
    R"~("multipleOf":{"type":"number","exclusiveMinimum":0},"maximum":{"type":"number"},)~"
    R"~("exclusiveMaximum":{"type":"number"},"minimum":{"type":"number"},"exclusiveMinimum":{)~"
    R"~("type":"number"},"maxLength":{"$ref":"#/definitions/nonNegativeInteger"},"minLength":{)~"
    R"~("$ref":"#/definitions/nonNegativeIntegerDefault0"},"pattern":{"type":"string",)~"
    R"~("format":"regex"},"additionalItems":{"$ref":"#"},"items":{"anyOf":[{"$ref":"#"},{)~"
    R"~("$ref":"#/definitions/schemaArray"}],"default":true},"maxItems":{)~"
    R"~("$ref":"#/definitions/nonNegativeInteger"},"minItems":{)~"
    R"~("$ref":"#/definitions/nonNegativeIntegerDefault0"},"uniqueItems":{"type":"boolean",)~"
    R"~("default":false},"contains":{"$ref":"#"},"maxProperties":{)~"
    R"~("$ref":"#/definitions/nonNegativeInteger"},"minProperties":{)~"
    R"~("$ref":"#/definitions/nonNegativeIntegerDefault0"},"required":{)~"
    R"~("$ref":"#/definitions/stringArray"},"additionalProperties":{"$ref":"#"},"definitions":{)~"
    R"~("type":"object","additionalProperties":{"$ref":"#"},"default":{}},"properties":{)~"
    R"~("type":"object","additionalProperties":{"$ref":"#"},"default":{}},"patternProperties":{)~"
    R"~("type":"object","additionalProperties":{"$ref":"#"},"propertyNames":{"format":"regex"},)~"
    R"~("default":{}},"dependencies":{"type":"object","additionalProperties":{"anyOf":[{)~"
    R"~("$ref":"#"},{"$ref":"#/definitions/stringArray"}]}},"propertyNames":{"$ref":"#"},)~"
    R"~("const":true,"enum":{"type":"array","items":true,"minItems":1,"uniqueItems":true},)~"
    R"~("type":{"anyOf":[{"$ref":"#/definitions/simpleTypes"},{"type":"array","items":{)~"
    R"~("$ref":"#/definitions/simpleTypes"},"minItems":1,"uniqueItems":true}]},"format":{)~"
    R"~("type":"string"},"contentMediaType":{"type":"string"},"contentEncoding":{)~"
    R"~("type":"string"},"if":{"$ref":"#"},"then":{"$ref":"#"},"else":{"$ref":"#"},"allOf":{)~"
    R"~("$ref":"#/definitions/schemaArray"},"anyOf":{"$ref":"#/definitions/schemaArray"},)~"
    R"~("oneOf":{"$ref":"#/definitions/schemaArray"},"not":{"$ref":"#"}},"default":true})~";

constexpr std::string_view draft2020_12_text =
    R"~({"$schema":"https://json-schema.org/draft/2020-12/schema",)~"
    R"~("$id":"https://json-schema.org/draft/2020-12/schema","$vocabulary":{)~"
    R"~("https://json-schema.org/draft/2020-12/vocab/core":true,)~"
    R"~("https://json-schema.org/draft/2020-12/vocab/applicator":true,)~"
    R"~("https://json-schema.org/draft/2020-12/vocab/unevaluated":true,)~"
    R"~("https://json-schema.org/draft/2020-12/vocab/validation":true,)~"
    R"~("https://json-schema.org/draft/2020-12/vocab/meta-data":true,)~"
    R"~("https://json-schema.org/draft/2020-12/vocab/format-annotation":true,)~"
    R"~("https://json-schema.org/draft/2020-12/vocab/content":true},"$dynamicAnchor":"meta",)~"
    R"~("allOf":[{"$ref":"meta/core"},{"$ref":"meta/applicator"},{"$ref":"meta/unevaluated"},{)~"
    R"~("$ref":"meta/validation"},{"$ref":"meta/meta-data"},{"$ref":"meta/format-annotation"},{)~"
    R"~("$ref":"meta/content"}],"type":["object","boolean"],"properties":{"definitions":{)~"
    R"~("type":"object","additionalProperties":{"$dynamicRef":"#meta"},"deprecated":true,)~"
    R"~("default":{}},"dependencies":{"type":"object","additionalProperties":{"anyOf":[{)~"
    R"~("$dynamicRef":"#meta"},{"$ref":"meta/validation#/$defs/stringArray"}]},)~"
    R"~("deprecated":true,"default":{}},"$recursiveAnchor":{)~"
    R"~("$ref":"meta/core#/$defs/anchorString","deprecated":true},"$recursiveRef":{)~"
    R"~("$ref":"meta/core#/$defs/uriReferenceString","deprecated":true}}})~";

constexpr std::string_view meta_applicator_text =
    R"~({"$schema":"https://json-schema.org/draft/2020-12/schema",)~"
    R"~("$id":"https://json-schema.org/draft/2020-12/meta/applicator","$vocabulary":{)~"
    R"~("https://json-schema.org/draft/2020-12/vocab/applicator":true},"$dynamicAnchor":"meta",)~"
    R"~("type":["object","boolean"],"properties":{"prefixItems":{"$ref":"#/$defs/schemaArray"},)~"
    R"~("items":{"$dynamicRef":"#meta"},"contains":{"$dynamicRef":"#meta"},)~"
    R"~("additionalProperties":{"$dynamicRef":"#meta"},"properties":{"type":"object",)~"
    R"~("additionalProperties":{"$dynamicRef":"#meta"},"default":{}},"patternProperties":{)~"
    R"~("type":"object","additionalProperties":{"$dynamicRef":"#meta"},"propertyNames":{)~"
    R"~("format":"regex"},"default":{}},"dependentSchemas":{"type":"object",)~"
    R"~("additionalProperties":{"$dynamicRef":"#meta"},"default":{}},"propertyNames":{)~"
    R"~("$dynamicRef":"#meta"},"if":{"$dynamicRef":"#meta"},"then":{"$dynamicRef":"#meta"},)~"
    R"~("else":{"$dynamicRef":"#meta"},"allOf":{"$ref":"#/$defs/schemaArray"},"anyOf":{)~"
    R"~("$ref":"#/$defs/schemaArray"},"oneOf":{"$ref":"#/$defs/schemaArray"},"not":{)~"
    R"~("$dynamicRef":"#meta"}},"$defs":{"schemaArray":{"type":"array","minItems":1,"items":{)~"
    R"~("$dynamicRef":"#meta"}}}})~";

constexpr std::string_view meta_content_text =
    R"~({"$schema":"https://json-schema.org/draft/2020-12/schema",)~"
    R"~("$id":"https://json-schema.org/draft/2020-12/meta/content","$vocabulary":{)~"
    R"~("https://json-schema.org/draft/2020-12/vocab/content":true},"$dynamicAnchor":"meta",)~"
    R"~("type":["object","boolean"],"properties":{"contentEncoding":{"type":"string"},)~"
    R"~("contentMediaType":{"type":"string"},"contentSchema":{"$dynamicRef":"#meta"}}})~";

constexpr std::string_view meta_core_text =
    R"~({"$schema":"https://json-schema.org/draft/2020-12/schema",)~"
    R"~("$id":"https://json-schema.org/draft/2020-12/meta/core","$vocabulary":{)~"
    R"~("https://json-schema.org/draft/2020-12/vocab/core":true},"$dynamicAnchor":"meta",)~"
    R"~("type":["object","boolean"],"properties":{"$id":{"$ref":"#/$defs/uriReferenceString",)~"
    R"~("pattern":"^[^#]*#?$"},"$schema":{"$ref":"#/$defs/uriString"},"$ref":{)~"
    R"~("$ref":"#/$defs/uriReferenceString"},"$anchor":{"$ref":"#/$defs/anchorString"},)~"
    R"~("$dynamicRef":{"$ref":"#/$defs/uriReferenceString"},"$dynamicAnchor":{)~"
    R"~("$ref":"#/$defs/anchorString"},"$vocabulary":{"type":"object","propertyNames":{)~"
    R"~("$ref":"#/$defs/uriString"},"additionalProperties":{"type":"boolean"}},"$comment":{)~"
    R"~("type":"string"},"$defs":{"type":"object","additionalProperties":{)~"
    R"~("$dynamicRef":"#meta"}}},"$defs":{"anchorString":{"type":"string",)~"
    R"~("pattern":"^[A-Za-z_][-A-Za-z0-9._]*$"},"uriString":{"type":"string","format":"uri"},)~"
    R"~("uriReferenceString":{"type":"string","format":"uri-reference"}}})~";

constexpr std::string_view meta_format_annotation_text =
    R"~({"$schema":"https://json-schema.org/draft/2020-12/schema",)~"
    R"~("$id":"https://json-schema.org/draft/2020-12/meta/format-annotation","$vocabulary":{)~"
    R"~("https://json-schema.org/draft/2020-12/vocab/format-annotation":true},)~"
    R"~("$dynamicAnchor":"meta","type":["object","boolean"],"properties":{"format":{)~"
    R"~("type":"string"}}})~";

constexpr std::string_view meta_meta_data_text =
    R"~({"$schema":"https://json-schema.org/draft/2020-12/schema",)~"
    R"~("$id":"https://json-schema.org/draft/2020-12/meta/meta-data","$vocabulary":{)~"
    R"~("https://json-schema.org/draft/2020-12/vocab/meta-data":true},"$dynamicAnchor":"meta",)~"
    R"~("type":["object","boolean"],"properties":{"title":{"type":"string"},"description":{)~"
    R"~("type":"string"},"default":true,"deprecated":{"type":"boolean","default":false},)~"
    R"~("readOnly":{"type":"boolean","default":false},"writeOnly":{"type":"boolean",)~"
    R"~("default":false},"examples":{"type":"array","items":true}}})~";

constexpr std::string_view meta_unevaluated_text =
    R"~({"$schema":"https://json-schema.org/draft/2020-12/schema",)~"
    R"~("$id":"https://json-schema.org/draft/2020-12/meta/unevaluated","$vocabulary":{)~"
    R"~("https://json-schema.org/draft/2020-12/vocab/unevaluated":true},"$dynamicAnchor":"meta",)~"
    R"~("type":["object","boolean"],"properties":{"unevaluatedItems":{"$dynamicRef":"#meta"},)~"
    R"~("unevaluatedProperties":{"$dynamicRef":"#meta"}}})~";

constexpr std::string_view meta_validation_text =
    R"~({"$schema":"https://json-schema.org/draft/2020-12/schema",)~"
    R"~("$id":"https://json-schema.org/draft/2020-12/meta/validation","$vocabulary":{)~"
    R"~("https://json-schema.org/draft/2020-12/vocab/validation":true},"$dynamicAnchor":"meta",)~"
    R"~("type":["object","boolean"],"properties":{"type":{"anyOf":[{)~"
    R"~("$ref":"#/$defs/simpleTypes"},{"type":"array","items":{"$ref":"#/$defs/simpleTypes"},)~"
    R"~("minItems":1,"uniqueItems":true}]},"const":true,"enum":{"type":"array","items":true},)~"
    R"~("multipleOf":{"type":"number","exclusiveMinimum":0},"maximum":{"type":"number"},)~"
    R"~("exclusiveMaximum":{"type":"number"},"minimum":{"type":"number"},"exclusiveMinimum":{)~"
    R"~("type":"number"},"maxLength":{"$ref":"#/$defs/nonNegativeInteger"},"minLength":{)~"
    R"~("$ref":"#/$defs/nonNegativeIntegerDefault0"},"pattern":{"type":"string",)~"
    R"~("format":"regex"},"maxItems":{"$ref":"#/$defs/nonNegativeInteger"},"minItems":{)~"
    R"~("$ref":"#/$defs/nonNegativeIntegerDefault0"},"uniqueItems":{"type":"boolean",)~"
    R"~("default":false},"maxContains":{"$ref":"#/$defs/nonNegativeInteger"},"minContains":{)~"
    R"~("$ref":"#/$defs/nonNegativeInteger","default":1},"maxProperties":{)~"
    R"~("$ref":"#/$defs/nonNegativeInteger"},"minProperties":{)~"
    R"~("$ref":"#/$defs/nonNegativeIntegerDefault0"},"required":{"$ref":"#/$defs/stringArray"},)~"
    R"~("dependentRequired":{"type":"object","additionalProperties":{)~"
    R"~("$ref":"#/$defs/stringArray"}}},"$defs":{"nonNegativeInteger":{"type":"integer",)~"
    R"~("minimum":0},"nonNegativeIntegerDefault0":{"$ref":"#/$defs/nonNegativeInteger",)~"
    R"~("default":0},"simpleTypes":{"enum":["array","boolean","integer","null","number",)~"
    R"~("object","string"]},"stringArray":{"type":"array","items":{"type":"string"},)~"
    R"~("uniqueItems":true,"default":[]}}})~";

}  // namespace

const Json* metaschema(std::string_view uri) {
    // Read once, never changed.
    static const auto* const documents = [] {
        auto* read = new std::map<std::string, Json, std::less<>>();
        for (const auto text :
             {draft7_text,
              draft2020_12_text,
              meta_applicator_text,
              meta_content_text,
              meta_core_text,
              meta_format_annotation_text,
              meta_meta_data_text,
              meta_unevaluated_text,
              meta_validation_text}) {
            auto document = Json::parse(text);
            auto id = document["$id"].get<std::string>();
            if (id.ends_with('#')) id.pop_back();
            read->emplace(std::move(id), std::move(document));
        }
        return read;
    }();
    const auto found = documents->find(uri);
    return found == documents->end() ? nullptr : &found->second;
}

}  // namespace base::schema
