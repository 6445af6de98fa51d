import type { Part } from '#shared/conversation/documents/content.ts';
import type { LooseContent } from '#shared/conversation/repair/repair-contents.ts';
import fc from 'fast-check';

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
export const brokenHistories: fc.Arbitrary<LooseContent[]> = fc.array(
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
export const wholeHistories = fc
  .tuple(fc.array(turn, { maxLength: 4 }), user, fc.array(round, { maxLength: 3 }))
  .map(([turns, question, rounds]) => [...turns.flat(), question, ...rounds.flat()]);
