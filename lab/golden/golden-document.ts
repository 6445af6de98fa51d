import { z } from 'zod';
import type { GoldenGeneration } from './golden-run.ts';

const tierSchema = z.looseObject({ facts: z.number(), held: z.number(), archived: z.number() });
const reportSchema = z.looseObject({
  recall: z.looseObject({ tier1: tierSchema, tier2: tierSchema, tier3: tierSchema }),
  precision: z.looseObject({
    checked: z.number(),
    repaired: z.number(),
    dropped: z.number(),
    cut: z.number(),
    unconfirmed: z.number(),
  }),
  verbatim: z.looseObject({ added: z.number(), archived: z.number() }),
  evicted: z.number(),
  rejected: z.record(z.string(), z.number()),
  leftOut: z.array(z.looseObject({ text: z.string(), seq: z.number(), archived: z.boolean() })),
});
type Report = z.infer<typeof reportSchema>;

/** What verification found, as it is stored with the compaction. */
export const reportOf = ({ history }: GoldenGeneration): Report =>
  reportSchema.parse(history.report);

const thousands = (count: number): string => Math.round(count).toLocaleString('en-US');

const share = ({ facts, held, archived }: z.infer<typeof tierSchema>): string =>
  `${held} of ${facts}${archived === 0 ? '' : ` (${archived} more in the archive)`}`;

const refused = (rejected: Report['rejected']): string =>
  Object.entries(rejected)
    .map(([reason, count]) => `${count} ${reason}`)
    .join(', ') || 'none';

const leftOut = ({ leftOut: facts }: Report): string =>
  facts
    .map(
      ({ text, seq, archived }) => `“${text}” (turn ${seq}${archived ? ', in the archive' : ''})`,
    )
    .join(', ') || 'nothing';

function headerLines(generation: GoldenGeneration): string[] {
  const { conversation, history, turns } = generation;
  const report = reportOf(generation);
  const { recall, precision, verbatim, evicted, rejected } = report;
  const { from, coveredThrough, beforeTokens, afterTokens, snapshotTokens } = history;
  const { seq, contentIndex } = coveredThrough;
  const fold = contentIndex > 0 ? ` and the beginning of turn ${seq}` : '';
  const last = contentIndex > 0 ? seq - 1 : seq;
  return [
    `- **Folded:** turns ${from}–${last}${fold}; turns ${last + 1}–${turns.length} stay word for word`,
    `- **Context:** ${thousands(beforeTokens)} → ${thousands(afterTokens)} tokens`,
    `- **Snapshot:** ${thousands(snapshotTokens)} tokens with its frame; its budget is ${thousands(conversation.snapshotBudgetTokens)}`,
    `- **Facts still said, of those in the turns folded now:** ${share(recall.tier1)} that the user gave, ${share(recall.tier2)} of the rest of the talk, ${share(recall.tier3)} of tools`,
    `- **Checked:** ${precision.checked} statements, ${precision.repaired} mended, ${precision.dropped} dropped, ${precision.cut} values cut, ${precision.unconfirmed} unconfirmed; refused operations: ${refused(rejected)}`,
    `- **Put in by code:** ${verbatim.added} sentences that were missing (${verbatim.archived} in the archive); ${evicted} items moved to the archive`,
    `- **Left out of what the user gave:** ${leftOut(report)}`,
  ];
}

/** A snapshot as people read it: what the compaction did, then the bytes that the model gets. */
export function goldenDocument(generation: GoldenGeneration): string {
  const { conversation, number, history } = generation;
  return [
    `# ${conversation.title}: generation ${number}`,
    '',
    ...headerLines(generation),
    '',
    '````text',
    history.snapshotText,
    '````',
    '',
  ].join('\n');
}

/** Where the document of a generation is kept. */
export const goldenFile = ({ conversation, number }: GoldenGeneration): URL =>
  new URL(`snapshots/${conversation.name}.generation-${number}.md`, import.meta.url);
