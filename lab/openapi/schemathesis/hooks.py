"""What the checks of schemathesis cannot know of this API."""

import schemathesis
from hypothesis import strategies as st

schemathesis.openapi.format("time-zone", st.sampled_from(["Asia/Seoul", "Europe/Berlin", "UTC", "+09:00"]))

# Reasons for which a request that fits the schema must not be refused, unless for one of the fields below.
MALFORMED = {"BAD_FIELD", "BAD_PART", "BAD_JSON"}

# Messages of such refusals: OpenAI's clients may send any field or value, and one without use is refused by name; no
# object may have a `__proto__`; a body is bounded as a whole.
RULED_MESSAGES = ["is not supported", "__proto__", "holds more than"]

# Fields with rules that no JSON schema can state, or that only the server knows.
RULED_FIELDS = {
    "tools": "names differ",
    "results": "each call is named once",
    "data.toolResults": "each call once, and not together with a message",
    "data.message": "not missing unless something is resumed; parts as below",
    "message": "a part has one of data, url and uploadId",
    "messages": "the order of roles, and images as data: addresses in base64",
    "startingAfter": "not behind the end of the turn",
    "metadata.conversation_id": "there, or in the header",
    "metadata.client_context": "a client context as JSON in a text",
    "input": "what the server does not compact, and the order of items",
    "X-Conversation-Id": "a UUID; headers have no schema of their own",
    "tool_choice": "a tool that is among the tools",
    "max_completion_tokens": "not more than an answer of the model has",
    "max_output_tokens": "not more than an answer of the model has",
    "conversationId": "schemathesis walks with ids from answers, and not all are UUIDs",
    "settings": "whole numbers that JavaScript can hold",
    "Last-Event-ID": "a number, unless startingAfter is given",
    "responseSchema": "a schema that can be checked",
    "data.responseSchema": "a schema that can be checked",
}


def is_ruled(field):
    """Whether the field, such as `tools[0].name`, is one of these or inside of one."""
    path = field.replace("[", ".[")
    return any(path == name or path.startswith(f"{name}.") for name in RULED_FIELDS)


@schemathesis.check
def valid_data_is_not_called_malformed(ctx, response, case):
    if case.meta is None or not case.meta.generation.mode.is_positive or response.status_code != 400:
        return
    error = response.json()["error"]
    if any(text in error["message"] for text in RULED_MESSAGES):
        return
    detail = error["details"][0]
    fields = detail.get("metadata", {}).get("field", "").split(",")
    assert detail["reason"] not in MALFORMED or any(map(is_ruled, fields)), f"{detail['reason']} {fields}"
