import { z } from 'zod';
import type { Part } from '#shared/models/content.ts';
import type { ToolDeclaration } from '#shared/ports/ports.ts';
import type { TokenRule } from '#shared/tokens/text-weight.ts';
import {
  estimateContentTokens,
  estimatePromptTokens,
  type PromptToEstimate,
} from '#shared/tokens/token-estimate.ts';
import { ArgumentError, parseGiven } from '#infra/command-line.ts';
import { tableOf, type Scorer } from '../scorer.ts';

/** The source that the weights were not fitted to. */
const HELD_OUT = 'crmne/ruby_llm';

/** Shorter texts are off by more than a fifth for one token. */
const LONG_FROM_TOKENS = 20;
const CLOSE = 0.2;
const SAFE = -0.1;

const textsSchema = z.array(z.looseObject({ role: z.string(), text: z.string() }));
const systemSchema = z.union([textsSchema, z.string()]).nullish();

const rowSchema = z.looseObject({
  count: z.number().int().positive(),
  repo: z.string(),
  model: z.string(),
  api: z.string(),
});

const truthSchema = z.discriminatedUnion('kind', [
  rowSchema.extend({ kind: z.literal('output'), content: z.string() }),
  rowSchema.extend({
    kind: z.literal('output-call'),
    content: z.array(
      z.looseObject({ name: z.string(), args: z.record(z.string(), z.unknown()).nullish() }),
    ),
  }),
  rowSchema.extend({ kind: z.enum(['prompt', 'count']), content: textsSchema }),
  rowSchema.extend({
    kind: z.literal('prompt+tools'),
    content: z.object({ contents: textsSchema, system: systemSchema, tools: z.unknown() }),
  }),
]);
type Truth = z.infer<typeof truthSchema>;

type Kind =
  | 'plain outputs'
  | 'prompts'
  | 'calls'
  | 'calls, arguments not counted'
  | 'tools'
  | 'tools, schemas not counted'
  | 'other scripts';

/** A text, what a server counted for it, and what the estimate says. */
interface CountedText {
  kind: Kind;
  source: string;
  count: number;
  estimate: (rule: TokenRule) => number;
}

/** Greek begins here; what comes before is Latin, as are the signs of the general punctuation. */
const OTHER_SCRIPT = /[\u0370-\u1fff\u2c00-\ud7ff\uf900-\uffdc]/gu;
const OTHER_SCRIPT_SHARE = 0.2;

function isOtherScript(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  return (text.match(OTHER_SCRIPT)?.length ?? 0) > OTHER_SCRIPT_SHARE * Math.max(1, letters);
}

/** Vertex AI and Gemini before 2.5 count of a declaration or a call little more than names and values. */
const countsJson = ({ api, model }: Truth): boolean =>
  api !== 'vertex' && !/^gemini-(1\.5|2\.0)/.test(model);

const declarationSchema = z.looseObject({
  name: z.string(),
  description: z.string().optional(),
  parameters: z.unknown().optional(),
  parametersJsonSchema: z.unknown().optional(),
  parameters_json_schema: z.unknown().optional(),
});
const toolsSchema = z.array(
  z.looseObject({ functionDeclarations: z.array(declarationSchema).optional() }),
);

/** The declarations as this product writes them; tools of the server itself (search, …) have none. */
function declarationsOf(tools: unknown): ToolDeclaration[] {
  const read = toolsSchema.safeParse(tools);
  if (!read.success) return [];
  return read.data.flatMap(({ functionDeclarations = [] }) =>
    functionDeclarations.map(({ name, description, ...rest }) => ({
      name,
      ...(description !== undefined && { description }),
      parametersJsonSchema:
        rest.parametersJsonSchema ?? rest.parameters_json_schema ?? rest.parameters,
    })),
  );
}

const textsOf = (texts: z.infer<typeof systemSchema>): string =>
  typeof texts === 'string' ? texts : (texts ?? []).map(({ text }) => text).join('');

