import { afterEach } from 'vitest';
import { z } from 'zod';
import { type FakeGemini, startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import type { Vices } from '#infra/fake-gemini/server/misbehaviour.ts';
import { ledgerJsonSchema } from '#shared/compaction/ledger/prompt/operation.ts';
import { ask, user } from './client.ts';

const itemSchema = z.object({
  op: z.string().optional(),
  id: z.string().optional(),
  text: z.string().optional(),
  sources: z.array(z.number()).optional(),
  quote: z.string().optional(),
  reason: z.string().optional(),
});
const answerSchema = z.object({
  scratchpad: z.string(),
  operations: z.array(
    itemSchema.extend({ section: z.string().optional(), items: z.array(itemSchema).optional() }),
  ),
});
type Answer = z.infer<typeof answerSchema>;

/** One operation an item. */
const ungrouped = ({ operations }: Answer) =>
  operations.flatMap(({ items, ...shared }) =>
    items === undefined ? [shared] : items.map((item) => ({ ...shared, ...item })),
  );

export type Said = readonly [seq: number, speaker: string, text: string];

export interface Known {
  id: string;
  section: string;
  text: string;
}

/** What is known, as items `i1`, `i2` … */
export const knowing = (...texts: string[]): Known[] =>
  texts.map((text, index) => ({ id: `i${index + 1}`, section: 'key_knowledge', text }));

interface Folding {
  vices?: Vices;
  known?: Known[];
  request?: string;
  promptId?: string;
  seed?: string;
  /** Of the first turn. */
  day?: string;
  /** As the system instruction says it. */
  room?: string;
}

/** What the summariser gets: history between boundaries, then what is known. */
function historyFor(said: readonly Said[], { day = '2026-03-04', known = [] }: Folding): object {
  const boundary = 'boundary-7f3a';
  const turns = said.map(([seq, who, text], index) => {
    const number = said[index - 1]?.[0] === seq ? '' : `[${seq}] `;
    return `${number}${who}: ${text.replaceAll('\n', '\n  ')}`;
  });
  const items = known.map((item) => JSON.stringify(item));
  const lines = [boundary, `turn 1: ${day}`, ...turns, boundary, ...items, boundary];
  return user(lines.join('\n'));
}

/** For each test of a file: asks a fake Gemini of its own for the operations on a ledger. */
export function folding() {
  let fakeGemini: FakeGemini | undefined;
  afterEach(() => fakeGemini?.close());

  async function fold(
    said: readonly Said[],
    options: Folding = {},
  ): Promise<{ operations: ReturnType<typeof ungrouped>; stated: Answer['operations'] }> {
    await fakeGemini?.close();
    fakeGemini = await startFakeGemini({ seed: options.seed ?? '1', vices: options.vices });
    const { text } = await ask(
      fakeGemini,
      {
        ...(options.room !== undefined && { systemInstruction: user(options.room) }),
        contents: [historyFor(said, options), user(options.request ?? 'List the operations.')],
        generationConfig: { responseJsonSchema: ledgerJsonSchema('assistant') },
      },
      { role: 'utility_compressor', promptId: options.promptId },
    );
    const answer = answerSchema.parse(JSON.parse(text));
    return { operations: ungrouped(answer), stated: answer.operations };
  }

  return { fold };
}
