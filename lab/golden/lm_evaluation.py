"""Writes packages/run/fixtures/lm-eval.json: verdicts of lm_eval 0.4.13 on tasks and responses that this script makes.

Nothing of a benchmark is copied. The tasks run through lm_eval's own task files, filters and metrics; only the rows come from here.

    python -m venv VENV && VENV/bin/pip install 'lm_eval[ifeval,math]==0.4.13'
    VENV/bin/python lab/golden/lm_evaluation.py packages/run/fixtures/lm-eval.json
"""
import json
import os
import random
import subprocess
import sys
import tempfile

os.environ["HF_DATASETS_OFFLINE"] = "1"
os.environ["HF_ALLOW_CODE_EVAL"] = "1"
import evaluate as hf_evaluate


class CodeEval:
    """What the metric `code_eval` does: the program and its test in a process of their own."""

    def compute(self, references, predictions, k):
        right = [self.passes(p[0] + "\n" + r) for p, r in zip(predictions, references)]
        return {"pass@1": sum(right) / len(right)}, right

    def passes(self, program):
        try:
            return subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=10).returncode == 0
        except subprocess.TimeoutExpired:
            return False


hf_evaluate.load = lambda name: CodeEval()

from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager
from lm_eval.tasks._yaml_loader import load_yaml

manager = TaskManager()

draw = random.Random(20)


class Canned(LM):
    """Answers what the rows say."""

    def __init__(self, column):
        super().__init__()
        self.column = column

    def generate_until(self, requests):
        return [r.doc[self.column] for r in requests]

    def loglikelihood(self, requests):
        return [(r.doc["logprobs"][r.idx], False) for r in requests]

    def loglikelihood_rolling(self, requests):
        raise NotImplementedError


