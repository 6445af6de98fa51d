import type { Content } from '#shared/models/content.ts';
import type { CompactionBench } from '#test/support/compaction/compacted-conversation.ts';
import { modelText, type TurnToBuild } from '../compaction/conversation-builder.ts';
import { writeJob } from '../compaction/past-compactions.ts';

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

export const longListings = (turns: number) =>
  Array.from({ length: turns }, (_, i) => toolTurn(i + 1));

/** As after three failures in a row: no model is asked for the next ten minutes. */
export const openBreaker = (
  bench: Pick<CompactionBench, 'store' | 'clock'>,
  conversationId: string,
) =>
  writeJob(bench.store, conversationId, {
    fence: 3,
    requestId: 'earlier',
    brake: {
      failures: 3,
      pause: { reason: 'BREAKER_OPEN', until: new Date(bench.clock.now().getTime() + 600_000) },
    },
  });

export const call = (name: string, args: Record<string, unknown>): Content => ({
  role: 'model',
  parts: [{ functionCall: { name, args } }],
});
export const response = (name: string, output: string): Content => ({
  role: 'user',
  parts: [{ functionResponse: { name, response: { output } } }],
});
