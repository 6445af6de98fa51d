import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { mergeStates, parseState } from './artifact.ts';
import { readCases } from './cases.ts';
import { pythonChoices } from './python-random.ts';
import { driftResistance, scoreCycle } from './score.ts';

const run = promisify(execFile);
const failureSchema = z.looseObject({ code: z.number(), stdout: z.string(), stderr: z.string() });

const template = `template:
  key: tea_rule
  version: 1.0.0
  difficulty_policy: {distractor_turns: {easy: 2, hard: 120}}
  variables: [{name: guest, generator: guest_name}]
  transcript:
    turns:
      - {role: user, template: "{{guest}} comes for tea. Never serve milk."}
      - {role: assistant, template: "Noted."}
      - {role: distractor_block, count: "{{difficulty.distractor_turns}}"}
      - {role: user, template: "What shall I buy?"}
  ground_truth: {forbidden_behaviors: ["serve milk"]}
  evaluation_items:
    - key: rule
      type: forbidden_behavior_retention
      prompt: "What is forbidden for {{guest}}?"
      expected: {check: contains_normalized, value: "serve milk"}
    - key: plan
      type: planning_soundness
      prompt: "Plan the tea."
      expected: {check: forbidden_absent, value: "serve milk"}
`;

const sources = {
  'dsl/generators.py': `_GUESTS: tuple[str, ...] = (\n    "Ada",\n)\nX = {\n    "guest_name": LexiconGenerator(name="guest_name", lexicon=_GUESTS),\n}\n`,
  'engine/distractors.py': `_USER_DISTRACTORS = (\n    "It rains.",\n)\n\n_ASSISTANT_DISTRACTORS = (\n    "It does.",\n)\n`,
  'runner/continuation.py': `_CONTINUATION_PROMPTS = (\n    "And then?",\n)\n\ndef build_continuation_prompt(a):\n    return (\n        f"{context}\\n"\n        f"SAID: {user_content}"\n    )\n`,
  'runner/evaluation.py': `def build_evaluation_cached_prefix(a):\n    return (\n        f"KNOWN: {sanitized}\\n"\n    )\n\ndef build_evaluation_item_suffix(i):\n    return (\n        f"ASKED: {item.prompt}"\n    )\n`,
  'compactors/naive_summary.py': `_PROMPT = (\n    "Be short. "\n    "{transcript}"\n)\n`,
};

let folder: string;
let answers: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recap-compactbench-'));
  answers = join(folder, 'answers');
  const files = Object.entries(sources).map(([path, text]) => ({
    path: join(folder, 'src/compactbench', path),
    text,
  }));
  files.push({ path: join(folder, 'benchmarks/public/tea/tea_rule.yaml'), text: template });
  for (const { path, text } of files) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
});
afterEach(() => rm(folder, { recursive: true }));

async function runCommand(...more: string[]) {
  const line = ['--data', folder, '--answers', answers, '--suite', 'tea', ...more];
  return run(process.execPath, ['lab/compactbench/compactbench.ts', ...line])
    .then((ended) => ({ code: 0, ...ended }))
    .catch((error: unknown) => failureSchema.parse(error));
}

const answersByKind: Readonly<Record<string, string>> = {
  questions: '## rule\nDo not serve  MILK.\n\n## plan\nBuy lemons.',
  continuation: 'Then we drink.',
};

/** Answers every prompt that is there, summaries with `summary`. */
async function answerPrompts(summary: string): Promise<void> {
  for (const file of await readdir(answers)) {
    const kind = /\.g\d+\.(\w+)\..*\.prompt\.md$/u.exec(file)?.[1];
    if (kind === undefined) continue;
    const answer = file.replace('.prompt.md', '.answer.txt');
    await writeFile(join(answers, answer), answersByKind[kind] ?? summary);
  }
}

async function readPrompt(pattern: RegExp): Promise<string> {
  const name = (await readdir(answers)).find((file) => pattern.test(file)) ?? '';
  return readFile(join(answers, name), 'utf8');
}

