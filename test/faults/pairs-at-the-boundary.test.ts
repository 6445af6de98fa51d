import { wholeOutputs } from '#shared/conversation/context/sent-view.ts';
import fc from 'fast-check';
import { foldedTurn } from '../support/compaction/said-turn.ts';
import { resolvePolicy } from '#shared/compaction/policy.ts';
import { planCompaction, type PlanSource } from '#shared/compaction/plan.ts';
import { assembleContext } from '#shared/conversation/context/assemble-context.ts';
import type { Content } from '#shared/models/content.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { searchCases } from '#test/support/search-cases.ts';
import { expect, test } from 'vitest';

const idsOf = (content: Content | undefined, kind: 'functionCall' | 'functionResponse') =>
  content?.parts.flatMap((part) => part[kind]?.id ?? []) ?? [];

/**
 * Calls that the next content does not answer, and responses whose call is not in the content before, by
 * id: what the Gemini API refuses with 400. Parts without an id are not looked at.
 */
function brokenPairs(contents: readonly Content[]): string[] {
  return contents.flatMap((content, index) => {
    const responded = idsOf(contents[index + 1], 'functionResponse');
    const called = idsOf(contents[index - 1], 'functionCall');
    return [
      ...idsOf(content, 'functionCall').filter((id) => !responded.includes(id)),
      ...idsOf(content, 'functionResponse').filter((id) => !called.includes(id)),
    ];
  });
}

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 400 });

/** One step of a model that uses tools: calls side by side, and their responses in one content. */
const round = fc
  .tuple(fc.integer({ min: 1, max: 4 }), text, fc.boolean())
  .map(([width, output, hasText]): Content[] => {
    const calls = Array.from({ length: width }, (_, index) => `call-${index}`);
    return [
      {
        role: 'model',
        parts: [
          ...(hasText ? [{ text: 'I look it up.' }] : []),
          ...calls.map((id) => ({ functionCall: { id, name: 'look', args: { output } } })),
        ],
      },
      {
        role: 'user',
        parts: calls.map((id) => ({
          functionResponse: { id, name: 'look', response: { output } },
        })),
      },
    ];
  });

interface GeneratedTurn {
  user: Content;
  contents: Content[];
}

/** A turn of any number of tool rounds; some have no last word, some end in an unanswered call. */
const generatedTurn = fc
  .record({
    question: text,
    rounds: fc.array(round, { maxLength: 5 }),
    answer: text,
    end: fc.constantFrom('answer', 'answer', 'answer', 'response', 'call'),
  })
  .map(({ question, rounds, answer, end }): GeneratedTurn => {
    const call = { functionCall: { id: 'open', name: 'look', args: {} } };
    const endings: Record<string, Content[]> = {
      answer: [{ role: 'model', parts: [{ text: answer }] }],
      response: [],
      call: [{ role: 'model', parts: [call] }],
    };
    return {
      user: { role: 'user', parts: [{ text: question }] },
      contents: [...rounds.flat(), ...(endings[end] ?? [])],
    };
  });

const generatedTurns = fc.array(generatedTurn, { minLength: 1, maxLength: 12 });

const turnOf = ({ user, contents }: GeneratedTurn, seq: number): Turn => ({
  ...foldedTurn(seq, ''),
  user,
  contents,
});

const policy = resolvePolicy({
  conversation: { thresholdTokens: 1_000 },
  environment: {},
  model: 'gemini-2.5-flash',
  profile: 'assistant',
});

function planOf(
  generated: readonly GeneratedTurn[],
  summariserWindowTokens: number,
  strategy: PlanSource['strategy'],
) {
  const turns = generated.map((turn, index) => turnOf(turn, index + 1));
  const context = {
    model: 'gemini-2.5-flash',
    pins: [],
    history: undefined,
    coveredThrough: { seq: 0, contentIndex: 0 },
    turns,
  };
  const plan = planCompaction({
    context,
    policy,
    calibration: 1,
    summariserWindowTokens,
    isModelAllowed: true,
    strategy,
    forms: { ...wholeOutputs({ counting: { rule: 'character-class' } }), blobName: String },
  });
  return { turns, context, plan };
}

test('a history is folded without gap, overlap or half pair, whatever window the summariser has', () => {
  const strategies = fc.constantFrom('gemini-cli' as const, 'ledger' as const);
  const windows = fc.integer({ min: 1_000, max: 100_000 });
  fc.assert(
    fc.property(generatedTurns, windows, strategies, (generated, window, strategy) => {
      const { turns, context, plan } = planOf(generated, window, strategy);
      if (plan.kind !== 'fold') return;

      const folded = plan.folded.map(({ seq }) => seq);
      const kept = plan.storedTail.map(({ seq }) => seq);
      // A turn that is folded inside stands on both sides.
      const shared = plan.coveredThrough.contentIndex > 0 ? 1 : 0;
      expect([...folded, ...kept.slice(shared)]).toEqual(turns.map(({ seq }) => seq));
      const answers = [...plan.folded, ...plan.tail].flatMap(({ contents }) => contents);
      expect(answers).toEqual(turns.flatMap(({ contents }) => contents));
      expect(kept.length).toBeGreaterThan(0);
      const after = assembleContext({
        ...context,
        history: { snapshotText: 'Before that: nothing.' },
        coveredThrough: plan.coveredThrough,
        turns: plan.storedTail,
      }).map(({ content }) => content);
      for (const contents of [after, plan.contents]) expect(brokenPairs(contents)).toEqual([]);
    }),
    { numRuns: searchCases(4_000) },
  );
}, 120_000);