def verdicts(task, rows, metrics, **override):
    print(task, len(rows), file=sys.stderr, flush=True)
    """Per row, the value of each metric (`name` or `name,filter`)."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.jsonl")
        with open(path, "w") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        files = {split: path for split in ("train", "validation", "test")}
        config = {**load_yaml(manager.task_index[task].yaml_path, resolve_func=True), "task": task, "dataset_path": "json", "dataset_name": None, "dataset_kwargs": {"data_files": files}, "num_fewshot": 0, **override}
        result = simple_evaluate(model=Canned("response"), tasks=[config], log_samples=True, bootstrap_iters=0, confirm_run_unsafe_code=True)
    samples = result["samples"][task]
    values = [{} for _ in rows]
    for sample in samples:
        for metric in metrics:
            name, _, wanted = metric.partition(",")
            if wanted and sample["filter"] != wanted:
                continue
            value = sample[name]
            values[sample["doc_id"]][metric] = [float(v) for v in value] if isinstance(value, list) else float(value)
    aggregate = {m: v for m, v in result["results"][task].items() if isinstance(v, float) and "stderr" not in m}
    return values, aggregate


def gsm8k_rows():
    rows = []
    styles = [
        "{a} plus the rest gives <<{x}={x}>>{x}.\n#### {x}",
        "The answer is {x}.",
        "So she has ${x} left.",
        "#### {x}\n\nQuestion: what next? #### 99",
        "Therefore \\boxed{{{x}}}",
        "First 12, then 7. In total: {x} dollars and 0 cents",
        "#### ${x}",
        "####{x}",
        "#### {x}.",
        "It is {x}. I checked 3 times.",
        "#### Answer: {x}",
        "{x}",
        "no number here",
        "",
        "about -{x}",
        "#### -{x}",
        "#### {x} apples.\n#### {a}",
        "\u0663\u0664 or {x}.",
        "1. add\n2. multiply\n#### {x}\n",
        "$1,0,0 . , {x},",
    ]
    for k in range(15):
        for style in styles:
            right = draw.choice([18, 7, 1000, 1234567, 0, -5, 2.5, 64.0, 3])
            written = f"{right:,}" if draw.random() < 0.5 else str(right)
            said = draw.choice([written, str(right), f"{right:,}", str(right + 1), f"{right}.00", f"{right}.0"])
            rows.append({"question": f"Question {k}?", "answer": f"We add.\n#### {written}", "response": style.format(x=said, a=draw.randint(1, 99))})
    return rows


def math_rows():
    answers = [
        ["\\frac{1}{2}", "\\dfrac12", "0.5", "1/2", "\\tfrac{2}{4}", ".5", "\\frac12", "50\\%", "-\\frac{1}{2}"],
        ["2\\sqrt{3}", "2\\sqrt3", "\\sqrt{12}", "\\sqrt 12", "3.4641", "2 \\cdot \\sqrt{3}"],
        ["(3,4)", "(3, 4)", "\\left(3,4\\right)", "[3,4]", "(4,3)", "3,4"],
        ["1,000", "1000", "10^3", "1{,}000", "1,000 dollars", "1.000"],
        ["90^\\circ", "90", "90^{\\circ}", "90 degrees", "\\frac{\\pi}{2}"],
        ["x^2+2x+1", "(x+1)^2", "1+2x+x^2", "x^2+2x", "x^{2}+2x+1"],
        ["\\text{Thursday}", "Thursday", "thursday", "\\textbf{Thursday}", "\\mbox{Thursday}", "Friday"],
        ["x=5", "5", "x = 5", "y=5", "\\boxed{5}", "5.0", "5\\text{ cm}", "5 units", "6"],
        ["\\begin{pmatrix} 1 \\\\ 2 \\end{pmatrix}", "\\begin{pmatrix}1\\\\2\\end{pmatrix}", "(1,2)"],
        ["(-\\infty,3]", "(-\\infty, 3]", "x \\le 3", "(-\\infty,3)"],
        ["12\\pi", "12 \\pi", "\\pi \\cdot 12", "37.699", "12\\pi\\text{ square inches}"],
        ["-7", "- 7", "-7.0", "7", "\\$-7"],
        ["\\sqrt[3]{8}", "2", "\\sqrt[3]8", "8^{1/3}"],
        ["0,1", "0, 1", "01", "1,0"],
        ["\\frac{x}{y}", "x/y", "\\frac xy", "\\frac{y}{x}", "xy^{-1}"],
        ["3\\%", "3", "0.03", "3 \\%"],
        ["", "a", "b"],
        ["2^{10}", "1024", "1,024", "2^10", "1025"],
        ["\\{1,2\\}", "\\{2,1\\}", "1,2", "\\{1, 2\\}"],
        ["\\text{(A)}", "A", "(A)", "\\textbf{(A)}", "B"],
        ["\\frac{3}{4}", "\\frac34", "0.75", "\\frac{6}{8}", "3:4"],
        ["e^{2}", "e^2", "e*e", "7.389"],
        ["\\log 2", "\\log(2)", "\\ln 2"],
        ["5!", "120", "5 !"],
        ["1\\frac{1}{2}", "1.5", "\\frac{3}{2}", "1 1/2"],
    ]
    styles = [
        "Work.\nFinal Answer: The final answer is ${x}$. I hope it is correct.",
        "Final Answer: The final answer is {x}. I hope it is correct.",
        "Final Answer: The final answer is ${x}$. ",
        "The final answer is $\\boxed{{{x}}}$.",
        "${x}$",
        "{x}",
        "So $y$ is ${x}$",
    ]
    rows = []
    for group in answers:
        for said in group:
            for style in [styles[0], draw.choice(styles[1:4]), draw.choice(styles[4:])]:
                rows.append({"problem": "What?", "solution": f"It is $\\boxed{{{group[0]}}}$.", "response": style.format(x=said)})
    return rows


def ifeval_rows():
    """Without sentence counts and capital words, which need data of nltk that is downloaded."""
    poem = "Roses are red.\n\nViolets are blue.\n\nSugar is sweet, and so are you!"
    list_ = "* one\n* two\n* three\n\nThat is **all** of *it*."
    sections = "SECTION 1\nHello there.\nSECTION 2\nGoodbye now."
    responses = [
        poem, list_, sections, "", "yes", "My answer is yes.", "My answer is maybe.", '{"a": [1, 2]}', '```json\n{"a": 1}\n```', "<<A title>>\nText with [name] and [place].",
        "HELLO WORLD, THIS IS LOUD.", "all is quiet and small here.", '"Quoted from start to end."', "No commas here at all", "One, two, three.",
        "First paragraph here.\n***\nSecond paragraph there.\n***\nThird.", "Hello, hello! HELLO hello.", "Dear friend,\n\nI write.\n\nP.S. Write back.", "P.P.S never",
        "Is there anything else I can help with?", "**Is there anything else I can help with?**", "It is. Is it? It is! Dr. Smith went to 3.5 places e.g. Rome.", "word " * 60,
        "A sentence one. A sentence two. A sentence three. A sentence four.", "******\nTry this first\n******\nThen that.", "Repeat me exactly. Then I answer.", "repeat me exactly. Then I answer.",
        "*highlighted part* and **another** one", "Wir gehen heute in die Stadt und kaufen viel Brot.", "Ceci est une phrase écrite en français pour voir.", "THE USA AND NATO WON TODAY.",
        "Sure! Here it is:\nall lower case text without any comma\nBye", "- one\n- two\n- three", "Paragraph one\n\nParagraph two begins\n\nParagraph three",
    ]
    kinds = [
        ("keywords:existence", {"keywords": ["hello", "blue"]}), ("keywords:existence", {"keywords": ["is"]}), ("keywords:frequency", {"relation": "at least", "keyword": "hello", "frequency": 3}),
        ("keywords:frequency", {"relation": "less than", "keyword": "is", "frequency": 2}), ("keywords:forbidden_words", {"forbidden_words": ["red", "loud"]}),
        ("keywords:letter_frequency", {"letter": "l", "let_relation": "at least", "let_frequency": 4}), ("keywords:letter_frequency", {"letter": "o", "let_relation": "less than", "let_frequency": 3}),
        ("language:response_language", {"language": "de"}), ("language:response_language", {"language": "fr"}), ("length_constraints:number_paragraphs", {"num_paragraphs": 3}),
        ("length_constraints:number_words", {"relation": "at least", "num_words": 10}), ("length_constraints:number_words", {"relation": "less than", "num_words": 5}),
        ("length_constraints:nth_paragraph_first_word", {"num_paragraphs": 3, "nth_paragraph": 2, "first_word": "violets"}), ("detectable_content:number_placeholders", {"num_placeholders": 2}),
        ("detectable_content:postscript", {"postscript_marker": "P.S."}), ("detectable_content:postscript", {"postscript_marker": "P.P.S"}), ("detectable_format:number_bullet_lists", {"num_bullets": 3}),
        ("detectable_format:constrained_response", {}), ("detectable_format:number_highlighted_sections", {"num_highlights": 2}),
        ("detectable_format:multiple_sections", {"section_spliter": "SECTION", "num_sections": 2}), ("detectable_format:json_format", {}), ("detectable_format:title", {}),
        ("combination:two_responses", {}), ("combination:repeat_prompt", {"prompt_to_repeat": "Repeat me exactly."}), ("startend:end_checker", {"end_phrase": "Is there anything else I can help with?"}),
        ("change_case:english_capital", {}), ("change_case:english_lowercase", {}),
        ("punctuation:no_comma", {}), ("startend:quotation", {}),
    ]
    columns = sorted({name for _, given in kinds for name in given})
    rows = []
    for key, response in enumerate(responses * 12):
        some = draw.sample(kinds, draw.choice([1, 1, 2, 3]))
        kwargs = [{name: given.get(name) for name in columns} for _, given in some]
        rows.append({"key": key, "prompt": "Write something.", "instruction_id_list": [name for name, _ in some], "kwargs": kwargs, "response": response})
    return rows


def code_rows():
    functions = [
        ("add", "a, b", ["    return a + b\n", "    return a - b\n", "    return b + a", "    return sum([a, b])\n\n\nassert True\n"], ["{f}(1, 2) == 3", "{f}(-1, 1) == 0"]),
        ("double", "xs", ["    return [2 * x for x in xs]\n", "    return xs * 2\n", "    out = []\n    for x in xs:\n        out.append(x + x)\n    return out\n", "    return [2 * x for x in xs\n"], ["{f}([1, 2]) == [2, 4]", "{f}([]) == []"]),
        ("vowels", "text", ["    return sum(c in 'aeiou' for c in text.lower())\n", "    return len(text)\n", "    return None\n", "    import re\n    return len(re.findall('[aeiou]', text, re.I))\n"], ["{f}('Hello') == 2", "{f}('') == 0"]),
    ]
    human, program = [], []
    for name, arguments, bodies, checks in functions:
        for body in bodies:
            test = "def check(candidate):\n" + "".join(f"    assert {c.format(f='candidate')}\n" for c in checks)
            human.append({"task_id": f"made/{len(human)}", "prompt": f'def {name}({arguments}):\n    """Does {name}."""\n', "entry_point": name, "test": test, "response": body})
            program.append({"task_id": len(program), "text": f"Write {name}.", "code": "", "test_list": [f"assert {c.format(f=name)}" for c in checks] + ["assert True"], "response": f"def {name}({arguments}):\n{body}"})
    return human, program


def choice_rows():
    words = "a an the cat dog house of in on with quickly slowly blue \u00fcber na\u00efve 12 yes no maybe".split()
    rows = []
    for k in range(80):
        count = draw.choice([2, 3, 4, 5])
        texts = [" ".join(draw.choices(words, k=draw.randint(1, 6))) for _ in range(count)]
        scores = [round(draw.uniform(-20, -0.1), 3) for _ in texts]
        if draw.random() < 0.2:
            scores = [scores[0]] * count
        gold = draw.randrange(count)
        labels = [int(draw.random() < 0.5) for _ in range(count - 2)]
        rows.append({"texts": texts, "logprobs": scores, "gold": gold, "labels": [1, *labels, 0]})
    return rows


def main(out):
    golden = {"lm_eval": "0.4.13"}
    if os.path.exists(out):  # goes on where an earlier call stopped
        with open(out) as file:
            golden = json.load(file)

    def add(name, rows, task, metrics, **override):
        if name in golden:
            return
        values, aggregate = verdicts(task, rows, metrics, **override)
        golden[name] = {"rows": [{**row, "expected": value} for row, value in zip(rows, values)], "aggregate": aggregate}
        for row in golden[name]["rows"] if name == "ifeval" else []:  # datasets wants every column, we do not
            row["kwargs"] = [{k: v for k, v in given.items() if v is not None} for given in row["kwargs"]]
        save()

    def save():
        with open(out, "w") as file:
            json.dump(golden, file, ensure_ascii=False, separators=(",", ":"))

    rows = gsm8k_rows()
    for row in rows:  # lm_eval cuts the response at the stop strings by the model, before its filters
        row["response"] = row["response"].split("Question:")[0]
    add("gsm8k", rows, "gsm8k", ["exact_match,strict-match", "exact_match,flexible-extract"])
    rows = math_rows()
    add("minerva", rows, "minerva_math_algebra", ["exact_match"])
    add("hendrycks", rows, "hendrycks_math_algebra", ["exact_match"])
    add("ifeval", ifeval_rows(), "ifeval", ["prompt_level_strict_acc", "inst_level_strict_acc", "prompt_level_loose_acc", "inst_level_loose_acc"])
    human, program = code_rows()
    if "humaneval" not in golden:
        golden["humaneval"] = code_verdicts("humaneval", human)
        golden["mbpp"] = code_verdicts("mbpp", program)
    rows = choice_rows()
    arc = [{"id": str(k), "question": "Which?", "choices": {"text": r["texts"], "label": [chr(65 + j) for j in range(len(r["texts"]))]}, "answerKey": chr(65 + r["gold"]), "logprobs": r["logprobs"]} for k, r in enumerate(rows)]
    add("arc", arc, "arc_easy", ["acc", "acc_norm"])
    mc2 = [{"question": "Which?", "mc2_targets": {"choices": r["texts"], "labels": r["labels"]}, "logprobs": r["logprobs"]} for r in rows]
    add("truthfulqa_mc2", mc2, "truthfulqa_mc2", ["acc"])
    hella = [{"ind": k, "ctx_a": "A [header] man  sits [title] down.", "ctx_b": "he THEN", "activity_label": "Sitting [x] on", "endings": (r["texts"] * 2)[:4], "label": str(r["gold"] % 4), "logprobs": (r["logprobs"] * 2)[:4]} for k, r in enumerate(rows)]
    add("hellaswag", hella[:30], "hellaswag", ["acc", "acc_norm"])
    mmlu = [{"question": " Which? ", "choices": (r["texts"] * 2)[:4], "answer": r["gold"] % 4, "subject": "made", "logprobs": (r["logprobs"] * 2)[:4]} for r in rows]
    add("mmlu", mmlu[:30], "mmlu_anatomy", ["acc"], fewshot_split=None)
    save()


def code_verdicts(task, rows):
    """lm_eval builds the program and the reference; a process of its own runs them."""
    judge = CodeEval()
    out = []
    for row in rows:
        if task == "humaneval":
            from lm_eval.tasks.humaneval.utils import build_predictions

            program = build_predictions([[row["response"]]], [row])[0][0]
            reference = f"{row['test']}\ncheck({row['entry_point']})"
        else:
            program = row["response"]
            reference = "\n".join(row["test_list"])
        out.append({**row, "expected": {"pass@1": float(judge.passes(program + "\n" + reference))}})
    return {"rows": out}


main(sys.argv[1])
