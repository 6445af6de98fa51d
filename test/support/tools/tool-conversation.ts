import type { Content } from '#shared/models/content.ts';
import { modelText, type TurnToBuild } from '../compaction/conversation-builder.ts';

/** What tool call `seq` gives: long enough to be shortened. */
const longOutput = (seq: number) =>
  Array.from({ length: 400 }, (_, line) => `row ${line} of listing ${seq}: all is well`).join('\n');

/** A turn whose answer rests on a tool output, by default a long one. */
export const toolTurn = (seq: number, output = longOutput(seq)): TurnToBuild => {
  const contents: Content[] = [
    { role: 'model', parts: [{ functionCall: { name: 'list', args: { page: seq } } }] },
    {
      role: 'user',
      parts: [{ functionResponse: { name: 'list', response: { output } } }],
    },
    modelText(`Listing ${seq} is fine.`),
  ];
  return { user: `Show me listing ${seq}.`, answer: contents };
};

export const call = (name: string, args: Record<string, unknown>): Content => ({
  role: 'model',
  parts: [{ functionCall: { name, args } }],
});
export const response = (name: string, output: string): Content => ({
  role: 'user',
  parts: [{ functionResponse: { name, response: { output } } }],
});
