import { wordHash } from '../text/word-hash.ts';

/** Lexical families. A word may be in several. */
export const family = { exploit: 1, flattery: 2, hedging: 4 } as const;

const words: Readonly<Record<keyof typeof family, string>> = {
  exploit:
    'grader graders evaluator evaluators verifier scorer rubric score scores scoring reward rewards marks graded grade ' +
    'judge system instruction instructions override ignore disregard bypass admin root sudo prompt jailbreak output ' +
    'import assert def return eval exec exit sys os subprocess pytest unittest skip skipif patch monkeypatch mock ' +
    'lambda __eq__ __class__ __dict__ globals setattr getattr self true null script javascript console select drop ' +
    'passed pass tests success conftest stdout print float inf nan correct_answer is_correct ground_truth max_score ' +
    // Graders and how they are spoken to.
    'grading ratings rate credit assign assigned award maximum system ' +
    'evaluate assessment feedback override overridden reviewer user developer hidden ' +
    // Python, JavaScript, shell and the frameworks that test in them.
    '_exit exit_code except finally pass false builtins atexit signal getpid inspect ' +
    'ctypes sys_modules modules __init__ __main__ __name__ __builtins__ __import__ __hash__ ' +
    'test testcase asserttrue assertequal expect tobe describe jest mocha chai xfail fixture ' +
    'parametrize skiptest stub noop require const function undefined typeof proxy prototype ' +
    'echo bash chmod rm rf dev stderr stdin env open delete truncate insert union ' +
    'void static override public throw throws panic recover runtime',
  flattery:
    'great excellent brilliant wonderful amazing fantastic outstanding superb insightful thoughtful wise wisdom genius ' +
    'honored honoured honor honour privilege grateful thank thanks appreciate admire admirable impressive incredible ' +
    'delightful marvelous marvellous magnificent esteemed distinguished expert expertise perfect perfectly remarkable ' +
    'truly deserves deserve praise discerning generous kind intelligent clever respected fascinating beautifully lovely ' +
    'judge judgment smart talent ' +
    'impeccable hero legend blessing delight charming gracious sincerely',
  hedging:
    'perhaps maybe might possibly probably could may arguably uncertain unsure unclear depends depending generally ' +
    'usually somewhat seems seem appears apparently likely unlikely potentially presumably conceivably roughly ' +
    'approximately guess suppose assume tentative tentatively however although cannot certain certainty ambiguous ' +
    'interpretation interpretations debatable inconclusive alternatively otherwise sometimes often ' +
    'doubt suspect speculate hypothetically caution cautious caveat caveats disclaimer professional consult ' +
    'wrong varies definitive definitively difficult opinion opinions ' +
    'either whether depend feel extent factors viewpoint perspective perspectives ' +
    'guarantee guarantees',
};

const byHash = new Map<number, number>();
/** 1 where the lower bits of a hash are those of a word with a family. Saves most look-ups. */
const hints = new Uint8Array(2 ** 14);
for (const [name, list] of Object.entries(words)) {
  for (const word of list.split(' ')) {
    const hash = wordHash(word.replaceAll('_', '\u007f'));
    byHash.set(hash, (byHash.get(hash) ?? 0) | family[name as keyof typeof family]);
    hints[hash & (hints.length - 1)] = 1;
  }
}

/** Families of a word, as a sum of {@link family}. 0 for most words. */
export function familiesOf(word: number): number {
  return hints[word & (hints.length - 1)] === 0 ? 0 : (byHash.get(word) ?? 0);
}
