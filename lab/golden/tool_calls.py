"""What vLLM's parsers make of responses with tool calls: the golden vectors of packages/core/src/tool-calls.

    python lab/golden/tool_calls.py > packages/core/fixtures/testdata/tool-calls.json

Needs vLLM (any build; made with 0.32's processor build). No model is loaded: the parsers read text.
"""

import json
import logging
import random
import sys

logging.disable(logging.CRITICAL)

from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest  # noqa: E402
from vllm.tool_parsers import ToolParserManager  # noqa: E402

MARKS = (
    "<tool_call> </tool_call> <think> </think> [TOOL_CALLS] [ARGS] <|python_tag|> <|tool_calls_section_begin|> "
    "<|tool_calls_section_end|> <|tool_call_begin|> <|tool_call_end|> <|tool_call_argument_begin|> <｜tool▁calls▁begin｜> "
    "<｜tool▁calls▁end｜> <｜tool▁call▁begin｜> <｜tool▁call▁end｜> <｜tool▁sep｜> <arg_key> </arg_key> <arg_value> </arg_value>"
).split()


class Tokenizer:
    """Every mark is one token, every other character one."""

    def __init__(self, without=()):
        self.vocab = {mark: index for index, mark in enumerate(MARKS) if mark not in without}
        self.all_special_tokens = []
        self.all_special_ids = []
        self.chat_template = ""

    def get_vocab(self):
        return self.vocab

    def encode(self, text, add_special_tokens=False, **_):
        return [self.vocab[text]] if text in self.vocab else [1000 + ord(character) for character in text]

    def convert_tokens_to_ids(self, token):
        return self.vocab.get(token)

    def decode(self, ids, **_):
        names = {index: mark for mark, index in self.vocab.items()}
        return "".join(names.get(one) or chr(one - 1000) for one in ids)


TOOLS = {
    "weather": {"city": "string", "days": "integer", "precise": "boolean"},
    "search": {"query": "string", "filters": "object", "tags": "array"},
    "clock": {},
    "set_price": {"item": "string", "price": "number", "note": "string"},
}
SCHEMAS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": name,
            "parameters": {"type": "object", "properties": {key: {"type": kind} for key, kind in parameters.items()}},
        },
    }
    for name, parameters in TOOLS.items()
]
STRINGS = [
    "Bern", "", "São Paulo", "東京", "a \"quoted\" word", "it's", "back\\slash", "two\nlines", "tab\there", "{braces}", "[list]",
    "a, b; c", "42", "true", "null", "x = f(1)", "emoji 🌧", " spaced ", "<b>", "100 %", "#hash", "path/to/file.txt", "3.14", "-",
]


def value(kind, stream, depth=0):
    if kind == "string":
        return stream.choice(STRINGS)
    if kind == "integer":
        return stream.choice([0, 1, -7, 30, 12345678])
    if kind == "number":
        return stream.choice([0.5, -2.25, 19, 1e-3, 1e6])
    if kind == "boolean":
        return stream.choice([True, False])
    if kind == "null":
        return None
    inner = ["string", "integer", "boolean", "null"] + (["object", "array"] if depth < 2 else [])
    if kind == "array":
        return [value(stream.choice(inner), stream, depth + 1) for _ in range(stream.randrange(4))]
    return {f"k{index}": value(stream.choice(inner), stream, depth + 1) for index in range(stream.randrange(4))}


def calls(stream):
    made = []
    for _ in range(stream.choice([1, 1, 1, 2, 3])):
        name = stream.choice(list(TOOLS))
        made.append((name, {key: value(kind, stream) for key, kind in TOOLS[name].items() if stream.random() < 0.85}))
    return made


def dumps(what, stream):
    return json.dumps(what, ensure_ascii=stream.random() < 0.3, indent=stream.choice([None, None, None, 2]))


def python(what):
    return repr(what)


def hermes(made, stream):
    gap = stream.choice(["\n", "", " "])
    return stream.choice(["\n", ""]).join(
        f"<tool_call>{gap}{dumps({'name': n, 'arguments': a}, stream)}{gap}</tool_call>" for n, a in made
    )


def llama3(made, stream):
    key = stream.choice(["parameters", "arguments"])
    body = stream.choice(["; ", ";", "\n"]).join(dumps({"name": n, key: a}, stream) for n, a in made)
    return stream.choice(["", "<|python_tag|>"]) + body


def pythonic(made, stream):
    shown = ", ".join(f"{n}({', '.join(f'{k}={python(v)}' for k, v in a.items())})" for n, a in made)
    return f"[{shown}]"


