import type { LooseContent } from '#shared/conversation/repair/repair-contents.ts';
import fc from 'fast-check';
import { SKIPPED, signPart, refuseGeneration } from '#infra/fake-gemini/server/refusals.ts';
import type { Content, Part } from '#shared/models/content.ts';
import { repairPrompt } from '#shared/conversation/repair/repair-prompt.ts';
import { searchCases } from '#test/support/search-cases.ts';
import { expect, test } from 'vitest';

const RUNS = { numRuns: searchCases(3_000) };
const FEWER_RUNS = { numRuns: searchCases(1_000) };
const models = fc.constantFrom(
  'gemini-2.5-flash',
  'gemini-3-pro-preview',
  'models/gemini-3.8-flash',
);

/** The same with signatures of this model: whose they are is no matter of form. */
const signedBy = (model: string, contents: readonly Content[]): Content[] =>
  contents.map(({ role, parts }) => ({
    role,
    parts: parts.map((part) =>
      part.thoughtSignature === undefined || part.thoughtSignature === SKIPPED
        ? part
        : { ...part, thoughtSignature: signPart(model, part) },
    ),
  }));

const refusalOf = (model: string, contents: readonly Content[]) =>
  refuseGeneration({
    model: model.slice(model.lastIndexOf('/') + 1),
    body: { contents: structuredClone(signedBy(model, contents)) },
    promptTokens: 1,
    windowTokens: 10,
  })?.message;

const isWellFormed = (contents: readonly Content[]) =>
  // JSON writes halves of a pair as escapes, which the text of a whole one never holds.
  !/\\ud[89a-f]/iu.test(JSON.stringify(contents));

/** A call is followed by responses alone, of the same names and ids in the same order. */
function pairsOf(contents: readonly Content[]) {
  return contents.flatMap(({ parts }, index) => {
    const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
    if (calls.length === 0) return [];
    const answers = contents[index + 1]?.parts.map(({ functionResponse }) => functionResponse);
    return [
      {
        calls: calls.map(({ id, name }) => ({ id, name })),
        answers: answers?.map((answer) => ({ id: answer?.id, name: answer?.name })),
      },
    ];
  });
}

test('a repaired prompt has whole call pairs and characters that the strict model server accepts', () => {
  fc.assert(
    fc.property(brokenHistories, models, (contents, model) => {
      const mended = repairPrompt({ model, contents }).contents;

      expect(refusalOf(model, mended)).toBeUndefined();
      for (const { calls, answers } of pairsOf(mended)) expect(answers).toEqual(calls);
      expect(isWellFormed(mended)).toBe(true);
      expect([mended[0]?.role, mended.at(-1)?.role]).toEqual(['user', 'user']);
    }),
    RUNS,
  );
});

test('repairing a prompt twice changes nothing and reports nothing', () => {
  fc.assert(
    fc.property(brokenHistories, models, (contents, model) => {
      const once = repairPrompt({ model, contents }).contents;
      const twice = repairPrompt({ model, contents: once });

      expect(twice.repairs).toBeUndefined();
      expect(twice.contents.every((content, index) => content === once[index])).toBe(true);
      expect(twice.contents).toHaveLength(once.length);
    }),
    RUNS,
  );
});

test('repairing a valid prompt returns the same objects and reports nothing', () => {
  fc.assert(
    fc.property(wholeHistories, models, (contents, model) => {
      const mended = repairPrompt({ model, contents });

      expect(mended.repairs).toBeUndefined();
      expect(mended.contents.every((content, index) => content === contents[index])).toBe(true);
      expect(mended.contents).toHaveLength(contents.length);
    }),
    FEWER_RUNS,
  );
});

const names = fc.constantFrom('find', 'list', 'find', 'a b', '', '9lives', 'x'.repeat(70), '검색');
const ids = fc.option(fc.constantFrom('1', '2', '3'), { nil: undefined });
const texts = fc.constantFrom('', 'hello', 'half \ud800', '🙂', ' ');
const signatures = fc.option(fc.constantFrom('sig', ''), { nil: undefined });

const withoutUndefined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as T;

const call = fc
  .record({ id: ids, name: names, text: texts })
  .map(({ id, name, text }) => withoutUndefined({ id, name, args: { [`key${text}`]: [text] } }));
const response = fc
  .record({ id: ids, name: names, text: texts })
  .map(({ id, name, text }) => withoutUndefined({ id, name, response: { output: text } }));

const parts: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ text: texts, thoughtSignature: signatures }).map(withoutUndefined),
  fc.record({ text: texts, thought: fc.boolean() }),
  fc.record({ functionCall: call, thoughtSignature: signatures }).map(withoutUndefined),
  fc.record({ functionResponse: response }),
  fc.record({ functionCall: call, functionResponse: response, text: texts }),
  fc.constantFrom<Part>({}, { thought: true }, { thoughtSignature: 's' }, { executable: {} }),
  fc.constant<Part>({ inlineData: { mimeType: 'image/png', data: 'AA==' } }),
);

const roles = fc.constantFrom(
  'user',
  'model',
  'user',
  'model',
  'tool',
  'assistant',
  'system',
  undefined,
);

/** Contents as no model would take them: anything after anything. */
const brokenHistories: fc.Arbitrary<LooseContent[]> = fc.array(
  fc.record({
    role: roles,
    parts: fc.option(fc.array(parts, { maxLength: 4 }), { nil: undefined, freq: 9 }),
  }),
  { maxLength: 8 },
);

const user = fc.constantFrom('Hi', 'And now?').map((text) => ({
  role: 'user' as const,
  parts: [{ text }],
}));

const said = fc.constantFrom<Part[]>(
  [{ text: 'Yes.' }],
  [{ text: 'a' }, { text: '', thoughtSignature: 's' }],
);

/** A round: calls of which the first is signed, and their responses. */
const round = fc
  .array(fc.tuple(fc.constantFrom('find', 'list'), ids), { minLength: 1, maxLength: 3 })
  .map((calls) => [
    {
      role: 'model' as const,
      parts: calls.map(([name, id], index) => ({
        functionCall: withoutUndefined({ id, name, args: {} }),
        ...(index === 0 && { thoughtSignature: 'sig' }),
      })),
    },
    {
      role: 'user' as const,
      parts: calls.map(([name, id], index) => ({
        functionResponse: withoutUndefined({ id, name, response: { index } }),
      })),
    },
  ]);

const turn = fc
  .tuple(user, fc.array(round, { maxLength: 3 }), said)
  .map(([question, rounds, answer]) => [
    question,
    ...rounds.flat(),
    { role: 'model' as const, parts: answer },
  ]);

/** Histories as turns with rounds of calls make them, a question or responses last. */
const wholeHistories = fc
  .tuple(fc.array(turn, { maxLength: 4 }), user, fc.array(round, { maxLength: 3 }))
  .map(([turns, question, rounds]) => [...turns.flat(), question, ...rounds.flat()]);
