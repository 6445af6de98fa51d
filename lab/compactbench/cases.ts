import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { pythonChoices } from './python-random.ts';
import { constantStrings, readSource } from './python-texts.ts';

const texts = z.array(z.string()).default([]);
const itemSchema = z.object({
  key: z.string(),
  type: z.string(),
  prompt: z.string(),
  expected: z.object({
    check: z.enum(['contains_normalized', 'forbidden_absent', 'exact', 'set_match']),
    value: z.string().default(''),
    values: texts,
  }),
});
const templateSchema = z.object({
  key: z.string(),
  version: z.string(),
  difficulty_policy: z.object({
    distractor_turns: z.record(z.string(), z.number()).default({}),
  }),
  variables: z.array(z.object({ name: z.string(), generator: z.string() })).default([]),
  transcript: z.object({
    turns: z.array(
      z.object({
        role: z.enum(['user', 'assistant', 'system', 'distractor_block']),
        template: z.string().default(''),
        count: z.union([z.string(), z.number()]).optional(),
      }),
    ),
  }),
  ground_truth: z.object({ forbidden_behaviors: texts }),
  evaluation_items: z.array(itemSchema),
});

type Template = z.infer<typeof templateSchema>;
export type Item = z.infer<typeof itemSchema>;

export interface Message {
  role: 'user' | 'assistant' | 'system';
  content: string;
}

export interface Case {
  id: string;
  messages: Message[];
  forbidden: string[];
  items: Item[];
  /** What the user says before each cycle after the first. */
  continuations: string[];
}

/** What of the benchmark is code there: words to draw from. */
interface Lexicons {
  /** By name of the generator. */
  generators: Readonly<Record<string, string[]>>;
  distractors: { user: string[]; assistant: string[] };
  continuations: string[];
}

interface CaseSettings {
  difficulty: string;
  /** After the first. */
  cycles: number;
}

const hashSeed = (text: string): bigint =>
  createHash('sha256').update(text).digest().readBigUInt64BE();

/** The seed of a case, as a run of CompactBench with the seed group `default` derives it. */
const caseSeed = (suite: string, template: Pick<Template, 'key' | 'version'>): bigint =>
  hashSeed(`${suite}/${template.key}@${template.version}:default:0`);

async function readLexicons(checkout: string): Promise<Lexicons> {
  const generators = await readSource(checkout, 'dsl/generators.py');
  const distractors = await readSource(checkout, 'engine/distractors.py');
  const continuation = await readSource(checkout, 'runner/continuation.py');
  const registered = generators.matchAll(/"(\w+)": LexiconGenerator\([^)]*lexicon=(\w+)\)/gu);
  return {
    generators: Object.fromEntries(
      [...registered].map(([, name, lexicon]) => [name, constantStrings(generators, `${lexicon}`)]),
    ),
    distractors: {
      user: constantStrings(distractors, '_USER_DISTRACTORS'),
      assistant: constantStrings(distractors, '_ASSISTANT_DISTRACTORS'),
    },
    continuations: constantStrings(continuation, '_CONTINUATION_PROMPTS'),
  };
}

const substitute = (text: string, values: ReadonlyMap<string, string>): string =>
  text.replaceAll(/\{\{\s*([\w.]+)\s*\}\}/gu, (_, name: string) => {
    const value = values.get(name);
    if (value === undefined) throw new Error(`a template says {{${name}}}, which has no value`);
    return value;
  });

const draw = (seed: bigint, name: string, words: readonly string[]): string =>
  pythonChoices(hashSeed(`${seed}:${name}`))(words);

function distractions(count: number, seed: bigint, { distractors }: Lexicons): Message[] {
  const choose = pythonChoices(seed);
  return Array.from({ length: count }, (_, index) => {
    const role = index % 2 === 0 ? 'user' : 'assistant';
    return { role, content: choose(distractors[role]) };
  });
}

/** Makes the case that CompactBench makes of a template and a seed. Throws an Error for a generator without words. */
function makeCase(
  template: Template,
  seed: bigint,
  { lexicons, difficulty, cycles }: CaseSettings & { lexicons: Lexicons },
): Case {
  const values = new Map<string, string>();
  for (const { name, generator } of template.variables)
    values.set(name, draw(seed, name, lexicons.generators[generator] ?? []));
  const filled = (text: string): string => substitute(text, values);
  const distractorCount = template.difficulty_policy.distractor_turns[difficulty] ?? 0;
  return {
    id: template.key,
    messages: template.transcript.turns.flatMap(({ role, template: text, count }, index) => {
      if (role !== 'distractor_block') return [{ role, content: filled(text) }];
      const turns = typeof count === 'number' ? count : distractorCount;
      return distractions(turns, hashSeed(`${seed}:distractor_block_${index}`), lexicons);
    }),
    forbidden: template.ground_truth.forbidden_behaviors.map(filled),
    items: template.evaluation_items.map((item) => ({
      ...item,
      prompt: filled(item.prompt),
      expected: { ...item.expected, value: filled(item.expected.value) },
    })),
    continuations: Array.from({ length: cycles }, (_, index) =>
      draw(seed, `continuation_prompt_${index + 1}`, lexicons.continuations),
    ),
  };
}

const parseTemplate = (yaml: string): Template =>
  z.object({ template: templateSchema }).parse(parse(yaml)).template;

/** One case of every public template of a suite, in the order of their file names. */
export async function readCases(
  checkout: string,
  suite: string,
  settings: CaseSettings,
): Promise<Case[]> {
  const folder = join(checkout, 'benchmarks/public', suite);
  const files = (await readdir(folder)).filter((name) => name.endsWith('.yaml')).toSorted();
  const templates = await Promise.all(
    files.map(async (name) => parseTemplate(await readFile(join(folder, name), 'utf8'))),
  );
  const lexicons = await readLexicons(checkout);
  const versions = new Set(templates.map(({ version }) => version));
  const version = versions.size === 1 ? [...versions][0] : 'mixed';
  return templates.map((template) =>
    makeCase(template, caseSeed(`${suite}@${version}`, template), { ...settings, lexicons }),
  );
}