def mistral_list(made, stream):
    return "[TOOL_CALLS]" + stream.choice(["", " "]) + dumps([{"name": n, "arguments": a} for n, a in made], stream)


def mistral_named(made, stream):
    between = stream.choice(["", "[ARGS]"])
    return "".join(f"[TOOL_CALLS]{n}{between}{dumps(a, stream)}" for n, a in made)


def deepseek_v3(made, stream):
    inner = "\n".join(
        f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{n}\n```json\n{json.dumps(a, ensure_ascii=False)}\n```<｜tool▁call▁end｜>"
        for n, a in made
    )
    return f"<｜tool▁calls▁begin｜>{inner}<｜tool▁calls▁end｜>"


def deepseek_v31(made, stream):
    inner = "".join(
        f"<｜tool▁call▁begin｜>{n}<｜tool▁sep｜>{json.dumps(a, ensure_ascii=False)}<｜tool▁call▁end｜>" for n, a in made
    )
    return f"<｜tool▁calls▁begin｜>{inner}<｜tool▁calls▁end｜>"


def kimi(made, stream):
    inner = "".join(
        f"<|tool_call_begin|>functions.{n}:{i}<|tool_call_argument_begin|>{dumps(a, stream)}<|tool_call_end|>"
        for i, (n, a) in enumerate(made)
    )
    return f"<|tool_calls_section_begin|>{inner}<|tool_calls_section_end|>"


def shown(what):
    return what if isinstance(what, str) else json.dumps(what, ensure_ascii=False)


def glm(made, stream):
    gap = stream.choice(["\n", ""])
    return "\n".join(
        f"<tool_call>{n}{gap}"
        + gap.join(f"<arg_key>{k}</arg_key>{gap}<arg_value>{shown(v)}</arg_value>" for k, v in a.items())
        + f"{gap}</tool_call>"
        for n, a in made
    )


def qwen_xml(made, stream):
    return "\n".join(
        f"<tool_call>\n<function={n}>\n"
        + "".join(f"<parameter={k}>\n{shown(v)}\n</parameter>\n" for k, v in a.items())
        + "</function>\n</tool_call>"
        for n, a in made
    )


# our name, vLLM's parser, writer, whether text may stand before the calls, marks that the tokenizer lacks
FORMATS = [
    ("hermes", "hermes", hermes, True, ()),
    ("llama3", "llama3_json", llama3, False, ()),
    ("pythonic", "pythonic", pythonic, False, ()),
    ("mistral", "mistral", mistral_list, True, ("[ARGS]",)),
    ("mistral", "mistral", mistral_named, True, ()),
    ("deepseek", "deepseek_v3", deepseek_v3, True, ()),
    ("deepseek", "deepseek_v31", deepseek_v31, True, ()),
    ("kimi", "kimi_k2", kimi, True, ()),
    ("glm", "glm45", glm, True, ()),
    ("qwenXml", "qwen3_coder", qwen_xml, True, ()),
]


def broken(text, stream):
    """A response that was cut, or in which something is amiss."""
    how = stream.randrange(4)
    if how == 0:
        return text[: stream.randrange(1, len(text))]
    if how == 1:
        at = stream.randrange(len(text))
        return text[:at] + text[at + 1 :]
    if how == 2:
        return text.replace("}", "", 1)
    return text.replace('"', "'", 2)


def main():
    request = ChatCompletionRequest(model="none", messages=[{"role": "user", "content": "x"}], tools=SCHEMAS)
    cases = []
    for place, (name, theirs, write, has_text, without) in enumerate(FORMATS):
        stream = random.Random(place)
        for index in range(60):
            made = calls(stream)
            text = write(made, stream)
            before = stream.choice(["", "", "Let me look.", "One moment, please: "]) if has_text else ""
            response = before + text
            if index >= 45:
                response = broken(response, stream)
            parser = ToolParserManager.get_tool_parser(theirs)(Tokenizer(without), request.tools)
            try:
                found = parser.extract_tool_calls(response, request)
            except Exception as error:  # a crash of theirs is no vector
                print(theirs, repr(error)[:200], file=sys.stderr)
                continue
            cases.append(
                {
                    "format": name,
                    "parser": theirs,
                    "response": response,
                    "isBroken": index >= 45,
                    "content": found.content,
                    "calls": [[one.function.name, one.function.arguments] for one in found.tool_calls],
                }
            )
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    print('{"tools":', json.dumps(SCHEMAS), ',"cases":[\n' + lines + "\n]}")


main()
