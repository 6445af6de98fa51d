import { z } from 'zod';
import type { Turn } from '#shared/conversation/documents/turn.ts';

/** The id of a source of a turn, counted from 1; the same in stream, transcript and context. */
const sourceId = (seq: number, index: number) => `s${seq}.${index + 1}`;

const sourceResponse = z.object({
  id: z.string().describe('s{seq}.{n}, also in the stream and in the snapshot.'),
  url: z.string().describe('http or https.'),
  title: z
    .string()
    .optional()
    .describe('Of the page, or its site: somebody else’s words, on one line.'),
  spans: z
    .array(z.object({ start: z.number().int(), end: z.number().int() }))
    .optional()
    .describe('What of the answer it bears out: places in its text, UTF-16 units.'),
});
type SourceView = z.infer<typeof sourceResponse>;

/** What Google wants shown beside an answer that it has searched for. */
export const searchedResponse = z
  .object({
    queries: z.array(z.string()),
    suggestions: z
      .string()
      .optional()
      .describe(
        'HTML of Google’s search suggestions, to be shown unchanged beside the answer. Others wrote it: show it in a sandboxed frame.',
      ),
  })
  .describe('What Google Search was asked for the answer.');
type SearchedView = z.infer<typeof searchedResponse>;

export const groundingFields = {
  sources: z.array(sourceResponse).optional().describe('What the answer rests on.'),
  searched: searchedResponse.optional(),
};

export const sourcesView = ({ seq, grounding }: Pick<Turn, 'seq' | 'grounding'>): SourceView[] =>
  (grounding?.sources ?? []).map((source, index) => ({ id: sourceId(seq, index), ...source }));

export function searchedView({ grounding }: Pick<Turn, 'grounding'>): SearchedView | undefined {
  const { queries = [], suggestions } = grounding ?? {};
  if (queries.length === 0 && suggestions === undefined) return undefined;
  return { queries, ...(suggestions !== undefined && { suggestions }) };
}

/** The fields of an answer; nothing of one that rests on no source. */
export function groundingView(turn: Pick<Turn, 'seq' | 'grounding'>): {
  sources?: SourceView[];
  searched?: SearchedView;
} {
  const sources = sourcesView(turn);
  const searched = searchedView(turn);
  return { ...(sources.length > 0 && { sources }), ...(searched && { searched }) };
}