describe('cases of CompactBench', () => {
  test('are drawn as Python draws', () => {
    const items = Array.from({ length: 25 }, (_, index) => index);
    const drawn = [42n, 2n ** 63n + 12_345n].map((seed) => {
      const choose = pythonChoices(seed);
      return Array.from({ length: 6 }, () => choose(items));
    });

    expect(drawn).toEqual([
      [20, 3, 0, 23, 8, 7],
      [9, 12, 6, 4, 21, 9],
    ]);
  });

  test('have the words of the template, and distractions by turns between them', async () => {
    const [made] = await readCases(folder, 'tea', { difficulty: 'easy', cycles: 1 });

    expect(made?.messages.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      'user: Ada comes for tea. Never serve milk.',
      'assistant: Noted.',
      'user: It rains.',
      'assistant: It does.',
      'user: What shall I buy?',
    ]);
    expect(made?.items[0]?.prompt).toBe('What is forbidden for Ada?');
    expect(made?.continuations).toEqual(['And then?']);
  });
});

describe('the score', () => {
  const expected = { value: 'serve milk', values: [] };
  const items = [
    {
      key: 'rule',
      type: 'forbidden_behavior_retention',
      prompt: '',
      expected: { check: 'contains_normalized' as const, ...expected },
    },
    {
      key: 'plan',
      type: 'planning_soundness',
      prompt: '',
      expected: { check: 'forbidden_absent' as const, ...expected },
    },
  ];

  test('weighs a kept rule three times as much as a plan', () => {
    const said = new Map([['plan', 'Buy lemons.']]);

    expect(scoreCycle({ items, forbidden: ['serve milk'] }, said)).toMatchObject({
      score: 0.25,
      missed: ['rule'],
    });
  });

  test('is lost where every plan does what is forbidden', () => {
    const said = new Map([
      ['rule', 'Never serve milk.'],
      ['plan', 'Serve milk.'],
    ]);

    expect(scoreCycle({ items, forbidden: ['serve milk'] }, said).score).toBe(0);
  });

  test('drifts by the mean loss after the first cycle, and never above one', () => {
    expect(driftResistance([0.9, 0.7, 0.5])).toBeCloseTo(0.7);
    expect(driftResistance([0.5, 0.9])).toBe(1);
  });
});

test('a ledger keeps what was decided before, once, and takes its facts from the newest answer', () => {
  const before = parseState('{"immutable_facts":["old"],"locked_decisions":["tea"]}');
  const now = parseState('{"immutable_facts":["new", 7],"locked_decisions":["tea","cake"]}');

  expect(mergeStates(before, now)).toMatchObject({
    immutable_facts: ['new'],
    locked_decisions: ['tea', 'cake'],
  });
});

describe('npm run eval:compactbench', () => {
  test('writes the prompt that waits for an answer', async () => {
    const { code, stdout } = await runCommand('--methods', 'naive-summary');

    const [prompt = ''] = await readdir(answers);
    expect(code).toBe(3);
    expect(stdout).toContain(prompt);
    expect(await readFile(join(answers, prompt), 'utf8')).toContain('Be short. USER: Ada comes');
  });

  test('refuses another summariser by the name of a method of its own', async () => {
    const other = join(folder, 'other.txt');
    await writeFile(other, 'Be short.');

    const { code, stderr } = await runCommand('--prompt', `hybrid-ledger=${other}`);

    expect(code).toBe(2);
    expect(stderr).toContain('the name hybrid-ledger is taken');
  });

  test('scores each cycle once all is answered', async () => {
    const options = ['--methods', 'naive-summary', '--cycles', '1'];

    let result = await runCommand(...options);
    while (result.code === 3) {
      await answerPrompts('Ada must get no milk.');
      result = await runCommand(...options);
    }

    expect(result.code).toBe(0);
    expect(result.stdout).toMatch(/naive-summary +1 +0 +100\.0 +100\.0 100\.0/u);
    const later = await readPrompt(/g2\.main.*\.prompt\.md$/u);
    expect(later).toContain('USER: And then?\n\nASSISTANT: Then we drink.');
  });

  test("asks its questions of Recap's verified snapshot and the last turn", async () => {
    const rule = { text: 'Never serve milk.', quote: 'Never serve milk.', sources: [1] };
    const operations = [{ op: 'add', section: 'active_constraints', items: [rule] }];
    const options = ['--methods', 'recap', '--difficulty', 'hard'];

    await runCommand(...options);
    await answerPrompts(JSON.stringify({ scratchpad: '', operations }));
    await runCommand(...options);

    const prompt = await readPrompt(/g1\.questions.*\.prompt\.md$/u);
    expect(prompt).toContain('<active_constraints>\n- Never serve milk.');
    expect(prompt).toContain('USER: What shall I buy?');
    expect(prompt).not.toContain('It rains.');
  });
});
