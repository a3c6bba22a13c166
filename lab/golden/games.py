"""Games as other projects play them: the golden vectors of packages/env/src/stock.

    pip install gymnasium gym-sokoban textarena
    python lab/golden/games.py > packages/env/fixtures/testdata/games.jsonl

One JSON object a line: FrozenLake's table `P` of Gymnasium, games of Sokoban as gym-sokoban plays them, and feedback on guesses of Wordle and
Mastermind as TextArena gives it.
"""

import json
import random
import sys
import types
import warnings
from unittest import mock

import numpy as np

warnings.filterwarnings("ignore")
draw = random.Random(7)


def frozen_lakes():
    from gymnasium.envs.toy_text.frozen_lake import MAPS, FrozenLakeEnv, generate_random_map

    lakes = [MAPS["4x4"], MAPS["8x8"], *(generate_random_map(size=size, seed=size) for size in (2, 3, 5))]
    for rows in lakes:
        for slippery, rate in ((False, 1.0), (True, 1 / 3), (True, 0.75)):
            lake = FrozenLakeEnv(desc=list(rows), is_slippery=slippery, success_rate=rate)
            table = [[[[round(p, 12), s, t] for p, s, _, t in lake.P[s0][a]] for a in range(4)] for s0 in lake.P]
            yield {"game": "frozen-lake", "rows": list(rows), "successRate": rate, "table": table}
        lake = FrozenLakeEnv(desc=list(rows), is_slippery=True)
        for seed in range(3):
            state, _ = lake.reset(seed=seed)
            played = [int(state)]
            for _ in range(60):
                action = draw.randrange(4)
                state, reward, over, _, _ = lake.step(action)
                played.append([action, int(state), int(reward), bool(over)])
                if over:
                    break
            yield {"game": "frozen-lake", "rows": list(rows), "successRate": 1 / 3, "played": played}


def sokoban():
    from gym_sokoban.envs.sokoban_env import SokobanEnv

    marks = {0: "#", 1: " ", 2: ".", 3: "*", 4: "$", 5: "@"}

    def rows(env):
        text = []
        for line, below in zip(env.room_state, env.room_fixed):
            text.append("".join("+" if a == 5 and b == 2 else marks[int(a)] for a, b in zip(line, below)))
        return text

    # Actions of gym-sokoban: pushes 1 up, 2 down, 3 left, 4 right.
    names = {1: "up", 2: "down", 3: "left", 4: "right"}
    for seed in range(24):
        random.seed(seed)
        np.random.seed(seed)
        side = 6 + seed % 3
        env = SokobanEnv(dim_room=(side, side), max_steps=1000, num_boxes=1 + seed % 3, reset=False)
        env.render = lambda *_, **__: None
        env.reset()
        game = {"game": "sokoban", "rows": rows(env), "played": []}
        for _ in range(40):
            action = draw.randrange(1, 5)
            _, _, over, _ = env.step(action)
            game["played"].append([names[action], "\n".join(rows(env)), bool(over)])
            if over:
                break
        before = "\n".join(game["rows"])
        for move in game["played"]:
            # Unchanged rooms are written as the empty text.
            before, move[1] = move[1], "" if move[1] == before else move[1]
        yield game


def textarena(name):
    """The module of one game of TextArena, without the dependencies of the others."""
    import importlib.util
    from pathlib import Path

    base = next(Path(path) / "textarena" for path in sys.path if (Path(path) / "textarena").is_dir())
    stub = mock.MagicMock()
    stub.Env = object
    envs = "textarena.envs"
    parts = (envs, f"{envs}.utils", f"{envs}.utils.word_lists", f"{envs}.{name}", f"{envs}.{name}.renderer")
    sys.modules["textarena"] = stub
    for part in ("nltk", "nltk.corpus", *parts):
        sys.modules[part] = mock.MagicMock()
    place = importlib.util.spec_from_file_location(f"textarena.envs.{name}.env", base / "envs" / name / "env.py")
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module


def feedback():
    wordle = textarena("Wordle").WordleEnv
    mastermind = textarena("Mastermind").MastermindEnv
    words = "allee geese eagle level label belle crane slate otter tooth motto sassy glass essay abbey babel".split()
    pairs = [(secret, guess) for secret in words for guess in words]
    marks = []
    for secret, guess in pairs:
        env = object.__new__(wordle)
        env.state = types.SimpleNamespace(game_state={"word_length": 5, "secret_word": secret})
        env.word_length = 5
        marks.append([secret, guess, "".join(env._evaluate_guess(guess))])
    yield {"game": "wordle", "marks": marks}
    pegs = []
    for _ in range(400):
        length, colors = draw.choice([(3, 4), (4, 6), (5, 8)])
        secret = [draw.randint(1, colors) for _ in range(length)]
        guess = [draw.randint(1, colors) for _ in range(length)]
        env = object.__new__(mastermind)
        env.state = types.SimpleNamespace(game_state={"code_length": length, "secret_code": list(secret)})
        pegs.append([secret, guess, *env._evaluate_guess(list(guess))])
    yield {"game": "mastermind", "pegs": pegs}


for one in (*frozen_lakes(), *sokoban(), *feedback()):
    print(json.dumps(one, separators=(",", ":")))