function promptOf(truth: Truth): PromptToEstimate {
  const input = (parts: Part[]): PromptToEstimate => ({ contents: [{ role: 'user', parts }] });
  switch (truth.kind) {
    case 'output':
      return input([{ text: truth.content }]);
    case 'output-call':
      return input(
        truth.content.map(({ name, args }) => ({ functionCall: { name, args: args ?? {} } })),
      );
    case 'prompt':
    case 'count':
      return input([{ text: textsOf(truth.content) }]);
    case 'prompt+tools': {
      const { contents, system, tools } = truth.content;
      return {
        ...input([{ text: textsOf(contents) }]),
        systemInstruction: textsOf(system),
        tools: declarationsOf(tools),
      };
    }
  }
}

function kindOf(truth: Truth): Kind {
  switch (truth.kind) {
    case 'output':
      return isOtherScript(truth.content) ? 'other scripts' : 'plain outputs';
    case 'prompt':
    case 'count':
      return isOtherScript(textsOf(truth.content)) ? 'other scripts' : 'prompts';
    case 'output-call':
      return countsJson(truth) ? 'calls' : 'calls, arguments not counted';
    case 'prompt+tools':
      return countsJson(truth) ? 'tools' : 'tools, schemas not counted';
  }
}

function countedText(truth: Truth): CountedText {
  const prompt = promptOf(truth);
  const [content] = prompt.contents;
  const isPrompt = truth.kind === 'prompt' || truth.kind === 'prompt+tools';
  return {
    kind: kindOf(truth),
    source: truth.repo,
    count: truth.count,
    estimate: (rule) =>
      isPrompt || content === undefined
        ? estimatePromptTokens(prompt, rule)
        : estimateContentTokens(content, rule),
  };
}

/**
 * The rows of a file of counts, and how many had a shape that no text can be made of: calls that came in
 * pieces, for one. Throws SyntaxError for a line that is no JSON.
 */
export function parseTokenTruth(text: string): { rows: CountedText[]; unreadable: number } {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const rows = lines.flatMap((line) => {
    const read = truthSchema.safeParse(JSON.parse(line));
    return read.success ? [countedText(read.data)] : [];
  });
  return { rows, unreadable: lines.length - rows.length };
}

const rounded = (value: number): number => Math.round(value * 1_000) / 1_000;
const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : rounded(values.reduce((sum, value) => sum + value, 0) / values.length);
const share = (values: readonly number[], holds: (value: number) => boolean): number =>
  mean(values.map((value) => (holds(value) ? 1 : 0)));

const rules: readonly TokenRule[] = ['character-class', 'gemini-cli'];

/**
 * Accuracy for each source (held out or not), rule and kind, of rows from 20 tokens on; nothing is summed over kinds, which
 * differ in what is counted. Errors are (estimate − count) / count: below 0 is too low.
 */
export function tokenFigures(rows: readonly CountedText[]) {
  const groups = Map.groupBy(
    rows.filter(({ count }) => count >= LONG_FROM_TOKENS),
    ({ source, kind }) => `${source === HELD_OUT ? 'held out' : 'fitted'}, ${kind}`,
  );
  return [...groups]
    .toSorted(([a], [b]) => a.localeCompare(b, 'en'))
    .flatMap(([texts, own]) =>
      rules.map((rule) => {
        const errors = own.map(({ count, estimate }) => (estimate(rule) - count) / count);
        return {
          texts,
          rule,
          n: own.length,
          within20: share(errors, (error) => Math.abs(error) <= CLOSE),
          meanError: mean(errors),
          meanAbsoluteError: mean(errors.map(Math.abs)),
          tooLow: share(errors, (error) => error < SAFE),
        };
      }),
    );
}

/** The estimate of tokens beside counts that servers reported. */
export const scoreTokens: Scorer = (_, files) => {
  const read = files.map((file) => parseGiven(file, parseTokenTruth));
  const rows = read.flatMap((each) => each.rows);
  const unreadable = read.reduce((sum, each) => sum + each.unreadable, 0);
  if (rows.length === 0) throw new ArgumentError('--data holds no counts');
  const figures = tokenFigures(rows);
  const text = `${tableOf(figures)}\n${rows.length} rows; ${unreadable} could not be read`;
  return Promise.resolve({ text, figures, isGood: true });
};
