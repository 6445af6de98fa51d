import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Content } from '#shared/conversation/documents/content.ts';
import type { RecordedTurn } from '../eval/run/eval-turns.ts';
import { toolOutputSchema, toolOutputText } from './tool-output.ts';

const turnSchema = z.strictObject({
  at: z.string().transform((text) => new Date(text.replace(/Z$/, ':00Z'))),
  user: z.string(),
  /** Name, arguments and result of each call, in order. */
  calls: z
    .array(z.tuple([z.string(), z.record(z.string(), z.unknown()), toolOutputSchema]))
    .default([]),
  model: z.string(),
});
type GoldenTurn = z.infer<typeof turnSchema>;

/** A file of conversations/: one turn a line. */
const fileOf = (name: string): URL => new URL(`conversations/${name}.jsonl`, import.meta.url);

function contentsOf({ calls, model }: GoldenTurn, seq: number): Content[] {
  const called = calls.flatMap(([name, args, told], index): Content[] => {
    const id = `call-${seq}-${index + 1}`;
    const response = { output: toolOutputText(told) };
    return [
      { role: 'model', parts: [{ functionCall: { id, name, args } }] },
      { role: 'user', parts: [{ functionResponse: { id, name, response } }] },
    ];
  });
  return [...called, { role: 'model', parts: [{ text: model }] }];
}

/** The turns of a golden conversation, as the service would have stored them. */
export async function readGoldenTurns(name: string): Promise<RecordedTurn[]> {
  const lines = (await readFile(fileOf(name), 'utf8')).split('\n').filter((line) => line !== '');
  return lines.map((line, index) => {
    const turn = turnSchema.parse(JSON.parse(line));
    return {
      user: { role: 'user', parts: [{ text: turn.user }] },
      contents: contentsOf(turn, index + 1),
      firstIndex: index,
      at: turn.at,
    };
  });
}
