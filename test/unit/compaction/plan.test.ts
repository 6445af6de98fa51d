import { planCompaction, type PlanSource } from '#shared/compaction/plan.ts';
import { wholeOutputs } from '#shared/conversation/context/sent-view.ts';
import { resolvePolicy } from '#shared/compaction/policy.ts';
import { assembleContext } from '#shared/conversation/context/assemble-context.ts';
import type { Content } from '#shared/models/content.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { foldedTurn } from '#test/support/compaction/said-turn.ts';
import { describe, expect, test } from 'vitest';

const text = (role: Content['role'], value: string): Content => ({
  role,
  parts: [{ text: value }],
});

const turn = (seq: number, overrides: Partial<Turn> = {}): Turn => ({
  ...foldedTurn(seq, `question ${seq} ${'word '.repeat(100)}`),
  contents: [text('model', `answer ${seq} ${'word '.repeat(100)}`)],
  ...overrides,
});

const turns = (count: number) => Array.from({ length: count }, (_, index) => turn(index + 1));

const model = 'gemini-2.5-flash';

const sourceOf = (overrides: Partial<PlanSource> & { turns: readonly Turn[] }): PlanSource => ({
  context: {
    model,
    pins: [],
    history: undefined,
    coveredThrough: { seq: 0, contentIndex: 0 },
    turns: overrides.turns,
  },
  policy: resolvePolicy({ model, conversation: { thresholdTokens: 1_000 } }),
  calibration: 1,
  summariserWindowTokens: 1_000_000,
  isModelAllowed: true,
  strategy: 'gemini-cli',
  forms: wholeOutputs({ counting: { rule: 'character-class' } }),
  ...overrides,
});

function foldOf(source: PlanSource) {
  const plan = planCompaction(source);
  if (plan.kind !== 'fold') throw new Error(`the plan is ${plan.kind}`);
  return plan;
}

test('an automatic compaction that could not save enough folds nothing and calls no model', () => {
  const last = turn(3, { contents: [text('model', 'word '.repeat(5_000))] });

  expect(planCompaction(sourceOf({ turns: [...turns(2), last] }))).toEqual({
    kind: 'noop',
    reason: 'SAVES_TOO_LITTLE',
  });
});

test.each([
  ['no turn', []],
  ['one turn', turns(1)],
  ['turns that are all out of the context', [turn(1, { inContext: false })]],
])('a compaction has nothing to fold: %s', (_, given) => {
  expect(planCompaction(sourceOf({ turns: given }))).toEqual({
    kind: 'noop',
    reason: 'NOTHING_TO_FOLD',
  });
});

const call = (name: string): Content => ({
  role: 'model',
  parts: [{ functionCall: { name, args: { page: 1 } } }],
});
const response = (name: string): Content => ({
  role: 'user',
  parts: [{ functionResponse: { name, response: { output: `${name} ${'word '.repeat(200)}` } } }],
});
/** One prompt and a loop of tools, as an agent runs. */
const agentRun = (seq: number, calls: number) =>
  turn(seq, {
    contents: [
      ...Array.from({ length: calls }, (_, index) => [
        call(`f${index}`),
        response(`f${index}`),
      ]).flat(),
      text('model', 'All is done.'),
    ],
  });

describe('a newest turn that is too large alone', () => {
  const policy = resolvePolicy({ model, conversation: { thresholdTokens: 6_000 } });
  const source = sourceOf({ turns: [...turns(2), agentRun(3, 40)], policy });

  test('a partly folded turn keeps its message and the rest', () => {
    const plan = foldOf(source);
    const { coveredThrough, storedTail } = plan;

    const items = assembleContext({ ...source.context, coveredThrough, turns: storedTail });

    expect(items.map(({ content }) => content)).toEqual(
      plan.tail.flatMap(({ user, contents }) => [user, ...contents]),
    );
    expect(items[0]?.content).toEqual(turn(3).user);
  });
});

describe('the ledger', () => {
  const ledger = (given: readonly Turn[], summariserWindowTokens: number) =>
    foldOf(sourceOf({ turns: given, summariserWindowTokens, strategy: 'ledger' }));

  test('the ledger summariser reads everything to fold in several calls', () => {
    const given = turns(50);
    const plan = ledger(given, 8_000);
    const single = foldOf(sourceOf({ turns: given, summariserWindowTokens: 8_000 }));

    expect(single.isPartial).toBe(true);
    expect(plan.isPartial).toBe(false);
    expect(plan.coveredThrough.seq).toBeGreaterThan(single.coveredThrough.seq);
    expect(plan.chunks.length).toBeGreaterThan(1);
    expect(plan.chunks.flatMap(({ turns: read }) => read)).toEqual(plan.folded);
  });

  test('the ledger summariser stops before a block that fits no call and keeps it', () => {
    const long = text('model', 'word '.repeat(50_000));
    const stuck = turn(2, { contents: [call('f'), response('f'), call('g'), response('g'), long] });
    const plan = ledger([turn(1), stuck, ...turns(10).slice(2)], 8_000);

    expect(plan).toMatchObject({ isPartial: true, coveredThrough: { seq: 2, contentIndex: 4 } });
    expect(plan.tail[0]?.contents).toEqual([long]);
  });
});
